"""Narrow factors (8 bits and fewer) whose sums are exact before the rounding to f32: plain matrix products.

Let 2^grain divide all products and addends. Where the largest product lies at most 24 binary places above that, and
sums span at most 31, no grid of a step is coarser than 2^grain: truncation removes nothing, and a step is one rounding
of the exact c + sum to f32, which is a multiple of 2^grain again.

By Cauchy and Schwarz, the sum of any products of a step is at most |row of A| |column of B|. Where this is at most
2^24 grains, float32 holds every partial sum of the matrix product, in whatever order it is added, and one addition in
float32 is the rounding; else float64 holds them. Where it bounds the sum of all steps and the addend too, nothing is
rounded at all, and they are one product.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.formats import FORMATS
from mfmasim.matrix.arithmetic.arrays import scratch
from mfmasim.matrix.arithmetic.batches import OUTPUTS, bands
from mfmasim.matrix.arithmetic.factors import classes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.formats import Format
    from mfmasim.matrix.arithmetic.product import Product
    from mfmasim.matrix.request import Memo, Operands

__all__ = ["on_one_grid"]

_SLACK = 1 + 2.0**-12
"""A norm in float32 is below the true one by less than this factor."""
_AT_ONCE = 128
"""Terms whose squares are summed by one matrix product."""
_MANY = 1 << 14
"""Codes from which on two at a time are looked up, in a table of half a megabyte."""


@dataclass(frozen=True)
class _Values:
    """A or B in float32, NaN and infinity as themselves, and how far the values are spread."""

    fmt: Format
    codes: NDArray[np.uint8]
    value: NDArray[np.float32]
    """A (..., M, K) or B (..., K, N)."""
    transposed: bool
    """Whether K is the last axis."""
    group: int
    """Terms of a step."""

    @cached_property
    def exponents(self) -> tuple[int, int]:
        """Smallest and largest exponent but those of zeros; (0, 0) without any, or where NaN are all there is."""
        # Without the sign, codes are in the order of magnitudes.
        magnitude = scratch("magnitude", self.codes.shape, np.uint8)
        np.bitwise_and(self.codes, np.uint8(self.fmt.sign_bit - 1), out=magnitude)
        high = int(magnitude.max())
        np.subtract(magnitude, np.uint8(1), out=magnitude)  # zero becomes the largest
        low = int(magnitude.min()) + 1
        return (self._exponent(low), self._exponent(high)) if high else (0, 0)

    def _exponent(self, code: int) -> int:
        return max(code >> self.fmt.mantissa_bits, 1) - self.fmt.bias

    @cached_property
    def norm(self) -> float:
        """Largest norm of the factors of a step in one row of A or column of B; not finite if a factor is not."""
        square = np.multiply(self.value, self.value, out=scratch("square", self.value.shape, np.float32))
        largest, k = 0.0, self.value.shape[-1 if self.transposed else -2]
        size = -(-_AT_ONCE // self.group) * self.group
        for first in range(0, k, size):
            ones, part = _ones(self.group, min(size, k - first)), slice(first, first + size)
            sums = np.matmul(square[..., part], ones.T) if self.transposed else np.matmul(ones, square[..., part, :])
            largest = float(np.maximum(largest, sums.max()))  # of NaN, unlike max, NaN
        return math.sqrt(largest) * _SLACK


@cache
def _ones(group: int, k: int) -> NDArray[np.float32]:
    """Matrix (steps, k) that sums the terms of each step."""
    ones: NDArray[np.float32] = (np.arange(k) // group == np.arange(k // group)[:, None]).astype(np.float32)
    return ones


@cache
def _table(fmt: Format, flush: str) -> NDArray[np.float32]:
    """Value of every code."""
    value, _, nan, inf = classes(fmt, np.arange(256, dtype=np.uint32) & ((1 << fmt.bits) - 1), None, flush)
    return np.where(nan, np.nan, np.where(inf, np.inf, value)).astype(np.float32)


@cache
def _pairs(fmt: Format, flush: str) -> NDArray[np.uint64]:
    """Values of every two codes that follow each other, as the words of two float32."""
    table = _table(fmt, flush)
    both = np.stack(np.broadcast_arrays(table[None, :], table[:, None]), axis=-1)  # little-endian: the first is lower
    return both.reshape(-1).view(np.uint64)


def _values(product: Product, name: str, codes: NDArray[np.uint8], memo: Memo | None) -> _Values:
    """Values of ``a`` or ``b``, which a memo may have already."""
    key = "values", product.model.name, product.flush_inputs, codes.shape
    found: _Values | None = None if memo is None else memo.get(key)
    if found is not None:
        return found
    fmt = FORMATS[product.formats.a if name == "a" else product.formats.b]
    kept = memo is not None
    value = np.empty(codes.shape, np.float32) if kept else scratch(f"{name} values", codes.shape, np.float32)
    if codes.size >= _MANY and codes.shape[-1] % 2 == 0 and codes.flags.c_contiguous:
        _pairs(fmt, product.flush_inputs).take(codes.view(np.uint16), out=value.view(np.uint64), mode="clip")
    else:
        _table(fmt, product.flush_inputs).take(codes, out=value, mode="clip")
    made = _Values(fmt, codes, value, name == "a", product.model.group)
    if memo is not None:
        memo[key] = made
    return made


def on_one_grid(product: Product, operands: Operands) -> NDArray[np.uint32] | None:
    """D of a batch of tiles without scales, or None where some sum may not be exact.

    Args:
        product: of narrow formats and D in f32, by a `mfmasim.matrix.arithmetic.fast.usable` model.
        operands: codes (tiles, ..., rows, columns) of equally many axes; those of A and B broadcast against C's.

    Returns:
        Raw f32 bits (tiles, ..., M, N).
    """
    model, k = product.model, operands.a.shape[-1]
    if k % product.k or product.k % model.group or not k or not operands.c.size:
        return None
    memos = operands.memos or (None, None)
    a = _values(product, "a", operands.a, memos[0])
    b = _values(product, "b", operands.b, memos[1])
    grain = a.exponents[0] + b.exponents[0] - product.fraction_bits
    c = operands.c.view(np.float32)
    # Addends that are not on the grid usually show it in their first row.
    if a.exponents[1] + b.exponents[1] > grain + model.product_bits or not _on_grid(c[:1, ..., :1, :], grain):
        return None
    step, largest = a.norm * b.norm, float(np.maximum(c.max(), -c.min()))
    if not (step < np.inf and largest < 2.0 ** (grain + 30) and _on_grid(c, grain)):
        return None
    size = k if largest + k // model.group * step <= 2.0 ** (grain + 24) else model.group
    d, tiles = np.empty(c.shape, np.float32), max(1, OUTPUTS // math.prod(c.shape[1:]))
    for first in range(0, len(c), tiles):
        some = slice(first, first + tiles)
        x, y = (values[some] if len(values) > 1 else values for values in (a.value, b.value))
        for band in bands((math.prod(c[some].shape[:-2]), *c.shape[-2:])):
            out = d[some, ..., band, :]
            # + 0: where a step adds nothing, either zero gives +0.
            np.add(c[some, ..., band, :], np.float32(0), out=out)
            if not _add_steps(out, (x[..., band, :], y), size, grain, (largest, step)):
                return None
    return d.view(np.uint32)


def _add_steps(
    value: NDArray[np.float32], factors: tuple[NDArray[Any], NDArray[Any]], size: int, grain: int,
    bounds: tuple[float, float],
) -> bool:  # fmt: skip
    """Add the products of all steps to the addend, in place; False where a sum may become too large.

    Args:
        value: the addend, (tiles, ..., rows, N).
        factors: A (tiles, ..., rows, K) and B (tiles, ..., K, N), in float32.
        size: terms of a step.
        grain: exponent of the grid.
        bounds: of the addend, and of the sum of a step of the model.
    """
    a, b = factors
    largest, step = bounds
    kind = np.float32 if step <= 2.0 ** (grain + 24) else np.float64
    if kind == np.float64:
        a, b = a.astype(kind), b.astype(kind)
    total = scratch("total", value.shape, kind)
    for first in range(0, a.shape[-1], size):
        if largest >= 2.0 ** (grain + 30):
            largest = float(np.maximum(value.max(), -value.min()))
            if not largest < 2.0 ** (grain + 30):
                return False
        part = slice(first, first + size)
        np.matmul(a[..., part], b[..., part, :], out=total)
        np.add(total, value, out=value, casting="same_kind")
        largest += step * (1 + 2.0**-20)
    return True


def _on_grid(c: NDArray[np.float32], grain: int) -> bool:
    """Whether every element is a multiple of 2^grain, or not finite."""
    units = np.multiply(c, np.float32(2.0**-grain), out=scratch("units", c.shape, np.float32))
    return bool((np.rint(units) == units).all())
