"""What the half-precision kernels compute. f64 holds sums and products of halves exactly and is rounded once."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hipkernels.conformance.isa.exactly import fma32, maximum, minimum, to_odd

F16, F32 = np.float16, np.float32


def wide(x: NDArray[Any]) -> NDArray[Any]:
    return x.astype(np.float64)


def fused(x: NDArray[Any], y: NDArray[Any], z: NDArray[Any]) -> NDArray[Any]:
    """Compute x y + z: 22 bits of product and a sum over at most 80 binary places, so it is rounded to odd in f64."""
    product, z = wide(x) * wide(y), wide(z)
    total = product + z
    back = total - product
    return to_odd(total, (product - (total - back)) + (z - back)).astype(F16)


def arithmetic(x: NDArray[Any], y: NDArray[Any], z: NDArray[Any]) -> NDArray[Any]:
    return np.stack([(wide(x) + wide(y)).astype(F16), (wide(x) - wide(y)).astype(F16), x * y, fused(x, y, z)])


def packed(a: NDArray[Any], b: NDArray[Any], c: NDArray[Any]) -> NDArray[Any]:
    exchanged, first = b[:, ::-1], b[:, :1]
    product = (wide(-a) * wide(first)).astype(F16)
    rows = [wide(a) + wide(b), wide(a) * wide(b), fused(a, b, c), wide(a) - wide(exchanged), product]
    return np.stack([row.astype(F16) for row in rows])


def divide(x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    """A quotient of 11-bit significands is never so near to a tie that f64's rounding could reach it."""
    return (wide(x) / wide(y)).astype(F16)


def approximations(x: NDArray[Any]) -> NDArray[Any]:
    size = np.abs(wide(x))
    return np.stack([v.astype(F16) for v in (np.sqrt(size), 1 / wide(x), 1 / np.sqrt(size))])


def rounding(x: NDArray[Any]) -> NDArray[Any]:
    return np.stack([np.floor(x), np.ceil(x), np.trunc(x), np.rint(x)])


def compare(x: NDArray[Any], y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    tests = [x < y, x == y, ~(x >= y), np.isnan(x), np.isinf(y)]
    bits = sum(test.astype(np.uint32) << np.uint32(bit) for bit, test in enumerate(tests))
    return np.stack([minimum(x, y), maximum(x, y)]), bits


def fma16(a: NDArray[Any], b: NDArray[Any], c: NDArray[Any], once: bool) -> NDArray[Any]:
    """A * b + c of f32 as f16: rounded once, or to f32 first."""
    return fused(a, b, c) if once else fma32(a, b, c).astype(F16)


def mixed(
    x: NDArray[Any], y: NDArray[Any], z: NDArray[Any], once: bool
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    a, b = x.astype(F32), y.astype(F32)
    rows = [fma32(a[:, 0], b[:, 1], z), fma32(a[:, 1], -b[:, 0], z)]
    high, low = fma16(a[:, 0], b[:, 0], z, once), fma16(a[:, 1], z, b[:, 1], once)
    return np.stack(rows), np.stack([x[:, 1], high], axis=1), low


def exponents(x: NDArray[Any], shift: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    mantissa, exponent = np.frexp(wide(x))
    scaled = np.ldexp(wide(x), shift)
    exponent = np.where(np.isfinite(x), exponent, 0).astype(np.int32)
    return np.stack([mantissa.astype(F16), scaled.astype(F16)]), exponent
