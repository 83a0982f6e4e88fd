"""What the kernels of scratch.hip compute: one function per kernel, from inputs to outputs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

U32 = np.uint32


def scratch_words(x: NDArray[Any]) -> NDArray[Any]:
    n = np.arange(x.size)
    table = x[:, None] * np.arange(40, dtype=U32)
    result = np.zeros_like(x)
    for k in range(12):
        at = (x >> U32(2 * k)) % 40
        table[n, at] += result ^ U32(k)
        result = result * U32(31) + table[n, (at + x) % 40]
    return result


def scratch_bytes(x: NDArray[Any]) -> NDArray[Any]:
    n = np.arange(x.size)
    own = np.stack([x >> U32(k % 25) for k in range(64)], 1).astype(np.uint8).view(np.int8)
    halves = np.stack([x >> U32(k % 17) for k in range(64)], 1).astype(np.uint16).view(np.int16)
    total = np.zeros(x.size, np.int32)
    for k in range(8):
        at = (x >> U32(3 * k)) % 64
        total = np.int32(5) * total + own[n, at] + halves.view(np.uint16)[n, 63 - at].astype(np.int32)
        total = total - halves[n, at ^ 9]
        own[n, at ^ 1] = total.astype(np.int8)
        halves[n, at] = (total >> 4).astype(np.int16)
    return total


def scratch_wide(x: NDArray[Any]) -> NDArray[Any]:
    """x: (items, 4)."""
    count, i = len(x), np.arange(len(x))
    four, three, two = np.empty((count, 16, 4), np.float32), np.empty((count, 16, 3), np.float32), np.empty((count, 16))
    for k in range(16):
        v = x[(i + 7 * k) % count]
        four[i, (k + i) % 16] = v
        three[i, (k * 5 + i) % 16] = v[:, [3, 1, 0]]
        two[i, (k * 3 + i) % 16] = v[:, 2]
    at = x[:, 0].view(U32) % 16
    a, b, c = four[i, at], three[i, (at + 3) % 16], two[i, at ^ 6].astype(np.float32)
    return a - np.column_stack([b, c])


def spills(x: NDArray[Any]) -> NDArray[Any]:
    i = np.arange(x.size)
    v = [x[(i + k) % x.size] + U32(k) for k in range(40)]
    total = np.zeros_like(x)
    for step in range(3):
        for k in range(40):
            total = total + (v[k] ^ v[(k * 7 + step) % 40])
            v[k] = v[k] * U32(3) + total
    return total


def stack_alloca(x: NDArray[Any], words: int) -> NDArray[Any]:
    total = np.zeros_like(x)
    for step in range(1, 4):
        total = total * U32(7) + x + x % U32(words * step) * U32(step)
    return total


def register_index(x: NDArray[Any], uniform: int) -> NDArray[Any]:
    n = np.arange(x.size)
    v = x[:, None] * (2 * np.arange(16, dtype=U32) + U32(1))
    v[:, uniform >> 4 & 15] = v[:, uniform & 15] ^ U32(0xFFFF)
    first = v[:, uniform >> 8 & 15].copy()
    v[n, x & 15] = n
    return np.stack([first, v[n, x >> U32(4) & U32(15)] + v[:, uniform >> 4 & 15]])


def register_index_wide(x: NDArray[Any], uniform: int) -> NDArray[Any]:
    i = np.arange(x.size)
    v = np.stack([x[(i + k) % x.size] for k in range(8)], 1)
    v[:, uniform >> 3 & 7] = v[:, uniform & 7] - 1
    return np.stack([v[:, uniform >> 6 & 7], v[i, (i + uniform) & 7]])
