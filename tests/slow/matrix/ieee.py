"""Single IEEE 754 operations, rounded to nearest even, on codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.slow.matrix.fixed import decode, encode, infinity, row
from tests.slow.matrix.products import multiply_exactly, special

if TYPE_CHECKING:
    from tests.slow.matrix.fixed import Number
    from tests.slow.matrix.products import Product

__all__ = ["add", "fma", "multiply", "special_code"]


def special_code(verdict: str, format_name: str, nan: int) -> int:
    """Code of ``"nan"``, ``"+inf"`` or ``"-inf"``."""
    sign = 1 << (row(format_name).bits - 1)
    return {"nan": nan, "+inf": infinity(format_name), "-inf": sign | infinity(format_name)}[verdict]


def _sum(product: Product, c: Number, format_name: str, nan: int) -> int:
    verdict = special([product], c)
    if verdict is not None:
        return special_code(verdict, format_name, nan)
    total = product.value + c.value
    if total == 0:
        # Two zeros of one sign keep it; x + (-x) and zeros of opposite signs give +0.
        both_minus = product.sign == 1 and c.sign == 1
        return 1 << (row(format_name).bits - 1) if both_minus else 0
    return encode(total, format_name)


def fma(a: Number, b: Number, c: Number, format_name: str, nan: int) -> int:
    """``a * b + c`` rounded once to a code of ``format_name``; any NaN result is the code ``nan``."""
    return _sum(multiply_exactly(a, b), c, format_name, nan)


def multiply(a: Number, b: Number, format_name: str, nan: int) -> int:
    """``a * b`` rounded once."""
    product = multiply_exactly(a, b)
    # Adding a zero of the product's own sign changes nothing, not even the sign of a zero product.
    zero = decode(product.sign << (row(format_name).bits - 1), format_name)
    return _sum(product, zero, format_name, nan)


def add(x: int, y: int, format_name: str, nan: int) -> int:
    """``x + y`` rounded once; x and y are codes of ``format_name``."""
    one = decode(row(format_name).bias << row(format_name).mantissa_bits, format_name)
    return fma(decode(x, format_name), one, decode(y, format_name), format_name, nan)
