"""What the kernels of mode.hip compute, from exact fractions that are rounded once."""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

NEAREST, UP, DOWN, ZERO = range(4)
MODES = (NEAREST, UP, DOWN, ZERO)
# Format: bits of the significand, smallest normal exponent, largest finite value.
FORMATS = {
    np.dtype(np.float32): (24, -126, Fraction(float(np.finfo(np.float32).max))),
    np.dtype(np.float64): (53, -1022, Fraction(float(np.finfo(np.float64).max))),
}


def _exponent(value: Fraction) -> int:
    """Largest e with 2**e <= value."""
    e = value.numerator.bit_length() - value.denominator.bit_length()
    return e if Fraction(2) ** e <= value else e - 1


def rounded(value: Fraction, negative_zero: bool, mode: int, dtype: np.dtype[Any]) -> Any:
    """A fraction rounded to a format; `negative_zero` is the sign of an exact zero."""
    digits, smallest, largest = FORMATS[dtype]
    if value == 0:
        return dtype.type(-0.0 if negative_zero else 0.0)
    sign, size = value < 0, abs(value)
    unit = Fraction(2) ** (max(_exponent(size), smallest) - digits + 1)
    whole, rest = divmod(size, unit)
    away = mode == (DOWN if sign else UP)
    if mode == NEAREST:
        away = rest * 2 > unit or (rest * 2 == unit and whole % 2 == 1)
    size = (whole + (1 if away and rest else 0)) * unit
    if size > largest:
        to_infinity = mode in (NEAREST, DOWN if sign else UP)
        result = dtype.type(np.inf) if to_infinity else dtype.type(float(largest))
    else:
        result = dtype.type(float(size))
    return -result if sign else result


def _fused(x: Any, y: Any, z: Any, mode: int, dtype: np.dtype[Any]) -> Any:
    """Sum x * y + z of finite numbers, rounded once."""
    exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
    product = np.signbit(x) != np.signbit(y)
    zero = bool(product) if product == np.signbit(z) else mode == DOWN
    return rounded(exact, zero, mode, dtype)


def fused(x: NDArray[Any], y: NDArray[Any], z: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Four arrays, one for each mode; with infinities and NaNs every mode gives what NumPy gives."""
    plain = x * y + z
    finite = np.isfinite(x) & np.isfinite(y) & np.isfinite(z)
    # A product beyond the largest number is finite before the rounding.
    infinite = np.isinf(z) & np.isfinite(x) & np.isfinite(y)
    plain = np.where(infinite, z, plain).astype(dtype)
    return np.stack(
        [
            [
                _fused(a, b, c, mode, dtype) if ok else other
                for a, b, c, ok, other in zip(x, y, z, finite, plain, strict=True)
            ]
            for mode in MODES
        ]
    ).astype(dtype)


def rounding_f32(x: NDArray[Any], y: NDArray[Any], z: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    one, zero = np.ones_like(x), np.copysign(np.float32(0), np.where(np.signbit(x) != np.signbit(y), -1, 1))
    return fused(x, one, y, x.dtype), fused(x, y, zero.astype(x.dtype), x.dtype), fused(x, y, z, x.dtype)


def rounding_f64(x: NDArray[Any], y: NDArray[Any], z: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    one, narrow = np.ones_like(x), np.dtype(np.float32)
    shorter = [
        [rounded(Fraction(v), np.signbit(v), mode, narrow) if np.isfinite(v) else np.float32(v) for v in x]
        for mode in MODES
    ]
    return fused(x, one, y, x.dtype), fused(x, y, z, x.dtype), np.array(shorter, np.float32)


def _flushed(x: NDArray[Any]) -> NDArray[Any]:
    return np.where(np.abs(x) < np.finfo(np.float32).smallest_normal, np.copysign(np.float32(0), x), x)


def denormals_f32(x: NDArray[Any], y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Bit 0 of the mode keeps denormal inputs' effect on the output side: 1 lets them in, 2 lets them out."""
    sums: list[NDArray[Any]] = []
    products: list[NDArray[Any]] = []
    for mode in range(4):
        a, b = (x, y) if mode & 1 else (_flushed(x), _flushed(y))
        for out, value in ((sums, a + b), (products, a * b)):
            out.append(value if mode & 2 else _flushed(value))
    return np.stack(sums), np.stack(products)


def mode_register(items: int, block: int) -> NDArray[Any]:
    chosen = np.arange(items, dtype=np.uint32) // block + 1
    return np.stack([np.full(items, 0xF0, np.uint32), chosen | 0x50])


def clocks(x: NDArray[Any]) -> NDArray[Any]:
    for _ in range(20):
        x = x * np.uint32(1664525) + np.uint32(1013904223)
    return (x & np.uint32(0xFFFFFFF0)) + np.uint32(2)
