"""What the kernels of buffer.hip compute: one function per kernel, from inputs to outputs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

U32 = np.uint32


def _words(memory: NDArray[Any], start: NDArray[Any], size: int, limit: int) -> NDArray[Any]:
    """`size` bytes at each start as integers of that size; 0 where they are beyond `limit`."""
    inside = (start >= 0) & (start + size <= limit)
    at = np.where(inside, start, 0)[:, None] + np.arange(size)
    return np.where(inside[:, None], memory[at], 0).astype(np.uint8)


def buffer_loads(x: NDArray[Any], where: NDArray[Any], limit: int, scalar: int) -> NDArray[Any]:
    memory, at = x.view(np.uint8), where.astype(np.int64)
    b8 = _words(memory, at + 3 + scalar, 1, limit)[:, 0].astype(U32)
    i16 = _words(memory, at + 2 + scalar, 2, limit).view(np.int16)[:, 0].astype(np.int32).view(U32)
    b32 = _words(memory, at + 16 + scalar, 4, limit).view(U32)[:, 0]
    b64 = _words(memory, at + scalar, 8, limit).view(U32)
    b96 = _words(memory, at + 64, 12, limit).view(U32)
    return np.stack(
        [
            np.column_stack([b8, i16, b32, b64[:, 0] ^ b64[:, 1]]),
            _words(memory, at + scalar, 16, limit).view(U32),
            np.column_stack([b96, np.full(at.size, 7, U32)]),
        ]
    )


def buffer_stores(x: NDArray[Any], out: NDArray[Any], limit: int) -> NDArray[Any]:
    """out: (items, 16) of u32."""
    words = [x, ~x, x + U32(1), x + U32(2), x ^ 3, x ^ 4, x ^ 5, None, x * U32(3), x * U32(5), None, x * U32(7)]
    out = out.copy()
    for k, word in enumerate(words):
        if word is not None:
            out[:, k] = word
    tail = out.view(np.uint8).reshape(-1, 64)
    tail[:, 52:54] = (x >> U32(9)).astype(np.uint16).view(np.uint8).reshape(-1, 2)
    tail[:, 57] = (x >> U32(17)).astype(np.uint8)
    return np.where((64 * np.arange(x.size) < limit)[:, None], out, 0).astype(U32)


def buffer_structured(x: NDArray[Any], index: NDArray[Any], records: int) -> NDArray[Any]:
    """x: (records, 5)."""
    i = np.arange(index.size)
    inside = index < records
    at = np.where(inside, index, 0)
    return np.stack([np.where(inside, x[at, 4], 0), np.where(inside, x[at, i & 3], 0)])


def buffer_atomics(data: NDArray[Any], x: NDArray[Any], limit: int) -> tuple[NDArray[Any], NDArray[Any]]:
    inside = 4 * np.arange(x.size) < limit
    return np.where(inside, data + x, data), np.where(inside, data, 0)
