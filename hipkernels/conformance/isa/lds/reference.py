"""What the kernels of lds.hip compute: one function per kernel, from inputs to outputs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

U32, U64 = np.uint32, np.uint64


def lds_pairs(x: NDArray[Any], d: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """x, d: (blocks, 4, 128)."""
    blocks = len(x)
    words, longs = np.empty((blocks, 512), U32), np.empty((blocks, 512))
    words[:, 0:256:2], words[:, 1:256:2], words[:, 256:] = x[:, 0], x[:, 1], x[:, 2:].reshape(blocks, 256)
    longs[:, :256] = d[:, :2].reshape(blocks, 256)
    longs[:, 256::2], longs[:, 257::2] = d[:, 2], d[:, 3]
    s = 127 - np.arange(128)
    out = [
        words[:, s] - U32(3) * words[:, s + 192],
        words[:, s + 5] ^ words[:, s + 77],
        words[:, 3 * s] - words[:, 3 * s + 1],
        words[:, s + 320] & words[:, s + 384],
    ]
    with np.errstate(all="ignore"):
        out64 = [
            longs[:, s] - longs[:, s + 384],
            longs[:, s + 9] - longs[:, s + 200],
            longs[:, 2 * s] - longs[:, 2 * s + 1],
            longs[:, s + 128],
        ]
    return np.stack(out, 1), np.stack(out64, 1)


def lds_bytes(x: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """x: (blocks, 64) of u32."""
    t = np.arange(64)
    memory, halves = np.empty((len(x), 256), np.uint8), np.empty((len(x), 128), np.uint16)
    part = x.view(np.uint8).reshape(len(x), 64, 4)
    memory[:, t], memory[:, t + 64], memory[:, t + 128] = part[..., 0], part[..., 1], part[..., 2]
    memory[:, 255 - t] = part[..., 3]
    both = x.view(np.uint16).reshape(len(x), 64, 2)
    halves[:, t], halves[:, t + 64] = both[..., 0], both[..., 1]
    s = t ^ 21
    out: list[NDArray[Any]] = [
        memory[:, s].view(np.int8),
        memory[:, s + 64],
        halves[:, s].view(np.int16),
        halves[:, s + 64],
    ]
    pairs = np.stack([halves[:, 2 * s], halves[:, 127 - s]], -1).view(U32)[..., 0]
    quads = np.stack([memory[:, s], memory[:, s + 128], memory[:, 255 - s], memory[:, 4 * t]], -1).view(U32)[..., 0]
    return np.stack([o.astype(np.int32) for o in out]), np.stack([pairs, quads])


def lds_wide(x: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """x: (blocks, 64, 4)."""
    s = 63 - np.arange(64)
    triple = x[..., [3, 2, 1]]
    packed = np.stack([x[..., 0] ^ x[..., 3], x[..., 1], x[..., 2]], -1)
    out3 = np.stack([triple[:, s], packed[:, s ^ 5]])
    return x[:, s ^ 1], out3, x[:, s ^ 7][..., [1, 3]]


def _counter(words: int, limit: int, start: int, down: bool) -> int:
    """Result of a number of calls of atomicInc or atomicDec."""
    value = start
    for _ in range(words):
        below = limit if value == 0 or value > limit else value - 1
        above = 0 if value >= limit else value + 1
        value = below if down else above
    return value


def lds_atomics(x: NDArray[Any]) -> NDArray[Any]:
    """x: (blocks, threads)."""
    count = x.shape[1]
    signed = x.view(np.int32)
    wide = x.astype(U64) << U64(32) | (~x).astype(U64)
    words = np.stack(
        [
            x.sum(1, dtype=U32),
            U32(0) - (x >> U32(3)).sum(1, dtype=U32),
            np.bitwise_and.reduce(x | U32(0xFFFF0FFF), 1),
            np.bitwise_or.reduce(x & U32(0x80808080), 1),
            np.bitwise_xor.reduce(x, 1),
            x.max(1),
            np.full(len(x), _counter(count, 40, 0, down=False), U32),
            np.full(len(x), _counter(count, 50, 0, down=True), U32),
            np.minimum(signed.min(1), 0).view(U32),
            np.maximum(signed.max(1), 0).view(U32),
        ],
        1,
    )
    longs = np.stack([wide.sum(1, dtype=U64), wide.max(1), wide.min(1), np.bitwise_xor.reduce(wide, 1)], 1)
    return np.concatenate([words, longs.view(U32)], 1)


def lds_atomics_returning(x: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    y = x.reshape(-1, 2)[:, ::-1].reshape(-1)
    t = np.arange(x.size) % 64
    out, word = [], x
    out.append(word)
    word = word + y
    out.append(word)
    word = np.where(word >= y, U32(0), word + U32(1))
    out.append(word)
    word = np.minimum(word.view(np.int32), y.view(np.int32)).view(U32)
    out.append(word)
    word = word ^ U32(0x12345678)
    out.append(word)
    word = np.where((t & 1 == 1) | (word == y), x, word)
    out.append(word)
    word = ~y
    out.append(word)
    word = np.where((word == 0) | (word > x), x, word - U32(1))
    out.append(word)
    wide = y.astype(U64) << U64(32) | x
    out64 = [wide]
    wide = wide + (x.astype(U64) << U64(20))
    out64 += [wide, (~x).astype(U64)]
    return np.stack(out), np.stack(out64)


def lds_atomics_float(x: NDArray[Any], small: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """x, small: (blocks, 64); the sums of small are exact in any order."""
    other = np.arange(64) ^ 3
    with np.errstate(all="ignore"):
        out = [x[:, other], x + small[:, other]]
    sums = small.sum(1, dtype=np.float64) * (1 + 2.0**30)
    return np.stack(out), np.broadcast_to(sums[:, None], x.shape).copy()


def _bf16_add(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Codes of bf16 in normal range: sums are exact in f64 and are rounded once."""
    wide = (a.astype(U32) << U32(16)).view(np.float32).astype(np.float64)
    exact = wide + (b.astype(U32) << U32(16)).view(np.float32)
    # To f32 toward zero with a sticky last bit, so that the second rounding is the only one.
    cut = exact.view(U64) & ~U64(0x1FFFFFFF)
    sticky = (exact.view(U64) != cut).astype(U32)
    bits = cut.view(np.float64).astype(np.float32).view(U32) | sticky
    return ((bits + U32(0x7FFF) + (bits >> U32(16) & U32(1))) >> U32(16)).astype(np.uint16)


def lds_atomics_packed(x: NDArray[Any], brain: NDArray[Any]) -> NDArray[Any]:
    """x: pairs of f16, brain: pairs of bf16, each (blocks, 64) of u32."""
    blocks = len(x)
    mirrored = x[:, ::-1]
    halves = x.view(np.float16).reshape(blocks, 64, 2)
    with np.errstate(all="ignore"):
        sums = halves + halves[:, ::-1]
    brains = brain.view(np.uint16).reshape(blocks, 64, 2)
    more = _bf16_add(brains, brains[:, ::-1])
    return np.stack([mirrored, sums.view(U32)[..., 0], np.ascontiguousarray(more).view(U32)[..., 0]])


def lds_transpose(x: NDArray[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(x.T)


def lds_dynamic(x: NDArray[Any], block: int) -> NDArray[Any]:
    i = np.arange(x.size, dtype=U32)
    first = i // block * block
    return (first + x % block).astype(U32) << U32(16) | x[first + block - 1 - i % block]


def lds_double_buffer(x: NDArray[Any]) -> NDArray[Any]:
    """x: (blocks, steps, 128)."""
    t, total = np.arange(128), np.zeros((len(x), 128), np.int32)
    for k in range(x.shape[1]):
        total = np.int32(3) * total + x[:, k, 127 - t] - x[:, k, (t + k) % 128]
    return total.reshape(-1)


def lds_scan(x: NDArray[Any], block: int) -> NDArray[Any]:
    out = np.empty_like(x)
    for first in range(0, x.size, block):
        part = x[first : first + block]
        out[first : first + block] = np.cumsum(part, dtype=U32) - part
    return out


def lds_histogram(x: NDArray[Any], out: NDArray[Any]) -> NDArray[Any]:
    return out + np.bincount(x, minlength=256).astype(U32)
