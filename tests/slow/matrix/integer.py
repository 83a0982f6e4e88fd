"""Integer dot products: the exact sum, brought back to 32 bits once, at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfmasim.errors import unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["FORMATS", "integer_dot", "integer_value", "to_32_bits"]

FORMATS = {"i8": (8, True), "u8": (8, False), "i4": (4, True), "u4": (4, False), "i32": (32, True)}
"""Bits and signedness of the integer formats."""


def integer_value(code: int, format_name: str) -> int:
    """Value of an integer code.

    Raises:
        MfmasimError: the name is not an integer format.
    """
    if format_name not in FORMATS:
        raise unknown("integer format", format_name, FORMATS)
    bits, signed = FORMATS[format_name]
    code &= (1 << bits) - 1
    return code - (1 << bits) if signed and code >> (bits - 1) else code


def integer_dot(a_format: str, b_format: str, a: Sequence[int], b: Sequence[int], c: int) -> int:
    """Exact sum of products and of c (raw bits of an i32)."""
    products = (integer_value(x, a_format) * integer_value(y, b_format) for x, y in zip(a, b, strict=True))
    return integer_value(c, "i32") + sum(products)


def to_32_bits(total: int, *, saturate: bool) -> int:
    """Raw bits of the total as an i32: the nearest one in range, or the low 32 bits."""
    if saturate:
        total = min(max(total, -(1 << 31)), (1 << 31) - 1)
    return total & 0xFFFFFFFF
