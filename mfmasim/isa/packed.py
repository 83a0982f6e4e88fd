"""Decoding of VOP3P: packed and mixed arithmetic, and the matrix instructions (MAI) with their scale prefix."""

from __future__ import annotations

import dataclasses

from mfmasim.isa.dpp import CODES, take_controls
from mfmasim.isa.encodings import MAI
from mfmasim.isa.fields import Fields, Refused, vector_register
from mfmasim.isa.instruction import Operand
from mfmasim.isa.opcode import Slot, scaled, scaled_wmma
from mfmasim.isa.operands import DPP, INLINE_FLOATS, LITERAL, VGPR0, constant_bits
from mfmasim.isa.parts import Parts
from mfmasim.isa.rows import Row

# Registers of an f8f6f4 operand by its format selector cbsz or blgp (CDNA4 ISA manual, 7.1: fp8, bf8, fp6, bf6, fp4).
F8F6F4 = {0: ("fp8", 8), 1: ("bf8", 8), 2: ("fp6", 6), 3: ("bf6", 6), 4: ("fp4", 4)}


def packed(fields: Fields) -> Parts:
    """Packed 16-bit and 32-bit arithmetic, dot products, v_fma_mix."""
    row = fields.row
    flags = row.flags
    count = sum(slot.printed for slot in row.src)
    parts = Parts()
    controls = None
    if DPP not in fields.family.dialect.second_dword and fields.peek("src0") in CODES:
        controls = take_controls(fields, long_form=True)
        parts = Parts(encoding=controls.encoding, form="_e64_dpp", modifiers=dict(controls.modifiers))
    parts.dst.append(vector_register("v", fields.take("vdst"), row.dst[0], "vdst", fields.family))
    allowed = (1 << count) - 1
    # The upper bit of a missing third source is set to 1 by assemblers and has no effect.
    selected_high = fields.take("op_sel_hi") | fields.take("op_sel_hi2") << 2
    modifiers = parts.modifiers
    if "op_sel_hi" in flags and "op_sel" not in flags and selected_high != 7:
        raise Refused(f"op_sel_hi of {row.name} must be all ones")
    modifiers["clamp"] = fields.take("clamp") if "clamp" in flags else 0
    if "op_sel" in flags:
        modifiers["op_sel"] = fields.of_sources("op_sel", allowed)
        modifiers["op_sel_hi"] = selected_high & allowed
    low, high = fields.of_sources("neg_lo", allowed), fields.of_sources("neg_hi", allowed)
    if "mix" not in flags:
        modifiers |= {"neg_lo": low, "neg_hi": high}
    for name, value in (("neg_lo", low), ("neg_hi", high)):
        _check_bits(row, name, value)
    if "no_neg" in flags and (low or high):
        raise Refused(f"neg_lo and neg_hi of {row.name} must be zero")
    narrow = flags["mix"][0] if flags.get("mix") else "f16"
    for i, slot in enumerate(s for s in row.src if s.printed):
        name = f"src{i}"
        if controls and not i:
            signs = {"neg": bool(low & 1), "abs_": bool(high & 1)} if "mix" in flags else {}
            kind = (narrow if selected_high & 1 else "f32") if "mix" in flags else slot.type
            slot = dataclasses.replace(slot, type=kind)  # noqa: PLW2901
            parts.src.append(vector_register("v", controls.number, slot, name, fields.family, **signs))
        elif "mix" in flags:
            # op_sel_hi makes a source f16, or bf16; a constant then is f16, or f32 with bf16 as its upper half (CDNA5
            # ISA manual, 4.1).
            kind = narrow if selected_high >> i & 1 else "f32"
            signs = {"neg": bool(low >> i & 1), "abs_": bool(high >> i & 1)}
            source = fields.source(name, dataclasses.replace(slot, type=kind), **signs)
            if source.kind == "const" and kind == "bf16" and source.index in INLINE_FLOATS:
                source = dataclasses.replace(source, bits=constant_bits(source.index, "f32"))
            parts.src.append(source)
        else:
            parts.src.append(fields.source(name, slot))
        if controls and ("mix" in flags or "op_sel" not in flags) and parts.src[-1].kind != "v":
            raise Refused(f"{name} of {row.name} must be a vector register beside DPP controls")
    if any(slot.tied for slot in row.src):
        parts.read_back(parts.dst[0])
    return parts


def _check_bits(row: Row, name: str, value: int) -> None:
    """Raise if neg_lo or neg_hi has bits that the row does not take."""
    allowed = row.flags.get(name, ())
    if allowed and value & ~sum(1 << int(bit) for bit in allowed[0]):
        raise Refused(f"{name} {value:#x} of {row.name} has bits that it does not take")


def wmma(fields: Fields) -> Parts:
    """WMMA and SWMMAC: D, A, B, and C or the sparse index."""
    row, flags = fields.row, fields.row.flags
    parts = Parts(encoding="WMMA")
    if "scales" in flags:
        # The prefix alone: no instruction with scales follows.
        parts.src += _take_scales(fields, parts, 16 * (3 - row.src[0].count))
        return parts
    high = fields.take("op_sel_hi") | fields.take("op_sel_hi2") << 2
    if "formats" in flags:
        parts.modifiers |= {"matrix_a_fmt": fields.take("op_sel"), "matrix_b_fmt": high}
    elif "reuse" in flags:
        if high & 3 != 3:
            raise Refused(f"op_sel_hi of {row.name} must be all ones")
        low = fields.take("op_sel")
        if low & ~(4 | ("index_key" in flags)):
            raise Refused(f"op_sel {low:#x} of {row.name} has bits that it does not take")
        if "index_key" in flags:
            parts.modifiers["index_key"] = low & 1
        parts.modifiers |= {"matrix_a_reuse": low >> 2, "matrix_b_reuse": high >> 2}
    elif "op_sel" in flags:
        parts.modifiers |= {"op_sel": fields.take("op_sel"), "op_sel_hi": high}
    elif "scaled" in flags:
        fields.ignore("op_sel_hi", high, usual=7)
    elif "op_sel_hi" in flags and high != 7:
        raise Refused(f"op_sel_hi of {row.name} must be all ones")
    elif "op_sel_hi" not in flags:  # LLVM sets all of it; what AMD's simulator decodes leaves bit 2 zero
        fields.ignore("op_sel_hi", high & 3, usual=3)
    if "index_key" in flags and "reuse" not in flags:
        parts.modifiers["index_key"] = fields.take("op_sel")
        _check_bits(row, "index_key", parts.modifiers["index_key"])
    for name in ("neg_lo", "neg_hi"):
        if name in flags:
            parts.modifiers[name] = fields.take(name)
            _check_bits(row, name, parts.modifiers[name])
    if "clamp" in flags:
        parts.modifiers["clamp"] = fields.take("clamp")
    parts.dst.append(vector_register("v", fields.take("vdst"), row.dst[0], "vdst", fields.family))
    for i, slot in enumerate(s for s in row.src if not s.tied):
        if slot.type == "f8f6f4":
            slot = _formatted(parts.modifiers[f"matrix_{'ab'[i]}_fmt"], 16)  # noqa: PLW2901
        code = fields.peek(f"src{i}")
        if i == 2 and code < 256:
            operand = fields.source("src2", slot)
            if operand.kind != "const" or len(row.src) > 3 or operand.index == LITERAL:
                raise Refused(f"src2 of {row.name} must be a vector register or an inline constant")
            parts.src.append(operand)
        else:
            parts.src.append(_matrix_source(fields, f"src{i}", slot, "v"))
    if len(row.src) > 3:
        parts.read_back(parts.dst[0])
    return parts


def _formatted(code: int, registers: int) -> Slot:
    """An operand of f8f6f4 whose format a modifier selects; `registers` is how many eight bits an element fill."""
    if code not in F8F6F4:
        raise Refused(f"the format {code} of a matrix is reserved")
    name, bits = F8F6F4[code]
    return Slot(name, registers * bits // 8)


def _take_scales(prefix: Fields, parts: Parts, block: int) -> list[Operand]:
    """The two scales, and the modifiers that select a part of them and the reuse of A and B."""
    low, high = prefix.take("op_sel"), prefix.take("op_sel_hi") | prefix.take("op_sel_hi2") << 2
    formats = prefix.take("neg_lo"), prefix.take("neg_hi")
    if low & 2 or high & 2 or formats[0] & 4 or formats[1] & 4:
        raise Refused("reserved bits of the scales are not zero")
    # The manual asks for 0x100 here (14.3.7); what AMD's own assembler makes has 0.
    prefix.ignore("src2", prefix.take("src2"), usual=VGPR0)
    parts.modifiers |= {
        "matrix_a_scale": low & 1,
        "matrix_b_scale": high & 1,
        "matrix_a_scale_fmt": formats[0],
        "matrix_b_scale_fmt": formats[1],
        "matrix_a_reuse": low >> 2,
        "matrix_b_reuse": high >> 2,
    }
    slot = Slot("b32") if block == 32 else Slot("b64", 2)
    return [prefix.source(name, slot) for name in ("src0", "src1")]


def prefixed_matrix(prefix: Fields, fields: Fields, block: int) -> Parts:
    """A WMMA with scales: the prefix has the scales, their formats, and the selected lanes or bytes.

    Args:
        prefix: the first half.
        fields: the WMMA.
        block: elements that share a scale, 32 or 16.
    """
    parts = wmma(fields)
    parts.src += _take_scales(prefix, parts, block)
    parts.opcode = scaled_wmma(fields.row.opcode, block)
    return parts


def _register_file(accumulation: int) -> str:
    return "a" if accumulation else "v"


def _matrix_source(fields: Fields, name: str, slot: Slot, file: str) -> Operand:
    code = fields.take(name)
    if code < 256:
        raise Refused(f"{name} of {fields.row.name} must be a vector register")
    return vector_register(file, code - 256, slot, name, fields.family)


def matrix(fields: Fields) -> Parts:
    """MFMA, SMFMAC and the moves between the register files."""
    row = fields.row
    fields.rename(("neg_hi", "op_sel", "op_sel_hi2", "clamp", "op_sel_hi", "neg_lo"), MAI)
    if not row.opcode.matrix:
        return _accumulator_move(fields)
    parts = Parts(encoding="MAI")
    for flag in ("cbsz", "abid", "blgp"):
        if flag in row.flags:
            parts.modifiers[flag] = fields.take(flag)
    if "neg" in row.flags:
        parts.modifiers["neg"] = fields.take("blgp")
    _matrix_operands(fields, parts)
    return parts


def _matrix_operands(fields: Fields, parts: Parts) -> None:
    """D, A, B, and C or the sparse index."""
    row = fields.row
    # With separate files, C and D are AGPRs and the bit is not read.
    accumulator = _register_file(fields.take("acc_cd") | (not fields.family.arch.unified_vgprs))
    acc = fields.take("acc")
    parts.dst.append(vector_register(accumulator, fields.take("vdst"), row.dst[0], "vdst", fields.family))
    for i, selector in enumerate(("cbsz", "blgp")):
        slot = row.src[i]
        if slot.type == "f8f6f4":
            form = F8F6F4.get(parts.modifiers[selector])
            if form is None:
                raise Refused(f"{selector} of {row.name} has the reserved value {parts.modifiers[selector]}")
            slot = dataclasses.replace(slot, type=form[0], count=form[1])
        parts.src.append(_matrix_source(fields, f"src{i}", slot, _register_file(acc >> i & 1)))
    third = row.src[2]
    if len(row.src) > 3:
        parts.src.append(_matrix_source(fields, "src2", third, "v"))
        parts.read_back(parts.dst[0])
        return
    code = fields.peek("src2")
    if code >= 256:
        parts.src.append(_matrix_source(fields, "src2", third, accumulator))
        return
    operand = fields.source("src2", third)
    if operand.kind != "const":
        raise Refused(f"src2 of {row.name} must be a vector register or an inline constant")
    parts.src.append(operand)


def _accumulator_move(fields: Fields) -> Parts:
    """v_accvgpr_read and v_accvgpr_write."""
    row = fields.row
    # Assemblers set these bits as for a packed operation; they have no effect here.
    for unused in ("acc_cd", "acc"):
        fields.take(unused)
    abid = fields.take("abid")
    if abid & 7:
        raise Refused("op_sel is not zero")
    parts = Parts(encoding="MAI")
    dst, src = row.dst[0], row.src[0]
    parts.dst.append(vector_register(dst.file or "v", fields.take("vdst"), dst, "vdst", fields.family))
    if src.file == "a":
        parts.src.append(_matrix_source(fields, "src0", src, "a"))
    else:
        parts.src.append(fields.source("src0", src))
    return parts


SCALE = Slot("b32")
SCALE_OP = 0x2C


def scaled_matrix(scale: Fields, fields: Fields) -> Parts:
    """A scale prefix (v_mfma_ld_scale_b32) and the f8f6f4 matrix instruction it belongs to, 16 bytes together.

    The scales of A and B are sources 3 and 4; `op_sel` is bit 0 and `op_sel_hi` bit 1 of their byte selectors.
    """
    fields.rename(("neg_hi", "op_sel", "op_sel_hi2", "clamp", "op_sel_hi", "neg_lo"), MAI)
    if fields.take("abid") != 1:
        raise Refused("abid of a scaled matrix instruction must be 1")
    parts = Parts(encoding="MAI", opcode=scaled(fields.row.opcode))
    parts.modifiers = {"cbsz": fields.take("cbsz"), "blgp": fields.take("blgp")}
    _matrix_operands(fields, parts)
    parts.src += [
        dataclasses.replace(_matrix_source(scale, f"src{i}", SCALE, "v"), field=f"scale_src{i}") for i in (0, 1)
    ]
    op_sel = scale.take("op_sel")
    # There is no third scale, but AMD's assembler sets its bits; NEG[2] and ABS[2] negate C (CDNA4 ISA manual).
    scale.ignore("op_sel", op_sel & 4)
    scale.skip("op_sel_hi2")
    parts.modifiers |= {"op_sel": op_sel & 3, "op_sel_hi": scale.take("op_sel_hi")}
    return parts
