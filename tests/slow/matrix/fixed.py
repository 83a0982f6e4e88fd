"""Exact numbers for the slow model: every finite value is one Python integer, counting units of 2**UNIT.

One grid fine enough for everything (products of two f64 subnormals are multiples of 2**-2148) makes all sums exact
integer sums, and makes rounding a statement about the low bits of an integer. There is nothing else to get wrong.
"""

from __future__ import annotations

from dataclasses import dataclass

from mfmasim.errors import unknown
from mfmasim.formats.rows import ROWS, FormatRow

__all__ = [
    "UNIT",
    "Number",
    "decode",
    "encode",
    "floor_to",
    "infinity",
    "is_nan",
    "largest",
    "lead",
    "round_to",
    "row",
    "truncate_to",
    "units",
]

UNIT = -2400

_BY_NAME = {name: found for found in ROWS for name in (found.name, *found.aliases)}


def row(name: str) -> FormatRow:
    """Row of a floating-point format.

    Raises:
        MfmasimError: the name is not a floating-point format.
    """
    if name not in _BY_NAME:
        raise unknown("number format", name, _BY_NAME)
    return _BY_NAME[name]


def units(count: int, exponent: int) -> int:
    """The value ``count * 2**exponent`` as a number of units."""
    if exponent < UNIT:
        raise AssertionError("finer than the unit")
    return count << (exponent - UNIT)


def lead(x: int) -> int:
    """Exponent of the leading bit, floor(log2 |x|); -1024 for zero, which has none."""
    return abs(x).bit_length() - 1 + UNIT if x else -1024


def floor_to(x: int, exponent: int) -> int:
    """Largest multiple of ``2**exponent`` that is not above ``x`` (toward minus infinity)."""
    step = units(1, exponent)
    return (x // step) * step


def truncate_to(x: int, exponent: int) -> int:
    """``x`` rounded toward zero to a multiple of ``2**exponent``."""
    return floor_to(x, exponent) if x >= 0 else -floor_to(-x, exponent)


def round_to(x: int, exponent: int) -> int:
    """``x`` rounded to the nearest multiple of ``2**exponent``, ties to the even multiple."""
    step = units(1, exponent)
    count, rest = divmod(x, step)
    if 2 * rest > step or (2 * rest == step and count % 2 == 1):
        count += 1
    return count * step


@dataclass(frozen=True)
class Number:
    """A decoded code.

    ``kind`` is ``"finite"``, ``"inf"`` or ``"nan"``. The value of a finite number is
    ``(-1)**sign * significand * 2**(exponent - mantissa_bits)``: the significand is not normalised, so subnormals
    keep the smallest exponent of their format and zero has one too.
    """

    kind: str
    sign: int
    significand: int
    exponent: int
    mantissa_bits: int
    code: int

    @property
    def value(self) -> int:
        """Value in units (finite numbers only)."""
        magnitude = units(self.significand, self.exponent - self.mantissa_bits)
        return -magnitude if self.sign else magnitude

    @property
    def subnormal(self) -> bool:
        """Whether the number is finite, not zero, and has no hidden bit."""
        return self.kind == "finite" and 0 < self.significand < 1 << self.mantissa_bits


def decode(code: int, format_name: str) -> Number:
    """Take a code apart by its format's row.

    Args:
        code: raw bits, right-aligned.
        format_name: a name of ``mfmasim.formats.rows``.

    Returns:
        The number, with its sign, significand and exponent as the multiplier sees them.
    """
    form = row(format_name)
    mantissa_bits = form.mantissa_bits
    sign = code >> (form.bits - 1) if form.signed else 0
    field = code >> mantissa_bits & ((1 << form.exponent_bits) - 1)
    fraction = code & ((1 << mantissa_bits) - 1)
    all_ones = field == (1 << form.exponent_bits) - 1

    nan = {
        "ieee": all_ones and fraction != 0,
        "fnu": all_ones and fraction == (1 << mantissa_bits) - 1,
        "fn": all_ones and fraction == (1 << mantissa_bits) - 1,
        "fnuz": code == 1 << (form.bits - 1),
        "finite": False,
        "scale": all_ones,
    }[form.special]
    kind = "nan" if nan else "inf" if form.special == "ieee" and all_ones else "finite"

    if form.special == "scale":
        return Number(kind, 0, 1, field - form.bias, 0, code)
    hidden = 1 << mantissa_bits if field else 0
    return Number(kind, sign, hidden | fraction, max(field, 1) - form.bias, mantissa_bits, code)


def is_nan(code: int, format_name: str) -> bool:
    """Whether a code is a NaN of its format."""
    return decode(code, format_name).kind == "nan"


def encode(x: int, format_name: str) -> int:
    """Round a value to an IEEE-like format: nearest, ties to even, gradual underflow, overflow to infinity.

    Zero becomes +0; a negative value that underflows becomes -0.

    Args:
        x: the exact value in units.
        format_name: ``"f64"``, ``"f32"``, ``"f16"`` or ``"bf16"``.

    Returns:
        The code.
    """
    form = row(format_name)
    smallest = 1 - form.bias
    sign = 1 << (form.bits - 1) if x < 0 else 0
    rounded = round_to(abs(x), max(lead(x), smallest) - form.mantissa_bits)
    if lead(rounded) > form.bias:
        return sign | infinity(format_name)
    exponent = max(lead(rounded), smallest)
    significand = rounded // units(1, exponent - form.mantissa_bits)
    hidden = 1 << form.mantissa_bits
    if significand < hidden:
        return sign | significand
    return sign | (exponent + form.bias) << form.mantissa_bits | (significand - hidden)


def infinity(format_name: str) -> int:
    """Code of +Inf of an IEEE-like format."""
    form = row(format_name)
    return ((1 << form.exponent_bits) - 1) << form.mantissa_bits


def largest(format_name: str) -> int:
    """Code of the largest finite number of an IEEE-like format."""
    return infinity(format_name) - 1
