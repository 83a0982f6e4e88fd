"""Rows of bytes that are private to a workgroup (LDS) or to a work-item (scratch): reads and writes lane by lane.

A row is as long as its allocation, rounded up to whole dwords; every lane addresses bytes of one row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def read(
    rows: NDArray[np.uint8], row: NDArray[Any], address: NDArray[np.int64], size: int, inside: NDArray[np.bool_]
) -> list[NDArray[np.uint32]]:
    """Read `size` bytes per lane, little-endian.

    Args:
        rows: the bytes, (rows, bytes of a row).
        row: row of each lane; broadcasts to the shape of `address`.
        address: byte in the row; need not be aligned.
        size: 1, 2, or a multiple of 4.
        inside: lanes that read; the others get 0.

    Returns:
        One uint32 array per dword.
    """
    whole = bool(inside.all())
    safe = address if whole else np.where(inside, address, 0)
    if rows.shape[1] < size:  # no lane is inside, and lanes outside have no place to read
        return [np.zeros(np.broadcast_shapes(address.shape, inside.shape), np.uint32) for _ in range(max(1, size // 4))]
    out: list[NDArray[np.uint32]]
    if size % 4 == 0 and not int(np.bitwise_or.reduce(safe, axis=None)) & 3:
        flat, index = rows.reshape(-1).view(np.uint32), row * (rows.shape[1] // 4) + (safe >> 2)
        out = [flat[word:].take(index) for word in range(size // 4)]
    else:
        start = row * rows.shape[1] + safe
        octets = rows.reshape(-1)
        out = []
        for word in range(max(1, size // 4)):
            total = np.zeros(start.shape, np.uint32)
            for byte in range(min(4, size)):
                total |= octets.take(start + (4 * word + byte)).astype(np.uint32) << np.uint32(8 * byte)
            out.append(total)
    return out if whole else [np.where(inside, word, np.uint32(0)) for word in out]


def write(
    rows: NDArray[np.uint8],
    row: NDArray[Any],
    address: NDArray[np.int64],
    words: list[NDArray[np.uint32]],
    size: int,
    inside: NDArray[np.bool_],
) -> None:
    """Write `size` bytes per lane where `inside`; of two lanes at one byte the last wins. Arguments as in `read`.

    Args:
        rows: the bytes, (rows, bytes of a row).
        row: row of each lane.
        address: byte in the row.
        words: what is written, one array per dword.
        size: bytes per lane.
        inside: lanes that write.
    """
    if not rows.size:
        return
    whole = bool(inside.all())
    used = address if whole else address * inside
    aligned = size % 4 == 0 and not int(np.bitwise_or.reduce(used, axis=None)) & 3
    # In dwords where that is possible, else in bytes.
    start = row * (rows.shape[1] // 4) + (address >> 2) if aligned else row * rows.shape[1] + address
    shape = np.broadcast_shapes(start.shape, inside.shape, *(np.shape(word) for word in words))
    start, words = np.broadcast_to(start, shape), [np.broadcast_to(word, shape) for word in words]
    if not whole:
        chosen = np.broadcast_to(inside, shape)
        start, words = start[chosen], [word[chosen] for word in words]
    if aligned:
        flat = rows.reshape(-1).view(np.uint32)
        for k, word in enumerate(words):
            flat[k:][start] = word
        return
    octets = rows.reshape(-1)
    for byte in range(size):
        octets[start + byte] = (words[byte // 4] >> np.uint32(8 * (byte % 4))).astype(np.uint8)
