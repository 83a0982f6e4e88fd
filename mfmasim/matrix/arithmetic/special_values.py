"""NaN and infinity: results that a step's factors and addend decide before any arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.matrix.arithmetic.factors import Factors
from mfmasim.matrix.arithmetic.product import RESULTS, Product

NAN, INVALID, POSITIVE, NEGATIVE, POSITIVE_OVERFLOW, NEGATIVE_OVERFLOW = 1, 2, 4, 8, 16, 32
INFINITE = POSITIVE | NEGATIVE


def classify(a: Factors, b: Factors, products: NDArray[Any], *, overflow: bool) -> NDArray[np.uint8] | None:
    """Classify the special values among the products of one step.

    Args:
        a: factors of A, broadcastable against those of B; axis 0 is k.
        b: factors of B.
        products: a.value * b.value in f64, whose sign bit is the product's sign.
        overflow: a finite product of magnitude 2^128 or more counts as infinite.

    Returns:
        The flags of this module, one byte per output, or None when there are no special values.
    """
    flags: NDArray[np.uint8] | None = None

    def mark(places: NDArray[Any], flag: int) -> None:
        nonlocal flags
        found = places.any(axis=0)
        if found.any():
            if flags is None:
                flags = np.zeros(products.shape[1:], np.uint8)
            flags |= np.where(found, np.uint8(flag), np.uint8(0))

    for factors in (a, b):
        if factors.nan is not None:
            mark(factors.nan, NAN)
    if a.inf is not None or b.inf is not None:
        a_inf = a.inf if a.inf is not None else np.zeros((1,) * products.ndim, np.bool_)
        b_inf = b.inf if b.inf is not None else np.zeros((1,) * products.ndim, np.bool_)
        a_zero, b_zero = (a.value == 0) & ~a_inf, (b.value == 0) & ~b_inf
        invalid = (a_inf & b_zero) | (a_zero & b_inf)
        infinite, negative = (a_inf | b_inf) & ~invalid, np.signbit(products)
        mark(invalid, INVALID)
        mark(infinite & ~negative, POSITIVE)
        mark(infinite & negative, NEGATIVE)
    if overflow:
        mark(products >= 2.0**128, POSITIVE_OVERFLOW)
        mark(products <= -(2.0**128), NEGATIVE_OVERFLOW)
    return flags


def resolve(product: Product, flags: NDArray[np.uint8] | None, c: NDArray[Any], d: NDArray[Any]) -> NDArray[Any]:
    """Overrule a step's arithmetic result where NaN or infinity decide.

    Args:
        product: its model's ``nan_rules``, ``nan_factor`` and ``nan_invalid`` apply.
        flags: from `classify`, or None.
        c: raw bits of the addend.
        d: raw bits of the result that the arithmetic gave; overwritten.

    Returns:
        d.
    """
    model, form, clamp = product.model, RESULTS[product.formats.d], product.clamp
    dtype = np.dtype(form.dtype).type
    magnitude = c & dtype(form.sign - 1)
    c_special = magnitude >= dtype(form.inf)
    if flags is None and not c_special.any() and not clamp:
        return d
    zero = np.zeros(c.shape, np.uint8) if flags is None else flags
    c_nan, c_inf = magnitude > dtype(form.inf), magnitude == dtype(form.inf)
    c_negative = c >= dtype(form.sign)
    plus, minus = zero & (POSITIVE | POSITIVE_OVERFLOW) != 0, zero & (NEGATIVE | NEGATIVE_OVERFLOW) != 0
    invalid = (zero & INVALID != 0) | (plus & minus)
    plus, minus = plus | (c_inf & ~c_negative), minus | (c_inf & c_negative)
    # From the weakest rule to the strongest.
    np.copyto(d, dtype(form.inf), where=plus)
    np.copyto(d, dtype(form.inf | form.sign), where=minus)
    np.copyto(d, dtype(model.nan_invalid), where=plus & minus)
    if clamp:
        finite = ~c_special & (zero & (NAN | INVALID | INFINITE) == 0) & ~(plus & minus)
        # The largest finite number is the code before infinity.
        np.copyto(d, d - dtype(1), where=finite & (d & dtype(form.sign - 1) == dtype(form.inf)))
    quiet = c | dtype(form.quiet) if model.nan_rules == "rdna" else dtype(model.nan_invalid)
    np.copyto(d, quiet, where=c_nan)
    np.copyto(d, dtype(model.nan_invalid), where=invalid)
    np.copyto(d, dtype(model.nan_factor), where=zero & NAN != 0)
    return d
