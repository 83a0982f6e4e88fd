"""The slow, obvious second model: one code or one number at a time, in Python integers and `fractions.Fraction`.

Tests hold the fast paths to it. It shares only the rows with them; keep it slow.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from mfmasim.errors import MfmasimError

if TYPE_CHECKING:
    from mfmasim.formats.rows import FormatRow

__all__ = ["Number", "decode", "encode", "largest"]


class Number(NamedTuple):
    """A decoded code. ``magnitude`` is a Fraction, or ``"inf"`` or ``"nan"``; zero and NaN have a sign, too."""

    negative: bool
    magnitude: Fraction | str


def decode(row: FormatRow, code: int) -> Number:
    """Decode one code by the definition of its format."""
    if row.special == "unsigned":
        return Number(negative=False, magnitude=Fraction(code))
    if row.special == "signed":
        value = code - (1 << row.bits) if code >> (row.bits - 1) else code
        return Number(value < 0, Fraction(abs(value)))
    if row.special == "scale":
        all_ones = (1 << row.bits) - 1
        return Number(negative=False, magnitude="nan" if code == all_ones else power(code - row.bias))
    negative = row.special != "fnu" and bool(code >> (row.bits - 1))
    magnitude = code if row.special == "fnu" else code & ((1 << (row.bits - 1)) - 1)
    mantissa = magnitude & ((1 << row.mantissa_bits) - 1)
    mantissa -= mantissa % (1 << row.unread_bits)
    exponent = magnitude >> row.mantissa_bits
    if row.special == "fnuz" and negative and magnitude == 0:
        return Number(negative=False, magnitude="nan")
    if row.special == "fnu" and magnitude == (1 << row.bits) - 1:
        return Number(negative=False, magnitude="nan")
    if row.special == "fn" and magnitude == (1 << (row.bits - 1)) - 1:
        return Number(negative, "nan")
    if row.special == "ieee" and exponent == (1 << row.exponent_bits) - 1:
        return Number(negative, "nan" if mantissa else "inf")
    fraction = Fraction(mantissa, 1 << row.mantissa_bits)
    if exponent == 0:
        return Number(negative, fraction * power(1 - row.bias))
    return Number(negative, (1 + fraction) * power(exponent - row.bias))


def power(exponent: int) -> Fraction:
    """Two to an integer."""
    return Fraction(2) ** exponent


def largest(row: FormatRow, negative: bool = False) -> int:
    """Largest code of a finite magnitude of one sign, without the sign bit."""
    if row.special == "signed":
        return (1 << (row.bits - 1)) - (0 if negative else 1)
    if row.special == "unsigned":
        return 0 if negative else (1 << row.bits) - 1
    code = (1 << row.bits) - 1 if row.special in {"scale", "fnu"} else (1 << (row.bits - 1)) - 1
    while isinstance(decode(row, code).magnitude, str):
        # Step over NaN codes; the many of a wide ieee format at once.
        code = (code >> row.mantissa_bits << row.mantissa_bits) - 1 if row.special == "ieee" else code - 1
    return code - code % (1 << row.unread_bits)


def encode(
    row: FormatRow, number: Number, rounding: str = "nearest_even", overflow: str = "saturate", random: int = 0
) -> int:
    """Encode one number: find the two codes around it, then choose."""
    negative, magnitude = number
    if magnitude == "nan":
        return _nan(row, negative)
    if row.special in {"scale", "fnu"} and negative and magnitude != 0:
        return (1 << row.bits) - 1
    top = largest(row, negative)
    if magnitude == "inf":
        return _with_sign(row, negative, top) if overflow == "saturate" else _infinity(row, negative)
    assert isinstance(magnitude, Fraction)
    low, step = _code_below(row, magnitude, top), 1 << row.unread_bits
    below = _magnitude(row, low)
    # The value one step above the largest one: what the format would hold if it went on.
    above = _magnitude(row, low + step) if low < top else below + _last_place(row, below)
    if magnitude < below:  # only a scale: nothing lies below its smallest value
        return low
    away = _rounds_away(rounding, negative, (magnitude - below) / (above - below), low // step, random)
    if magnitude >= above:  # beyond the range altogether
        away = True
    if low == top and away:
        inward = rounding in {"toward_zero", "up" if negative else "down"}
        if inward or overflow != "infinity_or_nan":
            return _with_sign(row, negative, top)
        return _infinity(row, negative)
    return _with_sign(row, negative, low + step if away else low)


def _rounds_away(rounding: str, negative: bool, part: Fraction, below: int, random: int) -> bool:
    """Whether the magnitude rounds up, ``part`` of the way from the code ``below`` to the next."""
    if rounding == "toward_zero":
        return False
    if rounding == "up":
        return part > 0 and not negative
    if rounding == "down":
        return part > 0 and negative
    if rounding == "stochastic":
        return part + Fraction(random, 1 << 32) >= 1
    if rounding == "nearest_even":
        return part > Fraction(1, 2) or (part == Fraction(1, 2) and below % 2 == 1)
    raise MfmasimError(f"unknown rounding {rounding!r}")


def _magnitude(row: FormatRow, code: int) -> Fraction:
    """Value of a code of positive sign."""
    if row.special == "signed":
        return Fraction(code)
    magnitude = decode(row, code).magnitude
    assert isinstance(magnitude, Fraction)
    return magnitude


def _code_below(row: FormatRow, magnitude: Fraction, top: int) -> int:
    """Largest code whose value does not exceed ``magnitude``; codes grow with their values."""
    step = 1 << row.unread_bits
    low, high = 0, top // step
    while low < high:
        middle = (low + high + 1) // 2
        if _magnitude(row, middle * step) <= magnitude:
            low = middle
        else:
            high = middle - 1
    return low * step


def _last_place(row: FormatRow, value: Fraction) -> Fraction:
    """Distance from ``value`` to the next code of its binade."""
    if row.special in {"signed", "unsigned"}:
        return Fraction(1)
    exponent = 0
    while power(exponent + 1) <= value:
        exponent += 1
    while power(exponent) > value:
        exponent -= 1
    return power(exponent - (row.mantissa_bits - row.unread_bits))


def _with_sign(row: FormatRow, negative: bool, code: int) -> int:
    """Code of a magnitude with its sign."""
    if not negative or row.special in {"scale", "fnu", "unsigned"}:
        return code
    if row.special == "signed":
        return ((1 << row.bits) - code) % (1 << row.bits)
    if row.special == "fnuz" and code == 0:
        return 0
    return code | 1 << (row.bits - 1)


def _infinity(row: FormatRow, negative: bool) -> int:
    """Inf, or NaN without Inf, or the largest value without either."""
    if row.special == "ieee":
        return _with_sign(row, negative, ((1 << row.exponent_bits) - 1) << row.mantissa_bits)
    if row.special in {"fn", "fnu", "fnuz", "scale"}:
        return _nan(row, negative)
    return _with_sign(row, negative, largest(row, negative))


def _nan(row: FormatRow, negative: bool) -> int:
    """Canonical quiet NaN; the largest value, or 0 for integers, where the format has none."""
    if row.special in {"signed", "unsigned"}:
        return 0
    if row.special in {"scale", "fnu"}:
        return (1 << row.bits) - 1
    if row.special == "fnuz":
        return 1 << (row.bits - 1)
    if row.special == "fn":
        return _with_sign(row, negative, (1 << (row.bits - 1)) - 1)
    if row.special == "finite":
        return _with_sign(row, negative, largest(row))
    quiet = ((1 << row.exponent_bits) - 1) << row.mantissa_bits | 1 << (row.mantissa_bits - 1)
    return _with_sign(row, negative, quiet)
