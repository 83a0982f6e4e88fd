"""Decoding of the vector memory encodings: DS, FLAT/GLOBAL/SCRATCH, MUBUF and MTBUF."""

from __future__ import annotations

import dataclasses

from mfmasim.isa.family import Family
from mfmasim.isa.fields import Fields, Refused, scalar_register, vector_register
from mfmasim.isa.instruction import Operand
from mfmasim.isa.opcode import Slot
from mfmasim.isa.operands import EXEC
from mfmasim.isa.parts import Parts
from mfmasim.isa.rows import Row

_V1, _V2 = Slot("b32"), Slot("b64", 2)
_S1, _S2, _S4 = Slot("b32"), Slot("b64", 2), Slot("b128", 4)
_SEGMENTS = ("FLAT", "SCRATCH", "GLOBAL")
_UNUSED_SADDR = 0x7F


def _data_file(fields: Fields) -> str:
    return "a" if fields.has("acc") and fields.take("acc") else "v"


def _cache_bits(fields: Fields, parts: Parts) -> None:
    for field, name in fields.family.dialect.cache.items():
        parts.modifiers[name] = fields.take(field)


def _returns(fields: Fields, parts: Parts) -> bool:
    """Whether a row has a destination: an atomic writes one only when its bits request the old value."""
    row, modifiers = fields.row, parts.modifiers
    if row.opcode.access != "atomic":
        return bool(row.dst)
    # gfx12: bit 0 of th, elsewhere the former glc bit.
    requested = bool(modifiers["th"] & 1 if "th" in modifiers else modifiers[fields.family.dialect.cache["glc"]])
    if requested and not row.dst:
        raise Refused(f"{row.name} does not return the old value on this architecture")
    return requested


def ds(fields: Fields) -> Parts:
    """LDS and GDS: one 16-bit offset, or two of 8 bits in units of the element."""
    row = fields.row
    parts = Parts()
    low, high = fields.take("offset0"), fields.take("offset1")
    if "offset2" in row.flags:
        parts.modifiers |= {"offset0": low, "offset1": high}
    elif "offset" in row.flags:
        parts.modifiers["offset"] = low | high << 8
    else:
        fields.ignore("offset0", low)
        fields.ignore("offset1", high)
    if fields.has("gds") and (("gds" in row.flags and fields.family.dialect.gds) or "gds_only" in row.flags):
        parts.modifiers["gds"] = fields.take("gds")
        if "gds_only" in row.flags and not parts.modifiers["gds"]:
            raise Refused(f"{row.name} needs the gds bit")
    file = _data_file(fields) if any(slot.file != "addr" for slot in (*row.dst, *row.src)) else "v"
    if not row.dst and not row.src:
        fields.skip("acc")
    for slot in row.dst:
        parts.dst.append(vector_register(file, fields.take("vdst"), slot, "vdst", fields.family))
    for slot in row.src:
        where = "v" if slot.file == "addr" else file
        parts.src.append(vector_register(where, fields.take(slot.file), slot, slot.file, fields.family))
    return parts


def flat_rows(family: Family, segment: int) -> tuple[str, dict[int, Row]]:
    """Encoding name and rows of a segment (0 FLAT, 1 SCRATCH, 2 GLOBAL)."""
    if segment == 3:
        raise Refused("segment 3 is reserved")
    name = _SEGMENTS[segment]
    return name, family.rows[name]


def flat(fields: Fields) -> Parts:
    """FLAT, GLOBAL and SCRATCH: vaddr, saddr and a signed offset."""
    segment = _SEGMENTS[fields.take("seg")]
    parts = Parts(encoding=segment)
    bits = fields.width("offset") - 1
    offset = fields.take("offset")
    if segment == "FLAT":
        if offset >> bits:
            raise Refused(f"the offset of a FLAT instruction is unsigned and has {bits} bits")
    else:
        offset -= offset >> bits << bits + 1
    parts.modifiers["offset"] = offset
    _cache_bits(fields, parts)
    parts.src += _flat_address(fields, segment)
    return _flat_data(fields, parts, segment)


def vflat(fields: Fields) -> Parts:
    """FLAT, GLOBAL and SCRATCH of gfx12: 96 bits, a signed offset of 24 bits, th and scope."""
    segment = fields.encoding
    parts = Parts()
    if not fields.row.src and not fields.row.dst:
        # Cache operations: global_inv, global_wb, global_wbinv.
        _unread_saddr(fields)
        parts.modifiers["scope"] = fields.take("scope")
        parts.modifiers["th"] = fields.take("th")
        return parts
    offset = fields.take("offset")
    parts.modifiers["offset"] = offset - (offset >> 23 << 24)
    _cache_bits(fields, parts)
    _scaled_offset(fields, parts)
    parts.src += _flat_address(fields, segment)
    return _flat_data(fields, parts, segment)


def _scaled_offset(fields: Fields, parts: Parts) -> None:
    """NV, and whether the address's offset register counts elements; bits that only CDNA5 has."""
    if fields.family.dialect.scaled_offset:
        for name in ("scale_offset", "nv"):
            if fields.has(name):
                parts.modifiers[name] = fields.take(name)


def _flat_data(fields: Fields, parts: Parts, segment: str) -> Parts:
    """Data and destination of a FLAT, GLOBAL or SCRATCH access."""
    row = fields.row
    data = next((slot for slot in row.src if slot.file == "data"), None)
    if (
        not fields.family.dialect.sve
        and fields.has("sve")
        and data is None
        and _can_go_to_lds(row)
        and segment != "FLAT"
    ):
        # CDNA2: this bit sends the loaded dword to LDS.
        parts.modifiers["lds"] = fields.take("sve")
        if parts.modifiers["lds"]:
            fields.skip("acc")
            return parts
    returns = _returns(fields, parts)
    file = _data_file(fields) if data is not None or returns else "v"
    if data is None and not returns:
        fields.skip("acc")
    if data is not None:
        parts.src.append(vector_register(file, fields.take("data"), data, "data", fields.family))
    if returns:
        parts.dst.append(vector_register(file, fields.take("vdst"), row.dst[0], "vdst", fields.family))
    for slot in row.src:
        if slot.file == "vdst":  # of an asynchronous load: the address in the LDS
            parts.src.append(vector_register("v", fields.take("vdst"), slot, "vdst", fields.family))
    return parts


def _can_go_to_lds(row: Row) -> bool:
    return bool(row.dst) and row.dst[0].count == 1 and not row.opcode.d16


def _flat_address(fields: Fields, segment: str) -> list[Operand]:
    """[vaddr, saddr], `off` where one is not used."""
    none = fields.family.dialect.no_saddr
    code = fields.peek("saddr")
    based = segment == "GLOBAL" or (segment == "FLAT" and fields.family.dialect.flat_base)
    if segment == "FLAT" and not based:
        if fields.family.dialect.flat_saddr and code != none:
            raise Refused("saddr of a FLAT instruction must be null")
        _unread_saddr(fields)
        vaddr = vector_register("v", fields.take("vaddr"), _V2, "vaddr", fields.family)
        return [vaddr, Operand("off", field="saddr", printed=False)]
    fields.take("saddr")
    if not any(slot.type == "addr" for slot in fields.row.src):
        off = code == none and not fields.row.opcode.kind
        saddr = Operand("off", field="saddr") if off else scalar_register(code, _S2, "saddr", fields.family)
        return [Operand("off", field="vaddr", printed=False), saddr]
    if based:
        if code == none:
            vaddr = vector_register("v", fields.take("vaddr"), _V2, "vaddr", fields.family)
            return [vaddr, Operand("off", field="saddr", printed=segment != "FLAT")]
        vaddr = vector_register("v", fields.take("vaddr"), _V1, "vaddr", fields.family)
        if code >= 124:
            raise Refused("saddr cannot be EXEC")
        return [vaddr, scalar_register(code, _S2, "saddr", fields.family)]
    if code == fields.family.dialect.scratch_offset_alone:
        return [Operand("off", field="vaddr"), Operand("off", field="saddr")]
    if code >= EXEC and none != _UNUSED_SADDR:
        raise Refused("saddr cannot be EXEC")
    saddr = Operand("off", field="saddr") if code == none else scalar_register(code, _S1, "saddr", fields.family)
    uses_vaddr = bool(fields.take("sve")) if fields.family.dialect.sve else code == none
    if uses_vaddr:
        return [vector_register("v", fields.take("vaddr"), _V1, "vaddr", fields.family), saddr]
    return [Operand("off", field="vaddr"), saddr]


def _unread_saddr(fields: Fields) -> None:
    """Ignore SADDR, which is 0 on gfx9 and names no register on later generations."""
    none = fields.family.dialect.no_saddr
    fields.ignore("saddr", fields.take("saddr"), 0 if none == _UNUSED_SADDR else none)


def mubuf(fields: Fields) -> Parts:
    """Buffer loads, stores and atomics: vaddr (index, offset or both), a descriptor, an SGPR offset."""
    row = fields.row
    parts = Parts()
    if not row.dst and not row.src:
        names = fields.family.dialect.cache
        # Their operands are absent, and so is what says how these are used.
        fields.skip("offen", "idxen", "acc", "slc")
        if "th" in names or "dlc" in names:
            fields.skip("glc", "dlc")
            return parts
        parts.modifiers = {names[field]: fields.take(field) for field in row.flags.get("cache", ())}
        if "cache" not in row.flags and fields.has("scc"):
            # Where they have no effect, assemblers set both in buffer_wbl2.
            fields.ignore("scc", fields.take("scc"), usual=fields.take("glc"))
        return parts
    _cache_bits(fields, parts)
    if row.opcode.access == "atomic" and not fields.family.dialect.buffer_atomic_dlc:
        fields.ignore("dlc", parts.modifiers.pop("dlc"))
    _scaled_offset(fields, parts)
    if "format" in row.flags:
        parts.encoding = "MTBUF"
        kinds = ("format",) if fields.has("format") else ("data_format", "num_format")
        parts.modifiers |= {name: fields.take(name) for name in kinds}
    elif fields.has("format"):
        fields.ignore("format", fields.take("format"), usual=1)
    for name in ("offset", "offen", "idxen"):
        parts.modifiers[name] = fields.take(name)
    lds = fields.take("lds") if "lds" in row.flags else 0
    if "lds" in row.flags:
        parts.modifiers["lds"] = lds
    count = parts.modifiers["offen"] + parts.modifiers["idxen"]
    if count:
        slot = _V2 if count == 2 else _V1
        parts.src.append(vector_register("v", fields.take("vaddr"), slot, "vaddr", fields.family))
    else:
        parts.src.append(Operand("off", field="vaddr"))
    # gfx12 names the register in nine bits, earlier generations a group of four in five.
    resource = fields.take("srsrc") if fields.width("srsrc") == 9 else 4 * fields.take("srsrc")
    parts.src.append(scalar_register(resource, _S4, "srsrc", fields.family))
    parts.src.append(fields.scalar("soffset", _S1))
    if parts.modifiers["offset"] >> 23:
        raise Refused(f"the offset of {row.name} must not be negative")
    if lds:
        return parts
    file = _data_file(fields)
    number = fields.take("vdata")
    data = next((slot for slot in row.src if slot.file == "data"), None)
    if data is not None:
        parts.src.append(vector_register(file, number, data, "vdata", fields.family))
    if _returns(fields, parts):
        slot = row.dst[0]
        if fields.has("tfe") and slot.file != "rtn" and "format" not in row.flags and fields.take("tfe"):
            # The status dword follows the data.
            parts.modifiers["tfe"] = 1
            slot = dataclasses.replace(slot, count=slot.count + 1)
        parts.dst.append(vector_register(file, number, slot, "vdata", fields.family))
    return parts


def tensor(fields: Fields) -> Parts:
    """The tensor data mover: a descriptor in two or four groups of SGPRs, the absent ones `null`."""
    parts = Parts(modifiers={name: fields.take(name) for name in ("th", "scope", "nv", "r128")})
    for slot in fields.row.src:
        parts.src.append(scalar_register(fields.take(slot.file), slot, slot.file, fields.family))
    absent = [operand.kind == "null" for operand in parts.src]
    if absent[0] or absent[1] or absent[2] != absent[3]:
        raise Refused(f"{fields.row.name} has two or four groups of SGPRs")
    fields.ignore("vaddr4", fields.take("vaddr4"), usual=fields.family.dialect.no_saddr)
    for name, usual in (("dim", 1), ("dmask", 1)):
        fields.ignore(name, fields.take(name), usual)
    fields.skip("d16", "a16", "tfe", "vdata", "rsrc")
    return parts
