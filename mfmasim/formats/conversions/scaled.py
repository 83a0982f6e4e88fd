"""The scaled conversions of gfx950, v_cvt_scalef32_*.

The scale operand is an f32 of which only the exponent field counts, an E8M0 code: towards a narrow format the value
is divided by 2**(code - 127), from a narrow format it is multiplied; 0xFF is NaN. Sources: CDNA4 ISA manual, 7.3 and
the opcodes 565 to 618. What the manual leaves open follows AMD's HIP header amd_hip_ocp_host.hpp: one rounding after
scaling, NaN for a scale of 0xFF, Inf for a widened value that overflows, and the largest value of its sign for NaN to
FP4 and FP6. The order of the two sources of the 2xpk16 forms is the manual's (composable_kernel's users agree).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.formats.conversions.operands import f16_source, f32_source, flushed, named, place, place_half, two_halves
from mfmasim.formats.conversions.small import round_randomly
from mfmasim.formats.packing import pack, unpack
from mfmasim.formats.registry import convert
from mfmasim.formats.registry import format as lookup

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.formats.conversions.model import Call
    from mfmasim.formats.modes import Overflow

    Bits = NDArray[np.unsignedinteger[Any]]


def prng(bits: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """v_prng_b32: one step of a linear feedback shift register, instead of a new random operand."""
    return (bits << np.uint32(1)) ^ np.where(bits >> np.uint32(31) != 0, np.uint32(197), np.uint32(0))


def _exponent(scale: Bits) -> NDArray[np.int32]:
    """Exponent field of the scale operand; ABS and NEG cannot change it."""
    return ((scale >> np.uint32(23)) & np.uint32(0xFF)).astype(np.int32)


def _scaled(bits: Bits, source: str, scale: Bits, direction: int) -> NDArray[np.float64]:
    """Values times 2**(direction * (scale - 127)), exactly: both are within the range of float64."""
    exponent = _exponent(scale)
    values = lookup(source).decode(bits)
    values = np.ldexp(values, direction * (exponent - 127))
    return np.where(exponent == 255, np.copysign(np.nan, values), values)


def narrow(call: Call, bits: Bits, source: str, target: str, scale: Bits, random: Bits | None = None) -> Bits:
    """Divide by the scale and round to a narrow format.

    Args:
        call: the call, with its modes.
        bits: codes of the values.
        source: their format.
        target: narrow format, as instructions call it.
        scale: f32 codes, of which the exponent field counts.
        random: random bits for stochastic rounding, at the top of a dword.
    """
    if source == "f32":
        bits = flushed(bits, lookup("f32"), call.mode.denorm_f32 & 1)
    values = _scaled(bits, source, scale, -1)
    # Every narrow format lies within 2**-20 and 2**20. Pulling values that are not zero into a range of normal f32
    # numbers changes no result, and makes the cast exact: a source has at most 24 significant bits.
    size = np.abs(values)
    size = np.where(size == 0, size, np.clip(size, 2.0**-100, 2.0**100))
    f32 = np.copysign(size, values).astype(np.float32).view(np.uint32)
    fmt = named(target, call.arch)
    if random is not None:
        return round_randomly(f32, random, source, fmt, call.small_overflow)
    return convert(f32, "f32", fmt, overflow=call.small_overflow)


def widen(call: Call, codes: Bits, source: str, target: str, scale: Bits) -> Bits:
    """Multiply by the scale and round to a wide format, nearest even, denormals kept.

    Args:
        call: the call, with its modes.
        codes: codes of the values.
        source: narrow format, as instructions call it.
        target: ``f32``, ``f16`` or ``bf16``.
        scale: f32 codes, of which the exponent field counts.
    """
    values = _scaled(codes, named(source, call.arch).name, scale, 1)
    overflow: Overflow = {"f16": call.half_overflow, "bf16": call.bf16_overflow}.get(target, "infinity_or_nan")
    return convert(values.view(np.uint64), "f64", target, overflow=overflow)


def halves(bits: Bits) -> NDArray[np.uint32]:
    """Two 16-bit values of a dword, on a new leading axis, the low one first."""
    return np.stack([bits & np.uint32(0xFFFF), bits >> np.uint32(16)]).astype(np.uint32)


def narrow_two(target: str, source: str, random: bool = False) -> Callable[[Call], Bits]:
    """The pk and sr_pk forms: two codes, in the half (8 bits each) or byte (4 bits each) that OPSEL chooses.

    Args:
        target: narrow format, as instructions call it.
        source: ``f32``, ``f16`` or ``bf16``.
        random: whether it rounds stochastically.

    Returns:
        The function of a row.
    """

    def run(call: Call) -> Bits:
        scale = call.sources[-1]
        if source != "f32":
            pair = halves(call.sources[0])
        elif random:
            pair = call.sources[0].astype(np.uint32, copy=False)
        else:
            pair = np.stack(np.broadcast_arrays(f32_source(call, 0), f32_source(call, 1)))
        noise = _sequence(call.sources[1], 2) if random else None
        codes = narrow(call, pair, source, target, scale, noise).astype(np.uint32)
        width = named(target, call.arch).bits
        both = codes[0] | codes[1] << np.uint32(width)
        position = call.modifiers.op_sel >> (3 if width == 8 else 2)
        return place(call.old, both, 2 * width * position, 2 * width)

    return run


def narrow_one_randomly(target: str, source: str) -> Callable[[Call], Bits]:
    """sr: one value and random bits to the byte that OPSEL[3:2] chooses."""

    def run(call: Call) -> Bits:
        bits = f32_source(call, 0) if source == "f32" else f16_source(call, 0)
        code = narrow(call, bits, source, target, call.sources[2], call.sources[1])
        return place(call.old, code, 8 * (call.modifiers.op_sel >> 2), 8)

    return run


def narrow_many(target: str, source: str, form: str) -> Callable[[Call], Bits]:
    """pk32, 2xpk16 and sr_pk32: 32 values to 32 codes of 6 bits in 6 registers.

    Args:
        target: ``fp6`` or ``bf6``.
        source: ``f32``, ``f16`` or ``bf16``.
        form: ``pk32``; ``2xpk16``, which takes its values in turn from two sources; or ``sr_pk32``, whose random
            operand steps on from value to value.

    Returns:
        The function of a row.
    """

    def run(call: Call) -> Bits:
        if form == "2xpk16":
            values = np.stack(np.broadcast_arrays(call.sources[0], call.sources[1]), axis=1)
            values = values.reshape(32, *values.shape[2:])
        elif source == "f32":
            values = call.sources[0]
        else:
            values = np.swapaxes(halves(call.sources[0]), 0, 1)
            values = values.reshape(32, *values.shape[2:])
        noise = _sequence(call.sources[1], 32) if form == "sr_pk32" else None
        codes = narrow(call, values, source, target, call.sources[-1], noise)
        return np.moveaxis(pack(np.moveaxis(codes, 0, -1), named(target, call.arch)), -1, 0)

    return run


def _sequence(random: Bits, count: int) -> NDArray[np.uint32]:
    """The random operand and its successors, on a new leading axis."""
    steps = [random.astype(np.uint32, copy=False)]
    for _ in range(count - 1):
        steps.append(prng(steps[-1]))
    return np.stack(steps)


def widen_two(target: str, source: str) -> Callable[[Call], Bits]:
    """pk: two codes of the half (8 bits each) or byte (4 bits each) that OPSEL chooses, to two values."""

    def run(call: Call) -> Bits:
        width = named(source, call.arch).bits
        both = call.sources[0] >> np.uint32(2 * width * call.modifiers.op_sel)
        mask = np.uint32((1 << width) - 1)
        codes = np.stack([both & mask, both >> np.uint32(width) & mask])
        values = widen(call, codes, source, target, call.sources[1])
        return values if target == "f32" else two_halves(values[0], values[1])

    return run


def widen_one(target: str, source: str) -> Callable[[Call], Bits]:
    """One code of the byte that OPSEL[1:0] chooses, to f32, or to f16 in the half that OPSEL[3] chooses."""

    def run(call: Call) -> Bits:
        code = call.sources[0] >> np.uint32(8 * (call.modifiers.op_sel & 3)) & np.uint32(0xFF)
        value = widen(call, code, source, target, call.sources[1])
        return value if target == "f32" else place_half(call, value)

    return run


def widen_many(target: str, source: str) -> Callable[[Call], Bits]:
    """pk32: 32 codes of 6 bits in 6 registers to 32 values."""

    def run(call: Call) -> Bits:
        codes = np.moveaxis(unpack(np.moveaxis(call.sources[0], 0, -1), named(source, call.arch)), -1, 0)
        values = widen(call, codes, source, target, call.sources[1])
        return values if target == "f32" else two_halves(values[0::2], values[1::2])

    return run
