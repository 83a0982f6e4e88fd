"""Lane masks, as words of scalar registers and as booleans."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

U32 = np.dtype(np.uint32)


def every(mask: NDArray[np.bool_]) -> bool:
    """Whether all booleans of an array are true; quicker than ``mask.all()``."""
    return b"\0" not in mask.tobytes()


def some(mask: NDArray[np.bool_]) -> bool:
    """Whether any boolean of an array is true; quicker than ``mask.any()``.

    By the order of bytes, which does not matter here, a symbolic array tells this test from `every`.
    """
    return b"\1" in mask.tobytes("A")


def lanes_of(masks: NDArray[np.uint32 | np.uint64], lanes: int) -> NDArray[np.bool_]:
    """Expand lane masks, uint32 or uint64 (waves,), to booleans (waves, lanes); lane 0 is bit 0."""
    octets = np.ascontiguousarray(masks).view(np.uint8)
    return np.unpackbits(octets, bitorder="little").view(np.bool_).reshape(len(masks), -1)[:, :lanes]


def registers_of(mask: NDArray[np.bool_]) -> list[NDArray[np.uint32]]:
    """The mask words, (waves,) each, of lane booleans (waves, 32 or 64): of 64 the low and the high one."""
    words = np.packbits(mask, bitorder="little").view(U32)
    return [words] if mask.shape[-1] == 32 else [words[::2], words[1::2]]


def words_of(mask: NDArray[np.bool_]) -> NDArray[np.uint32]:
    """Pack lane booleans (..., 32 or 64) into mask words, uint32 (..., 2)."""
    # All rows in one go: each is a whole number of bytes.
    octets = np.packbits(mask, bitorder="little").reshape(*mask.shape[:-1], mask.shape[-1] // 8)
    if octets.shape[-1] == 4:
        octets = np.concatenate([octets, np.zeros_like(octets)], axis=-1)
    return np.ascontiguousarray(octets).view(np.uint32)
