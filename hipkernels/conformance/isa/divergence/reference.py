"""What the diverging kernels compute: for each work-item, the statements that its condition selects."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def nested(x: NDArray[Any], visits: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    out, visits = np.zeros_like(x), visits.copy()
    for i, v in enumerate(x):
        if v & 1:
            visits[0, i] += 1
            if v & 2:
                visits[1, i] += v
                out[i] = 1 if v & 4 else 2
            else:
                visits[2, i] -= v
                if v & 8:
                    visits[3, i] ^= v
                    out[i] = 3
        elif v & 16:
            visits[2, i] += 100
            out[i] = 4
        else:
            visits[3, i] += 1000
    return out, visits


def early_return(x: NDArray[Any], out: NDArray[Any]) -> NDArray[Any]:
    out = out.copy()
    out[0] = 1
    for i, v in enumerate(map(int, x)):
        if v < 0:
            continue
        out[1, i] = ((v * 3) ^ 1 << 31) % (1 << 32) - (1 << 31)
        if v % 3 == 0:
            continue
        low = v & 15
        if low:
            out[2, i] = (low & -low).bit_length() - 1
        else:
            out[3, i] = -v
    return out


def short_circuit(x: NDArray[Any], trace: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    out, trace = np.zeros_like(x), trace.copy()
    for i, v in enumerate(map(int, x)):

        def note(value: int, answer: int, place: int = i) -> int:
            trace[place] = trace[place] * np.uint32(10) + np.uint32(value)
            return answer

        if note(1, v & 1) and note(2, v & 2):
            out[i] |= 1
        if note(3, v & 4) or note(4, v & 8):
            out[i] |= 2
        if (v & 1 and note(5, v & 16)) or (v & 2 and note(6, v & 32)):
            out[i] |= 4
    return out, trace


def selections(x: NDArray[Any], y: NDArray[Any], wide: NDArray[Any]) -> NDArray[Any]:
    mixed = np.where((x ^ y) < 0, np.where(y == 0, 5, x), np.where(x == 7, 6, y))
    narrow = [np.where(x > 0, x, y), mixed]
    first, last = (row.astype(np.int64).view(np.uint64) for row in narrow)
    return np.stack([first, np.where(x > y, wide, -wide), last])


def by_position(x: NDArray[Any], out: NDArray[Any], block: int) -> NDArray[Any]:
    before, after = out[0], out.copy()
    thread = np.arange(len(x)) % block
    v = np.where((thread >= 64) & (thread < 128), x * x + before, x)
    v = np.where(thread % 64 < 32, v ^ (np.roll(before, -1) & 0xFF00), v)
    v = np.where(thread == 77, v + before[0], v)
    after[1] = np.where(np.arange(len(x)) // block == 1, v - 11, v)
    return after


def two_axes(x: NDArray[Any]) -> NDArray[Any]:
    layer, row, column = np.indices(x.shape).astype(x.dtype)  # unsigned, as what they are added to
    moved = x + 7 * column
    even = np.where(column > row, -moved, moved)
    return np.where(row % 2 == 0, even, np.where(column + layer < row, x * 5, x))
