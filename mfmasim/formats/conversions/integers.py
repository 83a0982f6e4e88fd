"""Between integers and floating-point numbers.

Sources: the opcodes' texts in the CDNA4 and RDNA4 ISA manuals. Towards integers, values beyond the range saturate and
NaN gives 0; the fraction is cut off, except where the name says otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.formats.conversions.model import ROUNDINGS
from mfmasim.formats.conversions.operands import clamped, f16_source, f32_source, f64_source, place_half, two_halves
from mfmasim.formats.registry import convert
from mfmasim.formats.registry import format as lookup

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.formats.conversions.model import Call

    Bits = NDArray[np.unsignedinteger[Any]]

# Dtype and limits of the integers by their manual name.
INTEGERS: dict[str, tuple[type, int, int]] = {
    "i32": (np.int32, -(1 << 31), (1 << 31) - 1),
    "u32": (np.uint32, 0, (1 << 32) - 1),
    "i16": (np.int16, -(1 << 15), (1 << 15) - 1),
    "u16": (np.uint16, 0, (1 << 16) - 1),
}

READERS: dict[str, Callable[[Call, int], NDArray[Any]]] = {"f16": f16_source, "f32": f32_source, "f64": f64_source}


def _values(call: Call, source: str, number: int = 0) -> NDArray[np.float64]:
    """Numbers of a floating-point source; float64 holds each of them."""
    return lookup(source).decode(READERS[source](call, number))


def _saturated(values: NDArray[np.float64], target: str) -> Bits:
    """Whole numbers as bits of an integer; every limit is a float64, so that the cast is exact."""
    dtype, low, high = INTEGERS[target]
    whole = np.clip(np.where(np.isnan(values), 0.0, values), low, high)
    return whole.astype(np.int64).astype(dtype).view(f"u{np.dtype(dtype).itemsize}")


def _by_sign(call: Call, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """f32 sources with infinities in place of NaNs, and zeros of denormals that MODE flushes."""
    limits = np.where(f32_source(call, 0) >> np.uint32(31), -np.inf, np.inf)
    values = np.where(np.isnan(values), limits, values)
    return values if call.mode.denorm_f32 & 1 else np.where(np.abs(values) < 2.0**-126, 0.0, values)


def to_integer(target: str, source: str, how: str = "trunc") -> Callable[[Call], Bits]:
    """v_cvt_{i32,u32}_{f32,f64}, v_cvt_{i16,u16}_f16, v_cvt_floor_i32_f32 and v_cvt_nearest_i32_f32.

    Args:
        target: ``i32``, ``u32``, ``i16`` or ``u16``.
        source: ``f32``, ``f64`` or ``f16``.
        how: ``trunc``, ``floor``, or ``nearest``: the floor of the value plus one half, in exact arithmetic.

    Returns:
        The function of a row.
    """

    def run(call: Call) -> Bits:
        values = _values(call, source)
        if how != "trunc" and call.arch.conversions.floor_nan_by_sign:
            values = _by_sign(call, values)
        if how == "nearest":
            # Comparing the fraction is exact; adding one half to the value would not be.
            whole = np.floor(values)
            with np.errstate(invalid="ignore"):  # of Inf, whose fraction does not matter
                values = whole + (values - whole >= 0.5)
        bits = _saturated(np.floor(values) if how == "floor" else np.trunc(values), target)
        return place_half(call, bits) if target in {"i16", "u16"} else bits

    return run


def to_integer_pair(target: str) -> Callable[[Call], Bits]:
    """v_cvt_pk_{i16,u16}_f32."""

    def run(call: Call) -> Bits:
        return two_halves(*(_saturated(np.trunc(_values(call, "f32", number)), target) for number in (0, 1)))

    return run


def from_integer(target: str, source: str) -> Callable[[Call], Bits]:
    """v_cvt_{f32,f64}_{i32,u32} and v_cvt_f16_{i16,u16}, rounded as MODE says."""

    def run(call: Call) -> Bits:
        dtype, _, _ = INTEGERS[source]
        bits = call.sources[0]
        if source in {"i16", "u16"}:
            bits = (bits >> np.uint32(16 * (call.modifiers.op_sel & 1))).astype(np.uint16)
        values = bits.view(dtype).astype(np.float64)  # at most 32 bits: exact
        if target == "f64":
            return clamped(call, values.view(np.uint64), lookup("f64"))
        rounding = ROUNDINGS[call.mode.round_f32 if target == "f32" else call.mode.round_f16_f64]
        overflow = call.half_overflow if target == "f16" else "infinity_or_nan"
        out = clamped(call, convert(values.view(np.uint64), "f64", target, rounding, overflow), lookup(target))
        return place_half(call, out) if target == "f16" else out

    return run


def byte_to_f32(byte: int) -> Callable[[Call], Bits]:
    """v_cvt_f32_ubyte{0..3}: exact."""

    def run(call: Call) -> Bits:
        octet = call.sources[0] >> np.uint32(8 * byte) & np.uint32(0xFF)
        return clamped(call, octet.astype(np.float32).view(np.uint32), lookup("f32"))

    return run


def extend(source: str) -> Callable[[Call], Bits]:
    """v_cvt_i32_i16 and v_cvt_u32_u16: sign or zero extension."""

    def run(call: Call) -> Bits:
        half = (call.sources[0] >> np.uint32(16 * (call.modifiers.op_sel & 1))).astype(np.uint16)
        return half.view(INTEGERS[source][0]).astype(np.int32).view(np.uint32)

    return run


def integer_pair(target: str, source: str) -> Callable[[Call], Bits]:
    """v_cvt_pk_{i16_i32,u16_u32}: two integers, saturated to 16 bits."""

    def run(call: Call) -> Bits:
        dtype, _, _ = INTEGERS[source]
        narrow, low, high = INTEGERS[target]
        return two_halves(
            *(np.clip(bits.view(dtype), low, high).astype(narrow).view(np.uint16) for bits in call.sources)
        )

    return run


def _normalise(values: NDArray[np.float64], target: str) -> Bits:
    """-1 to 1 (signed) or 0 to 1 as 16-bit fractions of the largest integer; a product of 24 + 16 bits is exact."""
    limit = INTEGERS[target][2]
    return _saturated(np.rint(np.maximum(values, -1.0) * limit), target)  # only -1 is not a limit of the integers


def normalised(target: str) -> Callable[[Call], Bits]:
    """v_cvt_norm_{i16,u16}_f16."""

    def run(call: Call) -> Bits:
        return place_half(call, _normalise(_values(call, "f16"), target))

    return run


def normalised_pair(target: str, source: str) -> Callable[[Call], Bits]:
    """v_cvt_pk_norm_{i16,u16}_{f32,f16} (v_cvt_pknorm on gfx9)."""

    def run(call: Call) -> Bits:
        return two_halves(*(_normalise(_values(call, source, number), target) for number in (0, 1)))

    return run


def offset_table(call: Call) -> Bits:
    """v_cvt_off_f32_i4: a signed 4-bit number of sixteenths."""
    nibble = (call.sources[0] & np.uint32(0xF)).astype(np.int32)
    sixteenths = (nibble ^ 8) - 8
    return clamped(call, (sixteenths.astype(np.float32) / np.float32(16)).view(np.uint32), lookup("f32"))
