"""Number formats as Python integers: raw code to (sign, significand, exponent), and back with one rounding.

Sources: IEEE 754-2019 (f32, f16), the bfloat16 layout (bf16), OCP 8-bit Floating Point 1.0 (e4m3fn, e5m2),
OCP Microscaling Formats 1.0 (e2m3fn, e3m2fn, e2m1fn, e8m0fnu), CDNA3 ISA manual section 7.2 (e4m3fnuz, e5m2fnuz).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Codes = NDArray[np.unsignedinteger]

Kind = Literal["finite", "inf", "nan"]
Specials = Literal["ieee", "top_nan", "fnuz", "none", "scale"]


class Number(NamedTuple):
    """A decoded operand or an exact product of two.

    A finite value is `(-1)**sign * significand * 2**exponent`. `place` is the exponent of the leading place the value
    could occupy, without normalising: subnormals keep the smallest one, and a product adds its factors'. The
    instruction models align on it.
    """

    kind: Kind
    sign: int
    significand: int
    exponent: int
    place: int


NAN = Number("nan", 0, 0, 0, 0)


@dataclass(frozen=True)
class Format:
    """One floating-point format.

    Attributes:
        name: OCP or ml_dtypes spelling.
        exponent_bits: Width of the exponent field.
        fraction_bits: Width of the fraction field.
        bias: Exponent bias.
        specials: Where Inf and NaN lie. `ieee`: exponent all ones is Inf (fraction 0) or NaN; `top_nan`: only all
            ones in exponent and fraction is NaN, no Inf; `fnuz`: only the code of minus zero is NaN, no Inf;
            `none`: neither; `scale`: unsigned power of two, all ones is NaN, no zero.
    """

    name: str
    exponent_bits: int
    fraction_bits: int
    bias: int
    specials: Specials

    @property
    def bits(self) -> int:
        """Width of a code in bits."""
        return self.exponent_bits + self.fraction_bits + (self.specials != "scale")

    @property
    def sign_bit(self) -> int:
        """The sign's place value in a code; 0 when the format is unsigned."""
        return 0 if self.specials == "scale" else 1 << (self.exponent_bits + self.fraction_bits)

    @property
    def dtype(self) -> type[np.uint8 | np.uint16 | np.uint32]:
        """The unsigned integer that holds one code."""
        return np.uint8 if self.bits <= 8 else np.uint16 if self.bits == 16 else np.uint32


#                name        exp frac bias  specials
FORMATS = {
    f.name: f
    for f in (
        Format("f32", 8, 23, 127, "ieee"),
        Format("f16", 5, 10, 15, "ieee"),
        Format("bf16", 8, 7, 127, "ieee"),
        Format("e5m2", 5, 2, 15, "ieee"),
        Format("e5m2fnuz", 5, 2, 16, "fnuz"),
        Format("e4m3fn", 4, 3, 7, "top_nan"),
        Format("e4m3fnuz", 4, 3, 8, "fnuz"),
        Format("e3m2fn", 3, 2, 3, "none"),
        Format("e2m3fn", 2, 3, 1, "none"),
        Format("e2m1fn", 2, 1, 1, "none"),
        Format("e8m0fnu", 8, 0, 127, "scale"),
    )
}

CANONICAL_NAN = {"f32": 0x7FC00000, "f16": 0x7E00, "bf16": 0x7FC0, "e5m2": 0x7E, "e4m3fn": 0x7F}


def find_format(name: str) -> Format:
    """The format of that name.

    Raises:
        ValueError: There is none.
    """
    if name not in FORMATS:
        raise ValueError(f"unknown format {name!r}; known: {', '.join(FORMATS)}")
    return FORMATS[name]


def decode(code: int, fmt: Format) -> Number:
    """The number a raw code stands for.

    Args:
        code: Raw bits, 0 <= code < 2**fmt.bits.
        fmt: The code's format.

    Raises:
        ValueError: The code has more bits than the format.
    """
    if not 0 <= code < 1 << fmt.bits:
        raise ValueError(f"code {code:#x} does not fit the {fmt.bits} bits of {fmt.name}")
    if fmt.specials == "scale":
        exponent = code - fmt.bias
        return NAN if code == 255 else Number("finite", 0, 1, exponent, exponent)

    sign = int(bool(code & fmt.sign_bit))
    field = (code >> fmt.fraction_bits) & ((1 << fmt.exponent_bits) - 1)
    fraction = code & ((1 << fmt.fraction_bits) - 1)
    top_field = field == (1 << fmt.exponent_bits) - 1
    top_fraction = fraction == (1 << fmt.fraction_bits) - 1

    if fmt.specials == "ieee" and top_field:
        return NAN if fraction else Number("inf", sign, 0, 0, 0)
    if fmt.specials == "top_nan" and top_field and top_fraction:
        return NAN
    if fmt.specials == "fnuz" and code == fmt.sign_bit:
        return NAN

    significand = fraction + ((1 << fmt.fraction_bits) if field else 0)
    place = max(field, 1) - fmt.bias
    return Number("finite", sign, significand, place - fmt.fraction_bits, place)


def decode_all(codes: Codes, fmt: Format) -> list[list[Number]]:
    """Decode a matrix of codes to nested lists of numbers."""
    seen: dict[int, Number] = {}
    rows: list[list[Number]] = []
    for row in codes.tolist():
        for code in row:
            if code not in seen:
                seen[code] = decode(code, fmt)
        rows.append([seen[code] for code in row])
    return rows


def encode_finite(sign: int, significand: int, exponent: int, fmt: Format, *, saturate: bool = False) -> int:
    """Round `(-1)**sign * significand * 2**exponent` once, to nearest even, and give its code.

    Underflow is gradual and keeps the sign (in FNUZ formats, which have no minus zero, zero is +0).

    Args:
        sign: 0 or 1.
        significand: Non-negative integer of any width.
        exponent: Power of two of the significand's unit.
        fmt: Result format, signed.
        saturate: Overflow gives the largest finite value of that sign. Without it, overflow gives Inf, or NaN in a
            format that has no Inf.

    Raises:
        ValueError: The result overflows and the format has neither Inf nor NaN, or the format is a scale.
    """
    if fmt.specials == "scale":
        raise ValueError(f"{fmt.name} is a scale format; results are not rounded to it")
    signed = fmt.sign_bit if sign else 0
    smallest_unit = 1 - fmt.bias - fmt.fraction_bits
    unit = max(exponent + significand.bit_length() - 1 - fmt.fraction_bits, smallest_unit)
    kept = _round_half_even(significand, unit - exponent)
    if kept.bit_length() > fmt.fraction_bits + 1:  # the carry out of rounding moved the leading place
        kept, unit = kept >> 1, unit + 1

    if kept == 0:
        return 0 if fmt.specials == "fnuz" else signed
    # Below 2**fraction_bits the exponent field is 0; from there on the hidden one adds 1 to `unit - smallest_unit`.
    magnitude = kept + ((unit - smallest_unit) << fmt.fraction_bits)
    largest = largest_finite(fmt)
    if magnitude <= largest:
        return signed | magnitude
    return signed | largest if saturate else encode_inf(sign, fmt)


def largest_finite(fmt: Format) -> int:
    """Code of the largest positive finite value of a signed format."""
    top = fmt.sign_bit - 1
    if fmt.specials == "ieee":
        return top - (1 << fmt.fraction_bits)
    return top - 1 if fmt.specials == "top_nan" else top


def encode_inf(sign: int, fmt: Format) -> int:
    """Code of a signed infinity, or NaN in a format that has no infinity.

    Raises:
        ValueError: The format has neither.
    """
    if fmt.specials == "ieee":
        return (fmt.sign_bit if sign else 0) | (largest_finite(fmt) + 1)
    return encode_nan(fmt)


def encode_nan(fmt: Format) -> int:
    """The canonical NaN of a format: sign clear, quiet, payload zero (FNUZ formats have one NaN only).

    Raises:
        ValueError: The format has no NaN.
    """
    if fmt.specials == "fnuz":
        return fmt.sign_bit
    if fmt.name not in CANONICAL_NAN:
        raise ValueError(
            f"{fmt.name} has no NaN; formats with one: {', '.join([*CANONICAL_NAN, 'e4m3fnuz', 'e5m2fnuz'])}"
        )
    return CANONICAL_NAN[fmt.name]


def encode(number: Number, fmt: Format, *, saturate: bool = False) -> int:
    """Round a number of any kind to a format; arguments and errors as in `encode_finite`."""
    if number.kind == "nan":
        return encode_nan(fmt)
    if number.kind == "inf":
        return encode_inf(number.sign, fmt)
    return encode_finite(number.sign, number.significand, number.exponent, fmt, saturate=saturate)


def _round_half_even(significand: int, shift: int) -> int:
    """Divide by 2**shift and round to the nearest integer, ties to even."""
    if shift <= 0:
        return significand << -shift
    kept, rest, half = significand >> shift, significand & ((1 << shift) - 1), 1 << (shift - 1)
    return kept + (rest > half or (rest == half and kept & 1))
