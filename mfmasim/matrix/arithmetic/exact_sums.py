"""Exact sums in binary64: two-sum, round to odd, and the fused multiply-add that NumPy lacks.

Sources: Knuth, TAOCP 2, 4.2.2 (two-sum); Dekker 1971 (two-product); Boldo and Melquiond, "Emulation of FMA and
correctly rounded sums: proved algorithms using rounding to odd", IEEE Trans. Computers 57, 2008.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray


def two_sum(x: NDArray[Any], y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Give x + y as (rounded, error), exactly, unless it overflows."""
    s = x + y
    z = s - x
    return s, (x - (s - z)) + (y - z)


def two_product(x: NDArray[Any], y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Give x * y as (rounded, error), exactly, for magnitudes that neither overflow nor reach subnormals."""
    split = 134217729.0  # 2^27 + 1
    p = x * y
    big_x, big_y = split * x, split * y
    x_high, y_high = big_x - (big_x - x), big_y - (big_y - y)
    x_low, y_low = x - x_high, y - y_high
    return p, ((x_high * y_high - p) + x_high * y_low + x_low * y_high) + x_low * y_low


def add_to_odd(x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    """Round x + y to odd: truncated, the last bit set when inexact, so that a coarser rounding later is exact."""
    s, error = two_sum(x, y)
    bits = np.ascontiguousarray(s).view(np.int64)
    # An even s that is not exact moves one step toward the exact sum; its odd neighbour there is the answer.
    step = np.where((error > 0) == (s > 0), 1, -1)
    moved: NDArray[Any] = np.where((error != 0) & (bits & 1 == 0), bits + step, bits)
    return moved.view(np.float64)


def sum3_to_odd(x: NDArray[Any], y: NDArray[Any], z: NDArray[Any]) -> NDArray[Any]:
    """Round x + y + z to odd (binary64). Exact zero keeps the sign that IEEE addition gives.

    Args:
        x: float64 array.
        y: another, which broadcasts.
        z: a third.
    """
    high, low = two_sum(x, y)
    t_high, t_low = two_sum(z, low)
    v_high, v_low = two_sum(high, t_high)
    return add_to_odd(v_high, add_to_odd(t_low, v_low))


def sum_to_odd(terms: list[NDArray[Any]]) -> NDArray[np.float64]:
    """Sum of any number of arrays rounded once, to odd; slow, element by element."""
    out = np.empty(terms[0].shape)
    flat = out.reshape(-1)
    for i, numbers in enumerate(zip(*(term.reshape(-1).tolist() for term in terms), strict=True)):
        nearest = math.fsum(numbers)
        rest = math.fsum((*numbers, -nearest))
        flat[i] = nearest
        if rest and not int(flat[i : i + 1].view(np.int64)[0]) & 1:
            flat[i] = math.nextafter(nearest, math.copysign(math.inf, rest))
    return out


def fma_f32(a: NDArray[Any], b: NDArray[Any], c: NDArray[Any]) -> NDArray[np.float32]:
    """a*b + c rounded once to f32.

    Args:
        a: f32 numbers, held in float64 (their product is exact there: 48 bits, exponent at least -298).
        b: the same.
        c: the same.
    """
    with np.errstate(all="ignore"):
        p = a * b
        plain = p + c
        odd = add_to_odd(p, c)
        # NaN, infinity and exact zero come from the plain sum; the error term is not defined for the former.
        return np.where(np.isfinite(plain) & (plain != 0), odd, plain).astype(np.float32)


def _exact_fma(a: float, b: float, c: float) -> float:
    """a*b + c of finite numbers by rational arithmetic; Python rounds a quotient of integers once, subnormals too."""
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    return exact.numerator / exact.denominator


def fma_f64(a: NDArray[Any], b: NDArray[Any], c: NDArray[Any]) -> NDArray[np.float64]:
    """a*b + c rounded once to f64, with gradual underflow; arrays broadcast.

    Args:
        a: first factor, float64.
        b: second factor.
        c: addend, float64.
    """
    a, b, c = np.broadcast_arrays(a, b, c)
    with np.errstate(all="ignore"):
        plain = a * b + c
        finite = np.isfinite(a) & np.isfinite(b)
        # An infinite addend wins over a product that only overflowed here.
        plain = np.where(finite & np.isinf(c), c, plain)
        ordinary = finite & np.isfinite(c) & (a != 0) & (b != 0) & (c != 0)
        # c = 0 and factors that are not 0: the sum is the product (rounded once), whatever the sign of c.
        plain = np.where(finite & (c == 0) & (a != 0) & (b != 0), a * b, plain)
        if not ordinary.any():
            return plain
        one = np.float64(1)
        ma, ea = np.frexp(np.where(ordinary, a, one))
        mb, eb = np.frexp(np.where(ordinary, b, one))
        mc, ec = np.frexp(np.where(ordinary, c, one))
        gap = ec.astype(np.int64) - ea - eb
        # Beyond these gaps the smaller term only decides on which side the exact sum lies.
        addend = np.ldexp(mc, np.clip(gap, -240, 120).astype(np.int32))
        high, low = two_product(ma, mb)
        t_high, t_low = two_sum(addend, low)
        v_high, v_low = two_sum(high, t_high)
        nearest = v_high + add_to_odd(t_low, v_low)
        scale = np.maximum(ea + eb, ec - 120)
        result = np.where(ordinary, np.ldexp(nearest, scale), plain)
        # At or below the smallest normal number there are fewer bits: those few are rounded exactly, one by one.
        small = ordinary & (np.frexp(nearest)[1] + scale <= -1020) & (nearest != 0)
    if small.any():
        where = np.nonzero(small)
        result[where] = [
            _exact_fma(x, y, z) for x, y, z in zip(a[where].tolist(), b[where].tolist(), c[where].tolist(), strict=True)
        ]
    return result
