"""What the kernels of transfer.hip compute: one function per kernel, from inputs to outputs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

U32 = np.uint32


def _by_block(values: NDArray[Any], order: NDArray[Any], block: int) -> NDArray[Any]:
    return values.reshape(-1, block)[:, order].reshape(-1)


def load_to_lds(x: NDArray[Any], where: NDArray[Any]) -> NDArray[Any]:
    t = np.arange(128)
    return np.stack([_by_block(x[where], 127 - t, 128), _by_block(x[where + 128], t ^ 5, 128)])


def buffer_to_lds(memory: NDArray[Any], where: NDArray[Any]) -> NDArray[Any]:
    """memory: bytes."""
    t = np.arange(128)
    loaded = [memory[where], memory.view(np.uint16)[where + 8], memory.view(U32)[where]]
    return np.stack([_by_block(values.astype(U32), 127 - t, 128) for values in loaded])


def load_wide_to_lds(x: NDArray[Any], where: NDArray[Any]) -> NDArray[Any]:
    """x: (rows, 4)."""
    t = np.arange(64)
    four = x[where].reshape(-1, 64, 4)
    three = four.copy()
    three[:, :, 3] = t  # previous contents
    return np.stack([four[:, 63 - t], three[:, t ^ 3]])


def _columns(raw: NDArray[Any], bits: int) -> NDArray[Any]:
    """Sixteen lanes hold a tile of rows of 16 elements, one after the other: lane t receives column t."""
    ones = np.unpackbits(raw, axis=1, bitorder="little").reshape(4, -1, 16, bits)
    return np.packbits(ones.swapaxes(1, 2).reshape(64, -1), axis=1, bitorder="little").view(U32)


def transposed_reads(x: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """x: (64, 4) of u32."""
    raw = x.view(np.uint8)
    first, second = raw.reshape(2, 64, 8)
    pairs = [_columns(np.ascontiguousarray(part), bits) for part, bits in ((first, 16), (second, 8), (first, 4))]
    return np.stack(pairs), _columns(np.ascontiguousarray(raw[:, :12]), 6)


def transposed_load(x: NDArray[Any]) -> NDArray[Any]:
    """x: (32, 8) of u16."""
    return np.ascontiguousarray(x.reshape(4, 8, 8).swapaxes(1, 2)).reshape(32, 8)
