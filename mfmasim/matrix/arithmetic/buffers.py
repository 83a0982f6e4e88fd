"""Memory for the inner loops: arrays aligned to cache lines, and reusable scratch buffers."""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Below this many elements, memory is cheap to get.
_SMALL = 1 << 14
# Scratch beyond this many bytes is freed after use.
_KEPT = 1 << 22


def empty(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """As `numpy.empty`, with large arrays aligned to cache lines, so that vector accesses never straddle two."""
    elements = math.prod(shape)
    if elements < _SMALL:
        return np.empty(shape, dtype)
    size = elements * np.dtype(dtype).itemsize
    array: NDArray[Any] = _aligned(size).view(dtype).reshape(shape)
    return array


def _aligned(size: int) -> NDArray[np.uint8]:
    raw = np.empty(size + 64, np.uint8)
    start = -raw.__array_interface__["data"][0] % 64
    return raw[start : start + size]


class _Kept(threading.local):
    """Buffers of one thread by name."""

    def __init__(self) -> None:
        self.buffers: dict[str, NDArray[np.uint8]] = {}


_KEPT_BUFFERS = _Kept()


def scratch(name: str, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Uninitialised array that is valid until the next request of the same thread for the same name.

    Fresh memory costs a page fault for every 4 KiB, which is more than the arithmetic on it. Nothing that leaves this
    package may be scratch.

    Args:
        name: name of the memory.
        shape: shape of the array.
        dtype: type of the elements.
    """
    elements = math.prod(shape)
    if elements < _SMALL:
        return np.empty(shape, dtype)
    size = elements * np.dtype(dtype).itemsize
    if size > _KEPT:
        return empty(shape, dtype)
    buffer = _KEPT_BUFFERS.buffers.get(name)
    if buffer is None or buffer.size < size:
        buffer = _aligned(size)
        _KEPT_BUFFERS.buffers[name] = buffer
    array: NDArray[Any] = buffer[:size].view(dtype).reshape(shape)
    return array
