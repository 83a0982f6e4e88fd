"""Factors of 8 bits and fewer: values by table from their codes, and bounds that decide how they may be summed."""

from __future__ import annotations

import math
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mfmasim.formats import FORMATS
from mfmasim.matrix.arithmetic.factors import Factors, classes
from mfmasim.matrix.arithmetic.scratch import Scratch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.formats import Format
    from mfmasim.matrix.arithmetic.product import Product
    from mfmasim.matrix.request import Memo

_SLACK = 1 + 2.0**-12
"""A norm in float32 is below the true one by less than this factor."""
_AT_ONCE = 128
"""Terms whose squares are summed by one matrix product."""
_MANY = 1 << 14
"""Codes from which on two at a time are looked up, in a table of half a megabyte."""
_OWNERS = {name: (Scratch(np.float32), Scratch(np.float32)) for name in "ab"}
"""Memory of the values and of the powers of A and B."""
_SQUARE = Scratch(np.float32)


class Table:
    """A float32 for each of 256 codes."""

    def __init__(self, values: NDArray[np.float32]) -> None:
        """Take the values by code."""
        self.values = values

    @cached_property
    def pairs(self) -> NDArray[np.uint64]:
        """Values of every two codes that follow each other in memory, as the words of two float32."""
        both = np.stack(np.broadcast_arrays(self.values[None, :], self.values[:, None]), axis=-1)
        return both.reshape(-1).view(np.uint64)

    def take(self, codes: NDArray[np.uint8], owner: Scratch[np.float32] | None) -> NDArray[np.float32]:
        """Values of codes, in memory of an owner, or in fresh memory."""
        out = np.empty(codes.shape, np.float32) if owner is None else owner(codes.shape)
        if codes.size >= _MANY and codes.shape[-1] % 2 == 0 and codes.flags.c_contiguous:
            self.pairs.take(codes.view(np.uint16), out=out.view(np.uint64), mode="clip")
        else:
            self.values.take(codes, out=out, mode="clip")
        return out


class _Tables(NamedTuple):
    """Values of the codes of a format."""

    value: Table
    """Zero for NaN and infinity."""
    exponent: NDArray[np.int8]
    nan: NDArray[np.bool_]
    inf: NDArray[np.bool_]
    special: tuple[int, ...]
    """Codes of NaN and infinities without sign, or that of the only NaN of a format without negative zero."""


@cache
def tables(fmt: Format, flush: str) -> _Tables:
    """Values of the codes of a format, by the number of the code.

    Args:
        fmt: the format.
        flush: flushing of subnormal factors, as in `Model.flush_inputs`.
    """
    codes = np.arange(256, dtype=np.uint32) & ((1 << fmt.bits) - 1)
    value, exponent, nan, inf = classes(fmt, codes, None, flush)
    special = np.flatnonzero((nan | inf)[: 1 << fmt.bits])
    return _Tables(Table(value.astype(np.float32)), exponent, nan, inf, tuple(special.tolist()))


class ByteFactors:
    """Elements of A or B, (..., M, K) or (..., K, N)."""

    def __init__(
        self, fmt: Format, flush: str, codes: NDArray[np.uint8], group: int, name: str, *, lasting: bool
    ) -> None:
        """Take codes.

        Args:
            fmt: their format.
            flush: flushing of subnormal factors, as in `Model.flush_inputs`.
            codes: raw codes.
            group: terms of a step.
            name: ``a`` or ``b``.
            lasting: whether the arrays outlive the next elements of that name.
        """
        self.fmt, self.codes, self._group = fmt, codes, group
        self._rows = name == "a"
        self._owners = (None, None) if lasting else _OWNERS[name]
        self.tables = tables(fmt, flush)
        self.value = self.tables.value.take(codes, self._owners[0])
        """Exact values; zero for NaN and infinity."""
        low, high = self._bounds()
        self.special = self._special(high)
        """Whether there are NaN or infinities."""
        self.exponents = (self._exponent(low), self._exponent(high)) if high else (0, 0)
        """Bounds of the exponents, before normalisation, of all but zeros; (0, 0) if all are zero."""
        self._norm: float | None = None
        self._powers: dict[int, NDArray[np.float32]] = {}
        self._lows: dict[tuple[int, ...], NDArray[np.int32]] = {}

    def _bounds(self) -> tuple[int, int]:
        """Smallest code but zero and largest code, without sign; (256, 0) if all are zero."""
        # Without the sign, codes are in the order of magnitudes.
        magnitude = np.bitwise_and(self.codes, np.uint8(self.fmt.sign_bit - 1))
        high = int(np.maximum.reduce(magnitude, axis=None))
        np.subtract(magnitude, np.uint8(1), out=magnitude)  # zero becomes the largest
        return int(np.minimum.reduce(magnitude, axis=None)) + 1, high

    def _special(self, high: int) -> bool:
        """Whether there are NaN or infinities, where `high` is the largest code without sign."""
        codes = self.tables.special
        if codes == (self.fmt.sign_bit,):
            return bool(np.logical_or.reduce(self.codes == np.uint8(codes[0]), axis=None))
        return bool(codes) and high >= codes[0]

    @cached_property
    def nan(self) -> NDArray[np.bool_] | None:
        """Where NaN are; None where there is none."""
        return self._found(self.tables.nan)

    @cached_property
    def inf(self) -> NDArray[np.bool_] | None:
        """Where infinities are; None where there is none."""
        return self._found(self.tables.inf)

    def _found(self, table: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
        found: NDArray[np.bool_] | None = table.take(self.codes) if self.special else None
        return found if found is not None and found.any() else None

    def _exponent(self, code: int) -> int:
        return max(code >> self.fmt.mantissa_bits, 1) - self.fmt.bias

    @property
    def norm(self) -> float:
        """Bound of the norm of the factors of a step in any row of A or column of B."""
        if self._norm is None:
            square = np.multiply(self.value, self.value, out=_SQUARE(self.value.shape))
            largest, k = 0.0, self.value.shape[-1 if self._rows else -2]
            size = -(-_AT_ONCE // self._group) * self._group
            for first in range(0, k, size):
                ones, part = _ones(self._group, min(size, k - first)), slice(first, first + size)
                sums = np.matmul(square[..., part], ones.T) if self._rows else np.matmul(ones, square[..., part, :])
                largest = max(largest, float(np.maximum.reduce(sums, axis=None)))
            self._norm = math.sqrt(largest) * _SLACK
        return self._norm

    @cached_property
    def wide(self) -> NDArray[np.float64]:
        """Values in float64."""
        return self.value.astype(np.float64)

    def powers(self, table: Table) -> NDArray[np.float32]:
        """A table's numbers of the codes, computed once."""
        found = self._powers.get(id(table))
        if found is None:
            found = self._powers[id(table)] = table.take(self.codes, self._owners[1])
        return found

    def lows(self, starts: tuple[int, ...]) -> NDArray[np.int32]:
        """Lowest exponent of the factors of a step that are not zero, or 100, computed once.

        Args:
            starts: first k of every step.

        Returns:
            (tiles, M, steps) of A, (tiles, steps, N) of B.
        """
        found = self._lows.get(starts)
        if found is None:
            table = np.where(self.tables.value.values == 0, np.int8(100), self.tables.exponent)
            least = np.minimum.reduceat(table.take(self.codes), starts, axis=2 if self._rows else 1)
            found = self._lows[starts] = least.astype(np.int32)
        return found

    def factors(self, part: Any) -> Factors:
        """Value and exponent of a part of the elements, by any function of an array."""
        exponent = self.tables.exponent.take(part(self.codes))
        return Factors(part(self.value), exponent, None, None)


@cache
def _ones(group: int, k: int) -> NDArray[np.float32]:
    """Matrix (steps, k) that sums the terms of each step."""
    steps = -(-k // group)
    ones: NDArray[np.float32] = (np.arange(k) // group == np.arange(steps)[:, None]).astype(np.float32)
    return ones


def byte_factors(product: Product, name: str, codes: NDArray[np.uint8], memo: Memo | None) -> ByteFactors:
    """Elements of ``a`` or ``b``, which a memo may have already.

    Args:
        product: formats, model and modes.
        name: the operand.
        codes: raw codes.
        memo: of the operand, if any.
    """
    key = "byte factors", product.model.name, product.flush_inputs, codes.shape
    found: ByteFactors | None = None if memo is None else memo.get(key)
    if found is None:
        fmt = FORMATS[product.formats.a if name == "a" else product.formats.b]
        found = ByteFactors(fmt, product.flush_inputs, codes, product.model.group, name, lasting=memo is not None)
        if memo is not None:
            memo[key] = found
    return found
