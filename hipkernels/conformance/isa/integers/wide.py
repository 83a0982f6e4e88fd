"""What the kernels of 64-bit integers compute; Python's integers where 64 bits are too few."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hipkernels.conformance.isa.integers.reference import find_first, leading_zeros, population, reverse

U64, I64 = np.uint64, np.int64
MASK = (1 << 64) - 1


def exactly(function: Callable[..., Any], *arrays: NDArray[Any]) -> NDArray[Any]:
    """Apply a function of Python integers to each element and keep the low 64 bits."""
    values = [function(*map(int, row)) & MASK for row in zip(*arrays, strict=True)]
    return np.array(values, U64)


def add_wide(x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    low = y & U64(0xFFFFFFFF)
    return np.stack([x + y, x - y, (x << U64(2)) + y, x + low, (x + y < x).astype(U64)])


def multiply_wide(x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    low = U64(0xFFFFFFFF)
    sx, sy = x.view(I64), y.view(I64)
    short = x.astype(np.uint32).view(np.int32).astype(I64) * y.astype(np.uint32).view(np.int32).astype(I64)
    high = exactly(lambda a, b: a * b >> 64, x, y)
    return np.stack(
        [(x & low) * (y & low) + y, short.view(U64), x * y, high, exactly(lambda a, b: a * b >> 64, sx, sy)]
    )


def _quotient(a: int, b: int) -> int:
    size = abs(a) // abs(b)
    return size if (a < 0) == (b < 0) else -size


def divide_wide(x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    b = np.where(y == 0, U64(3), y)
    d = np.where((y == 0) | (y == U64(MASK)), U64(MASK - 6), y).view(I64)
    c = x.view(I64)
    quotient = exactly(_quotient, c, d)
    return np.stack([x // b, x % b, quotient, exactly(lambda p, q: p - _quotient(p, q) * q, c, d)])


def shift_wide(x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    by = y & U64(63)
    right = (x.view(I64) >> by.view(I64)).view(U64)
    rows = [x << by, x >> by, right, population(x), leading_zeros(x), find_first(x), reverse(x)]
    return np.stack([row.astype(U64) for row in rows])


def compare_wide(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    ua, ub = a.view(U64), b.view(U64)
    tests = [a < b, ua < ub, a == b, a >= b, ua > ub]
    bits = sum(test.astype(I64) << bit for bit, test in enumerate(tests))
    return np.stack([bits, np.minimum(a, b), np.maximum(ua, ub).view(I64), np.where(a == b, I64(-1), a)])
