"""Which bytes of device memory are initialised, for the check `uninitialised`: memory from hipMalloc is not.

Copies, fills and kernels initialise memory; a copy also copies uninitialised bytes. Host writes through a pointer to
device memory are not tracked. Pinned, managed and registered memory, which programs write without a call, counts as
initialised; bytes that a copy left uninitialised there are so until they hold something else than poison.
"""

from __future__ import annotations

import mmap
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.machine.events import Observer
from mfmasim.machine.memory import POISON_BYTE, Region

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from mfmasim.machine.events import AccessEvent

__all__ = ["Written"]

DWORD = 4
NO_RESERVE = 0x4000  # MAP_NORESERVE of Linux, which the mmap module does not name


class Written(Observer):
    """A mark for every byte of a range of addresses; also an observer of launches."""

    name = "written"

    def __init__(self, base: int, size: int) -> None:
        """Begin with no bytes initialised; marks consume memory once they are set."""
        self._base = base
        self._map = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE)
        self._marks: NDArray[np.uint8] = np.frombuffer(self._map, np.uint8)

    def _span(self, address: int, size: int) -> slice:
        start = address - self._base
        return slice(start, start + size) if 0 <= start < len(self._marks) else slice(0, 0)

    def forget(self, address: int, size: int) -> None:
        """New memory: it is not initialised."""
        self._marks[self._span(address, size)] = 0

    def mark(self, address: int, size: int) -> None:
        """The bytes were written."""
        self._marks[self._span(address, size)] = 1

    def carry(self, to: int, source: int, size: int, content: NDArray[np.uint8] | None = None) -> None:
        """Copy the marks of memory that was copied; a source outside the range counts as initialised.

        Args:
            to: destination address.
            source: source address.
            size: bytes.
            content: the bytes, if the program may have written the source without a call; else None.
        """
        given, taken = self._span(source, size), self._span(to, size)
        if not taken.stop:
            return
        marks = self._marks[given].copy() if given.stop else np.ones(size, np.uint8)
        if content is not None:
            marks |= _rewritten(marks, content, source % DWORD)
        self._marks[taken] = marks

    def on_access(self, event: AccessEvent) -> None:
        """Mark the bytes that a kernel stores."""
        if event.space != "global" or event.kind == "read":
            return
        shape = event.addresses.shape if event.active is None else np.broadcast_shapes(
            event.addresses.shape, event.active.shape
        )  # fmt: skip
        addresses = np.broadcast_to(event.addresses, shape)
        taken = addresses if event.active is None else addresses[np.broadcast_to(event.active, shape)]
        places = taken.reshape(-1).astype(np.int64)[:, None] - self._base + np.arange(event.size)
        self._marks[places[(places >= 0) & (places < len(self._marks))]] = 1

    on_scalar = on_access

    def missing(self, region: Region) -> Iterator[Region]:
        """Parts of a region that are not initialised."""
        bare = self._marks[self._span(region.address, region.size)] == 0
        edges = np.flatnonzero(np.diff(np.concatenate([[False], bare, [False]]).astype(np.int8)))
        for start, end in edges.reshape(-1, 2):
            yield Region(region.name, region.address + int(start), int(end - start))


def _rewritten(marks: NDArray[np.uint8], content: NDArray[np.uint8], lead: int) -> NDArray[np.bool_]:
    """Bytes of aligned dwords with an uninitialised byte that no longer holds poison: a dword is written as a whole.

    Args:
        marks: of the bytes.
        content: the bytes.
        lead: bytes between an aligned address and the first one.
    """
    other = np.pad((marks == 0) & (content != POISON_BYTE), (lead, -(lead + len(marks)) % DWORD))
    return np.repeat(other.reshape(-1, DWORD).any(axis=1), DWORD)[lead : lead + len(marks)]
