"""Names of the array types: what a signature says of an array is its dtype; its shape is in the docstring."""

from __future__ import annotations

import mmap
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
"""Of any dtype."""
U = NDArray[Any]
"""Operand or result of an operation, of the dtype that its signature names: (waves,) or (waves, lanes)."""
Flags = NDArray[np.bool_]
U8 = NDArray[np.uint8]
U32 = NDArray[np.uint32]
U64 = NDArray[np.uint64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
NO_RESERVE = 0x4000  # MAP_NORESERVE of Linux, which the mmap module does not name
MANY = 1 << 30
"""Bytes of zeros from which on the system is not asked to keep memory for all of them."""


def addresses(size: int) -> mmap.mmap:
    """Addresses for `size` bytes, zeros whose pages take memory when they are first changed.

    Raises:
        OSError: the system does not give them, as under ``ulimit -v``.
    """
    return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE)


def zeros(size: int) -> U8:
    """Zeros, of which most are never changed; there may be more of them than the system has memory."""
    if size < MANY or sys.platform != "linux":
        return np.zeros(size, np.uint8)
    return np.frombuffer(addresses(size), np.uint8)
