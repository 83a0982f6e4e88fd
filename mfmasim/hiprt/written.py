"""Which bytes of device memory somebody has written: what hipMalloc gives holds nothing, for the check `uninitialised`.

Copies and fills write, so do kernels; a copy from device memory carries over what was never written. What a program
writes through a pointer to device memory by itself is not seen. Pinned and managed memory, which programs write without
a call, counts as written.
"""

from __future__ import annotations

import mmap
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.machine.events import Observer
from mfmasim.machine.memory import Region

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from mfmasim.machine.events import AccessEvent

__all__ = ["Written"]

NO_RESERVE = 0x4000  # MAP_NORESERVE of Linux, which the mmap module does not name


class Written(Observer):
    """A mark for every byte of a range of addresses; an observer of launches, too."""

    name = "written"

    def __init__(self, base: int, size: int) -> None:
        """Begin with nothing written; marks take memory once they are set."""
        self._base = base
        self._map = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE)
        self._marks: NDArray[np.uint8] = np.frombuffer(self._map, np.uint8)

    def _span(self, address: int, size: int) -> slice:
        start = address - self._base
        return slice(start, start + size) if 0 <= start < len(self._marks) else slice(0, 0)

    def forget(self, address: int, size: int) -> None:
        """New memory: nothing is written there."""
        self._marks[self._span(address, size)] = 0

    def mark(self, address: int, size: int) -> None:
        """Somebody wrote there."""
        self._marks[self._span(address, size)] = 1

    def carry(self, to: int, source: int, size: int) -> None:
        """A copy: what was written at its source, or lies outside, is written where it goes."""
        given, taken = self._span(source, size), self._span(to, size)
        if taken.stop:
            self._marks[taken] = self._marks[given].copy() if given.stop else 1

    def on_access(self, event: AccessEvent) -> None:
        """A kernel stores."""
        if event.space != "global" or event.kind == "read":
            return
        shape = event.addresses.shape if event.active is None else np.broadcast_shapes(
            event.addresses.shape, event.active.shape
        )  # fmt: skip
        addresses = np.broadcast_to(event.addresses, shape)
        taken = addresses if event.active is None else addresses[np.broadcast_to(event.active, shape)]
        places = taken.reshape(-1).astype(np.int64)[:, None] - self._base + np.arange(event.size)
        self._marks[places[(places >= 0) & (places < len(self._marks))]] = 1

    def missing(self, region: Region) -> Iterator[Region]:
        """Parts of a region that nobody has written."""
        bare = self._marks[self._span(region.address, region.size)] == 0
        edges = np.flatnonzero(np.diff(np.concatenate([[False], bare, [False]]).astype(np.int8)))
        for start, end in edges.reshape(-1, 2):
            yield Region(region.name, region.address + int(start), int(end - start))
