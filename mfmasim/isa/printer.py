"""Instructions as text in LLVM's syntax, as llvm-objdump 22 prints them."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from mfmasim.isa import cache_text, immediates
from mfmasim.isa.buffer_formats import DEFAULT, format_text, split_text
from mfmasim.isa.constants import constant_text
from mfmasim.isa.family import family
from mfmasim.isa.operands import DPP, GFX9_CODES, LITERAL, LITERAL64

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mfmasim.isa.operands import ScalarCodes
    from mfmasim.isa.record import InstructionFields, Operand

_SDWA_PARTS = ("BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD")
_SDWA_UNUSED = ("UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE")
_OMOD = ("", "mul:2", "mul:4", "div:2")
_DPP_CONTROLS = {
    0x130: "wave_shl:1", 0x134: "wave_rol:1", 0x138: "wave_shr:1", 0x13C: "wave_ror:1",
    0x140: "row_mirror", 0x141: "row_half_mirror", 0x142: "row_bcast:15", 0x143: "row_bcast:31",
}  # fmt: skip


def _range(prefix: str, index: int, count: int) -> str:
    return f"{prefix}{index}" if count == 1 else f"{prefix}[{index}:{index + count - 1}]"


def _scalar(code: int, count: int, codes: ScalarCodes) -> str:
    """Name of a scalar register by its hardware code."""
    if code < codes.named:
        return _range("s", code, count)
    base = max(first for first in codes.names if first <= code)
    name = codes.names[base]
    if name == "ttmp":
        return _range("ttmp", code - base, count)
    if name == "m0" or count == 2:
        return name
    return f"{name}_{'lo' if code == base else 'hi'}"


def _registers(file: str, index: int, count: int, half: str) -> str:
    """Name of vector registers; behind that of the code the one that MODE selects, where it is above v255."""
    named = _range(file, index & 0xFF, count) + half
    return f"{named} /*{_range(file, index, count)}{half}*/" if index > 0xFF else named


def operand_text(operand: Operand, codes: ScalarCodes = GFX9_CODES, half: str = "") -> str:
    """One operand with its sign modifiers.

    Args:
        operand: the operand.
        codes: the architecture's names of scalar registers.
        half: name of the half that a 16-bit operand selects, ``.l`` or ``.h``; empty where the text has no names.
    """
    if operand.kind == "s":
        text = _scalar(operand.index, operand.count, codes)
    elif operand.kind == "null":
        text = "null"
    elif operand.kind == "const":
        text = constant_text(operand)
    elif operand.kind == "special":
        text = codes.special[operand.index]
    elif operand.kind == "off":
        text = "off"
    else:
        text = _registers(*operand.written, operand.count, half)
    if operand.sext:
        return f"sext({text})"
    if operand.abs:
        text = f"|{text}|"
    if operand.neg:
        number = operand.kind == "const" and not operand.abs and not text.startswith("lit(")
        text = f"neg({text})" if number else f"-{text}"
    return text


def _bits(name: str, value: int, count: int) -> str:
    return f"{name}:[{','.join(str(value >> i & 1) for i in range(count))}]"


def _codes(ins: InstructionFields) -> ScalarCodes:
    return family(ins.arch).dialect.codes


# Bit of op_sel by field of the operand.
_SELECTOR = {"src0": 0, "src1": 1, "src2": 2, "vdst": 3}


# LLVM treats the constants of these operands as another type, which affects only their text.
_CONSTANT_TYPES = {"SOP1": "b32", "SOPC": "b16"}


def _as_printed(ins: InstructionFields, operand: Operand) -> Operand:
    if operand.kind != "const":
        return operand
    if operand.index == LITERAL64:
        # Operands of fewer bits hold the lower ones alone.
        operand = dataclasses.replace(operand, bits=int.from_bytes(ins.raw[-8:], "little"))
    if operand.type == "f16" and ins.encoding in _CONSTANT_TYPES:
        return dataclasses.replace(operand, type=_CONSTANT_TYPES[ins.encoding])
    if ins.name.startswith("v_cvt_pk_f32_") and operand.type == "b16":
        return dataclasses.replace(operand, type="f16")
    if ins.opcode.narrows_halves:
        return dataclasses.replace(operand, type="raw")
    if ins.name == "v_pk_fmac_f16" and not family(ins.arch).dialect.second_dword:
        return dataclasses.replace(operand, type="splat_f16")
    if operand.index == LITERAL and "_mix" in ins.name:
        return dataclasses.replace(operand, type="bf16" if ins.name.endswith("_bf16") else "f16")
    if "_class_f16" in ins.name and operand.type == "b16":
        return dataclasses.replace(operand, type="f16")
    if operand.index == LITERAL and operand.field == "src2" and ins.name.startswith("v_perm_pk16_b"):
        return dataclasses.replace(operand, type="b32")
    return operand


def _printed(ins: InstructionFields, operands: Iterable[Operand]) -> list[str]:
    codes = _codes(ins)
    return [
        operand_text(_as_printed(ins, operand), codes, _half(ins, operand)) for operand in operands if operand.printed
    ]


def _half(ins: InstructionFields, operand: Operand) -> str:
    if not (operand.half and ins.named_halves):
        return ""
    return ".h" if ins.modifiers.get("op_sel", 0) >> _SELECTOR[operand.field] & 1 else ".l"


def _scalar_operands(ins: InstructionFields) -> tuple[list[str], list[str]]:
    parts = _printed(ins, ins.dst)
    for operand in ins.src:
        if operand.kind == "label":
            parts.append(str(operand.bits))
        elif operand.kind == "imm":
            parts.append(immediates.text(ins, operand))
        elif operand.field == "literal" and ins.encoding == "SOPK":
            parts.append(immediates.inline_or_hex(operand.bits))
        elif operand.printed:
            parts.append(operand_text(_as_printed(ins, operand), _codes(ins)))
    return [part for part in parts if part], []


def _smem(ins: InstructionFields) -> tuple[list[str], list[str]]:
    if not ins.src:
        return _printed(ins, ins.dst), []
    base, soffset, *data = ins.src
    # A returning atomic has one data operand, source and destination together.
    first = (data or list(ins.dst))[:1]
    offset = ins.modifiers.get("offset", 0)
    number = f"-0x{-offset:x}" if offset < 0 else f"0x{offset:x}"
    if "prefetch" in ins.name:
        # A prefetch: its length comes last.
        return [*_printed(ins, [base]), number, *_printed(ins, [soffset]), str(first[0].bits)], []
    parts = [immediates.decimal_or_hex(o.bits) if o.kind == "imm" else "".join(_printed(ins, [o])) for o in first]
    parts += _printed(ins, [base])
    # RDNA prints `null` where there is neither register nor offset to be added.
    lonely = soffset.kind == "off" or (soffset.kind == "null" and (offset or family(ins.arch).dialect.smem_zero))
    parts.append(number if lonely else "".join(_printed(ins, [soffset])))
    modifiers = [f"offset:{number}"] if not lonely and "offset" in ins.modifiers and _shown(ins, offset) else []
    return parts, modifiers + cache_text.scaled(ins) + cache_text.cache(
        ins, family(ins.arch).dialect.smem_cache
    ) + cache_text.volatile(ins)


def _shown(ins: InstructionFields, offset: int) -> bool:
    """The form with both offsets shows a zero, except where it is the only form (gfx11)."""
    dialect = family(ins.arch).dialect
    return bool(offset) or DPP in dialect.second_dword or dialect.smem_zero


def _clamp_omod(ins: InstructionFields) -> list[str]:
    out = ["clamp"] if ins.modifiers.get("clamp") else []
    return out + ([_OMOD[ins.modifiers["omod"]]] if ins.modifiers.get("omod") else [])


def _vector(ins: InstructionFields) -> tuple[list[str], list[str]]:
    parts = _printed(ins, (*ins.dst, *ins.src))
    modifiers = []
    if ins.modifiers.get("op_sel"):
        allowed = family(ins.arch).op_sel.get(ins.name, "")
        # Short encodings select halves only by register numbers.
        if ins.form == "_e64_dpp" and ins.name.startswith("v_cmp"):
            allowed = allowed.removesuffix("3")
        if allowed and (ins.encoding in ("VOP3", "VINTERP") or ins.form == "_e64_dpp"):
            bits = ",".join(str(ins.modifiers["op_sel"] >> int(bit) & 1) for bit in allowed)
            modifiers.append(f"op_sel:[{bits}]")
    if ins.modifiers.get("bitop3"):
        modifiers.insert(0, f"bitop3:{_hex(ins.modifiers['bitop3'])}")
    if ins.modifiers.get("scale_sel"):
        modifiers.append(f"scale_sel:{ins.modifiers['scale_sel']}")
    if ins.modifiers.get("byte_sel"):
        modifiers.append(f"byte_sel:{ins.modifiers['byte_sel']}")
    if "fi" in ins.modifiers and ins.encoding == "VOP3":
        modifiers += _fetch(ins)
    if "wait_exp" in ins.modifiers:
        return parts, [*_clamp_omod(ins), *modifiers, f"wait_exp:{ins.modifiers['wait_exp']}"]
    return parts, modifiers + _clamp_omod(ins)


def _fetch(ins: InstructionFields) -> list[str]:
    """How a lane permutation treats inactive lanes: two names, or in those that are VOP3 alone the bits of op_sel."""
    fi, bound = ins.modifiers["fi"], ins.modifiers["bound_ctrl"]
    if ins.form != "_e64":
        return [_bits("op_sel", fi | bound << 1, 2)] if fi or bound else []
    return ["bound_ctrl:1"] * bound + ["fi:1"] * fi


def _hex(value: int) -> str:
    return f"0x{value:x}" if value > 10 else str(value)


def _sdwa(ins: InstructionFields) -> tuple[list[str], list[str]]:
    modifiers = _clamp_omod(ins)
    if "dst_sel" in ins.modifiers:
        modifiers.append(f"dst_sel:{_SDWA_PARTS[ins.modifiers['dst_sel']]}")
        modifiers.append(f"dst_unused:{_SDWA_UNUSED[ins.modifiers['dst_unused']]}")
    sources = [operand for operand in ins.src if operand.field in ("src0", "src1")]
    modifiers += [f"{operand.field}_sel:{_SDWA_PARTS[operand.sel]}" for operand in sources]
    return _printed(ins, (*ins.dst, *ins.src)), modifiers


def _dpp(ins: InstructionFields) -> tuple[list[str], list[str]]:
    m = ins.modifiers
    packed = "neg_lo" in m or "op_sel_hi" in m
    parts, modifiers = _packed(ins) if packed else _vector(ins)
    if "dpp8" in m:
        modifiers.append(f"dpp8:[{','.join(str(m['dpp8'] >> 3 * i & 7) for i in range(8))}]")
        return parts, modifiers + ["fi:1"] * m["fi"]
    control = m["dpp_ctrl"]
    if control < 0x100:
        name = f"quad_perm:[{','.join(str(control >> 2 * i & 3) for i in range(4))}]"
    else:
        rows = family(ins.arch).dialect.dpp_rows
        name = _DPP_CONTROLS.get(control) or f"{rows[control >> 4]}:{control & 15}"
    modifiers += [name, f"row_mask:0x{m['row_mask']:x}", f"bank_mask:0x{m['bank_mask']:x}"]
    modifiers += ["bound_ctrl:1"] if m["bound_ctrl"] else []
    return parts, modifiers + (["fi:1"] if m.get("fi") else [])


def _packed(ins: InstructionFields) -> tuple[list[str], list[str]]:
    count = sum(operand.printed for operand in ins.src)
    full = (1 << count) - 1
    m = ins.modifiers
    modifiers = [_bits("op_sel", m["op_sel"], count)] if m.get("op_sel") else []
    mixed = "neg_lo" not in m
    high = m.get("op_sel_hi", full)
    if high != (0 if mixed else full):
        modifiers.append(_bits("op_sel_hi", high, count))
    modifiers += [_bits(name, m[name], count) for name in ("neg_lo", "neg_hi") if m.get(name)]
    return _printed(ins, (*ins.dst, *ins.src)), modifiers + _clamp_omod(ins)


def _matrix(ins: InstructionFields) -> tuple[list[str], list[str]]:
    m = ins.modifiers
    modifiers = []
    if "op_sel" in m:
        modifiers += [_bits("op_sel", m["op_sel"], 3)] if m["op_sel"] else []
        modifiers.append(_bits("op_sel_hi", m["op_sel_hi"], 3))
    modifiers += [f"{name}:{m[name]}" for name in ("cbsz", "abid", "blgp") if m.get(name)]
    modifiers += [_bits("neg", m["neg"], 3)] if m.get("neg") else []
    return _printed(ins, (*ins.dst, *ins.src)), modifiers


def _wmma(ins: InstructionFields) -> tuple[list[str], list[str]]:
    m = ins.modifiers
    modifiers = [_bits("op_sel", m["op_sel"], 3)] if m.get("op_sel") else []
    modifiers += [_bits("op_sel_hi", m["op_sel_hi"], 3)] if m.get("op_sel_hi", 7) != 7 else []
    modifiers += [f"index_key:{m['index_key']}"] if m.get("index_key") else []
    for name, values in _MATRIX_NAMES.items():
        for side in "ab":
            if value := m.get(f"matrix_{side}_{name}"):
                known = values.get(value, str(value))
                modifiers.append(f"matrix_{side}_{name}:{known}")
    modifiers += [f"matrix_{side}_reuse" for side in "ab" if m.get(f"matrix_{side}_reuse")]
    modifiers += [_bits(name, m[name], 3) for name in ("neg_lo", "neg_hi") if m.get(name)]
    return _printed(ins, (*ins.dst, *ins.src)), modifiers + _clamp_omod(ins)


# CDNA5 ISA manual, 7.12.6; spelling of llvm-mc 22.
_MATRIX_NAMES = {
    "fmt": {1: "MATRIX_FMT_BF8", 2: "MATRIX_FMT_FP6", 3: "MATRIX_FMT_BF6", 4: "MATRIX_FMT_FP4"},
    "scale": {1: "MATRIX_SCALE_ROW1"},
    "scale_fmt": {1: "MATRIX_SCALE_FMT_E5M3", 2: "MATRIX_SCALE_FMT_E4M3"},
}


def _vopd(ins: InstructionFields) -> tuple[list[str], list[str]]:
    texts = []
    for half in ins.halves or (ins,):
        operands = ", ".join(_printed(ins, (*half.dst, *half.src)))
        table = half.modifiers.get("bitop3")
        texts.append(f"v_dual_{half.name.removeprefix('v_')} {operands}" + (f" bitop3:{_hex(table)}" if table else ""))
    return texts, []


def _ds(ins: InstructionFields) -> tuple[list[str], list[str]]:
    m = ins.modifiers
    modifiers = []
    if ins.name == "ds_swizzle_b32":
        modifiers += [f"offset:{immediates.swizzle(m['offset'])}"] if m["offset"] else []
    else:
        modifiers += [f"{name}:{m[name]}" for name in ("offset", "offset0", "offset1") if m.get(name)]
    return _printed(ins, (*ins.dst, *ins.src)), modifiers + (["gds"] if m.get("gds") else [])


def _flat(ins: InstructionFields) -> tuple[list[str], list[str]]:
    if not ins.src:
        return [], cache_text.cache(ins)
    vaddr, saddr, *data = ins.src
    offset = ins.modifiers["offset"]
    modifiers = (
        ([f"offset:{offset}"] if offset else [])
        + cache_text.scaled(ins)
        + cache_text.cache(ins)
        + cache_text.volatile(ins)
    )
    modifiers += ["lds"] if ins.modifiers.get("lds") else []
    first, then = (data, []) if ins.opcode.to_lds else ([], data)
    return _printed(ins, (*ins.dst, *first, vaddr, *then, saddr)), modifiers


def _mubuf(ins: InstructionFields) -> tuple[list[str], list[str]]:
    if not ins.src:
        return [], cache_text.cache(ins)
    vaddr, srsrc, soffset, *data = ins.src
    m = ins.modifiers
    parts = _printed(
        ins, [*(ins.dst if not data or (ins.dst and ins.dst[0].count > data[0].count) else data), vaddr, srsrc, soffset]
    )
    modifiers = (
        [format_text(m["format"], family(ins.arch).arch.buffers.formats)] if m.get("format", DEFAULT) != DEFAULT else []
    )
    modifiers += split_text(m["data_format"], m["num_format"]) if "data_format" in m else []
    modifiers += [name for name in ("idxen", "offen") if m[name]]
    modifiers += [f"offset:{m['offset']}"] if m["offset"] else []
    modifiers += cache_text.cache(ins) + cache_text.volatile(ins) + (["lds"] if m.get("lds") else [])
    return parts, modifiers + (["tfe"] if m.get("tfe") else [])


def _tensor(ins: InstructionFields) -> tuple[list[str], list[str]]:
    groups = [operand for operand in ins.src if operand.kind != "null"]
    size = ["r128"] if ins.modifiers["r128"] else []
    return _printed(ins, groups), size + cache_text.cache(ins) + cache_text.volatile(ins)


_BODY: dict[str, Callable[[InstructionFields], tuple[list[str], list[str]]]] = {
    **dict.fromkeys(("SOP1", "SOP2", "SOPC", "SOPK", "SOPP"), _scalar_operands),
    **dict.fromkeys(("VOP1", "VOP2", "VOPC", "VOP3", "VINTERP"), _vector),
    **dict.fromkeys(("FLAT", "GLOBAL", "SCRATCH"), _flat),
    "SMEM": _smem,
    "SDWA": _sdwa,
    "DPP": _dpp,
    "VOP3P": _packed,
    "MAI": _matrix,
    "DS": _ds,
    "MUBUF": _mubuf,
    "MTBUF": _mubuf,
    "DPP8": _dpp,
    "WMMA": _wmma,
    "VIMAGE": _tensor,
}


def text(ins: InstructionFields) -> str:
    """Print an instruction.

    Args:
        ins: a decoded instruction.

    Returns:
        Mnemonic, operands and modifiers, separated by single spaces; a branch shows its raw SIMM16.
    """
    if ins.halves or ins.encoding.startswith("VOPD"):  # both halves, or one alone in a message
        return " :: ".join(_vopd(ins)[0])
    if not ins.encoding:
        return f"{ins.name} {int.from_bytes(ins.raw, 'little'):#010x}"
    operands, modifiers = _BODY[ins.encoding](ins)
    line = ins.name + ins.form
    if operands:
        line += " " + ", ".join(operands)
    return " ".join([line, *modifiers])
