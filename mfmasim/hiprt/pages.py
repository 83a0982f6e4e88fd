"""Accesses of the program itself to pinned and managed memory: pages of work in flight are protected.

A page is protected only if all bytes of the allocation in it are in flight: other bytes of the page stay accessible.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

from mfmasim.hiprt.heap import HOST, MANAGED, PAGE
from mfmasim.hiprt.work import ATOMIC, READ, STORED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mfmasim.hiprt.heap import Allocation
    from mfmasim.hiprt.work import Work

MOST = 512
"""Ranges that the library keeps (native/guard.h), and accesses."""


class Pages:
    """The protected pages between two calls."""

    def __init__(self, library: str) -> None:
        """Pages of the process that has loaded `library`, a path; without it no page is protected."""
        self._library = ctypes.CDLL(library) if library else None
        self._any = False

    def visited(self) -> list[tuple[int, int, int]]:
        """Open all pages; address, instruction and kind (0 a read, 1 a write, 2 either) of accesses to them."""
        if self._library is None or not self._any:
            return []
        self._library.mfmasim_hiprt_protect(None, 0)
        self._any = False
        words = (ctypes.c_uint64 * (3 * MOST))()
        count = self._library.mfmasim_hiprt_hits(words)
        return [(words[3 * k], words[3 * k + 1], words[3 * k + 2]) for k in range(count)]

    def protect(self, flying: Sequence[Work], allocations: Iterable[Allocation], twins: set[int]) -> None:
        """Protect the pages of work in flight.

        Args:
            flying: the work.
            allocations: all allocations of the program.
            twins: addresses of those whose bytes are the program's own memory, which lies elsewhere.
        """
        if self._library is None or not flying:
            return
        ranges: list[int] = []
        shared = [one for one in allocations if one.kind in (HOST, MANAGED)]
        for allocation in shared:
            if allocation.address in twins:
                continue
            for work in flying:
                if not work.by_host:
                    for kind in (READ, STORED, ATOMIC):
                        for first, end in _pages(work, kind, allocation):
                            ranges += [first, end, int(kind != READ)]
        if ranges:
            # Written pages come last: a page that is also read must not be readable.
            order = sorted(range(0, len(ranges), 3), key=lambda at: ranges[at + 2])[:MOST]
            words = [word for at in order for word in ranges[at : at + 3]]
            self._library.mfmasim_hiprt_protect((ctypes.c_uint64 * len(words))(*words), len(words) // 3)
            self._any = True


def _pages(work: Work, kind: str, allocation: Allocation) -> list[tuple[int, int]]:
    """Whole pages of an allocation that work accesses in one way."""
    runs = work.merged.get(kind)
    if runs is None:
        return []
    found = []
    for start, end in zip(runs.starts.tolist(), runs.ends.tolist(), strict=True):
        if start < allocation.end and end > allocation.address:
            first = -(-max(start, allocation.address) // PAGE) * PAGE
            last = -(-end // PAGE) * PAGE if end >= allocation.end else end // PAGE * PAGE
            if first < last:
                found.append((first, min(last, -(-allocation.end // PAGE) * PAGE)))
    return found
