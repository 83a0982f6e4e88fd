"""Products of two decoded numbers, and what a group of them makes when something in it is not finite."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.slow.matrix.fixed import UNIT, lead

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.slow.matrix.fixed import Number

__all__ = ["Product", "largest_exponent", "multiply_exactly", "special", "with_overflow"]


@dataclass(frozen=True)
class Product:
    """An exact product.

    ``kind`` is ``"finite"``, ``"inf"``, ``"invalid"`` (Inf times zero) or ``"nan"`` (a factor is NaN). ``value``
    counts units. ``exponent`` is the sum of the factors' exponents, not renormalised: 1.5 * 1.5 has exponent 0.
    """

    kind: str
    sign: int
    value: int
    exponent: int


def multiply_exactly(a: Number, b: Number) -> Product:
    """Multiply two numbers without rounding."""
    sign = a.sign ^ b.sign
    if "nan" in {a.kind, b.kind}:
        return Product("nan", sign, 0, 0)
    if "inf" in {a.kind, b.kind}:
        zero = (a.kind == "finite" and a.significand == 0) or (b.kind == "finite" and b.significand == 0)
        return Product("invalid" if zero else "inf", sign, 0, 0)
    # units(1, 0) stands for 1, so the product of two numbers of units has one factor 2**-UNIT too many.
    value = a.value * b.value >> -UNIT
    return Product("finite", sign, value, a.exponent + b.exponent)


def largest_exponent(products: Sequence[Product]) -> int | None:
    """Largest exponent of the products that are not zero, or None when all are zero."""
    return max((p.exponent for p in products if p.value != 0), default=None)


def with_overflow(product: Product, limit: int | None) -> Product:
    """The product, as an infinity when its magnitude reaches ``2**limit`` (None: no limit)."""
    if limit is not None and product.kind == "finite" and product.value and lead(product.value) >= limit:
        return Product("inf", product.sign, 0, 0)
    return product


def special(products: Sequence[Product], c: Number) -> str | None:
    """What products and addend make together as soon as one of them is not finite.

    Returns:
        ``"nan"``, ``"+inf"``, ``"-inf"``, or None when everything is finite.
    """
    if c.kind == "nan" or any(p.kind in {"nan", "invalid"} for p in products):
        return "nan"
    signs = {p.sign for p in products if p.kind == "inf"}
    if c.kind == "inf":
        signs.add(c.sign)
    if not signs:
        return None
    if len(signs) == 2:
        return "nan"
    return "-inf" if signs == {1} else "+inf"
