"""Tensors as bytes: the storage that holds a pointer's target, as an array of this process's memory."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

POINTER, DWORD = 8, 4
"""Bytes of a pointer and of a dword."""
HIGHEST = 1 << 47


def _program_break() -> int:
    """Where the heap ends, on Linux."""
    if sys.platform != "linux":
        return HIGHEST
    libc = ctypes.CDLL(None)
    libc.sbrk.restype, libc.sbrk.argtypes = ctypes.c_void_p, [ctypes.c_ssize_t]
    return int(libc.sbrk(0) or 0)


LOWEST = 1 << 40 if _program_break() >= 1 << 40 else 1 << 22
"""Addresses of memory that Linux gives to programs: a 64-bit integer outside is not looked up.

The heap of a Python that is linked at a fixed address, as Debian's is, follows on it, from 4 MiB up.
"""
UNKNOWN = "memory of a pointer"
"""Name of a storage that no argument names."""


@dataclass(frozen=True)
class Storage:
    """The memory of one or several tensors."""

    address: int
    size: int
    name: str
    words: bool = False
    """Whether it holds 64-bit integers, which may be addresses."""

    @property
    def end(self) -> int:
        """The address after its last byte."""
        return self.address + self.size

    @property
    def room(self) -> int:
        """Bytes up to the end of its last dword.

        Memory comes in whole dwords, and Triton's atomic operations on 16 bits access the dword around them.
        """
        return -(-self.end // DWORD) * DWORD - self.address

    def __contains__(self, address: int) -> bool:
        """Whether an address is one of its bytes."""
        return self.address <= address < self.end

    @property
    def bytes(self) -> NDArray[np.uint8]:
        """The bytes themselves, not a copy."""
        if not self.size:
            return np.empty(0, np.uint8)
        memory: Any = (ctypes.c_uint8 * self.size).from_address(self.address)
        return np.asarray(memory).view(np.uint8)


def looks_like_address(values: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Which 64-bit integers may be addresses of memory of this process."""
    return (values >= LOWEST) & (values < HIGHEST)


def joined(storages: Iterable[Storage]) -> list[Storage]:
    """Storages in the order of addresses; those that overlap, as views of foreign memory do, become one."""
    out: list[Storage] = []
    for storage in sorted(storages, key=lambda s: s.address):
        if out and storage.address < out[-1].end:
            last = out.pop()
            size = max(last.end, storage.end) - last.address
            out.append(Storage(last.address, size, last.name, last.words or storage.words))
        else:
            out.append(storage)
    return out


def storage_of(value: object, name: str) -> Storage | None:
    """The storage of an argument that is a tensor, or wraps one."""
    import torch

    tensor = value
    while not isinstance(tensor, torch.Tensor):
        tensor = getattr(tensor, "base", None)  # triton.reinterpret, tensor descriptors
        if tensor is None:
            return None
    storage = tensor.untyped_storage()
    words = tensor.dtype in (torch.int64, torch.uint64)
    return Storage(storage.data_ptr(), storage.nbytes(), name, words)


def live() -> Iterator[Storage]:
    """The storages of all tensors of the program."""
    import torch

    for found in gc.get_objects():
        if issubclass(type(found), torch.Tensor) and found.layout == torch.strided:
            storage = storage_of(found, UNKNOWN)
            if storage is not None and storage.size:
                yield storage


def holder(addresses: Iterable[int], known: Iterable[Storage]) -> dict[int, Storage]:
    """The storages that hold addresses; other addresses are left out.

    Args:
        addresses: where to look.
        known: storages to look in first; if they do not hold all, those of all tensors.
    """
    wanted = set(addresses)
    out: dict[int, Storage] = {}
    for source in (known, live()):
        for storage in source:
            held = {address for address in wanted if address in storage}
            out |= dict.fromkeys(held, storage)
            wanted -= held
        if not wanted:
            break
    return out
