"""What every algorithm here shares: exact products, and the rules for Inf and NaN among summands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from golden.reference.formats import NAN, Number

if TYPE_CHECKING:
    from collections.abc import Iterable


def multiply(a: Number, b: Number) -> Number:
    """The exact product of two numbers, not normalised; Inf times zero is NaN (IEEE 754-2019, 7.2)."""
    if a.kind == "finite" and b.kind == "finite":
        return Number(
            "finite", a.sign ^ b.sign, a.significand * b.significand, a.exponent + b.exponent, a.place + b.place
        )
    if a.kind == "nan" or b.kind == "nan":
        return NAN
    finite = a if a.kind == "finite" else b
    if finite.kind == "finite" and finite.significand == 0:
        return NAN
    return Number("inf", a.sign ^ b.sign, 0, 0, 0)


def special(terms: Iterable[Number]) -> Number | None:
    """The sum when a summand is not finite: NaN wins, opposite infinities make NaN, one sign of infinity stays.

    Returns:
        NaN, an infinity, or None when all summands are finite.
    """
    infinity: Number | None = None
    for term in terms:
        if term.kind == "finite":
            continue
        if term.kind == "nan" or (infinity is not None and infinity.sign != term.sign):
            return NAN
        infinity = term
    return infinity


def signed(number: Number) -> int:
    """The signed significand of a finite number."""
    return -number.significand if number.sign else number.significand
