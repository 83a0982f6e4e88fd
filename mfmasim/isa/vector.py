"""Decoding of VOP1, VOP2, VOPC, VOP3 and their SDWA and DPP forms."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from mfmasim.isa.dpp import CODES, take_controls
from mfmasim.isa.encodings import DPP16, DPP16_RESERVED, SDWA9, SDWA9_RESERVED, SDWA9B, VOP3B
from mfmasim.isa.fields import Fields, Refused, implicit, scalar_register, vector_register
from mfmasim.isa.instruction import Operand
from mfmasim.isa.opcode import Slot
from mfmasim.isa.operands import DPP, EXEC, SDWA, VCC
from mfmasim.isa.parts import Parts

_SOURCES = ("src0", "src1", "src2")


def _destination(fields: Fields, slot: Slot, name: str = "vdst") -> Operand:
    """Vector destination, or the scalar one of v_readlane."""
    code = fields.take(name)
    if slot.file == "s":
        if code > 127:
            raise Refused(f"{name} of {fields.row.name} is not a scalar register")
        if code >= EXEC and slot.type != "b32":
            # LLVM has no form of a pseudo-scalar operation that writes EXEC.
            raise Refused(f"{name} of {fields.row.name} may not be EXEC")
        if code == fields.family.dialect.codes.m0 and slot.type == "b32":
            # LLVM: SReg_32_XM0.
            raise Refused(f"{name} of {fields.row.name} may not be M0")
        return scalar_register(code, slot, name, fields.family)
    code = fields.half(code, slot, 3)
    return vector_register("a" if slot.file == "a" else "v", code, slot, name, fields.family)


def _sources(
    fields: Fields, parts: Parts, mask: Callable[[Slot], Operand], one: Callable[[str, Slot], Operand]
) -> None:
    """Fill in the sources in order; `one` decodes an ordinary one, `mask` a lane mask."""
    names = iter(_SOURCES)
    for slot in fields.row.src:
        if slot.tied:
            parts.read_back(parts.dst[0])
        elif slot.type.startswith("exec") or not slot.printed:
            parts.src.append(implicit(slot, EXEC if slot.type.startswith("exec") else VCC))
        elif slot.type == "vcc":
            parts.src.append(mask(slot))
        elif slot.type == "K":
            kind = fields.row.dst[0].type
            parts.src.append(fields.constant(kind))
        else:
            operand = one(next(names), slot)
            if slot.file in ("v", "s", "a") and (operand.kind == "v") == (slot.file == "s"):
                wanted = "scalar" if slot.file == "s" else "a vector register"
                raise Refused(f"{operand.field} of {fields.row.name} must be {wanted}")
            parts.src.append(dataclasses.replace(operand, kind="a") if slot.file == "a" else operand)


def _implicit_vcc(slot: Slot) -> Operand:
    return implicit(slot, VCC)


def short_form(fields: Fields) -> Parts:
    """VOP1, VOP2, VOPC: 32 bits, or with a second dword of SDWA or DPP controls."""
    code = fields.peek("src0")
    second = fields.family.dialect.second_dword
    if code in second:
        return _sdwa(fields) if code == SDWA else _dpp(fields)
    if DPP not in second and code in CODES:
        return _dpp_rdna(fields)
    parts = Parts(form="" if "bare" in fields.row.flags else "_e32")
    for slot in fields.row.dst:
        parts.dst.append(_short_destination(fields, slot))

    def one(name: str, slot: Slot) -> Operand:
        if name == "src1":
            return vector_register("v", fields.half(fields.take("src1"), slot, 1), slot, name, fields.family)
        return fields.source(name, slot)

    _sources(fields, parts, _implicit_vcc, one)
    if fields.row.dst and len(fields.row.dst) > 1 and fields.row.dst[1].file == "src0":
        _swap(parts)
    _halves(fields, parts)
    return parts


def _halves(fields: Fields, parts: Parts) -> None:
    """Set op_sel to the halves that the register numbers of a short encoding select."""
    if any(slot.file == "h" for slot in (*fields.row.dst, *fields.row.src)):
        parts.modifiers["op_sel"] = fields.op_sel


def _dpp_rdna(fields: Fields) -> Parts:
    """DPP16 and DPP8 of VOP1, VOP2 and VOPC on RDNA."""
    controls = take_controls(fields, long_form=False)
    # LLVM gives the compares no suffix.
    form = "" if fields.encoding == "VOPC" else "_dpp"
    parts = Parts(encoding=controls.encoding, form=form, modifiers=dict(controls.modifiers))
    for slot in fields.row.dst:
        parts.dst.append(_short_destination(fields, slot))

    def one(name: str, slot: Slot) -> Operand:
        index = int(name[-1])
        number = fields.half(fields.take(name) if index else controls.number, slot, index)
        neg, abs_ = bool(controls.negative >> index & 1), bool(controls.absolute >> index & 1)
        return vector_register("v", number, slot, name, fields.family, neg=neg, abs_=abs_)

    _sources(fields, parts, _implicit_vcc, one)
    _halves(fields, parts)
    return parts


def _short_destination(fields: Fields, slot: Slot) -> Operand:
    if slot.type == "exec":
        return implicit(slot, EXEC)
    if slot.type == "vcc":
        return implicit(slot, VCC)
    if slot.file == "src0":
        # v_swap_b32 writes its source as well; filled in when the source is known.
        return Operand("v", printed=False)
    return _destination(fields, slot)


def _swap(parts: Parts) -> None:
    if parts.src[0].kind != "v":
        raise Refused("both operands of an exchange must be vector registers")
    parts.dst[1] = dataclasses.replace(parts.src[0], printed=False, field="")


def _take_sources(fields: Fields, parts: Parts, *, sdwa: bool) -> None:
    """Sources of the SDWA and DPP forms, with neg, abs, sext and sel."""

    def one(name: str, slot: Slot) -> Operand:
        signed = slot.signed
        neg = bool(fields.take(f"{name}_neg")) if signed else False
        abs_ = bool(fields.take(f"{name}_abs")) if signed else False
        sext = bool(fields.take(f"{name}_sext")) if sdwa and not signed else False
        sel = fields.take(f"{name}_sel") if sdwa else 6
        if sel == 7:
            raise Refused(f"{name}_sel has the reserved value 7")
        if sdwa and fields.take("s0" if name == "src0" else "s1"):
            operand = fields.source(name, slot, neg=neg, abs_=abs_)
        else:
            operand = vector_register("v", fields.take(name), slot, name, fields.family, neg=neg, abs_=abs_)
        return dataclasses.replace(operand, sext=sext, sel=sel)

    _sources(fields, parts, _implicit_vcc, one)


def _sdwa(fields: Fields) -> Parts:
    row = fields.row
    if "sdwa" not in row.flags:
        raise Refused(f"{row.name} has no SDWA form")
    compare = fields.encoding == "VOPC"
    fields.rename(("src0",), SDWA9B if compare else SDWA9)
    fields.ignore("reserved", fields.word & SDWA9_RESERVED)
    parts = Parts(encoding="SDWA", form="_sdwa")
    if compare:
        explicit, code = fields.take("sd"), fields.take("sdst")
        if explicit and all(slot.type == "exec" for slot in row.dst):
            raise Refused(f"{row.name} writes EXEC alone, not sdst")
        for slot in row.dst:
            if slot.type == "vcc" and explicit:
                parts.dst.append(scalar_register(code, slot, "sdst", fields.family))
            else:
                parts.dst.append(_short_destination(fields, slot))
        if not explicit:
            fields.ignore("sdst", code)
        _take_sources(fields, parts, sdwa=True)
        return parts
    for slot in row.dst:
        parts.dst.append(_short_destination(fields, slot))
    arguments = row.flags["sdwa"]
    parts.modifiers = {flag: fields.take(flag) for flag in ("clamp", "omod") if flag in arguments}
    if "sdwa_dword" in row.flags:
        if fields.take("dst_sel") != 6:
            raise Refused(f"{row.name} can only write whole dwords")
        fields.skip("dst_unused")
        _take_sources(fields, parts, sdwa=True)
        return parts
    parts.modifiers |= {name: fields.take(name) for name in ("dst_sel", "dst_unused")}
    if parts.modifiers["dst_sel"] == 7 or parts.modifiers["dst_unused"] == 3:
        raise Refused("its destination selector has a reserved value")
    _take_sources(fields, parts, sdwa=True)
    return parts


def _dpp(fields: Fields) -> Parts:
    row = fields.row
    if "dpp" not in row.flags and "dpp64" not in row.flags:
        raise Refused(f"{row.name} has no DPP form")
    fields.rename(("src0",), DPP16)
    fields.ignore("reserved", fields.word & DPP16_RESERVED)
    parts = Parts(encoding="DPP", form="_dpp")
    for slot in row.dst:
        parts.dst.append(_short_destination(fields, slot))
    parts.modifiers = {name: fields.take(name) for name in ("dpp_ctrl", "row_mask", "bank_mask", "bound_ctrl")}
    control = parts.modifiers["dpp_ctrl"]
    if not _dpp_control(control, fields.family.dialect.dpp_rows) or ("dpp64" in row.flags and control >> 4 != 0x15):
        raise Refused(f"dpp_ctrl {control:#x} is reserved")
    _take_sources(fields, parts, sdwa=False)
    return parts


def _dpp_control(control: int, rows: dict[int, str]) -> bool:
    """Whether a DPP control exists (CDNA3 ISA manual, table of DPP_CTRL values); `rows` as `Dialect.dpp_rows`."""
    named = control >> 4 in rows and (control & 15 or control >> 4 not in (0x10, 0x11, 0x12))
    return bool(control < 0x100 or named or control in (0x130, 0x134, 0x138, 0x13C, 0x140, 0x141, 0x142, 0x143))


def long_form(fields: Fields, *, promoted: str = "") -> Parts:
    """VOP3: 64 bits, three sources of any kind, neg, abs, clamp, omod, op_sel."""
    row = fields.row
    flags = dict.fromkeys(row.flags["e64"]) if promoted else row.flags
    op_sel = row.flags.get("op_sel")
    parts = Parts(form="_e64" if promoted and "bare" not in row.flags else "")
    controls = None
    if DPP not in fields.family.dialect.second_dword and fields.peek("src0") in CODES:
        controls = take_controls(fields, long_form=True)
        parts = Parts(encoding=controls.encoding, form="_e64_dpp", modifiers=dict(controls.modifiers))
    if row.dst and all(slot.type == "exec" for slot in row.dst) and fields.take("vdst") != EXEC:
        raise Refused(f"vdst of {row.name} must be EXEC")
    carry = any(slot.type == "vcc" for slot in row.dst) and row.dst[0].type != "vcc"
    if carry:
        fields.rename(("abs", "op_sel"), VOP3B)
    for slot in row.dst:
        if slot.type == "exec":
            parts.dst.append(implicit(slot, EXEC))
        elif slot.type == "vcc":
            name = "sdst" if carry else "vdst"
            code = fields.take(name)
            if code > 127:
                raise Refused(f"{name} of {row.name} is not a scalar register")
            parts.dst.append(scalar_register(code, slot, name, fields.family))
        elif slot.file == "src0":
            parts.dst.append(Operand("v", printed=False))
        else:
            parts.dst.append(_destination(fields, slot))
    negative, absolute = _signs(fields, parts, carry=carry, bitop="bitop3" in row.flags)
    if "clamp" in flags:
        parts.modifiers["clamp"] = fields.take("clamp")
    if "omod" in flags:
        parts.modifiers["omod"] = fields.take("omod")
    order = row.flags["byte_sel"][0] if "byte_sel" in row.flags else ""
    halves = op_sel[-1] if op_sel is not None else ""
    if op_sel is not None or order:
        bits = _op_sel(fields, halves + order)
    if op_sel is not None:
        parts.modifiers["op_sel"] = bits & sum(1 << int(bit) for bit in halves)
    if order:
        parts.modifiers["byte_sel"] = sum((bits >> int(bit) & 1) << i for i, bit in enumerate(order))
    if "scale_sel" in flags:
        parts.modifiers["scale_sel"] = _op_sel(fields, "0123")
    if "permlane" in flags:
        bits = _op_sel(fields, "01")
        parts.modifiers |= {"fi": bits & 1, "bound_ctrl": bits >> 1}
    if "bc_fi" in flags:
        bits = _op_sel(fields, "01")
        parts.modifiers |= {"bound_ctrl": bits >> 1 & 1, "fi": bits & 1}

    def one(name: str, slot: Slot) -> Operand:
        index = int(name[-1])
        neg, abs_ = bool(negative >> index & 1), bool(absolute >> index & 1)
        if controls and not index:
            return vector_register("v", controls.number, slot, name, fields.family, neg=neg, abs_=abs_)
        return fields.source(name, slot, neg=neg, abs_=abs_)

    def mask(slot: Slot) -> Operand:
        operand = fields.source("src2", slot)
        if operand.kind not in ("s", "null"):
            raise Refused(f"the lane mask of {row.name} must be a scalar register")
        return operand

    _sources(fields, parts, mask, one)
    if len(row.dst) > 1 and row.dst[1].file == "src0":
        _swap(parts)
    return parts


def interpolation(fields: Fields) -> Parts:
    """VINTERP: three VGPRs, neg, clamp, op_sel, and the EXPCNT to wait for."""
    row, parts = fields.row, Parts()
    for slot in row.dst:
        parts.dst.append(_destination(fields, slot))
    negative = fields.take("neg")
    parts.modifiers = {name: fields.take(name) for name in ("clamp", "wait_exp")}
    if "op_sel" in row.flags:
        parts.modifiers["op_sel"] = _op_sel(fields, row.flags["op_sel"][-1])

    def one(name: str, slot: Slot) -> Operand:
        operand = fields.source(name, slot, neg=bool(negative >> int(name[-1]) & 1))
        if operand.kind != "v":
            raise Refused(f"{name} of {row.name} must be a vector register")
        return operand

    _sources(fields, parts, _implicit_vcc, one)
    return parts


def _signs(fields: Fields, parts: Parts, *, carry: bool, bitop: bool) -> tuple[int, int]:
    """(neg, abs) of the sources; v_bitop3 stores its truth table in these bits."""
    row = fields.row
    if bitop:
        parts.modifiers["bitop3"] = fields.take("neg") | fields.take("abs") << 3 | fields.take("omod") << 6
        return 0, 0
    allowed = sum(1 << i for i, slot in enumerate(s for s in row.src if s.printed) if slot.signed)
    if not allowed:
        return 0, 0
    why = f"neg or abs on a source of {row.name} that has none"
    negative = fields.of_sources("neg", allowed, why)
    return negative, 0 if carry else fields.of_sources("abs", allowed, why)


def _op_sel(fields: Fields, allowed: str) -> int:
    value = fields.take("op_sel")
    # Also those of absent sources: LLVM refuses them beside true ones, or reads an operation without halves.
    if value & ~sum(1 << int(bit) for bit in allowed):
        raise Refused(f"op_sel {value:#x} of {fields.row.name} has bits that it does not take")
    return value
