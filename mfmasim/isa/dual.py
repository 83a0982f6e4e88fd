"""Decoding of VOPD and VOPD3: two operations in one instruction.

Source: RDNA3, RDNA4 and CDNA5 ISA manuals, section "Dual issue VALU".
"""

from __future__ import annotations

import dataclasses

from mfmasim.isa.fields import Fields, Refused, implicit, scalar_register, vector_register
from mfmasim.isa.opcode import dual
from mfmasim.isa.operands import VCC
from mfmasim.isa.parts import Parts
from mfmasim.isa.unread import absent_sources


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
            parts.src.append(fields.constant(kind))
        else:
            name = next(names)
            if name == f"src0{half}":
                parts.src.append(fields.source(name, slot))
            else:
                parts.src.append(vector_register("v", fields.take(name), slot, name, fields.family))
    return parts


def vopd3(fields: Fields) -> Parts:
    """The halves X and Y with three sources each, their signs, and destinations of any parity."""
    op_y = fields.take("opy")
    row_y = fields.family.rows["VOPD3Y"].get(op_y)
    if row_y is None:
        raise Refused(f"VOPD3 has no opcode {op_y:#x} in its second half")
    row_x = fields.row
    whole = Parts(encoding="VOPD")
    for half, row in (("x", row_x), ("y", row_y)):
        fields.row = row
        part = _half_of_three(fields, half)
        whole.halves.append((row.opcode, part))
        whole.dst += part.dst
        whole.src += part.src
    whole.opcode = dual(*(half for half, _ in whole.halves))
    fields.row = row_x
    return whole


def _half_of_three(fields: Fields, half: str) -> Parts:
    row = fields.row
    parts = Parts(encoding="VOPD")
    parts.dst.append(vector_register("v", fields.take(f"vdst{half}"), row.dst[0], f"vdst{half}", fields.family))
    printed = [slot for slot in row.src if slot.printed]
    negative, allowed = fields.take(f"neg{half}"), sum(1 << i for i, slot in enumerate(printed) if slot.signed)
    fields.ignore(f"neg{half}", negative & absent_sources(row))
    if negative & ~allowed & ~absent_sources(row):
        raise Refused(f"a source of {row.name} cannot be negated")
    negative &= allowed
    names = [f"src{i}{half}" for i in range(3)]
    for i, slot in enumerate(row.src):
        neg = bool(negative >> i & 1)
        if slot.tied:
            parts.read_back(parts.dst[0])
        elif slot.type == "vcc":
            parts.src.append(scalar_register(fields.take(names[2]), slot, names[2], fields.family))
        elif i == 0:
            parts.src.append(fields.source(names[0], slot, neg=neg))
        else:
            parts.src.append(vector_register("v", fields.take(names[i]), slot, names[i], fields.family, neg=neg))
    if "bitop2" in row.flags:
        parts.modifiers["bitop3"] = fields.take(names[2])
    fields.skip(*names)
    return parts
