"""Instructions as text in LLVM's syntax, as llvm-objdump 22 prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfmasim.isa import immediates
from mfmasim.isa.constants import constant_text
from mfmasim.isa.family import family
from mfmasim.isa.operands import SCALAR_NAMES, SPECIAL_NAMES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mfmasim.isa.instruction import Instruction, Operand

__all__ = ["operand_text", "text"]

_SDWA_PARTS = ("BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD")
_SDWA_UNUSED = ("UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE")
_OMOD = ("", "mul:2", "mul:4", "div:2")
_DPP_CONTROLS = {
    0x130: "wave_shl:1", 0x134: "wave_rol:1", 0x138: "wave_shr:1", 0x13C: "wave_ror:1",
    0x140: "row_mirror", 0x141: "row_half_mirror", 0x142: "row_bcast:15", 0x143: "row_bcast:31",
}  # fmt: skip
_DPP_ROWS = {0x10: "row_shl", 0x11: "row_shr", 0x12: "row_ror", 0x15: "row_newbcast"}


def _range(prefix: str, index: int, count: int) -> str:
    return f"{prefix}{index}" if count == 1 else f"{prefix}[{index}:{index + count - 1}]"


def _scalar(code: int, count: int) -> str:
    """Name of a scalar register by its hardware code."""
    if code < 102:
        return _range("s", code, count)
    base = max(first for first in SCALAR_NAMES if first <= code)
    name = SCALAR_NAMES[base]
    if name == "ttmp":
        return _range("ttmp", code - base, count)
    if name == "m0" or count == 2:
        return name
    return f"{name}_{'lo' if code == base else 'hi'}"


def operand_text(operand: Operand) -> str:
    """One operand with its sign modifiers."""
    if operand.kind == "s":
        text = _scalar(operand.index, operand.count)
    elif operand.kind == "const":
        text = constant_text(operand)
    elif operand.kind == "special":
        text = SPECIAL_NAMES[operand.index]
    elif operand.kind == "off":
        text = "off"
    else:
        text = _range(operand.kind, operand.index, operand.count)
    if operand.sext:
        return f"sext({text})"
    if operand.abs:
        text = f"|{text}|"
    if operand.neg:
        text = f"neg({text})" if operand.kind == "const" and not operand.abs else f"-{text}"
    return text


def _bits(name: str, value: int, count: int) -> str:
    return f"{name}:[{','.join(str(value >> i & 1) for i in range(count))}]"


def _printed(operands: Iterable[Operand]) -> list[str]:
    return [operand_text(operand) for operand in operands if operand.printed]


def _scalar_operands(ins: Instruction) -> tuple[list[str], list[str]]:
    parts = _printed(ins.dst)
    for operand in ins.src:
        if operand.kind == "label":
            parts.append(str(operand.bits))
        elif operand.kind == "imm":
            parts.append(immediates.text(ins, operand))
        elif operand.field == "literal":
            parts.append(immediates.inline_or_hex(operand.bits))
        elif operand.printed:
            parts.append(operand_text(operand))
    return [part for part in parts if part], []


def _smem(ins: Instruction) -> tuple[list[str], list[str]]:
    if not ins.src:
        return _printed(ins.dst), []
    base, soffset, *data = ins.src
    # A returning atomic has one data operand, source and destination together.
    first = data or list(ins.dst)
    parts = [immediates.decimal_or_hex(o.bits) if o.kind == "imm" else operand_text(o) for o in first[:1]]
    parts.append(operand_text(base))
    offset = ins.modifiers.get("offset", 0)
    number = f"-0x{-offset:x}" if offset < 0 else f"0x{offset:x}"
    parts.append(number if soffset.kind == "off" else operand_text(soffset))
    modifiers = [f"offset:{number}"] if soffset.kind != "off" and "offset" in ins.modifiers else []
    return parts, modifiers + (["glc"] if ins.modifiers["glc"] else [])


def _clamp_omod(ins: Instruction) -> list[str]:
    out = ["clamp"] if ins.modifiers.get("clamp") else []
    return out + ([_OMOD[ins.modifiers["omod"]]] if ins.modifiers.get("omod") else [])


def _vector(ins: Instruction) -> tuple[list[str], list[str]]:
    parts = _printed(ins.dst) + _printed(ins.src)
    modifiers = []
    if ins.modifiers.get("op_sel"):
        allowed = family(ins.arch).long_rows[ins.name].flags["op_sel"][0]
        bits = ",".join(str(ins.modifiers["op_sel"] >> int(bit) & 1) for bit in allowed)
        modifiers.append(f"op_sel:[{bits}]")
    if ins.modifiers.get("bitop3"):
        modifiers.insert(0, f"bitop3:{_hex(ins.modifiers['bitop3'])}")
    modifiers += ["bound_ctrl:1"] if ins.modifiers.get("bound_ctrl") else []
    modifiers += ["fi:1"] if ins.modifiers.get("fi") else []
    return parts, modifiers + _clamp_omod(ins)


def _hex(value: int) -> str:
    return f"0x{value:x}" if value > 9 else str(value)


def _sdwa(ins: Instruction) -> tuple[list[str], list[str]]:
    modifiers = _clamp_omod(ins)
    if "dst_sel" in ins.modifiers:
        modifiers.append(f"dst_sel:{_SDWA_PARTS[ins.modifiers['dst_sel']]}")
        modifiers.append(f"dst_unused:{_SDWA_UNUSED[ins.modifiers['dst_unused']]}")
    sources = [operand for operand in ins.src if operand.field in ("src0", "src1")]
    modifiers += [f"{operand.field}_sel:{_SDWA_PARTS[operand.sel]}" for operand in sources]
    return _printed(ins.dst) + _printed(ins.src), modifiers


def _dpp(ins: Instruction) -> tuple[list[str], list[str]]:
    control = ins.modifiers["dpp_ctrl"]
    if control < 0x100:
        name = f"quad_perm:[{','.join(str(control >> 2 * i & 3) for i in range(4))}]"
    else:
        name = _DPP_CONTROLS.get(control) or f"{_DPP_ROWS[control >> 4]}:{control & 15}"
    modifiers = [name, f"row_mask:0x{ins.modifiers['row_mask']:x}", f"bank_mask:0x{ins.modifiers['bank_mask']:x}"]
    modifiers += ["bound_ctrl:1"] if ins.modifiers["bound_ctrl"] else []
    return _printed(ins.dst) + _printed(ins.src), modifiers


def _packed(ins: Instruction) -> tuple[list[str], list[str]]:
    count = sum(operand.printed for operand in ins.src)
    full = (1 << count) - 1
    m = ins.modifiers
    modifiers = [_bits("op_sel", m["op_sel"], count)] if m.get("op_sel") else []
    mixed = "neg_lo" not in m
    high = m.get("op_sel_hi", full)
    if high != (0 if mixed else full):
        modifiers.append(_bits("op_sel_hi", high, count))
    modifiers += [_bits(name, m[name], count) for name in ("neg_lo", "neg_hi") if m.get(name)]
    return _printed(ins.dst) + _printed(ins.src), modifiers + _clamp_omod(ins)


def _matrix(ins: Instruction) -> tuple[list[str], list[str]]:
    m = ins.modifiers
    modifiers = []
    if "op_sel" in m:
        modifiers += [_bits("op_sel", m["op_sel"], 3)] if m["op_sel"] else []
        modifiers.append(_bits("op_sel_hi", m["op_sel_hi"], 3))
    modifiers += [f"{name}:{m[name]}" for name in ("cbsz", "abid", "blgp") if m.get(name)]
    modifiers += [_bits("neg", m["neg"], 3)] if m.get("neg") else []
    return _printed(ins.dst) + _printed(ins.src), modifiers


def _ds(ins: Instruction) -> tuple[list[str], list[str]]:
    m = ins.modifiers
    modifiers = []
    if ins.name == "ds_swizzle_b32":
        modifiers += [f"offset:{immediates.swizzle(m['offset'])}"] if m["offset"] else []
    else:
        modifiers += [f"{name}:{m[name]}" for name in ("offset", "offset0", "offset1") if m.get(name)]
    return _printed(ins.dst) + _printed(ins.src), modifiers + (["gds"] if m.get("gds") else [])


def _cache(ins: Instruction) -> list[str]:
    return [name for name in family(ins.arch).dialect.cache_order if ins.modifiers.get(name)]


def _flat(ins: Instruction) -> tuple[list[str], list[str]]:
    vaddr, saddr, *data = ins.src
    offset = ins.modifiers["offset"]
    modifiers = ([f"offset:{offset}"] if offset else []) + _cache(ins) + (["lds"] if ins.modifiers.get("lds") else [])
    return _printed((*ins.dst, vaddr, *data, saddr)), modifiers


def _mubuf(ins: Instruction) -> tuple[list[str], list[str]]:
    if not ins.src:
        return [], _cache(ins)
    vaddr, srsrc, soffset, *data = ins.src
    m = ins.modifiers
    parts = _printed([*(data or ins.dst), vaddr, srsrc, soffset])
    modifiers = [name for name in ("idxen", "offen") if m[name]]
    modifiers += [f"offset:{m['offset']}"] if m["offset"] else []
    return parts, modifiers + _cache(ins) + (["lds"] if m.get("lds") else [])


_BODY: dict[str, Callable[[Instruction], tuple[list[str], list[str]]]] = {
    **dict.fromkeys(("SOP1", "SOP2", "SOPC", "SOPK", "SOPP"), _scalar_operands),
    **dict.fromkeys(("VOP1", "VOP2", "VOPC", "VOP3"), _vector),
    **dict.fromkeys(("FLAT", "GLOBAL", "SCRATCH"), _flat),
    "SMEM": _smem,
    "SDWA": _sdwa,
    "DPP": _dpp,
    "VOP3P": _packed,
    "MAI": _matrix,
    "DS": _ds,
    "MUBUF": _mubuf,
}


def text(ins: Instruction) -> str:
    """Print an instruction.

    Args:
        ins: a decoded instruction.

    Returns:
        Mnemonic, operands and modifiers, separated by single spaces; a branch shows its raw SIMM16.
    """
    operands, modifiers = _BODY[ins.encoding](ins)
    line = ins.name + ins.form
    if operands:
        line += " " + ", ".join(operands)
    return " ".join([line, *modifiers])
