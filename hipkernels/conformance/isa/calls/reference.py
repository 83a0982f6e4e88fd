"""What the kernels of calls.hip compute: one function per kernel, from inputs to outputs."""

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

U32 = np.uint32


def call_struct(x: NDArray[Any], value: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    key, n = x.copy(), np.arange(x.size)
    tag = np.stack([x >> U32(k) for k in range(12)], 1).astype(np.uint8)
    value = value.copy()
    for k in range(5):
        step = U32(k) + x % 8
        key = key * U32(2654435761) + step
        value = value * 0.5 + step
        tag[n, step % 12] ^= (key >> U32(24)).astype(np.uint8)
    return key ^ tag[:, 3] ^ tag[:, 11].astype(U32) << U32(8), value


def call_many(x: NDArray[Any]) -> NDArray[Any]:
    y = ~x
    a = [x, x + U32(1), x ^ 2, x + U32(3), x ^ 4, x + U32(5), x ^ 6, x + U32(7), x ^ 8, x + U32(9)]
    c = [y, y + U32(1), y ^ 2, y + U32(3), y ^ 4, y + U32(5), y ^ 6, y + U32(7), y ^ 8, y + U32(9)]
    total: Any = sum(U32(k + 1) * part for k, part in enumerate(a))
    for k in range(10):
        total = total ^ x * U32(2 * k + 3) << U32(k)
    total = total ^ sum(c[0::2]) - sum(c[1::2])
    total = total ^ (x - (x >> U32(3))) ^ (x >> U32(5)).astype(np.uint8).astype(U32) << U32(16)
    return total ^ (x >> U32(7)).astype(np.uint16).view(np.int16).astype(np.int32).view(U32)


@functools.cache
def _paths(right: int, down: int, blocked: int) -> int:
    if right == 0 or down == 0:
        return 1
    if blocked >> (right * 4 + down) % 32 & 1:
        return 0
    return _paths(right - 1, down, blocked) + _paths(right, down - 1, blocked)


def recursion(x: NDArray[Any]) -> NDArray[Any]:
    return np.array([_paths(v % 5, (v >> 8) % 5, v & 0x20814000) for v in x.tolist()], U32)


def mutual_recursion(x: NDArray[Any]) -> NDArray[Any]:
    out = []
    for start in (x % 500).tolist():
        value, steps = start, 0
        while value > 1 and steps < 40:
            value = 3 * value + 1 if value % 2 else value // 2
            steps += 1
        out.append(steps)
    return np.array(out, U32)


def function_pointers(x: NDArray[Any], program: NDArray[Any]) -> NDArray[Any]:
    for offset, follows in ((-3, True), (1, False)):
        for k, code in enumerate(program):
            which = np.int32(code) + (x if follows else 0) & 3
            b = np.int32(k + offset)
            x = np.select([which == 0, which == 1, which == 2], [x + b, x - b, x * b], x >> (b & np.int32(31)))
    return x


def virtual_calls(x: NDArray[Any]) -> NDArray[Any]:
    i, kind = np.arange(x.size, dtype=np.int32), x.view(U32) % 3
    plain, square, size, width = x >> 3, x & 1023, x >> 16, x & 15
    area = np.select([kind == 0, kind == 1], [plain, square * square], size * width)
    grown = np.select([kind == 0, kind == 1], [plain + i, square + i], size + np.int32(2) * i * width)
    return area ^ grown
