"""Memory after the atomic operations, and their return values where these are defined."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

U32, I32, U64, F32 = np.uint32, np.int32, np.uint64, np.float32


def histogram(x: NDArray[Any], bins: NDArray[Any]) -> NDArray[Any]:
    return bins + np.bincount(x & 31, weights=1 + (x >> 7), minlength=32).astype(U32)


def tickets(x: NDArray[Any], counter: NDArray[Any], slots: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    drawn = int((x > 0).sum())
    slots = slots.copy()
    slots[:drawn] += U32(1)
    return counter + U32(2 * drawn), slots


def returning(memory: NDArray[Any], y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    m = memory
    new = [
        m[0] + y,
        m[1] - y,
        np.minimum(m[2], y),
        np.maximum(m[3].view(I32), y.view(I32)).view(U32),
        m[4] & y,
        m[5] | y,
        m[6] ^ y,
        y,
        np.where(m[8] == (y & U32(3)), y, m[8]),
        np.where(m[9] >= y, U32(0), m[9] + U32(1)),
        np.where((m[10] == 0) | (m[10] > y), y, m[10] - U32(1)),
    ]
    return np.stack(new), m


def returning_wide(memory: NDArray[Any], y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    m = memory
    low = np.minimum(m[2].view(np.int64), y.view(np.int64)).view(U64)
    new = [m[0] + y, np.maximum(m[1], y), low, m[3] ^ y, y, np.where(m[5] == (y & U64(3)), y, m[5])]
    return np.stack(new), m


def extremes(
    x: NDArray[Any], signed_ends: NDArray[Any], ends: NDArray[Any], wide_ends: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    signed = x.view(I32)
    low = [min(int(signed_ends[0]), int(signed.min())), max(int(signed_ends[1]), int(signed.max()))]
    some = np.bitwise_or.reduce(x & U32(0x0F0F0F0F)) | ends[2]
    every = np.bitwise_and.reduce(x | U32(0x80000001)) & ends[3]
    odd = np.bitwise_xor.reduce(x) ^ ends[4]
    plain = [min(ends[0], x.min()), max(ends[1], x.max()), some, every, odd]
    wide = x.astype(U64)
    top = max(wide_ends[0], (wide << U64(20) | np.arange(len(x), dtype=U64)).max())
    return np.array(low, I32), np.array(plain, U32), np.array([top, wide_ends[1] + (wide * wide).sum(dtype=U64)], U64)


def wrapping(counters: NDArray[Any], n: int) -> NDArray[Any]:
    up, down = map(int, counters)
    for _ in range(n):
        up = 0 if up >= 9 else up + 1
        down = 100 if down == 0 or down > 100 else down - 1
    return np.array([up, down], U32)


def float_sums(x: NDArray[Any], sums: NDArray[Any], wide_sums: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    for i, value in enumerate(x):
        sums[i % 7] += value
        wide_sums[i % 5] += np.float64(value) * 1024.5
    return sums, wide_sums


def float_returning(memory: NDArray[Any], y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    return memory + y, memory


def product_by_cas(exponents: NDArray[Any], products: NDArray[Any]) -> NDArray[Any]:
    for i, exponent in enumerate(exponents):
        products[i % 3] = np.ldexp(products[i % 3], exponent)
    return products


def pair_by_cas(x: NDArray[Any], pairs: NDArray[Any]) -> NDArray[Any]:
    for i, value in enumerate(map(int, x)):
        old = int(pairs[i & 1])
        pairs[i & 1] = max(old >> 32, value) << 32 | ((old + 1) & 0xFFFFFFFF)
    return pairs


def float_maximum(x: NDArray[Any], top: NDArray[Any]) -> NDArray[Any]:
    """The largest number; among zeros the positive one."""
    every = np.concatenate([x[~np.isnan(x)], top])
    best = every.max()
    same = every[every == best]
    return same[np.argmin(np.signbit(same))].reshape(1)


def double_returning(memory: NDArray[Any], y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    return np.stack([memory[0] + y, np.maximum(memory[1], y), np.minimum(memory[2], y)]), memory


def packed_halves(x: NDArray[Any], sums: NDArray[Any]) -> NDArray[Any]:
    for i, pair in enumerate(x):
        sums[i % 6] += pair
    return sums


def no_denormals(n: int, seed: int) -> NDArray[Any]:
    """Floats of every size, zeros, infinities and NaNs, no sum of which is a denormal: atomics of gfx11 flush those."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 1 << 31, n).astype(U32) | U32(0x20000000) | rng.choice(np.array([0, 1 << 31], U32), n)
    extremes = np.array([0, 0x3F800000, 0x7F7FFFFF, 0x7F800000, 0x7FC00000, 0x7F800001], U32)
    extremes = np.concatenate([extremes, extremes | U32(1 << 31)])
    return np.where(rng.random(n) < 0.4, rng.choice(extremes, n), bits).view(F32)
