"""What the kernels of this folder compute: one function per kernel, from inputs to outputs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

U32 = np.uint32


def exchange_twice(x: NDArray[Any], wave: int) -> NDArray[Any]:
    return np.roll(x, -wave) ^ np.roll(x * U32(5) + U32(1), -wave) << U32(7)


def turns(x: NDArray[Any], wave: int) -> NDArray[Any]:
    return np.tile(x[-wave:], x.size // wave)


def broadcast(x: NDArray[Any], wave: int) -> NDArray[Any]:
    return np.tile(x[:wave], x.size // wave) + np.arange(x.size, dtype=U32)


def interleaved_bytes(x: NDArray[Any], wave: int) -> NDArray[Any]:
    return np.ascontiguousarray(x.reshape(-1, wave).T).ravel()


def stencil(x: NDArray[Any]) -> NDArray[Any]:
    return np.roll(x, 1) * U32(3) + np.roll(x, -1)


def two_halves(x: NDArray[Any], rounds: int) -> NDArray[Any]:
    half = x.size // 2
    sums = np.zeros(x.size, U32)
    for r in range(rounds):
        sums[:half] += U32(r)
        sums[half:] = sums[half:] * U32(3) + (x[:half] * U32(r + 1))[::-1]
    return sums


def histogram(x: NDArray[Any]) -> NDArray[Any]:
    return np.bincount(x % 32, minlength=32).astype(U32)


def folded(tiles: NDArray[Any], factor: int) -> NDArray[Any]:
    """Tiles one after the other: the sum so far times a factor, plus the tile. tiles: (steps, threads)."""
    out = np.zeros(tiles.shape[1], U32)
    for tile in tiles:
        out = out * U32(factor) + tile
    return out


def direct_alone(x: NDArray[Any], n: int) -> NDArray[Any]:
    t = np.arange(n)
    return x[t ^ 63] * U32(3) + x[512 + (t ^ 31)]


def direct_exchange(x: NDArray[Any], n: int) -> NDArray[Any]:
    return x[n - 1 :: -1][:n] * U32(3) + x[512 : 512 + n][::-1]


def split_rotation(x: NDArray[Any], rounds: int) -> NDArray[Any]:
    for r in range(rounds):
        x = np.roll(x, -33) * U32(5) + U32(r)
    return x


def memory_bytes(x: NDArray[Any], wave: int) -> NDArray[Any]:
    """Each byte goes to the place of its lane, waves side by side."""
    return x.reshape(-1, wave).T.ravel() + np.uint8(1)


def hand_over(x: NDArray[Any], flags: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Values of every workgroup, its row of the buffer, and all flags set."""
    rows = x.copy()
    for g in range(1, len(rows)):
        rows[g] += rows[g - 1][::-1] * U32(3)
    return rows, np.ones_like(flags), rows


def chained_scan(
    x: NDArray[Any], tickets: NDArray[Any], flags: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The next ticket, sums up to each part, flags, and the sums before each part plus its own elements."""
    sums = x.sum(axis=1, dtype=U32).cumsum(dtype=U32)
    before = np.concatenate([[U32(0)], sums[:-1]]).astype(U32)
    return tickets + U32(len(x)), sums, np.ones_like(flags), before[:, None] + x
