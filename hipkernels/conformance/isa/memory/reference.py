"""Values of the loads and stores."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

U32, I32 = np.uint32, np.int32
WEIGHTS = np.array([3, -1, 4, 1, -5, 9, -2, 6], I32)
RECORD = np.dtype([("wide", "f8"), ("half", "i2"), ("byte", "u1"), ("small", "i1"), ("gap", "u4")])


def widths(
    one: NDArray[Any], two: NDArray[Any], three: NDArray[Any], four: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    a = one ^ four[:, 0]
    b = np.stack([two[:, 1], two[:, 0] ^ four[:, 1]], axis=1)
    c = np.stack([three[:, 2], three[:, 1] ^ four[:, 2], three[:, 0]], axis=1)
    d = np.stack([four[:, 3], three[:, 0], four[:, 0], three[:, 1]], axis=1)
    return a[::-1], b[::-1], c[::-1], d[::-1]


def members(records: NDArray[Any], back: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    r, back = records.view(RECORD)[:, 0], back.copy()
    rest = r["half"].astype(I32) * 1000 + r["byte"].astype(I32) * 10 + r["small"]
    after = back.view(RECORD)[:, 0]
    after["wide"] = r["wide"]
    after["half"] = r["half"] ^ r["byte"]
    after["small"] = r["small"] + np.int8(1)
    return -r["wide"], rest, back


def uniform_loads(table: NDArray[Any], x: NDArray[Any], block: int) -> NDArray[Any]:
    total = x.view(U32)
    group = np.arange(len(x)) // block
    for k in range(8):
        total = total * U32(31) + table.view(U32)[group * 8 + k]
    return total.view(I32)


def variables(x: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    return WEIGHTS[x & U32(7)] * (x >> U32(28)).astype(I32), x[:64] + U32(1)


def gather_scatter(x: NDArray[Any], where: NDArray[Any]) -> NDArray[Any]:
    """`where` is a permutation, so every place is written once."""
    n = len(where)
    first = np.empty_like(x)
    first[where] = x[where] - x[::-1]
    return np.stack([first, x[np.arange(n) * 3 % n]])


def streaming(x: NDArray[Any]) -> NDArray[Any]:
    return np.stack([x * np.float32(0.5), x + np.float32(1)])
