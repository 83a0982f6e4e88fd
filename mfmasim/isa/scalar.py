"""Decoding of the scalar encodings: SOP1, SOP2, SOPC, SOPK, SOPP, SMEM."""

from __future__ import annotations

from mfmasim.isa.fields import Fields, Refused, implicit, scalar_register
from mfmasim.isa.instruction import Operand
from mfmasim.isa.opcode import Slot
from mfmasim.isa.operands import EXEC, LITERAL, VCC
from mfmasim.isa.parts import Parts
from mfmasim.isa.rows import Row

_B32 = Slot("b32")
_IMPLICIT = {"vcc": VCC, "exec": EXEC, "exec32": EXEC, "exec64": EXEC}


def _signed(value: int, width: int) -> int:
    return value - (1 << width) if value >> (width - 1) else value


def sop(fields: Fields) -> Parts:
    """SOP1, SOP2 and SOPC: a scalar destination and up to two scalar sources."""
    row = fields.row
    parts = Parts()
    destination: Operand | None = None
    for slot in row.dst:
        if slot.type in _IMPLICIT:
            parts.dst.append(implicit(slot, _IMPLICIT[slot.type]))
        else:
            destination = scalar_register(fields.take("sdst"), slot, "sdst", fields.family)
            parts.dst.append(destination)
    names = iter(("src0", "src1"))
    for slot in row.src:
        if slot.tied and destination is not None:
            parts.read_back(destination)
        elif slot.type in _IMPLICIT:
            parts.src.append(implicit(slot, _IMPLICIT[slot.type]))
        elif slot.type == "K":
            kind = row.dst[0].type
            parts.src.append(fields.constant(kind))
        elif slot.type == "msg":
            parts.src.append(Operand("imm", type="msg", bits=fields.take(next(names)), field="src0"))
        elif slot.type == "gpr_idx":
            value = fields.take(next(names))
            if value > 15:
                raise Refused(f"gpr_idx of {row.name} is {value}: reserved bits are set")
            parts.src.append(Operand("imm", type="gpr_idx", bits=value, field="src1"))
        else:
            operand = fields.scalar(next(names), slot)
            if slot.file == "s" and operand.kind != "s":
                raise Refused(f"{operand.field} of {row.name} must be a register")
            if slot.file == "c" and operand.index == LITERAL:
                raise Refused(f"{operand.field} of {row.name} cannot be a literal")
            parts.src.append(operand)
    return parts


def sopk(fields: Fields) -> Parts:
    """SOPK: a scalar register that is destination, source or both, and a 16-bit immediate."""
    row = fields.row
    simm16 = fields.take("simm16")
    parts = Parts({"simm16": simm16})
    register: Operand | None = None
    for slot in row.dst:
        register = scalar_register(fields.take("sdst"), slot, "sdst", fields.family)
        parts.dst.append(register)
    for slot in row.src:
        if slot.tied and register is not None:
            parts.read_back(register)
        elif slot.type == "simm16":
            # Unsigned compares extend with zeros, everything else with the sign (ISA manual, SOPK).
            bits = simm16 if row.src[0].type == "u32" else _signed(simm16, 16)
            parts.src.append(Operand("imm", type="i32", bits=bits & 0xFFFFFFFF, field="simm16"))
        elif slot.type == "hwreg":
            parts.src.append(Operand("imm", type="hwreg", bits=simm16, field="simm16"))
        elif slot.type == "label":
            parts.src.append(Operand("label", type="label", bits=simm16, field="simm16"))
            parts.target = 4 + 4 * _signed(simm16, 16)
        elif slot.type == "K":
            literal = fields.literal()
            parts.src.append(Operand("const", LITERAL, 1, "b32", literal, field="literal"))
        else:
            parts.src.append(scalar_register(fields.take("sdst"), slot, "sdst", fields.family))
    return parts


def sopp(fields: Fields) -> Parts:
    """SOPP: a 16-bit immediate, often a branch offset in dwords from the next instruction."""
    if not fields.row.src:
        return Parts()
    simm16 = fields.take("simm16")
    parts = Parts({"simm16": simm16})
    for slot in fields.row.src:
        if slot.type in _IMPLICIT:
            parts.src.append(implicit(slot, _IMPLICIT[slot.type]))
        elif slot.type == "label":
            parts.src.append(Operand("label", type="label", bits=simm16, field="simm16"))
            parts.target = 4 + 4 * _signed(simm16, 16)
        else:
            if slot.type == "delay" and (simm16 & 15 > 11 or simm16 >> 4 & 7 > 5 or simm16 >> 7 & 15 > 11):
                raise Refused(f"{fields.row.name} names a dependency that does not exist")
            parts.src.append(Operand("imm", type="simm16", bits=simm16, field="simm16"))
    return parts


def _smem_alone(fields: Fields) -> Parts:
    """SMEM without an address: cache operations, and reads of a clock into `sdata`."""
    parts = Parts()
    fields.skip("imm", "soffset_en", *fields.family.dialect.smem_cache)
    for slot in fields.row.dst:
        parts.dst.append(_loaded(fields, slot))
    return parts


def _loaded(fields: Fields, slot: Slot) -> Operand:
    """The register that SMEM writes."""
    register = scalar_register(fields.take("sdata"), slot, "sdata", fields.family)
    if register.kind != "null" and register.index >= fields.family.dialect.codes.m0:
        raise Refused("M0 and EXEC cannot be the data of a memory operation")
    return register


def smem(fields: Fields) -> Parts:
    """SMEM: sbase is a pair or a buffer descriptor, the offset an immediate, an SGPR or both."""
    row = fields.row
    if not row.src:
        return _smem_alone(fields)
    parts = Parts()
    data = _data(row)
    glc = 0
    if row.dst or (data is not None and data.type != "imm7"):
        glc = fields.take("glc")
    else:
        fields.skip("glc")
    parts.src.append(scalar_register(2 * fields.take("sbase"), row.src[0], "sbase", fields.family))
    offset, soffset = _smem_offset(fields)
    parts.modifiers = {"glc": glc} if offset is None else {"offset": offset, "glc": glc}
    parts.src.append(soffset)
    returns = row.dst and (row.dst[0].file != "rtn" or glc)
    if data is not None and data.type == "imm7":
        parts.src.append(Operand("imm", type="imm7", bits=fields.take("sdata"), field="sdata"))
    elif data is not None or row.dst:
        code = fields.take("sdata")
        if code >= 124:
            raise Refused("M0 and EXEC cannot be the data of a memory operation")
        if data is not None:
            parts.src.append(scalar_register(code, data, "sdata", fields.family))
        if returns:
            parts.dst.append(scalar_register(code, row.dst[0], "sdata", fields.family))
    return parts


def smem_rdna(fields: Fields) -> Parts:
    """SMEM of RDNA: an immediate offset and an SGPR or `null`, always both; cache bits or th and scope."""
    row = fields.row
    if not row.src:
        return _smem_alone(fields)
    parts = Parts()
    based = row.src[0].type != "offset"
    if based:
        parts.src.append(scalar_register(2 * fields.take("sbase"), row.src[0], "sbase", fields.family))
    else:
        parts.src.append(Operand("off", field="sbase", printed=False))
    parts.modifiers["offset"] = _signed(fields.take("offset"), fields.family.dialect.smem_offset_bits)
    if parts.modifiers["offset"] < 0 and row.src[0].count == 4 and fields.family.dialect.smem_zero:
        raise Refused(f"the offset of {row.name} must not be negative")
    parts.src.append(scalar_register(fields.take("soffset"), _B32, "soffset", fields.family))
    data = row.src[based + 1] if len(row.src) > based + 1 else None
    if data is not None and data.type.startswith("imm"):
        value = fields.take("sdata")
        if value >= (32 if data.type == "imm5" else fields.family.dialect.codes.m0 - 1):
            raise Refused(f"sdata of {row.name} has the reserved value {value}")
        parts.src.append(Operand("imm", type=data.type, bits=value, field="sdata"))
        fields.skip(*fields.family.dialect.smem_cache)
        return parts
    parts.modifiers |= {name: fields.take(name) for name in fields.family.dialect.smem_cache}
    if fields.family.dialect.scaled_offset:
        parts.modifiers |= {name: fields.take(name) for name in ("scale_offset", "nv")}
    if data is not None:
        parts.src.append(scalar_register(fields.take("sdata"), data, "sdata", fields.family))
    parts.dst += [_loaded(fields, slot) for slot in row.dst]
    return parts


def _data(row: Row) -> Slot | None:
    return row.src[2] if len(row.src) > 2 else None


def _smem_offset(fields: Fields) -> tuple[int | None, Operand]:
    """(immediate offset in bytes if there is one, SGPR offset or `off`)."""
    imm, enabled, raw = fields.take("imm"), fields.take("soffset_en"), fields.take("offset")
    if imm:
        offset = _signed(raw, 21)
        if enabled:
            return offset, scalar_register(fields.take("soffset"), _B32, "soffset", fields.family)
        return offset, Operand("off", field="soffset")
    if enabled:
        fields.ignore("offset", raw)
        return None, scalar_register(fields.take("soffset"), _B32, "soffset", fields.family)
    fields.ignore("offset", raw & ~127)
    return None, scalar_register(raw & 127, _B32, "soffset", fields.family)
