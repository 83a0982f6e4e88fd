"""The memory before a launch, for a second run.

A page is kept when it is first written, and copied when the second run first accesses it: the cost is that of the pages
in use, independent of the size of memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfmasim.machine.state.memory import PAGE, Memory, Region

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.machine.state.touched_bytes import Outside


class Before:
    """Contents of pages before their first write; `Memory.before` refers to this object during a launch."""

    def __init__(self, memory: Memory) -> None:
        """Begin with nothing written."""
        self.memory = memory
        self._pages = memory.arena.reshape(-1, PAGE)
        self._kept: dict[int, NDArray[np.uint8]] = {}
        """Pages by number; memory may span all addresses of a process."""

    def keep(self, offsets: NDArray[np.int64], size: int) -> None:
        """Save the pages of bytes before a write.

        Args:
            offsets: of the first byte of each lane.
            size: bytes per lane.
        """
        for page in pages_of(offsets, size).tolist():
            if page not in self._kept:
                self._kept[page] = self._pages[page].copy()

    def copy(self, pages: NDArray[np.int64], target: NDArray[np.uint8]) -> None:
        """Copy the saved contents of pages.

        Args:
            pages: their numbers, each once.
            target: all pages of another arena, uint8 (pages, PAGE).
        """
        target[pages] = self._pages[pages]
        for page in self._kept.keys() & pages.tolist():
            target[page] = self._kept[page]


class Earlier(Memory):
    """The same buffers in a separate arena, with the bytes before the launch."""

    def __init__(self, before: Before) -> None:
        """Copy nothing yet."""
        super().__init__()
        memory = before.memory
        self.regions, self._base, self._end = memory.regions, memory.base, memory.size
        self._arrange(np.zeros(memory.size, np.uint8))
        self._before = before
        self._missing = np.ones(memory.size // PAGE, np.bool_)

    def locate(
        self,
        addresses: NDArray[np.uint64],
        size: int,
        mask: NDArray[np.bool_] | None,
        *,
        write: bool,
        atomic: bool = False,
    ) -> tuple[NDArray[np.int64], Outside | None]:
        """As in `Memory`; afterwards the pages are copied.

        Args:
            addresses: address of each lane, uint64.
            size: bytes per lane.
            mask: lanes that take part; None is all.
            write: whether the access writes.
            atomic: whether it is an atomic operation.
        """
        offsets, outside = super().locate(addresses, size, mask, write=write, atomic=atomic)
        pages = pages_of(offsets, size)
        self._fetch(pages[self._missing[pages]])
        return offsets, outside

    def view(self, region: Region) -> NDArray[np.uint8]:
        """The bytes of a buffer, as a view."""
        start = region.address - self._base
        pages = np.arange(start // PAGE, -(-(start + region.size) // PAGE))
        self._fetch(pages[self._missing[pages]])
        return super().view(region)

    def put(self, page: int, content: NDArray[np.uint8]) -> None:
        """Overwrite a page."""
        self._missing[page] = False
        self._bytes[page * PAGE : (page + 1) * PAGE] = content

    def _fetch(self, pages: NDArray[np.int64]) -> None:
        if len(pages):
            self._missing[pages] = False
            self._before.copy(pages, self._bytes.reshape(-1, PAGE))


def pages_of(offsets: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Pages that lanes access, each once.

    Args:
        offsets: of the first byte of each lane.
        size: bytes per lane, at most a page.
    """
    return np.unique(np.concatenate([offsets.ravel() // PAGE, (offsets.ravel() + (size - 1)) // PAGE]))
