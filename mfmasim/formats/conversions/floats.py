"""Between f64, f32, f16 and bf16.

Sources: the opcodes' texts in the CDNA4 and RDNA4 ISA manuals. Rounding to f16 and from f64 to f32 follows the
double/half field of MODE (LLVM sets that field for ``llvm.fptrunc.round`` of either). NaN keeps its upper payload
bits and becomes quiet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.formats.conversions.model import ROUNDINGS
from mfmasim.formats.conversions.operands import (
    clamped,
    f16_source,
    f32_source,
    f64_source,
    flushed,
    flushed_half,
    place_half,
    quiet,
    two_halves,
)
from mfmasim.formats.conversions.small import round_randomly
from mfmasim.formats.registry import convert
from mfmasim.formats.registry import format as lookup

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.formats.conversions.model import Call
    from mfmasim.formats.modes import Overflow, Rounding

    Bits = NDArray[np.unsignedinteger[Any]]


def _to_f16(call: Call, bits: Bits, rounding: Rounding, *, clamp: bool = True) -> Bits:
    """f32 to f16 with the mode's overflow, denormal and clamp rules."""
    half = convert(bits, "f32", "f16", rounding, call.half_overflow, nan="payload")
    half = flushed_half(bits.view(np.float32), half, rounding, call.mode.denorm_f16_f64 & 2)
    return clamped(call, half, lookup("f16")) if clamp else half


def f32_to_f16(call: Call) -> Bits:
    """v_cvt_f16_f32."""
    return place_half(call, _to_f16(call, f32_source(call, 0), ROUNDINGS[call.mode.round_f16_f64]))


def f32_to_f16_pair(rounding: Rounding, *, clamp: bool = True) -> Callable[[Call], Bits]:
    """v_cvt_pkrtz_f16_f32 and v_cvt_pk_f16_f32: a fixed rounding, whatever the mode.

    Args:
        rounding: of both results.
        clamp: whether CLAMP has an effect.
    """

    def run(call: Call) -> Bits:
        return two_halves(*(_to_f16(call, f32_source(call, number), rounding, clamp=clamp) for number in (0, 1)))

    return run


def f32_to_bf16_pair(call: Call) -> Bits:
    """v_cvt_pk_bf16_f32: nearest even, whatever the mode."""
    return two_halves(
        *(
            convert(f32_source(call, number), "f32", "bf16", overflow=call.bf16_overflow, nan="payload")
            for number in (0, 1)
        )
    )


def stochastic_half(target: str) -> Callable[[Call], Bits]:
    """v_cvt_sr_f16_f32 and v_cvt_sr_bf16_f32, to the half that OPSEL[3] chooses."""

    def run(call: Call) -> Bits:
        overflow: Overflow = call.half_overflow if target == "f16" else "infinity_or_nan"
        code = round_randomly(f32_source(call, 0), call.sources[1], "f32", lookup(target), overflow)
        return place_half(call, code)

    return run


def f16_to_f32(call: Call) -> Bits:
    """v_cvt_f32_f16."""
    bits = flushed(f16_source(call, 0), lookup("f16"), call.mode.denorm_f16_f64 & 1)
    return clamped(call, convert(bits, "f16", "f32", overflow="infinity_or_nan", nan="payload"), lookup("f32"))


def high_f16_to_f32(call: Call) -> Bits:
    """s_cvt_hi_f32_f16: the upper half, converted."""
    bits = flushed(call.sources[0] >> np.uint32(16), lookup("f16"), call.mode.denorm_f16_f64 & 1)
    return convert(bits, "f16", "f32", overflow="infinity_or_nan", nan="payload")


def upper_half_to_f32(call: Call) -> Bits:
    """v_cvt_f32_bf16: 16 zeros below the code, NaN included."""
    return f16_source(call, 0) << np.uint32(16)


def f64_to_f32(call: Call) -> Bits:
    """v_cvt_f32_f64: denormals are supported, whatever the mode."""
    bits = f64_source(call, 0)
    rounding = ROUNDINGS[call.mode.round_f16_f64]
    return clamped(call, convert(bits, "f64", "f32", rounding, "infinity_or_nan", nan="payload"), lookup("f32"))


def f32_to_f64(call: Call) -> Bits:
    """v_cvt_f64_f32: exact."""
    bits = quiet(f32_source(call, 0), lookup("f32"))
    # Every f32 is an f64; the cast is exact, and of a quiet NaN it keeps sign and payload.
    return clamped(call, bits.view(np.float32).astype(np.float64).view(np.uint64), lookup("f64"))
