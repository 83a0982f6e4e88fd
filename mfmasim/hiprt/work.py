"""Pieces of work on streams: their accesses, and the work before them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from mfmasim.machine.state.touched_bytes import Runs

Key = tuple[str, int, int]
"""A line of work that is done in order: a stream, or one node of one launch of a graph."""
Clock = dict[Key, int]
"""Number of completed pieces of each line of work; a missing line means 0."""
READ, STORED, ATOMIC = "reads", "writes", "updates"
CLASHES = ((STORED, STORED), (STORED, READ), (READ, STORED), (ATOMIC, STORED), (STORED, ATOMIC), (ATOMIC, READ),
           (READ, ATOMIC))  # fmt: skip
"""Accesses of two pieces of work that need an order. Atomic operations on the same bytes do not."""


def joined(clocks: Iterable[Clock]) -> Clock:
    """The clock after all of the given clocks."""
    made: Clock = {}
    for clock in clocks:
        for key, done in clock.items():
            if done > made.get(key, 0):
                made[key] = done
    return made


@dataclass(eq=False)
class Work:
    """A copy, a fill, a kernel, an allocation or its end."""

    name: str
    site: str | int
    key: Key
    stream: str
    clock: Clock
    """Clock of the work before it."""
    number: int = 0
    """Its number in its line of work, from 1."""
    ranges: dict[str, list[Runs]] = field(default_factory=dict)
    """Accessed addresses, by the kind of access."""
    merged: dict[str, Runs] = field(default_factory=dict)
    """Accessed addresses after `close`."""
    pageable: bool = False
    """Whether it copies from or to memory of the program that is not pinned: such a copy ends before its call."""
    ends: bool = False
    """Whether it allocates or frees the accessed memory."""
    by_host: bool = False
    """Whether an access of the host to this memory was reported."""

    def touch(self, kind: str, start: int, size: int) -> None:
        """Record an access of consecutive bytes.

        Args:
            kind: ``reads``, ``writes`` or ``updates`` (atomic operations).
            start: address of the first byte.
            size: bytes.
        """
        self.add(kind, Runs(np.array([start], np.int64), np.array([start + size], np.int64)))

    def add(self, kind: str, runs: Runs) -> None:
        """Record accesses."""
        if len(runs.starts):
            self.ranges.setdefault(kind, []).append(runs)

    def close(self) -> None:
        """Merge the accesses; no access follows."""
        self.merged = {
            kind: several[0] if len(several) == 1 else Runs.together(several) for kind, several in self.ranges.items()
        }

    def after(self, other: Work) -> bool:
        """Whether other work is complete before this begins."""
        return self.clock.get(other.key, 0) >= other.number

    def clashes(self, other: Work) -> Iterator[tuple[str, str, int]]:
        """Kinds of access of this and of other work to a common byte that need an order, and the first such address."""
        for ours, theirs in CLASHES:
            if ours in self.merged and theirs in other.merged:
                address = self.merged[ours].common(other.merged[theirs])
                if address is not None:
                    yield ours, theirs, address

    def at(self, address: int) -> str:
        """Its kind of access to an address; empty if there is none."""
        for kind in (STORED, ATOMIC, READ):
            runs = self.merged.get(kind)
            if runs is not None:
                slot = int(np.searchsorted(runs.starts, address, side="right")) - 1
                if slot >= 0 and address < runs.ends[slot]:
                    return kind
        return ""
