"""What the kernels of barrier.hip compute: one function per kernel, from inputs to outputs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

U32 = np.uint32


def barrier_phases(x: NDArray[Any], phases: int) -> NDArray[Any]:
    """x: (blocks, threads)."""
    t, x = np.arange(x.shape[1]), x.copy()
    for k in range(phases):
        rounds = (t // 64 * 5 + k) % 7
        for r in range(7):
            x = np.where(r < rounds, x * U32(5) + U32(3), x)
        x = x ^ x[:, (t + 77) % t.size]
    return x


def barrier_after_exit(x: NDArray[Any], stay: int) -> NDArray[Any]:
    t = np.arange(x.shape[1])
    total = x[:, :stay].sum(1, dtype=U32)[:, None]
    return np.where(t < stay, total, x[:, stay + 7 * t % (t.size - stay)])


def wave_handshake(x: NDArray[Any], rounds: int) -> NDArray[Any]:
    t, x = np.arange(64), x.copy()
    for _ in range(rounds):
        left = x[:, :64].copy()
        x[:, 64:] ^= left[:, 5 * (t + 64) & 63]
        x[:, :64] = left * U32(3) + x[:, 127 - t]
    return x


def last_workgroup(x: NDArray[Any], done: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    partial = x.sum(1, dtype=U32)
    return partial, done + U32(len(x)), np.array([partial.sum(dtype=U32) * U32(3)])


def chained_scan(x: NDArray[Any], state: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    sums = x.reshape(-1, 128).sum(1, dtype=U32).cumsum(dtype=U32)
    state = state.copy()
    state[0], state[1::2], state[2::2] = sums.size, 1, sums
    return x.cumsum(dtype=U32), state
