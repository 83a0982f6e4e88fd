"""One rounding from the bits of any format to the bits of any other, in integers only.

A source value is ``significand * 2**scale``. The target cuts it at the place of its last mantissa bit, which lies
``shift`` bits higher; what is cut off decides, by the rounding mode, whether the code's magnitude grows by one. Codes
of one sign are ordered like their values, so that a carry runs into the exponent by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.arrays import I64, Flags
    from mfmasim.formats.modes import NanRule, Overflow, Rounding
    from mfmasim.formats.rows import FormatRow


# A shift beyond this leaves nothing of a 53-bit significand but a remainder below one half.
MAX_SHIFT = 62


class _Fields(NamedTuple):
    """Source values as ``(-1)**negative * significand * 2**scale``; ``exponent`` is that of the leading bit."""

    negative: Flags
    significand: I64
    scale: I64
    exponent: I64
    nan: Flags
    infinite: Flags
    mantissa: I64


def round_codes(
    codes: NDArray[np.unsignedinteger[Any]],
    source: FormatRow,
    target: FormatRow,
    rounding: Rounding,
    overflow: Overflow,
    nan: NanRule,
    random: NDArray[np.uint32] | None = None,
    random_bits: int = MAX_SHIFT,
) -> NDArray[np.unsignedinteger[Any]]:
    """Convert codes of ``source`` into codes of ``target``.

    The arguments are those of `mfmasim.formats.convert`, checked.

    Args:
        codes: codes of ``source``, any shape.
        source: format to convert from.
        target: format to convert to.
        rounding: rounding mode.
        overflow: overflow rule.
        nan: NaN rule.
        random: uint32 of the same shape, for ``stochastic``.
        random_bits: places below the last kept one that take part in stochastic rounding; places below them are cut
            off first, as the hardware's adder does.

    Returns:
        Codes of ``target`` of the same shape.
    """
    fields = _split(codes.astype(np.uint64).view(np.int64), source, normalise=target.min_exponent < source.min_exponent)
    magnitude = _round(fields, target, rounding, random, random_bits)
    out = _limit(fields, magnitude, target, rounding, overflow)
    out = np.where(fields.nan, _nan(fields, source, target, nan), out)
    return (out & np.int64(target.mask if target.bits < 64 else -1)).view(np.uint64).astype(target.carrier)


def _split(codes: I64, source: FormatRow, normalise: bool) -> _Fields:
    """Split codes. ``normalise`` finds the leading bit of subnormals, for targets with a wider exponent range."""
    none = np.zeros(codes.shape, np.bool_)
    if source.integer:
        values = codes - ((codes & source.sign_bit) << 1) if source.signed else codes
        significand = np.abs(values)
        scale = np.zeros_like(codes)
        return _Fields(values < 0, significand, scale, _leading(significand), none, none, scale)
    negative = (codes < 0) if source.bits == 64 else (codes & source.sign_bit) != 0
    magnitude = codes & (source.mask >> int(source.signed))
    mantissa = magnitude & ((1 << source.mantissa_bits) - (1 << source.unread_bits))
    exponent = magnitude >> source.mantissa_bits
    if source.special == "scale":
        exponent = exponent - source.bias
        return _Fields(none, np.ones_like(codes), exponent, exponent, magnitude == source.mask, none, mantissa)
    significand = mantissa | (exponent > 0).astype(np.int64) << source.mantissa_bits
    exponent = np.maximum(exponent, 1) - source.bias
    scale = exponent - source.mantissa_bits
    if normalise:
        exponent = _leading(significand) + scale
    nan, infinite = none, none
    if source.inf_code is not None:
        special = magnitude >= source.inf_code
        nan, infinite = special & (mantissa != 0), special & (mantissa == 0)
    elif source.nan_code is not None:
        nan = codes == source.nan_code if source.special == "fnuz" else magnitude == source.nan_code
        if source.special == "fnuz":
            negative = negative & ~nan  # the only NaN has no sign, although its top bit is set
    return _Fields(negative, significand, scale, exponent, nan, infinite, mantissa)


def _leading(significand: I64) -> I64:
    """Position of the leading one; far below everything for 0."""
    # Below 2**53 the conversion to float64 is exact, and frexp only reads its exponent.
    position = np.frexp(significand.astype(np.float64))[1].astype(np.int64) - 1
    return np.where(significand == 0, -(1 << 20), position)


def _round(
    fields: _Fields, target: FormatRow, rounding: Rounding, random: NDArray[np.uint32] | None, random_bits: int
) -> I64:
    """Magnitudes of the target, as if its exponent had no upper end (without its unread bits)."""
    significand = fields.significand
    if target.integer:
        # Everything from 2**41 on overflows alike, and would not fit after the shift.
        far = fields.exponent > 40
        significand = np.where(far, 0, significand)
        base = np.where(far, np.int64(1) << 41, np.int64(0))
        shift = np.where(far, 0, -fields.scale)
    else:
        exponent = np.maximum(fields.exponent, target.min_exponent)
        shift = exponent - target.precision - fields.scale
        base = (exponent - target.min_exponent) << target.precision
        if target.special == "scale":
            base = base - 1  # the one significant bit is not part of the code
    left = np.maximum(-shift, 0)
    if rounding == "stochastic":
        # Places below the last random bit are cut off; below 2**-62 they would not matter to 32 exact bits either.
        significand = significand >> np.clip(shift - random_bits, 0, 63)
    shift = np.clip(shift, 0, random_bits if rounding == "stochastic" else MAX_SHIFT)
    magnitude: I64 = base + ((significand >> shift) << left)
    rest = significand & ((np.int64(1) << shift) - 1)
    if rounding == "stochastic":
        assert random is not None
        wide = random.astype(np.int64)
        noise = np.where(shift < 32, wide >> np.clip(32 - shift, 0, 63), wide << np.clip(shift - 32, 0, 63))
        magnitude = magnitude + ((rest + noise) >> shift)
    elif rounding == "nearest_even":
        # rest > half, or equal to half and odd; with shift 0 the rest is 0.
        magnitude = magnitude + ((rest << 1) + (magnitude & 1) > (np.int64(1) << shift)) * (shift > 0)
    elif rounding != "toward_zero":
        away = fields.negative if rounding == "down" else ~fields.negative
        magnitude = magnitude + ((rest != 0) & away)
    return magnitude


def _limit(fields: _Fields, magnitude: I64, target: FormatRow, rounding: Rounding, overflow: Overflow) -> I64:
    """Apply overflow, sign, and the formats' rules for zero."""
    negative = fields.negative
    if target.integer:
        # Two's complement: one more value below zero than above; an unsigned format stops at 0.
        most = np.where(negative, np.int64(target.sign_bit), np.int64(target.max_code))
        magnitude = np.where(fields.infinite, most, np.minimum(magnitude, most))
        return np.where(negative, -magnitude, magnitude)
    largest = np.int64(target.max_code >> target.unread_bits)
    over = magnitude > largest
    beyond = target.max_code
    if overflow == "infinity_or_nan" and target.special != "finite":
        beyond = target.nan_code or 0 if target.inf_code is None else target.inf_code
        inward = {"toward_zero": over, "up": negative & over, "down": ~negative & over}.get(rounding)
        if inward is not None:
            magnitude, over = np.where(inward, largest, magnitude), over & ~inward
    codes = np.where(over, np.int64(beyond), np.maximum(magnitude, 0) << target.unread_bits)
    if overflow != "saturate" and target.special != "finite":
        beyond = target.nan_code or 0 if target.inf_code is None else target.inf_code
    codes = np.where(fields.infinite, np.int64(beyond), codes)
    if not target.signed:
        # No sign: a negative number is not representable at all.
        return np.where(negative & ((fields.significand != 0) | fields.infinite), np.int64(target.mask), codes)
    if target.special == "fnuz":
        # The code of -0 is NaN; a NaN made above already is that code.
        negative = negative & (codes != 0)
    return np.where(negative, codes | _sign(target), codes)


def _sign(target: FormatRow) -> np.int64:
    """Sign bit as int64, in which that of a 64-bit format is the smallest number."""
    return np.int64(-(1 << 63) if target.bits == 64 else target.sign_bit)


def _nan(fields: _Fields, source: FormatRow, target: FormatRow, rule: NanRule) -> I64 | np.int64:
    """Codes of the target's NaN for each source element."""
    if target.integer:
        return np.int64(0)
    sign = _sign(target)
    if target.nan_code is None:
        return np.where(fields.negative, target.max_code | sign, target.max_code)
    if target.special == "fnuz" or not target.signed:
        return np.int64(target.nan_code)
    code = np.int64(target.nan_code)
    out = np.where(fields.negative, code | sign, code)
    if rule == "payload" and source.special == "ieee" and target.special == "ieee":
        shift = source.mantissa_bits - target.mantissa_bits
        payload = fields.mantissa >> shift if shift > 0 else fields.mantissa << -shift
        out = out | payload
    return out
