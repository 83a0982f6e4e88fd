"""The last accesses to each unit of memory, and whether the next one is ordered after them.

A unit remembers its last writer, its last two readers and its last two atomic operations of different waves: atomic
operations do not conflict with each other, so that neither may hide an ordinary write. An access a of one wave comes
before an access b of another if a was complete before its wave signalled barrier number n, and b began after its
own wave had passed barrier n. So for a unit it is enough to record how many barriers the wave had signalled when its
access was complete.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    I32 = NDArray[np.int32]

__all__ = ["Clash", "Shadow"]

NO_WAVE = -1


@dataclass(frozen=True)
class Clash:
    """Two accesses of different waves to one unit, without an order."""

    unit: int
    group: int
    """Workgroup, as a row of the shadow."""
    earlier: int
    """Record of the access that was executed first."""
    wave: int
    """Its wave in the workgroup."""
    waited_for: bool
    """Whether a barrier lies between them, but the first one was not complete before it."""
    same: bool = False
    """Whether the order does not matter, because both waves write, or have written, the same value."""


class Last:
    """The last access of one sort to each unit of each workgroup, one after the other."""

    def __init__(self, size: int) -> None:
        """No access yet."""
        self.wave: NDArray[np.int16] = np.full(size, NO_WAVE, np.int16)
        self.issued: I32 = np.zeros(size, np.int32)
        self.complete: I32 = np.zeros(size, np.int32)
        self.record: I32 = np.zeros(size, np.int32)

    def widen(self, groups: int) -> None:
        """Replace the one row for all workgroups by one for each."""
        for name in ("wave", "issued", "complete", "record"):
            setattr(self, name, np.tile(getattr(self, name), groups))

    def put(self, at: NDArray[np.int64], wave: int, barriers: I32, record: int) -> None:
        """An access by a wave to units.

        Args:
            at: the units' places.
            wave: of the workgroup.
            barriers: that the wave had signalled.
            record: number of the access.
        """
        self.wave[at], self.issued[at], self.complete[at], self.record[at] = wave, barriers, barriers, record

    def move(self, at: NDArray[np.int64], other: Last) -> None:
        """Copy what another one has recorded about units."""
        self.wave[at], self.issued[at] = other.wave[at], other.issued[at]
        self.complete[at], self.record[at] = other.complete[at], other.record[at]


class Shadow:
    """Last accesses to the units of each workgroup's memory."""

    def __init__(self, units: int) -> None:
        """Make one row, which stands for all workgroups."""
        self.groups, self.units = 1, units
        self.writer = self._fresh()
        self.readers = self._fresh(), self._fresh()
        self.changers: tuple[Last, ...] = ()
        """Two as soon as there is an atomic operation."""

    def _fresh(self) -> Last:
        return Last(self.groups * self.units)

    def _at(self, rows: NDArray[np.int64], units: NDArray[np.int64]) -> NDArray[np.int64]:
        """Places of units; indexing by one array is faster than by two."""
        return units if self.groups == 1 else rows * self.units + units

    @property
    def _all(self) -> tuple[Last, ...]:
        return self.writer, *self.readers, *self.changers

    def widen(self, groups: int) -> None:
        """Give each workgroup its own row."""
        self.groups *= groups
        for last in self._all:
            last.widen(groups)

    def access(
        self, kind: str, wave: int, rows: NDArray[np.int64], units: NDArray[np.int64], signalled: I32, joined: I32,
        since: I32, record: int, same: Callable[[], NDArray[np.uint32]],
    ) -> list[Clash]:  # fmt: skip
        """One wave of each of some workgroups touches units.

        Args:
            kind: ``read``, ``write`` or ``atomic``.
            wave: the wave in its workgroup.
            rows: workgroup of each touched unit, (n,).
            units: the units, (n,).
            signalled: barriers signalled by the wave of each, (n,).
            joined: barriers passed by it, (n,).
            since: first record that no flag orders before it, (n,).
            record: number of this access, for reports.
            same: gives the waves whose order with this access does not matter, a bit for each, by unit, (n,).

        Returns:
            The first unordered access of each sort.
        """
        at = self._at(rows, units)
        conflicting = {
            "read": (self.writer, *self.changers),
            "write": self._all,
            "atomic": (self.writer, *self.readers),
        }[kind]
        clashes = [clash for last in conflicting for clash in self._clashes(last, at, wave, joined, since, same)]
        if kind == "write":
            self.writer.put(at, wave, signalled, record)
            return clashes
        if kind == "atomic" and not self.changers:
            self.changers = self._fresh(), self._fresh()
        first, second = self.readers if kind == "read" else self.changers
        moved = at[first.wave[at] != wave]
        if len(moved):
            second.move(moved, first)
        first.put(at, wave, signalled, record)
        return clashes

    def _clashes(
        self, last: Last, at: NDArray[np.int64], wave: int, joined: I32, since: I32,
        same: Callable[[], NDArray[np.uint32]],
    ) -> list[Clash]:  # fmt: skip
        before = last.wave[at]
        wrong = (before != NO_WAVE) & (before != wave)
        if not wrong.any():
            return []
        wrong &= joined <= last.complete[at]
        if not wrong.any():
            return []
        wrong &= last.record[at] >= since
        if not wrong.any():
            return []
        out: dict[tuple[int, bool], Clash] = {}
        harmless = np.zeros_like(wrong) if last in self.changers else (same() >> before.astype(np.uint32) & 1) != 0
        for place in np.flatnonzero(wrong):
            here = int(at[place])
            key = record, alike = int(last.record[here]), bool(harmless[place])
            if key not in out:
                late = bool(joined[place] > last.issued[here])
                row, unit = divmod(here, self.units)
                out[key] = Clash(unit, row, record, int(last.wave[here]), late, alike)
        return list(out.values())

    def still(
        self, kind: str, wave: int, rows: NDArray[np.int64], units: NDArray[np.int64], signalled: I32, record: int
    ) -> None:
        """An access is not complete although its wave has signalled another barrier.

        Args:
            kind: of the access: ``read``, ``write`` or ``atomic``.
            wave: of the workgroup.
            rows: of the shadow.
            units: of the LDS.
            signalled: barriers that the wave has signalled, (n,).
            record: number of the access.
        """
        at = self._at(rows, units)
        for last in {"read": self.readers, "write": (self.writer,), "atomic": self.changers}[kind]:
            repeated = (last.wave[at] == wave) & (last.record[at] == record)
            last.complete[at[repeated]] = signalled[repeated]
