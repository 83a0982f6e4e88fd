"""What the switches select, one work-item after the other."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

U32 = np.uint32
MASK = 0xFFFFFFFF


def dense(x: NDArray[Any], table: NDArray[Any]) -> NDArray[Any]:
    t = [int(v) for v in table]
    ways = {
        0: lambda v: v + t[0],
        1: lambda v: v * t[1],
        2: lambda v: v ^ t[2],
        3: lambda v: t[3] - v,
        4: lambda v: v >> (t[4] & 31),
        5: lambda v: v // (t[5] | 1),
        6: lambda v: ~v & t[6],
        7: lambda v: v.bit_count() + t[7],
    }
    return np.array([ways.get(v % 11, lambda v: t[v % 8])(v) & MASK for v in map(int, x)], U32)


def uniform(x: NDArray[Any], operation: int) -> NDArray[Any]:
    wide = x.astype(np.int64)
    length = np.array([32 - (int(v) & MASK).bit_length() for v in x])
    ways = [x + 1, x * x[::-1], np.sign(wide) * (np.abs(wide) // 3), length, np.where(x < 0, -1, 1)]
    return (ways[operation] if operation < len(ways) else np.full_like(x, operation)).astype(np.int32)


def fall_through(x: NDArray[Any], out: NDArray[Any]) -> NDArray[Any]:
    out = out.copy()
    for i, v in enumerate(map(int, x)):
        total, entry = 0, v & 7
        if 1 <= entry <= 5:
            steps: list[Any] = [
                lambda s, v: s + (v >> 3),
                lambda s, _: s ^ 0x1111,
                lambda s, _: s * 7,
                lambda s, v: s - v,
                lambda s, _: s << 3 | 1,
            ]
            for step in steps[5 - entry :]:
                total = step(total, v)
        else:
            total = -1 if entry == 7 else 0
            out[1, i] = total + 1
        out[0, i] = (total + (1 << 31)) % (1 << 32) - (1 << 31)
    return out


LABELS = {0: 10, -1: 20, (1 << 63) - 1: 30, -(1 << 63): 40, 1 << 32: 50, 0xFFFFFFFF: 60, 65536: 70}


def sparse(x: NDArray[Any]) -> NDArray[Any]:
    return np.array([LABELS.get(v, v >> 40) for v in map(int, x)], np.int32)


def interpreter(programs: NDArray[Any]) -> NDArray[Any]:
    out = np.zeros((3, len(programs)), U32)
    for i, code in enumerate(programs.tolist()):
        a, b, steps, pc = i, 1, 0, 0
        while pc < len(code) and steps < 40:
            op = code[pc]
            pc, steps = pc + 1, steps + 1
            way = op & 7
            if way == 0:
                a += b
            elif way == 1:
                b = a * 5 + 1
            elif way == 2:
                a ^= b << (op >> 5)
            elif way == 3:
                pc += 2 * (a & 1)
            elif way == 4:
                b -= a
            elif way == 5:
                pc = pc if a & 8 else (op >> 3) % len(code)
            elif way == 6:
                a, b = b, a
            else:
                pc = len(code)
            a, b = a & MASK, b & MASK
        out[:, i] = a, b, steps
    return out
