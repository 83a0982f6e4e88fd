"""What the kernels of launch.hip compute: one function per kernel, from inputs to outputs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

U32 = np.uint32


def _packed(values: list[NDArray[Any]] | tuple[int, int, int]) -> Any:
    x, y, z = values
    return x | y << 8 | z << 16


def indices(grid: tuple[int, int, int], block: tuple[int, int, int]) -> NDArray[Any]:
    z, y, x = np.indices([g * b for g, b in zip(grid[::-1], block[::-1], strict=True)])
    place = [at % b for at, b in zip((x, y, z), block, strict=True)]
    group = [at // b for at, b in zip((x, y, z), block, strict=True)]
    fixed = [np.full(x.shape, _packed(size)) for size in (block, grid)]
    return np.stack([_packed(place), _packed(group), *fixed], -1).astype(U32)


def stencil(image: NDArray[Any]) -> NDArray[Any]:
    around = np.pad(image, 1)
    return (around[1:-1, :-2] + around[1:-1, 2:]) - (around[:-2, 1:-1] + around[2:, 1:-1])


def arguments(values: list[Any], count: int) -> NDArray[Any]:
    i = np.arange(count)
    return np.array([float(v) for v in values])[i % 9] + i // 9


def structure(p: NDArray[Any], count: int) -> tuple[NDArray[Any], NDArray[Any]]:
    i = np.arange(count, dtype=U32)
    v = i * U32(2654435761)
    for part in p["range"]:
        top = v >> U32(24)
        v = np.where((top >= part["low"]) & (top < part["high"]), v ^ part["mask"], v)
    steps = p["steps"].astype(np.int32).view(U32)
    origin = p["origin"].astype(np.float64)
    return v + steps[i % 5], p["scale"] * origin[i % 3] + float(p["tag"])


PRIMES = np.array([2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53], U32)


def globals_(x: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    scaled = np.array([0.5, -1.5, 2.5, 1e300])[x >> U32(30)] * x
    last = np.full(x.size, 1000 + (x & 7).sum(), U32)
    return PRIMES[x & 15] * U32(2), scaled, last


def packet(grid: tuple[int, int], block: tuple[int, int]) -> NDArray[Any]:
    sizes = [*block, 1]
    for g, b in zip((*grid, 1), (*block, 1), strict=True):
        sizes += [g * b & 0xFFFF, g * b >> 16]
    value = 0
    for size in sizes:
        value = (value * 31 + size) & 0xFFFFFFFF
    return np.full(grid[0] * block[0] * block[1], value, U32)


def preload(x: NDArray[Any], a: int, b: int, c: int, d: int, e: int) -> NDArray[Any]:
    i = np.arange(x.size, dtype=np.int32)
    high = np.array(d >> 20 & 0xFFFFFFFF, U32).astype(np.int32)
    return x * np.int32(a) - np.int32(b) + (np.int32(c) ^ high) + np.int32(e) * i
