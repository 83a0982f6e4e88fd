"""What the double-precision kernels compute: NumPy's own operations, and the exact product and sum."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hipkernels.conformance.isa.exactly import fma64, maximum, minimum


def arithmetic(x: NDArray[Any], y: NDArray[Any], z: NDArray[Any]) -> NDArray[Any]:
    return np.stack([x + y, x - y, x * y, fma64(x, y, z)])


def divide_and_root(x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    return np.stack([x / y, np.sqrt(x)])


def rounding(x: NDArray[Any]) -> NDArray[Any]:
    fraction = np.minimum(x - np.floor(x), np.nextafter(1.0, 0.0))
    return np.stack([np.floor(x), np.ceil(x), np.trunc(x), np.rint(x), fraction])


def compare(x: NDArray[Any], y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    normal = np.isfinite(x) & (np.abs(x) >= np.finfo(np.float64).tiny)
    tests = [x < y, x == y, ~(x >= y), np.isnan(x), np.isinf(y), normal]
    bits = sum(test.astype(np.uint32) << np.uint32(bit) for bit, test in enumerate(tests))
    return np.stack([minimum(x, y), maximum(x, y)]), bits


def exponents(x: NDArray[Any], shift: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    mantissa, exponent = np.frexp(x)
    exponent = np.where(np.isfinite(x), exponent, 0).astype(np.int32)
    return np.stack([mantissa, np.ldexp(x, shift)]), exponent


def compensated_sum(x: NDArray[Any]) -> NDArray[Any]:
    total, lost = np.zeros(len(x)), np.zeros(len(x))
    for column in x.T:
        step = column - lost
        after = total + step
        lost = (after - total) - step
        total = after
    return total
