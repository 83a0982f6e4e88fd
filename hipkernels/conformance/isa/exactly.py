"""Operations that the references share: exact versions of those that NumPy rounds once too often."""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray


def to_odd(total: NDArray[Any], error: NDArray[Any]) -> NDArray[Any]:
    """Round a sum to odd, given its rounded value and the error of that rounding: rounding it again is then safe."""
    bits = total.view(np.int64)
    inexact = np.isfinite(total) & (error != 0)
    outward = np.where((error > 0) == (total > 0), 1, -1)
    return np.where(inexact & (bits & 1 == 0), bits + outward, bits).view(np.float64)


def fma32(x: NDArray[Any], y: Any, z: Any) -> NDArray[Any]:
    """Compute x y + z of f32 with one rounding: f64 holds the product exactly, and the sum is rounded to odd first."""
    product = np.asarray(x, np.float64) * np.asarray(y, np.float64)
    z = np.asarray(z, np.float64)
    total = product + z
    back = total - product
    error = (product - (total - back)) + (z - back)
    return to_odd(total, error).astype(np.float32)


def fma64(x: NDArray[Any], y: NDArray[Any], z: NDArray[Any]) -> NDArray[Any]:
    """Compute x y + z of f64 with one rounding, in rational numbers."""
    x, y, z = np.broadcast_arrays(*(np.asarray(v, np.float64) for v in (x, y, z)))
    out = x * y + z  # right where an infinity or a NaN takes part
    finite = np.isfinite(x) & np.isfinite(y) & np.isfinite(z)
    for place in np.ndindex(out.shape):
        if not finite[place]:
            continue
        a, b, c = (float(v[place]) for v in (x, y, z))
        exact = Fraction(a) * Fraction(b) + Fraction(c)
        if exact:
            out[place] = _rounded(exact)
        else:  # the sign of a zero follows from the signs of what is added
            sign = np.copysign(1.0, a) * np.copysign(1.0, b)
            out[place] = np.copysign(0.0, sign) + c if a == 0 or b == 0 else 0.0
    return out


def _rounded(exact: Fraction) -> Any:
    try:
        return float(exact)  # Python divides integers with one rounding
    except OverflowError:
        return np.copysign(np.inf, 1 if exact > 0 else -1)


def minimum(x: NDArray[Any], y: Any) -> NDArray[Any]:
    """The smaller of two; a number wins over a NaN, -0 is below +0 (as in hardware)."""
    below = (x < y) | ((x == y) & np.signbit(x)) | np.isnan(y)
    return np.where(below & ~np.isnan(x), x, np.where(np.isnan(y), x, y))


def maximum(x: NDArray[Any], y: Any) -> NDArray[Any]:
    """The larger of two; a number wins over a NaN, +0 is above -0."""
    return -minimum(-x, -y)


def bf16_values(codes: NDArray[Any]) -> NDArray[Any]:
    """f32 values of bf16 codes: the upper half of their bits."""
    return (np.asarray(codes, np.uint32) << np.uint32(16)).view(np.float32)


def bf16_codes(values: NDArray[Any]) -> NDArray[Any]:
    """bf16 codes of f32 values: nearest, ties to even; a NaN stays one and becomes quiet."""
    bits = np.asarray(values, np.float32).view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))) >> np.uint32(16)
    return np.where(np.isnan(values), bits >> np.uint32(16) | np.uint32(0x40), rounded).astype(np.uint16)
