"""What the loops compute: in NumPy where the lanes are uniform, one after the other where they diverge."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

U32, F32 = np.uint32, np.float32


def collatz(x: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    steps, peak = [], []
    for start in map(int, x):
        v = top = start
        count = 0
        while v > 1:
            v = 3 * v + 1 if v & 1 else v >> 1
            top, count = max(top, v), count + 1
        steps.append(count)
        peak.append(top)
    return np.array(steps, U32), np.array(peak, np.uint64)


def euclid(x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    return np.array([math.gcd(int(a), int(b)) for a, b in zip(x, y, strict=True)], U32)


def matrix_times_vector(a: NDArray[Any], x: NDArray[Any]) -> NDArray[Any]:
    return (a.view(U32) * x.view(U32)).sum(1, dtype=U32).view(np.int32)


def factors(x: NDArray[Any]) -> NDArray[Any]:
    out = np.zeros((3, len(x)), U32)
    for i, rest in enumerate(map(int, x)):
        found = []
        for p in range(2, 60):
            if p > 2 and p % 2 == 0:
                continue
            while rest % p == 0:
                rest //= p  # noqa: PLW2901
                found.append(p)
                if len(found) == 5:
                    break
            if len(found) >= 5 or rest == 1:
                break
        out[:, i] = rest, len(found), sum(found)
    return out


def integer_root(x: NDArray[Any]) -> NDArray[Any]:
    return np.array([math.isqrt(int(v)) for v in x], U32)


def mandelbrot(width: int, height: int, limit: int, step: float) -> NDArray[Any]:
    cr = np.arange(width).astype(F32)[None, :] * F32(step) - F32(2)
    ci = np.arange(height).astype(F32)[:, None] * F32(step) - F32(1.25)
    zr, zi = np.zeros((2, height, width), F32)
    count = np.zeros((height, width), U32)
    for _ in range(limit):
        inside = zr * zr + zi * zi < F32(4)
        count += inside
        after = zr * zr - zi * zi + cr
        zi = np.where(inside, F32(2) * zr * zi + ci, zi)
        zr = np.where(inside, after, zr)
    return count


def grid_stride(x: NDArray[Any]) -> NDArray[Any]:
    return x * U32(2654435761) + np.arange(len(x), dtype=U32)


def sort_eight(x: NDArray[Any]) -> NDArray[Any]:
    return np.sort(x, axis=1)
