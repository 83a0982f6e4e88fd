"""Decoding of VOPD: two operations in one instruction (RDNA3 and RDNA4 ISA manuals, section "Dual issue VALU")."""

from __future__ import annotations

import dataclasses

from mfmasim.isa.fields import Fields, Refused, implicit, vector_register
from mfmasim.isa.instruction import Operand
from mfmasim.isa.opcode import dual
from mfmasim.isa.operands import LITERAL, VCC, literal_bits
from mfmasim.isa.parts import Parts

__all__ = ["vopd"]


def vopd(fields: Fields) -> Parts:
    """The halves X and Y; a literal is shared, and Y writes a register of the other parity than X."""
    rows = fields.family.rows
    op_y = fields.take("opy")
    row_y = rows["VOPDY"].get(op_y)
    if row_y is None:
        raise Refused(f"VOPD has no opcode {op_y:#x} in its second half")
    x = fields.take("vdstx")
    y = fields.take("vdsty") << 1 | (~x & 1)
    row_x = fields.row
    whole = Parts(encoding="VOPD")
    for half, number in (("x", x), ("y", y)):
        fields.row = row_x if half == "x" else row_y
        part = _half(fields, half, number)
        whole.halves.append((fields.row.opcode, part))
        whole.dst += part.dst
        whole.src += part.src
    whole.opcode = dual(*(half for half, _ in whole.halves))
    fields.row = row_x
    return whole


def _half(fields: Fields, half: str, number: int) -> Parts:
    row = fields.row
    parts = Parts(encoding="VOPD")
    parts.dst.append(vector_register("v", number, row.dst[0], f"vdst{half}", fields.family))
    names = iter((f"src0{half}", f"src1{half}"))
    for slot in row.src:
        if slot.tied:
            parts.read_back(parts.dst[0])
        elif slot.type == "vcc":
            parts.src.append(dataclasses.replace(implicit(slot, VCC), printed=False))
        elif slot.type == "K":
            kind = row.dst[0].type
            bits = literal_bits(fields.literal(), kind)
            parts.src.append(Operand("const", LITERAL, 1, kind, bits, field="literal"))
        else:
            name = next(names)
            if name == f"src0{half}":
                parts.src.append(fields.source(name, slot))
            else:
                parts.src.append(vector_register("v", fields.take(name), slot, name, fields.family))
    return parts
