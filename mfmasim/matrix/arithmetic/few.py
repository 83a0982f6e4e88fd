"""Fast ``aligned`` sums of few tiles, where calls cost more than arithmetic: all of them, and all steps, at once.

A batch is computed here only where every element obeys these bounds; else it is left to
`mfmasim.matrix.arithmetic.tiles`. No step is empty, and NaN and infinities are absent. A step's sum and the floor of
the addend c, both multiples of the unit 2^(e_dot - 24), are then added exactly and rounded once, as
`mfmasim.matrix.arithmetic.fast` proves.

* *products* (16-bit factors), in float32 and int32: -100 <= e_dot <= 24, and |c| < 2^30 units. Units are at most 1, so
  that c / unit is exact; and a product below 2^-126, which float32 rounds, is below one unit and truncated to 0 anyway.
* *matmul* (8-bit factors), in float64: e_dot is the exponent, divided by 8, of a sum of powers 2^(8 (ea+eb)), of which
  a step has fewer than 2^8. Every product is a multiple of 2^grain, the least one of its formats. While e_dot is at
  most grain + 24, truncation removes nothing, and the sum in float64, of 30 bits, is exact. |c| < 2^(grain + 31): such
  an addend raises no grid of the definition above the grain, however small e_dot is.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mfmasim.formats import FORMATS
from mfmasim.matrix.arithmetic import fast
from mfmasim.matrix.arithmetic.factors import empty_below
from mfmasim.matrix.arithmetic.narrow import tables

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.matrix.arithmetic.product import Product
    from mfmasim.matrix.request import Operands

__all__ = ["MOST", "aligned"]

MOST = 1 << 14
"""Products that count as few."""

_INFINITY = 0x7FE
"""The exponent fields of 2^x and 2^-x in float64 add up to this."""
_LOWEST = 128
"""Eighth of the exponent field of the least sum of powers."""


def aligned(product: Product, operands: Operands) -> NDArray[np.uint32] | None:
    """D of few tiles, or None where a bound does not hold, or whether it does has to be checked first.

    Args:
        product: any.
        operands: from the caller, unchecked.
    """
    a, b, c = operands.a, operands.b, operands.c
    kinds = product.carriers
    if not (kinds and type(a) is type(b) is type(c) is np.ndarray and (a.dtype, b.dtype, c.dtype) == kinds):
        return None
    if operands.scaled or operands.index is not None or not fast.usable(product.model):
        return None
    *batch, m, k = a.shape if a.ndim > 1 else (0, 0)
    *other, rows, n = b.shape if b.ndim > 1 else (0, 0)
    if rows != k or batch != other or c.shape != (*batch, m, n) or not 0 < c.size * k <= MOST or k % product.k:
        return None
    a, b, c = a.reshape(-1, m, k), b.reshape(-1, k, n), c.view(np.float32)
    d = _by_matmul(product, a, b, c) if product.fraction_bits <= 6 else _by_products(product, a, b, c)
    return None if d is None else d.view(np.uint32).reshape(c.shape)


def _by_products(
    product: Product, a: NDArray[Any], b: NDArray[Any], c: NDArray[np.float32]
) -> NDArray[np.float32] | None:
    """D, flat, of factors of 16 bits.

    Args:
        product: its formats and model.
        a: codes (tiles, M, K).
        b: codes (tiles, K, N).
        c: the addend, (..., M, N).
    """
    tiles, m, k = a.shape
    n, group = b.shape[2], product.model.group
    codes = np.concatenate((a.transpose(2, 0, 1).reshape(k, -1), b.transpose(1, 0, 2).reshape(k, -1)), axis=1)
    both = product.factors("a", codes)
    if both.nan is not None or both.inf is not None:
        return None
    rows, columns = (k, tiles, m, 1), (k, tiles, 1, n)
    value, exponent, first = both.value, both.exponent, tiles * m
    steps = k // group, group, c.size
    terms = np.add(exponent[:, :first].reshape(rows), exponent[:, first:].reshape(columns)).reshape(steps)
    e = np.maximum.reduce(terms, axis=1)
    if np.minimum.reduce(e, axis=None) < max(fast.LOWEST, empty_below(e)) or np.maximum.reduce(e, axis=None) > 24:
        return None
    units = fast.grid_scale(e.astype(np.int32))
    unit = fast.inverse(units)
    products = np.multiply(value[:, :first].reshape(rows), value[:, first:].reshape(columns)).reshape(steps)
    np.multiply(products, units[:, None], out=products)
    totals = np.add.reduce(products.astype(np.int32), axis=1, dtype=np.int32)
    x, d = np.empty(totals.shape, np.float32), c.reshape(-1)
    for step in range(len(x)):
        addend = np.multiply(d, units[step], out=x[step])
        np.floor(addend, out=addend)
        total = addend.astype(np.int32)
        np.add(total, totals[step], out=total)
        d = total.astype(np.float32)
        np.multiply(d, unit[step], out=d)
    return d if _below(x, 2.0**30) else None


def _by_matmul(
    product: Product, a: NDArray[np.uint8], b: NDArray[np.uint8], c: NDArray[np.float32]
) -> NDArray[np.float32] | None:
    """D, flat, of factors of 8 bits.

    Args:
        product: its formats and model.
        a: codes (tiles, M, K).
        b: codes (tiles, K, N).
        c: the addend, (..., M, N).
    """
    tiles, m, k = a.shape
    model, formats = product.model, product.formats
    of_a, of_b = (_planes(name, product.flush_inputs, place) for place, name in enumerate((formats.a, formats.b)))
    x = of_a.planes.take(a, axis=1, mode="clip").reshape(2, tiles, m, -1, model.group)
    y = of_b.planes.take(b, axis=1, mode="clip").reshape(2, tiles, -1, model.group, b.shape[2])
    # A step after the other, of each sums and powers.
    sums = np.matmul(x.transpose(3, 0, 1, 2, 4), y.transpose(2, 0, 1, 3, 4)).reshape(k // model.group, 2, c.size)
    e = np.right_shift(sums[:, 1].view(np.int64), 55)
    lowest = of_a.lowest + of_b.lowest
    # A NaN or an infinity makes the sum of powers infinite or NaN, of either sign.
    if np.minimum.reduce(e, axis=None) < _LOWEST:
        return None
    if np.maximum.reduce(e, axis=None) > _LOWEST + model.product_bits - product.fraction_bits:
        return None
    np.add(e, 1023 - 24 + lowest - _LOWEST, out=e)
    np.left_shift(e, 52, out=e)
    unit = e.view(np.float64)
    units = np.subtract(_INFINITY << 52, e).view(np.float64)
    dropped = None if model.drop_addend_below is None else -(2.0 ** (24 - model.drop_addend_below))
    bound = None if dropped is None else np.float64(dropped).view(np.int64)
    limit, d = 2.0 ** (lowest - product.fraction_bits + 31), c.reshape(-1)
    for step in range(len(sums)):
        if not _below(d, limit):
            return None
        addend = d.astype(np.float64)
        np.multiply(addend, units[step], out=addend)
        # Negative and closer to 0 than the bound: as integers, the bits of such floats are the lowest.
        if bound is not None and np.minimum.reduce(addend.view(np.int64)) < bound:
            np.copyto(addend, 0.0, where=addend.view(np.int64) < bound)
        np.floor(addend, out=addend)
        np.multiply(addend, unit[step], out=addend)
        np.add(addend, sums[step, 0], out=addend)
        d = addend.astype(np.float32)
    return d


def _below(x: NDArray[np.float32], limit: float) -> bool:
    """Whether the magnitude of every element is below a limit; False for NaN."""
    flat = x.reshape(-1)
    # The sum of the squares, in float32, seldom leaves it open, and costs half as much.
    return bool(flat.dot(flat) < limit * limit / 2) or bool(np.maximum(flat.max(), -flat.min()) < limit)


class _Planes(NamedTuple):
    """What the codes of a format stand for."""

    planes: NDArray[np.float64]
    """Value, and 2^(8 e) times a constant, by code; an infinite power for NaN and infinity.

    The exponent of zero is so low that its products are below those of all others.
    """
    lowest: int
    """Exponent of the smallest numbers."""


@cache
def _planes(name: str, flush: str, place: int) -> _Planes:
    """Tables of an operand.

    Args:
        name: format of 8 bits.
        flush: flushing of subnormal factors, as in `Model.flush_inputs`.
        place: 0 for A and 1 for B: the least product of powers has the exponent field 8 `_LOWEST`.
    """
    found = tables(FORMATS[name], flush)
    value, exponent = found.value.values.astype(np.float64), found.exponent.astype(np.int32)
    lowest = int(exponent[value != 0].min())
    power = np.ldexp(1.0, 8 * (exponent - lowest) + (8 * _LOWEST - 1023) * place)
    power = np.where(found.nan | found.inf, np.inf, power)
    return _Planes(np.stack((value, power)), lowest)
