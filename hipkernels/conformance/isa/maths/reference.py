"""What the f32 kernels compute, from the meaning of their C++ source."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hipkernels.conformance.isa.exactly import fma32, maximum, minimum

F32 = np.float32


def arithmetic(x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    return np.stack([x + y, x - y, x * y])


def square_root(x: NDArray[Any]) -> NDArray[Any]:
    return np.sqrt(x)


def divide(x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    return x / y


def rounding(x: NDArray[Any]) -> NDArray[Any]:
    away = np.copysign(np.floor(np.abs(x).astype(np.float64) + 0.5), x).astype(F32)
    return np.stack([np.floor(x), np.ceil(x), np.trunc(x), np.rint(x), away])


def minimum_maximum(x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    clamped = minimum(maximum(x, F32(-1.5)), F32(2.5))
    a, b = np.where(np.isnan(x), F32(3), x), np.where(np.isnan(y), F32(-3), y)
    median = maximum(minimum(a, b), minimum(maximum(a, b), F32(0.25)))
    return np.stack([minimum(x, y), maximum(x, y), clamped, median])


def exponents(x: NDArray[Any], shift: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    mantissa, exponent = np.frexp(x)
    # A f32 scaled by at most 2^±400 is exact in f64; what lies beyond is 0 or infinite either way.
    scaled = np.ldexp(x.astype(np.float64), np.clip(shift, -400, 400)).astype(F32)
    return mantissa, np.where(np.isfinite(x), exponent, 0).astype(np.int32), scaled


def classify(x: NDArray[Any]) -> NDArray[Any]:
    denormal = (x != 0) & (np.abs(x) < np.finfo(F32).tiny)
    normal = np.isfinite(x) & (x != 0) & ~denormal
    kinds = [np.isnan(x), np.isinf(x), normal, np.isfinite(x), np.signbit(x), denormal]
    return sum(kind.astype(np.uint32) << np.uint32(bit) for bit, kind in enumerate(kinds))


def compare(x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    unordered = np.isnan(x) | np.isnan(y)
    tests = [x < y, x <= y, x == y, x != y, ~(x < y), ~(x <= y), x > y, x >= y, unordered, (x < y) | (x > y)]
    return sum(test.astype(np.uint32) << np.uint32(bit) for bit, test in enumerate(tests))


def polynomial(x: NDArray[Any]) -> NDArray[Any]:
    total = np.full_like(x, float.fromhex("0x1.6c16c2p-10"))
    for constant in ("0x1.111112p-7", "0x1.555556p-5"):
        total = fma32(total, x, F32(float.fromhex(constant)))
    total = fma32(x, F32(float.fromhex("0x1.b7812ap+2")), total)
    return fma32(total, x, F32(1))


def signs(x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    return np.stack([-np.abs(x) * y, np.copysign(x, y), fma32(-x, np.abs(y), F32(1))])


def approximations(x: NDArray[Any]) -> NDArray[Any]:
    wide = x.astype(np.float64)
    exact = [np.exp2(wide), np.log2(np.abs(wide)), 1 / wide, 1 / np.sqrt(np.abs(wide))]
    return np.stack([v.astype(F32) for v in exact])


def fractions(x: NDArray[Any]) -> NDArray[Any]:
    """Fraction above the floor, at most the largest value below 1."""
    return np.minimum(x - np.floor(x), np.nextafter(F32(1), F32(0)))


def turns(n: int) -> NDArray[Any]:
    """Fractions of a turn away from the zeros of sine and cosine, where an error in ulp is meaningful."""
    return np.random.default_rng(12).uniform(0.02, 0.23, n).astype(F32)


def trigonometry(x: NDArray[Any]) -> NDArray[Any]:
    angle = 2 * np.pi * x.astype(np.float64)
    return np.stack([np.sin(angle), np.cos(angle)]).astype(F32)


def pairs(x: NDArray[Any], y: NDArray[Any], z: NDArray[Any]) -> NDArray[Any]:
    return np.stack([x + y, x * y[:, ::-1], fma32(-x, y[:, :1], z)])
