"""Memory of the inner loops: arrays aligned to cache lines, and buffers that their owners use again."""

from __future__ import annotations

import math
import threading
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T", bound=np.generic)

_SMALL = 1 << 14
"""Below this many elements, memory is cheap to get."""
_LARGEST = 1 << 22
"""Bytes; what is larger is freed after use."""


def empty(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """As `numpy.empty`, with large arrays aligned to cache lines, so that vector accesses never straddle two."""
    elements = math.prod(shape)
    if elements < _SMALL:
        return np.empty(shape, dtype)
    array: NDArray[Any] = _aligned(elements * np.dtype(dtype).itemsize).view(dtype).reshape(shape)
    return array


def _aligned(size: int) -> NDArray[np.uint8]:
    raw = np.empty(size + 64, np.uint8)
    start = -raw.__array_interface__["data"][0] % 64
    return raw[start : start + size]


class _Buffer(threading.local):
    """Bytes of one thread."""

    bytes = np.empty(0, np.uint8)


class Scratch(Generic[T]):
    """Memory of one variable of a function, in each thread: uninitialised, and valid until it is asked for again.

    Fresh memory costs a page fault for every 4 KiB, which is more than the arithmetic on it. Nothing that leaves this
    package may be scratch. An owner is a variable of a module, so that no two functions share memory unawares.
    """

    def __init__(self, dtype: type[T]) -> None:
        self.dtype, self.buffer = np.dtype(dtype), _Buffer()

    def __call__(self, shape: tuple[int, ...]) -> NDArray[T]:
        """An array of the owner's type."""
        return np.empty(shape, self.dtype) if math.prod(shape) < _SMALL else self.like(shape, self.dtype)

    def like(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        """An array of another type."""
        elements = math.prod(shape)
        if elements < _SMALL:
            return np.empty(shape, dtype)
        size = elements * dtype.itemsize
        if size > _LARGEST:
            return empty(shape, dtype)
        if self.buffer.bytes.size < size:
            self.buffer.bytes = _aligned(size)
        array: NDArray[Any] = self.buffer.bytes[:size].view(dtype).reshape(shape)
        return array
