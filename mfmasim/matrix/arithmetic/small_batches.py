"""Fast ``aligned`` sums of few tiles, where calls cost more than arithmetic: all of them, and all steps, at once.

Many tiles of 8-bit factors are computed here too, a few after the other, unless `mfmasim.matrix.arithmetic.one_grid`
does. A batch is computed here only where every element obeys these bounds; else it is left to
`mfmasim.matrix.arithmetic.aligned_tiles`. No factor is infinite. A step's sum and the floor of the addend c, both
multiples of the unit 2^(e_dot - 24), are added exactly and rounded once, as
`mfmasim.matrix.arithmetic.aligned_steps` proves.

* *products* (16-bit factors and xf32), in float32 and int32: e_dot within `LOWEST` and `HIGHEST` of
  `mfmasim.matrix.arithmetic.bounds`. Where no step is empty, no factor is NaN, e_dot is at most `SCALED_UP` and addends
  are below `ADDEND_UNITS`, c / unit is exact; other steps are added as `aligned_steps` adds them.
* *matmul* (8-bit factors), in float64: e_dot is the exponent, divided by 8, of a sum of powers 2^(8 (ea+eb)), of which
  a step has fewer than 2^8. The grain is that of the formats. Within `exact_grid` the sum is exact, and addends are
  below `addend_limit`. An empty step has a sum of powers of 0, which stands for a unit far below 2^-149: c stays as it
  is. NaN passes from a factor or c to D by itself.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mfmasim.formats import FORMATS
from mfmasim.matrix.arithmetic import aligned_steps, bounds
from mfmasim.matrix.arithmetic.byte_factors import tables
from mfmasim.matrix.arithmetic.product import Product, Rest
from mfmasim.matrix.arithmetic.scratch import Scratch
from mfmasim.matrix.request import Operands

MOST = 1 << 14
"""Products that count as few."""
BLOCK = 1 << 15
"""Outputs of 8-bit factors at once, times their steps: half a dozen float64 arrays of this many stay in the cache."""

_INFINITY = 0x7FE
"""The exponent fields of 2^x and 2^-x in float64 add up to this."""
_LOWEST = bounds.SMALLEST_POWER
_A, _B, _SUMS, _ADDEND = (Scratch(np.float64) for _ in range(4))
_FIELDS = Scratch(np.int64)


def aligned(product: Product, operands: Operands, rest: Rest) -> NDArray[np.uint32] | None:
    """D, or None where a bound does not hold, another way costs less, or the operands have to be checked first.

    Args:
        product: any.
        operands: from the caller, unchecked.
        rest: D of the tiles (tiles, rows, columns) of a large batch in which a bound does not hold.
    """
    a, b, c = operands.a, operands.b, operands.c
    kinds = product.carriers
    if not (kinds and type(a) is type(b) is type(c) is np.ndarray and (a.dtype, b.dtype, c.dtype) == kinds):
        return None
    if operands.scaled or operands.index is not None or not bounds.aligned_parameters(product.model):
        return None
    *batch, m, k = a.shape if a.ndim > 1 else (0, 0)
    *other, rows, n = b.shape if b.ndim > 1 else (0, 0)
    if rows != k or batch != other or c.shape != (*batch, m, n) or not c.size or not k or k % product.k:
        return None
    outputs, steps = m * n, k // product.model.group
    run, size = (_by_products, MOST // (outputs * k)) if a.itemsize > 1 else (_by_matmul, BLOCK // (outputs * steps))
    x, y, z = a.reshape(-1, m, k), b.reshape(-1, k, n), c.view(np.float32).reshape(-1, outputs)
    if not size or (c.size * k > MOST and (run is _by_products or _on_grain(product, z[0, :n]))):
        return None
    d = np.empty(z.shape, np.float32)
    for start in range(0, len(d), size):
        some = slice(start, start + size)
        if not run(product, (x[some], y[some]), z[some].reshape(-1), d[some].reshape(-1)):
            if not start:
                return None  # others of this kind would follow
            left = Operands(x[some], y[some], z[some].view(np.uint32).reshape(-1, m, n))
            d.view(np.uint32)[some] = rest(product, left).reshape(-1, outputs)
    return d.view(np.uint32).reshape(c.shape)


def _on_grain(product: Product, c: NDArray[np.float32]) -> bool:
    """Whether addends are multiples of the least product: sums of such are exact, see `one_grid`; it costs less."""
    lowest = sum(_planes(name, product.flush_inputs, 0).lowest for name in product.formats[:2])
    units = np.ldexp(c, product.fraction_bits - lowest)
    return bool((np.rint(units) == units).all())


def _by_products(
    product: Product, factors: tuple[NDArray[Any], NDArray[Any]], c: NDArray[np.float32], d: NDArray[np.float32]
) -> bool:
    """Compute D of factors of 16 bits; False where it may be wrong.

    Args:
        product: its formats and model.
        factors: codes of A (tiles, M, K) and B (tiles, K, N).
        c: the addend, flat.
        d: takes D, flat.
    """
    a, b = factors
    tiles, m, k = a.shape
    n, model = b.shape[2], product.model
    codes = np.concatenate((a.transpose(2, 0, 1).reshape(k, -1), b.transpose(1, 0, 2).reshape(k, -1)), axis=1)
    both = product.factors("a", codes)
    if both.inf is not None:
        return False
    rows, columns = (k, tiles, m, 1), (k, tiles, 1, n)
    values, exponent, first = both.value, both.exponent, tiles * m
    steps = k // model.group, model.group, c.size
    terms = np.add(exponent[:, :first].reshape(rows), exponent[:, first:].reshape(columns)).reshape(steps)
    e = np.maximum.reduce(terms, axis=1)
    low, high, empty = np.minimum.reduce(e, axis=None), np.maximum.reduce(e, axis=None), bounds.empty_below(e)
    wide = e.astype(np.int32)
    if low < bounds.LOWEST:
        if ((e >= empty) & (e < bounds.LOWEST)).any():
            return False
        np.maximum(wide, bounds.LOWEST, out=wide)
    if high > bounds.HIGHEST:
        return False
    units = aligned_steps.grid_scale(wide)
    unit = aligned_steps.inverse(units)
    products = np.multiply(values[:, :first].reshape(rows), values[:, first:].reshape(columns)).reshape(steps)
    np.multiply(products, units[:, None], out=products)
    totals = np.add.reduce(products.astype(np.int32), axis=1, dtype=np.int32)
    if both.nan is None and low >= empty and high <= bounds.SCALED_UP:
        x, value = np.empty(totals.shape, np.float32), c
        for step in range(len(x)):
            addend = np.multiply(value, units[step], out=x[step])
            np.floor(addend, out=addend)
            total = addend.astype(np.int32)
            np.add(total, totals[step], out=total)
            np.copyto(d, total, casting="same_kind")
            np.multiply(d, unit[step], out=d)
            value = d
        if _below(x, bounds.ADDEND_UNITS):
            return True
    value = c
    for step, total in enumerate(totals):
        nothing = e[step] < empty if low < empty else None
        value = aligned_steps.add(model, aligned_steps.Sum(total, wide[step], nothing, units[step]), value, step)
    np.copyto(d, value)
    nan = np.isnan(d)
    if both.nan is not None:
        found = np.logical_or.reduce(both.nan, axis=0)
        rows_or_columns = found[:first].reshape(tiles, m, 1) | found[first:].reshape(tiles, 1, n)
        np.logical_or(nan, rows_or_columns.reshape(-1), out=nan)
    np.copyto(d.view(np.uint32), np.uint32(model.nan_invalid), where=nan)
    return True


def _by_matmul(
    product: Product, factors: tuple[NDArray[Any], NDArray[Any]], c: NDArray[np.float32], d: NDArray[np.float32]
) -> bool:
    """Compute D of factors of 8 bits; False where it may be wrong.

    Args:
        product: its formats and model.
        factors: codes of A (tiles, M, K) and B (tiles, K, N).
        c: the addend, flat.
        d: takes D, flat.
    """
    a, b = factors
    (tiles, m, k), n, model, formats = a.shape, b.shape[2], product.model, product.formats
    of_a, of_b = (_planes(name, product.flush_inputs, operand) for operand, name in enumerate((formats.a, formats.b)))
    lowest = of_a.lowest + of_b.lowest
    grain = lowest - product.fraction_bits
    limit, value = bounds.addend_limit(grain), c
    if not _below(c, limit, or_nan=True):
        return False
    x, y = _A((2, *a.shape)), _B((2, *b.shape))
    of_a.planes.take(a, axis=1, out=x, mode="clip")
    of_b.planes.take(b, axis=1, out=y, mode="clip")
    # A step after the other, of each sums and powers.
    steps = k // model.group
    rows = x.reshape(2, tiles, m, steps, model.group).transpose(3, 0, 1, 2, 4)
    columns = y.reshape(2, tiles, steps, model.group, n).transpose(2, 0, 1, 3, 4)
    sums = np.matmul(rows, columns, out=_SUMS((steps, 2, tiles, m, n))).reshape(steps, 2, -1)
    powers = sums[:, 1].view(np.int64)
    e = np.right_shift(powers, 55, out=_FIELDS(powers.shape))
    if np.maximum.reduce(e, axis=None) > _LOWEST - lowest + bounds.exact_grid(grain, model.product_bits):
        return False
    np.add(e, 1023 - 24 + lowest - _LOWEST, out=e)
    np.left_shift(e, 52, out=e)
    units = np.subtract(_INFINITY << 52, e, out=powers).view(np.float64)
    unit = e.view(np.float64)
    bound = None
    if model.drop_addend_below is not None:
        bound = np.float64(-(2.0 ** (24 - model.drop_addend_below))).view(np.int64)
    addend = _ADDEND(d.shape)
    for step in range(steps):
        if step and not _below(d, limit, or_nan=True):
            return False
        np.copyto(addend, value)
        np.multiply(addend, units[step], out=addend)
        # Negative and closer to 0 than the bound: as integers, the bits of such floats are the lowest.
        if bound is not None and np.minimum.reduce(addend.view(np.int64)) < bound:
            np.copyto(addend, 0.0, where=addend.view(np.int64) < bound)
        np.floor(addend, out=addend)
        np.multiply(addend, unit[step], out=addend)
        np.add(addend, sums[step, 0], out=addend)
        np.copyto(d, addend, casting="same_kind")
        value = d
    if np.isnan(d.dot(d)):
        np.copyto(d.view(np.uint32), np.uint32(model.nan_invalid), where=np.isnan(d))
    return True


def _below(x: NDArray[np.float32], limit: float, *, or_nan: bool = False) -> bool:
    """Whether the magnitude of every element is below a limit.

    Args:
        x: float32.
        limit: a power of two.
        or_nan: whether NaN may be among them.
    """
    flat = x.reshape(-1)
    # The sum of the squares, in float32, seldom leaves it open, and costs half as much.
    if flat.dot(flat) < limit * limit / 2:
        return True
    largest = np.fmax if or_nan else np.maximum
    return bool(largest.reduce(np.abs(flat), initial=0) < limit)


class _Planes(NamedTuple):
    """Values of the codes of a format."""

    planes: NDArray[np.float64]
    """Value, and 2^(8 e) times a constant, by code; and a power of 0 for zero and NaN."""
    lowest: int
    """Exponent of the smallest numbers."""


@cache
def _planes(name: str, flush: str, operand: int) -> _Planes:
    """Tables of an operand.

    Args:
        name: format of 8 bits.
        flush: flushing of subnormal factors, as in `Model.flush_inputs`.
        operand: 0 for A and 1 for B: the least product of powers has the exponent field 8 `_LOWEST`.
    """
    found = tables(FORMATS[name], flush)
    value, exponent = found.value.values.astype(np.float64), found.exponent.astype(np.int32)
    lowest = int(exponent[value != 0].min())
    power = np.ldexp(1.0, 8 * (exponent - lowest) + (8 * _LOWEST - 1023) * operand)
    return _Planes(np.stack((np.where(found.nan, np.nan, value), np.where(value == 0, 0.0, power))), lowest)
