"""Steps of factors (8 bits and fewer) by two matrix products: one for the sums, one for the exponents.

Where no product loses bits to truncation, the step's sum is exact: float32 holds it where Cauchy and Schwarz bound it
by 2^24 units of the finest grid (see `one_grid`), else float64, whatever the order of addition. A bound decides that
for a whole batch, else an element at a time; the few elements that lose bits are computed again from their factors, and
many at once are computed by `aligned_steps`.

e_dot is the largest of L sums ea+eb: the exponent of a sum of powers of two, see `bounds.power_width`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mfmasim.formats import FORMATS
from mfmasim.matrix.arithmetic import complete
from mfmasim.matrix.arithmetic.aligned_steps import Sum, product_sum
from mfmasim.matrix.arithmetic.bounds import EMPTY, addend_limit, exact_grid, in_float32, power_width
from mfmasim.matrix.arithmetic.byte_factors import ByteFactors, Table, tables
from mfmasim.matrix.arithmetic.product import Product
from mfmasim.matrix.arithmetic.scratch import Scratch

_EMPTY = EMPTY[np.dtype(np.int8)]
_POWERS, _ODD_POWERS, _TOTAL, _LOWS, _LOSES = (
    Scratch(kind) for kind in (np.float32, np.float32, np.float64, np.int32, np.bool_)
)


class Powers(NamedTuple):
    """Powers of two by code, whose products give the exponents of the products."""

    a: Table
    b: Table
    log_width: int
    bias: int


@dataclass
class MatmulSteps:
    """Operands of a batch, prepared for step sums by `step_sum`."""

    product: Product
    a: ByteFactors
    b: ByteFactors
    powers: Powers
    lowest: int
    """Smallest sum of exponents of factors that are not zero."""
    grain: int
    """Every product is a multiple of 2^grain."""
    values: tuple[NDArray[Any], NDArray[Any]]
    """Of A and B, in float32 if it holds every sum of a step, else in float64."""
    starts: tuple[int, ...]
    """First k of every step."""

    def step_sum(self, tiles: slice, rows: slice, part: slice, shape: tuple[int, ...]) -> Sum:
        """Sum of one step for some rows of A: (tiles, rows, N).

        Args:
            tiles: tiles of the batch.
            rows: rows of A.
            part: the step's k.
            shape: shape of the result.
        """
        exponents = _POWERS(shape)
        a, b = self.a.powers(self.powers.a)[tiles, rows], self.b.powers(self.powers.b)[tiles]
        if self.powers.log_width == 3:
            np.matmul(a[:, :, part], b[:, part], out=exponents)
        else:
            # Powers of 2^4 stay distinct only in sums of fewer than 16: the two halves of k separately.
            other = _ODD_POWERS(shape)
            even, odd = slice(part.start, part.stop, 2), slice(part.start + 1, part.stop, 2)
            np.matmul(a[:, :, even], b[:, even], out=exponents)
            np.matmul(a[:, :, odd], b[:, odd], out=other)
            np.maximum(exponents, other, out=exponents)
        e = exponents.view(np.int32)
        np.right_shift(e, 23 + self.powers.log_width, out=e)
        np.subtract(e, self.powers.bias, out=e)
        x, y = self.values
        value = _TOTAL.like(shape, x.dtype)
        np.matmul(x[tiles, rows, part], y[tiles, part], out=value)
        nothing = e < self.lowest if int(e.min()) < self.lowest else None
        result = Sum(value, e, nothing, limit=addend_limit(self.grain))
        if int(e.max()) > exact_grid(self.grain, self.product.model.product_bits):
            return self._mend(result, tiles, rows, part)
        return result

    def _mend(self, total: Sum, tiles: slice, rows: slice, part: slice) -> Sum:
        """Compute again the elements in which some product loses bits to the grid."""
        model, step = self.product.model, self.starts.index(part.start)
        low_a, low_b = self.a.lows(self.starts)[tiles, rows, step], self.b.lows(self.starts)[tiles, step]
        low_a = low_a + (model.product_bits - self.product.fraction_bits)
        low = np.add(low_a[:, :, None], low_b[:, None, :], out=_LOWS(total.e.shape))
        indices = np.flatnonzero(np.less(low, total.e, out=_LOSES(low.shape)))
        if indices.size * 20 > low.size:
            x = self.a.factors(lambda v: np.moveaxis(v[tiles, rows, part], 2, 0)[..., None])
            y = self.b.factors(lambda v: np.moveaxis(v[tiles, part], 1, 0)[:, :, None])
            return product_sum(model, x, y, slice(0, part.stop - part.start))
        if indices.size:
            tile, row, column = np.unravel_index(indices, low.shape)
            x = self.a.factors(lambda v: v[tiles, rows, part][tile, row].T)
            y = self.b.factors(lambda v: v[tiles, part][tile, :, column].T)
            products = np.multiply(x.value, y.value, dtype=np.float64)
            total.value = total.value.astype(np.float64, copy=False)
            total.value.reshape(-1)[indices] = complete.aligned_sum(model, products, x.exponent + y.exponent)[0]
        return total


def prepare(product: Product, a: ByteFactors, b: ByteFactors) -> MatmulSteps | None:
    """Prepare a batch, or return None when its formats' exponents are spread too widely for powers in float32.

    Args:
        product: by a model with `mfmasim.matrix.arithmetic.bounds.aligned_parameters`.
        a: factors (tiles, M, K) of 8 bits or fewer.
        b: factors (tiles, K, N).
    """
    powers = _powers(product.formats.a, product.formats.b, product.flush_inputs, product.model.group)
    if powers is None:
        return None
    lowest = a.exponents[0] + b.exponents[0]
    grain = lowest - product.fraction_bits
    # A step that the bounds of `ByteFactors.norm` do not know as such lies in two of them.
    bound = a.norm * b.norm * (1 if product.k % product.model.group == 0 else 2)
    values = (a.value, b.value) if in_float32(bound, grain) else (a.wide, b.wide)
    starts = tuple(part.start for part in product.steps(a.codes.shape[-1]))
    return MatmulSteps(product, a, b, powers, lowest, grain, values, starts)


@cache
def _powers(a: str, b: str, flush: str, group: int) -> Powers | None:
    """Powers by code of two formats, for steps of so many terms."""
    exponents = [tables(FORMATS[name], flush).exponent.astype(np.int32) for name in (a, b)]
    limits = [(int(e[e != _EMPTY].min()), int(e.max())) for e in exponents]
    lowest, highest = limits[0][0] + limits[1][0], limits[0][1] + limits[1][1]
    log_width = power_width(highest - lowest, group)
    if log_width is None:
        return None
    width = 1 << log_width
    # Exponents of the smallest powers of A and of B: together `width` - 127, so that the power of the smallest sum
    # gets the exponent field `width`, and shared out so that no power is subnormal or infinite.
    spread = [width * (high - low) for low, high in limits]
    first = (2 * (width - 127) - spread[0] + spread[1]) // 4
    made = []
    for e, (low, _), base in zip(exponents, limits, (first, width - 127 - first), strict=True):
        power = np.ldexp(np.float32(1), base + width * (np.maximum(e, low) - low))
        made.append(Table(np.where(e == _EMPTY, np.float32(0), power)))
    return Powers(made[0], made[1], log_width, 1 - lowest)
