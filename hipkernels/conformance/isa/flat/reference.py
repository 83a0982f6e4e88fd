"""What the kernels of flat.hip compute: one function per kernel, from inputs to outputs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

U32 = np.uint32


def flat_spaces(data: NDArray[Any], x: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    space, slot = x % 3, x & 3
    old = np.select([space == 0, space == 1], [data, x ^ 0x1111], x + slot)
    new = old * U32(5) + U32(1)
    tile = np.where(space == 1, new, x ^ 0x1111)
    own1 = np.where((space == 2) & (slot == 1), new, x + U32(1))
    return np.where(space == 0, new, data), old ^ new ^ tile ^ own1


def flat_widths(x: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """x: (blocks, 64, 4)."""
    t = np.arange(64)
    four = np.where((t & 1 == 1)[:, None], x[:, 63 - t], x).reshape(-1, 4)
    raw = np.ascontiguousarray(four).view(np.uint8)
    pair = np.ascontiguousarray(raw[:, 14:16]).view(np.int16)[:, 0]
    first = np.ascontiguousarray(raw[:, 2:4]).view(np.uint16)[:, 0]
    small: list[NDArray[Any]] = [raw[:, 5].view(np.int8), raw[:, 6], pair, first]
    mixed = [
        np.bitwise_xor.reduce(four, 1),
        four[:, 0] - four[:, 1] - four[:, 2],
        four[:, 1] ^ four[:, 0] * U32(7),
        four[:, 0],
    ]
    return np.column_stack(mixed).reshape(x.shape), np.stack([s.astype(np.int32) for s in small])


def flat_atomics(data: NDArray[Any], x: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    shared, i = x & 4 != 0, np.arange(x.size, dtype=U32)
    start = np.where(shared, ~x, data)
    last = i ^ x >> U32(5)
    out = np.stack([start, start + x, np.where(shared, last, ~x)])
    return np.where(shared, data, last), out


def flat_apertures(x: NDArray[Any]) -> NDArray[Any]:
    space = x % 3
    return np.select([space == 0, space == 1], [U32(0), U32(1)], U32(2)) | (x & 1) + U32(1) << U32(4)
