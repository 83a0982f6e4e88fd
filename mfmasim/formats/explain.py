"""The meaning of one code, field by field, and the table of all codes of a format."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.errors import MfmasimError
from mfmasim.formats.checks import as_codes

if TYPE_CHECKING:
    from mfmasim.formats.registry import Format


@dataclass(frozen=True)
class Explanation:
    """The fields and value of one code."""

    format: str
    code: int
    bits: str
    """Binary digits, with spaces between sign, exponent and mantissa."""
    kind: str
    """``zero``, ``subnormal``, ``normal``, ``inf``, ``nan`` or ``integer``."""
    sign: int
    exponent: int | None
    """Exponent field, as an unsigned number; None for integers."""
    mantissa: int | None
    """Mantissa field, as an unsigned number; None for integers."""
    formula: str
    """How the value follows from the fields."""
    value: float

    def lines(self) -> list[str]:
        """Text for a terminal, one fact a line."""
        text = [f"{self.format} {self.code:#x} = {self.bits}: {self.kind}"]
        if self.exponent is not None:
            *sign, exponent, mantissa = [*self.bits.split(" "), ""][: 3 if " " in self.bits else 2]
            fields = [f"sign {bit}" for bit in sign]
            fields.append(f"exponent {exponent} = {self.exponent}")
            if mantissa:
                fields.append(f"mantissa {mantissa} = {self.mantissa}")
            text.append(f"  {', '.join(fields)}")
        return [*text, f"  {self.formula}"]


def explain(fmt: Format, code: int) -> Explanation:
    """Work out the value of one code.

    Args:
        fmt: the format.
        code: the code, below ``2**bits``.

    Raises:
        MfmasimError: the code does not fit the format.

    >>> from mfmasim.formats import format
    >>> print(*explain(format("e4m3fnuz"), 0x2B).lines(), sep=chr(10))
    e4m3fnuz 0x2b = 0 0101 011: normal
      sign 0, exponent 0101 = 5, mantissa 011 = 3
      (-1)^0 × 2^(5 - 8) × (1 + 3/8) = 0.171875
    >>> explain(format("e4m3fnuz"), 0x80).formula
    'the sign bit alone, which would be -0: the only NaN'
    """
    code = int(as_codes([code], fmt)[0])
    return _explain(fmt, code, float(fmt.decode([code])[0]))


def _explain(fmt: Format, code: int, value: float) -> Explanation:
    """Split a code with a known value into its fields."""
    digits = f"{code:0{fmt.bits}b}"
    if fmt.integer:
        sign = code >> (fmt.bits - 1) if fmt.signed else 0
        formula = f"{code} - 2^{fmt.bits} = {value:g}" if sign else f"{value:.0f}"
        return Explanation(fmt.name, code, digits, "integer", sign, None, None, formula, value)
    sign = code >> (fmt.bits - 1) if fmt.signed else 0
    exponent = code >> fmt.mantissa_bits & (1 << fmt.exponent_bits) - 1
    mantissa = code & (1 << fmt.mantissa_bits) - 1
    parts = [
        digits[: int(fmt.signed)],
        digits[int(fmt.signed) : fmt.bits - fmt.mantissa_bits],
        digits[-fmt.mantissa_bits :],
    ]
    bits = " ".join(part for part in parts[: 3 if fmt.mantissa_bits else 2] if part)
    kind, formula = _meaning(fmt, sign, exponent, mantissa, value)
    return Explanation(fmt.name, code, bits, kind, sign, exponent, mantissa, formula, value)


def _meaning(fmt: Format, sign: int, exponent: int, mantissa: int, value: float) -> tuple[str, str]:
    """Class of a floating-point code, and its formula."""
    if np.isnan(value):
        text = {
            "fnuz": "the sign bit alone, which would be -0: the only NaN",
            "scale": "all bits set: NaN",
            "fnu": "all bits set: NaN",
            "fn": "exponent and mantissa all ones: NaN",
        }
        return "nan", text.get(fmt.special, "exponent all ones, mantissa not 0: NaN")
    if np.isinf(value):
        return "inf", f"exponent all ones, mantissa 0: {'-' if sign else ''}Inf"
    if fmt.special == "scale":
        return "normal", f"2^({exponent} - {fmt.bias}) = {shown(value)}"
    front = f"(-1)^{sign} × " if fmt.signed else ""
    read = mantissa >> fmt.unread_bits
    fraction = f"{read}/{1 << fmt.precision}"
    cut = f", the lowest {fmt.unread_bits} bits are not read" if fmt.unread_bits else ""
    if exponent:
        return "normal", f"{front}2^({exponent} - {fmt.bias}) × (1 + {fraction}) = {shown(value)}{cut}"
    if value == 0:
        return "zero", f"{front}0 = {shown(value)}{cut}"
    return "subnormal", f"{front}2^(1 - {fmt.bias}) × (0 + {fraction}) = {shown(value)}{cut}"


def shown(value: float) -> str:
    """A value as text: all its digits where there are few, else the shortest text that gives it back."""
    if not np.isfinite(value) or value == 0:
        return str(value)
    exact = Fraction(value)
    if exact.denominator == 1 and abs(exact) < 1 << 40:
        return str(exact.numerator)
    # A binary fraction of n places has n decimals.
    places = exact.denominator.bit_length() - 1
    text = f"{value:.{places}f}" if places <= 12 else repr(value)
    return text.rstrip("0") if "." in text and "e" not in text else text


def exact_text(value: float, most: int) -> str:
    """A value without any rounding: its decimal digits where they are few, else an odd number times a power of two.

    Args:
        value: the value.
        most: characters of a decimal text that count as few.

    >>> exact_text(0.001953125, 11), exact_text(3 * 2.0**-16, 11), exact_text(2.0**100, 11)
    ('0.001953125', '3×2^-16', '2^100')
    """
    if not np.isfinite(value) or value == 0:
        return str(value)
    exact = Fraction(value)
    places = exact.denominator.bit_length() - 1
    text = f"{value:.{places}f}"  # a binary fraction of n places has n decimals
    if len(text) <= most:
        return text
    odd = abs(exact.numerator)
    twos = (odd & -odd).bit_length() - 1
    odd >>= twos
    sign, factor = "-" if value < 0 else "", "" if odd == 1 else f"{odd}×"
    return f"{sign}{factor}2^{twos - places}"


def value_table(fmt: Format) -> list[Explanation]:
    """Every code of a format of at most 16 bits, in the order of the codes.

    Raises:
        MfmasimError: a wider format.
    """
    if fmt.bits > 16:
        raise MfmasimError(f"{fmt.name} has 2**{fmt.bits} codes, too many for a table; name the codes to explain")
    values = fmt.decode(np.arange(1 << fmt.bits)).tolist()
    return [_explain(fmt, code, value) for code, value in enumerate(values)]
