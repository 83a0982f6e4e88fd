"""The conversion instructions: operands of the machine around the functions of `mfmasim.formats.conversions`.

What each converts, and what its sources leave open, stands in its row there. Here SDWA selects a source's byte or word,
the row's own bits of op_sel choose parts, MODE comes from the wave, and clamp acts on a floating-point result.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.formats.conversions import ROWS, Modifiers, conversion
from mfmasim.machine.binding.modifiers import clamped
from mfmasim.machine.numerics.float_formats import F16
from mfmasim.machine.opcodes.refusal import unsupported
from mfmasim.machine.opcodes.registry import shaped
from mfmasim.machine.opcodes.undefined_rules import parts
from mfmasim.machine.ops.packed_float import half, two_halves

if TYPE_CHECKING:
    from collections.abc import Callable

    from mfmasim.architectures import Arch
    from mfmasim.arrays import U
    from mfmasim.formats.conversions import Conversion, Row
    from mfmasim.isa import Instruction
    from mfmasim.machine.numerics.float_mode import FloatMode
    from mfmasim.machine.opcodes.undefined_rules import Rule


KINDS = {"b32": "u32", "b64": "u64"}
# Types of single results by format; the others are dwords.
SINGLE = {"f16": "f16", "f32": "f32", "f64": "f64", "u16": "u16", "i16": "u16"}
WIDE = ("f32", "i32", "u32", "f64")
PAIR = 0b11
"""Both sources are numbers: what they become stands in one register."""
SIXTEEN = ("f16", "u16")
ROW = 16
"""Lanes of half a wave of 32."""
VIEWS: dict[str, Any] = {"f32": np.float32, "f64": np.float64, "u32": np.uint32}


def _result(row: Row) -> str:
    """Type of the result, as signatures have it."""
    kind = KINDS.get(row.result, row.result)
    return SINGLE.get(row.formats[0], kind) if len(row.sources) == 1 and row.result in KINDS else kind


def _rule(row: Row) -> Rule:
    """Numbers of 16 bits or less are parts of a register; results of that size are, unless one stands alone."""
    result, source = row.formats
    narrow = source not in WIDE and row.sources[0] == "b32"
    return parts("half" if narrow else "operand", packed=result not in WIDE and len(row.sources) > 1)


def _checked(instruction: Instruction, found: Conversion, result: str) -> Modifiers:
    """The modifiers that the conversion handles; refuses those that mean nothing to it."""
    modifiers, printed = instruction.modifiers, [x for x in instruction.src if x.printed]
    given = {
        "op_sel": modifiers.get("op_sel", 0),
        "neg": sum(x.neg << i for i, x in enumerate(printed)),
        "abs": sum(x.abs << i for i, x in enumerate(printed)),
    }
    for name, allowed in (("op_sel", found.row.op_sel), ("neg", found.row.floats), ("abs", found.row.floats)):
        if given[name] & ~allowed:
            raise unsupported(instruction, f"{name} {given[name]:#x}")
    if result.startswith("b32x") and (modifiers.get("clamp") or modifiers.get("omod")):
        raise unsupported(instruction, "an output modifier on several results")
    if result in SIXTEEN:  # the half of the result is chosen where it is written
        given["op_sel"] &= 7
    byte_sel = modifiers.get("byte_sel") if found.row.selects else None
    return Modifiers(op_sel=given["op_sel"], byte_sel=byte_sel, neg=given["neg"], abs=given["abs"])


def _convert(result: str, instruction: Instruction, arch: Arch) -> Callable[..., U]:
    found = conversion(arch.name, instruction.name)
    clamp, pair = bool(instruction.modifiers.get("clamp")), found.row.floats == PAIR
    modifiers = _checked(instruction, found, result)
    # Towards 16-bit integers clamp changes nothing: those conversions saturate.
    halves = clamp and pair and found.row.formats[0] == "f16" and found.row.clamp_acts
    bits = found.row.scale_bits
    before_omod = found.row.formats == ("f32", "f64") and bool(instruction.modifiers.get("omod"))
    scale = _scale_of_lane(instruction, arch, bits) if bits else None
    if clamp and pair and found.row.formats[0] == "bf16":
        raise unsupported(instruction, "clamp on bf16")
    if clamp and arch.conversions.eights and "fp8" in found.row.formats:  # CDNA5 ISA manual, 7.6.3: E5M3 instead
        raise unsupported(instruction, "clamp, which selects E5M3")

    def run(*operands: Any) -> U:
        mode: FloatMode = operands[-1]
        sources = operands[:-1]
        old = None
        if scale is not None:
            sources = (*sources[:-1], scale(sources[-1]))
        if found.row.keeps:
            *sources, old = sources  # type: ignore[assignment]
        out = found(*sources, old=old, modifiers=modifiers, mode=mode.conversion)
        if before_omod:
            out = _without_tiny(out, sources[0], mode)
        if halves:
            return two_halves(*(clamped(half(out, high, False), mode) for high in (False, True)))
        if result == "f16":
            return out.astype(np.uint16).view(F16.real)
        return out.astype(np.uint16) if result == "u16" else out.view(VIEWS[result]) if result in VIEWS else out

    return run


def _without_tiny(out: U, source: U, mode: FloatMode) -> U:
    """V_CVT_F32_F64, which keeps denormals, as OMOD sees it: what is tiny before its exponent is packed is +0.

    Captured on gfx1201 (bjacob/goc, output_scaling_test.cpp).

    Args:
        out: bits of the f32 results.
        source: the f64 sources, whatever their sign.
        mode: MODE; where OMOD acts it has no denormal results.
    """
    if mode.denormals(32) & 2 or (mode.ieee and not mode.rules.omod_flushes):
        return out
    # Half a unit of 24 bits below 2**-126, where a tie is not tiny, or a whole unit, as FP_ROUND has it.
    sizes = np.abs(source.view(np.float64))
    nearest = mode.rounding(64) == 0
    below = sizes < 2.0**-126 - 2.0**-151 if nearest else sizes <= 2.0**-126 - 2.0**-150
    return np.where(below, np.uint32(0), out)


def _scale_of_lane(instruction: Instruction, arch: Arch, bits: int) -> Callable[[U], U]:
    """The scale code of each lane, in its low byte: from a lane of the half that is named, regardless of EXEC.

    Bits of scale_sel, from the lowest: of 8-bit codes two for the byte, the half of the lanes, and blocks of 16 values,
    where the two halves of the data use neighbouring bytes; of narrower codes one for the pair of bytes, which the two
    halves of the data share out, the half of the lanes, and blocks of 16.

    Args:
        instruction: what is bound.
        arch: what executes it.
        bits: of a code.
    """
    select, wave = instruction.modifiers.get("scale_sel", 0), arch.wave_sizes[0]
    if arch.errata.scale_blocks and select >> (2 if bits < 8 else 3) & 1:
        raise unsupported(instruction, arch.absent(f"scale_sel:{select}, which has blocks of 16,"))
    lane = np.arange(wave)
    upper = lane // ROW % 2
    if bits < 8:
        blocks, half = select >> 2 & 1, select >> 1 & 1
        byte = (select & 1) + 2 * upper if blocks else 2 * (select & 1) + upper
    elif select >> 3 & 1:
        half = select >> 1 & 1
        byte = 2 * half + upper
        if select & 5:
            raise unsupported(instruction, f"scale_sel:{select}, which is reserved")
    else:
        byte, half = np.full(wave, select & 3), select >> 2 & 1
    source, shift = lane % ROW + ROW * half, (8 * byte).astype(np.uint32)
    return lambda words: np.broadcast_to(words, (*words.shape[:-1], wave))[..., source] >> shift & np.uint32(0xFF)


for _row in {row.name: row for row in reversed(ROWS) if row.unit == "vector"}.values():
    _sources = " ".join([*(KINDS.get(kind, kind) for kind in _row.sources), *(["u32"] * _row.keeps)])
    shaped(_row.name, f"{_sources} mode -> {_result(_row)}", _row.fidelity, undefined=_rule(_row))(
        partial(_convert, _result(_row))
    )
