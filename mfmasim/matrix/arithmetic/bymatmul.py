"""Steps of narrow factors (8 bits and fewer) by two matrix products: one for the sums, one for the exponents.

A product of such factors has at most 8 significant bits, so that truncating it to the grid 2^(e_dot - 24) removes
bits only when it is 2^16 times smaller than the largest of its step. Where no product loses bits, the step's sum is
exact, and float64 holds it: 30 bits, whatever the order of addition. A bound decides that for a whole batch, else an
element at a time; the few elements that lose bits are computed again from their factors, and many at once are computed
by `fast`.

e_dot is the largest of L sums ea+eb. With L <= 2^w, the sum of the powers 2^(w (ea+eb)) lies between 2^(w e_dot) and
2^(w e_dot + w), so that its float exponent divided by w is e_dot: a matrix product of powers, and a shift.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.matrix.arithmetic import steps
from mfmasim.matrix.arithmetic.arrays import scratch
from mfmasim.matrix.arithmetic.fast import Sum, product_sum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.matrix.arithmetic.factors import Factors
    from mfmasim.matrix.models import Model

__all__ = ["FRACTION_BITS", "MatmulSteps", "prepare"]

FRACTION_BITS = 6
"""Most fraction bits of both formats together for which truncation is rare enough."""

_EMPTY = -48
"""Exponent of zero factors in the narrow formats."""


@dataclass
class MatmulSteps:
    """Operands of a batch, prepared for step sums by `step_sum`."""

    model: Model
    a: Factors
    b: Factors
    a_value: NDArray[np.float64]
    b_value: NDArray[np.float64]
    tables: tuple[NDArray[np.float32], NDArray[np.float32]]
    """Powers by exponent, from that of zero up, for A and B."""
    log_width: int
    bias: int
    lowest: int
    """Smallest sum of exponents of non-zero factors."""
    highest: int
    """Largest sum of exponents."""
    grain: int
    """Every product is a multiple of 2^grain."""
    fraction_bits: int
    """Fraction bits of both formats together."""

    @cached_property
    def a_power(self) -> NDArray[np.float32]:
        """Powers of A's factors."""
        return self.tables[0].take(self.a.exponent - np.int16(_EMPTY))

    @cached_property
    def b_power(self) -> NDArray[np.float32]:
        """Powers of B's factors."""
        return self.tables[1].take(self.b.exponent - np.int16(_EMPTY))

    def step_sum(self, rows: slice, part: slice, shape: tuple[int, ...]) -> Sum:
        """Sum of one step for some rows of A: (tiles, rows, N).

        Args:
            rows: rows of A.
            part: the step's k.
            shape: shape of the result.
        """
        exponents = scratch("powers", shape, np.float32)
        if self.log_width == 3:
            np.matmul(self.a_power[:, rows, part], self.b_power[:, part, :], out=exponents)
        else:
            # Powers of 2^4 stay distinct only in sums of fewer than 16: the two halves of k separately.
            other = scratch("odd powers", shape, np.float32)
            even, odd = slice(part.start, part.stop, 2), slice(part.start + 1, part.stop, 2)
            np.matmul(self.a_power[:, rows, even], self.b_power[:, even, :], out=exponents)
            np.matmul(self.a_power[:, rows, odd], self.b_power[:, odd, :], out=other)
            np.maximum(exponents, other, out=exponents)
        e = exponents.view(np.int32)
        np.right_shift(e, 23 + self.log_width, out=e)
        np.subtract(e, self.bias, out=e)
        value = scratch("total", shape, np.float64)
        np.matmul(self.a_value[:, rows, part], self.b_value[:, part, :], out=value)
        lowest = int(e.min())
        nothing = e < self.lowest if lowest < self.lowest else None
        # Sums and addends below 2^(grain + 31) have no bits on grids finer than theirs.
        result = Sum(value, e, nothing, limit=2.0 ** (self.grain + 31))
        if int(e.max()) > self.grain + self.model.product_bits:
            return self._mend(result, rows, part)
        return result

    def _mend(self, total: Sum, rows: slice, part: slice) -> Sum:
        """Compute again the elements in which some product loses bits to the grid."""
        a, b = self.a.exponent[:, rows, part], self.b.exponent[:, part, :]
        low_a = np.where(a == _EMPTY, 100, a).min(axis=2).astype(np.int16)
        low_b = np.where(b == _EMPTY, 100, b).min(axis=1).astype(np.int16)
        bound = low_a[:, :, None] + low_b[:, None, :] + np.int16(self.model.product_bits - self.fraction_bits)
        loses = bound < total.e
        count = np.count_nonzero(loses)
        if count * 20 > loses.size:
            x = self.a.map(lambda v: np.moveaxis(v[:, rows, part], 2, 0)[..., None])
            y = self.b.map(lambda v: np.moveaxis(v[:, part], 1, 0)[:, :, None])
            return product_sum(self.model, x, y, slice(0, part.stop - part.start))
        if count:
            tile, row, column = np.nonzero(loses)
            x = self.a.map(lambda v: v[tile, rows.start + row, part].T)
            y = self.b.map(lambda v: v[tile, part, column].T)
            products = np.multiply(x.value, y.value, dtype=np.float64)
            total.value[loses] = steps.aligned_sum(self.model, products, x.exponent + y.exponent)[0]
        return total


def prepare(model: Model, a: Factors, b: Factors, fraction_bits: int) -> MatmulSteps | None:
    """Prepare a batch, or return None when its exponents are spread too widely for powers in float32.

    Args:
        model: a `mfmasim.matrix.arithmetic.fast.usable` row.
        a: factors (tiles, M, K) of 8 bits or fewer.
        b: factors (tiles, K, N).
        fraction_bits: fraction bits of both formats together.
    """
    bounds = [x.bounds for x in (a, b)]
    lowest, highest = bounds[0][0] + bounds[1][0], bounds[0][1] + bounds[1][1]
    if highest - lowest <= 29:
        log_width = 3
    elif highest - lowest <= 60 and model.group <= 16:
        log_width = 2
    else:
        return None
    width = 1 << log_width
    # The power of the smallest sum gets the exponent field `width`, so that no power is subnormal.
    bias = 1 - lowest
    # Exponents of the smallest powers of A and of B: together `width` - 127, and shared out so that no power is
    # subnormal or infinite even when only one operand has a range.
    spread = [width * (high - low) for low, high in bounds]
    first = (2 * (width - 127) - spread[0] + spread[1]) // 4
    tables = []
    for (low, high), base in zip(bounds, (first, width - 127 - first), strict=True):
        table = np.zeros(high - _EMPTY + 1, np.float32)
        table[low - _EMPTY :] = np.ldexp(np.float32(1), base + width * np.arange(high - low + 1, dtype=np.int32))
        tables.append(table)
    return MatmulSteps(
        model, a, b, a.wide, b.wide, (tables[0], tables[1]),
        log_width, bias, lowest, highest, lowest - fraction_bits, fraction_bits,
    )  # fmt: skip
