"""Memory filled with one byte: pages of large ranges take memory only from their first change on."""

from __future__ import annotations

import ctypes
import mmap
import os
from typing import TYPE_CHECKING

from mfmasim.arrays import NO_RESERVE, addresses
from mfmasim.errors import MfmasimError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PAGE = mmap.PAGESIZE
FEW = 1 << 20
"""Smaller ranges are written, not mapped."""
FILE_BYTES = 16 << 20
FIXED = 0x10  # MAP_FIXED of Linux, which the mmap module does not name
REMOVE = 9  # MADV_REMOVE: the pages of a shared file are given back and read as zeros
FAILED = ctypes.c_void_p(-1).value


def reserved(size: int) -> mmap.mmap:
    """Addresses for `size` bytes, zeros whose pages take memory when they are first changed.

    Raises:
        MfmasimError: the system does not give them, as under ``ulimit -v``.
    """
    try:
        return addresses(size)
    except OSError as error:
        raise MfmasimError(
            f"no {size >> 20} MB of addresses for the memory of a device: {error.strerror} "
            "(ulimit -v limits them; --memory or MFMASIM_HIPRT_MEMORY sets a smaller memory)"
        ) from None


class Pattern:
    """A fill byte for ranges of an arena, whose pages are mapped from a file filled with this byte."""

    def __init__(self, byte: int) -> None:
        """Make no file yet."""
        self._byte, self._file = byte, -1
        self._identity: tuple[int, int] | None = (0, 0)
        self._mmap = ctypes.CDLL(None, use_errno=True).mmap
        self._mmap.restype = ctypes.c_void_p
        self._mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
        self._advise = ctypes.CDLL(None).madvise
        self._advise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]

    def fill(self, arena: NDArray[np.uint8], start: int, size: int) -> None:
        """Fill bytes of an arena of `reserved` with the pattern.

        Args:
            arena: the bytes; the first one begins a page.
            start: the first byte that is filled.
            size: bytes.
        """
        first, end = _edges(arena, start, size, self._byte)
        while first < end:
            part = min(FILE_BYTES, end - first)
            if not self._map(int(arena.ctypes.data) + first, part, 0, self._whole()):
                arena[first:end] = self._byte  # more ranges than the system keeps
                return
            first += part

    def clear(self, arena: NDArray[np.uint8], start: int, size: int) -> None:
        """Fill bytes with zeros; whole pages of a large range then take no memory.

        Args:
            arena: the bytes; the first one begins a page.
            start: the first byte.
            size: bytes.
        """
        first, end = _edges(arena, start, size, 0)
        if first < end and not self._map(int(arena.ctypes.data) + first, end - first, mmap.MAP_ANONYMOUS, -1):
            arena[first:end] = 0

    def back(self, arena: NDArray[np.uint8], start: int, size: int, file: int) -> bool:
        """Map a file, which other processes may map as well, in place of pages.

        Args:
            arena: the bytes; the first one begins a page.
            start: the first byte, which begins a page.
            size: bytes, whole pages.
            file: the file; -1 maps zeros of this process alone.

        Returns:
            Whether the system does so.
        """
        flags = mmap.MAP_SHARED if file >= 0 else mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        access = mmap.PROT_READ | mmap.PROT_WRITE
        found = self._mmap(int(arena.ctypes.data) + start, size, access, flags | NO_RESERVE | FIXED, file, 0)
        return bool(found != FAILED)

    def empty(self, arena: NDArray[np.uint8], start: int, size: int, *, shared: bool) -> None:
        """Let bytes hold zeros; whole pages of a large range take no memory then, also those that processes share.

        Args:
            arena: the bytes; the first one begins a page.
            start: the first byte.
            size: bytes.
            shared: whether `back` mapped a file there.
        """
        if not shared:
            self.clear(arena, start, size)
            return
        first, end = _edges(arena, start, size, 0)
        if first < end and self._advise(int(arena.ctypes.data) + first, end - first, REMOVE):
            arena[first:end] = 0

    def _map(self, address: int, size: int, flags: int, file: int) -> bool:
        flags |= mmap.MAP_PRIVATE | NO_RESERVE | FIXED
        found = self._mmap(address, size, mmap.PROT_READ | mmap.PROT_WRITE, flags, file, 0)
        return bool(found != FAILED)

    def _whole(self) -> int:
        """The file, made anew if the program has closed it; -1 if the system gives none."""
        try:
            if self._identity != _identity(self._file):
                self._file = os.memfd_create("mfmasim-pattern")
                if os.write(self._file, bytes([self._byte]) * FILE_BYTES) < FILE_BYTES:
                    return -1
                self._identity = _identity(self._file)
        except OSError:
            return -1
        return self._file


def _edges(arena: NDArray[np.uint8], start: int, size: int, byte: int) -> tuple[int, int]:
    """Write the bytes outside of whole pages; returns the first byte and the end of the whole pages."""
    first, end = -(-start // PAGE) * PAGE, (start + size) // PAGE * PAGE
    if size < FEW:
        first = end = start + size
    arena[start:first] = byte
    arena[end : start + size] = byte
    return first, end


def _identity(file: int) -> tuple[int, int] | None:
    """Device and inode of an open file; None if it is closed."""
    try:
        found = os.fstat(file)
    except OSError:
        return None
    return found.st_dev, found.st_ino
