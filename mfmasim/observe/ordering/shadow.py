"""The last accesses to each unit of memory, and whether the next access is ordered after them.

A unit has its last writer, its last two readers and its last two atomic operations of different waves: atomic
operations do not conflict with each other, and must not hide an ordinary write. An access a of one wave is ordered
before an access b of another if a was complete before its wave signalled barrier number n, and b began after its
own wave had passed barrier n. So an access needs only the number of barriers that its wave had signalled when it
was complete.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.observe.ordering import compiled

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.arrays import I32, I64
    from mfmasim.observe.ordering.touched import Last, Touched


NO_WAVE = -1
NEVER = -1
"""Number of signalled barriers without a complete access: below that of any wave."""
MANY = 1 << 20
"""Marks that are kept before unused ones are dropped."""


@dataclass(frozen=True)
class Clash:
    """Two unordered accesses of different waves to one unit."""

    unit: int
    group: int
    """Workgroup, as a row of the shadow."""
    earlier: int
    """Record of the access that was executed first."""
    wave: int
    """Its wave in the workgroup."""
    waited_for: bool
    """Whether a barrier lies between the accesses, but the first access was incomplete at it."""
    same: bool = False
    """Whether the order does not matter, because both waves write, or have written, the same value."""


class Marks:
    """Properties of a wave's access by its mark, the number that the accessed units store. Mark 0 is no access."""

    def __init__(self) -> None:
        """No access yet."""
        self.count = 1
        self._arrange(np.array([[NO_WAVE], [0], [NEVER], [0]], np.int32))

    def _arrange(self, columns: I32) -> None:
        self._columns = columns
        self.wave: I32 = columns[0]
        """Wave in the workgroup."""
        self.issued: I32 = columns[1]
        """Barriers that the wave had signalled."""
        self.complete: I32 = columns[2]
        """Barriers that the wave had signalled when the access was known to be complete."""
        self.record: I32 = columns[3]

    def add(self, wave: I64, signalled: I32, record: int | I64) -> I32:
        """Marks of a new access, or of several.

        Args:
            wave: its waves in their workgroups, (n,).
            signalled: barriers that each has signalled, (n,).
            record: number of the access, one or by wave, (n,).

        Returns:
            The mark of each wave, (n,).
        """
        first, self.count = self.count, self.count + len(wave)
        if self.count > len(self.wave):
            larger = np.zeros((4, 2 * self.count), np.int32)
            larger[:, :first] = self._columns[:, :first]
            self._arrange(larger)
        self.wave[first : self.count], self.issued[first : self.count] = wave, signalled
        self.complete[first : self.count], self.record[first : self.count] = signalled, record
        return np.arange(first, self.count, dtype=np.int32)

    def widen(self, groups: int) -> None:
        """Each workgroup gets its own marks: those of group g are shifted by g times the number of marks."""
        self._arrange(np.tile(self._columns[:, : self.count], groups))
        self.count *= groups

    def keep(self, used: NDArray[np.bool_]) -> I32:
        """Drop unused marks; returns the new number of each mark."""
        used[0] = True
        self._arrange(self._columns[:, : self.count][:, used])
        self.count = len(self.wave)
        numbers: I32 = np.cumsum(used, dtype=np.int32) - np.int32(1)
        return numbers


FIRST_CHANGER, SECOND_CHANGER, WRITER, FIRST_READER, SECOND_READER = range(5)
"""Rows of the shadow, so that those with which an access may conflict are neighbours."""
CONFLICTING = {
    "read": (WRITER, FIRST_CHANGER, SECOND_CHANGER),
    "write": (WRITER, FIRST_READER, SECOND_READER, FIRST_CHANGER, SECOND_CHANGER),
    "atomic": (WRITER, FIRST_READER, SECOND_READER),
}
"""Sorts of earlier accesses that conflict with an access, in the order of reports."""


class Shadow:
    """Last accesses to the units of each workgroup's memory."""

    def __init__(self, units: int) -> None:
        """Make one row, which represents all workgroups."""
        self.groups, self.units = 1, units
        self.marks = Marks()
        self.last: I32 = np.zeros((5, units), np.int32)
        """Mark of the last access of each sort to each unit of each workgroup, one after the other."""
        self.changed = False
        """Whether there was an atomic operation."""
        self._kept = 0

    def widen(self, groups: int) -> None:
        """Give each workgroup its own row."""
        first = np.repeat(np.arange(groups, dtype=np.int32) * np.int32(self.marks.count), self.units)
        self.last = np.tile(self.last, groups) + first
        self.marks.widen(groups)
        self.groups = groups

    def forget(self, others: Callable[[], list[I64]]) -> None:
        """Once in a while, drop marks that are neither in use nor in `others`, and renumber `others` in place."""
        if self.marks.count < max(MANY, 2 * self._kept):
            return
        tables: list[NDArray[Any]] = [self.last, *others()]
        used = np.zeros(self.marks.count, np.bool_)
        for marks in tables:
            used[marks] = True
        numbers = self.marks.keep(used)
        for marks in tables:
            marks[...] = numbers[marks]
        self._kept = self.marks.count

    def _conflicting(self, kind: str) -> slice:
        first = FIRST_CHANGER if self.changed and kind != "atomic" else WRITER
        return slice(first, WRITER + 1 if kind == "read" else SECOND_READER + 1)

    def ordered(self, kind: str, touched: Touched, joined: I32, since: I32) -> bool:
        """Whether all waves of an access are ordered after all conflicting accesses, those of the same access included.

        Args:
            kind: ``read``, ``write`` or ``atomic``.
            touched: the accessed units.
            joined: barriers passed by each wave, (waves,).
            since: first record of each wave of the workgroup that no flag orders before it, (waves, waves of one).
        """
        if kind == "write" and len(touched.before_others):
            return False
        marks = self.last[self._conflicting(kind)].take(touched.places, axis=1)
        table = self.marks
        complete = table.complete.take(marks)
        if int(complete.max()) < int(joined.min()):
            return True
        wrong = complete >= joined[touched.index]
        before = table.wave.take(marks)
        wrong &= before != touched.wave
        wrong &= table.record.take(marks) >= since[touched.index, before]
        return not wrong.any()

    def all_ordered(self, reads: Last | None, writes: Last | None, joined: int) -> bool:
        """Whether all accesses that conflict with a stretch were complete before the last barrier of its waves.

        Args:
            reads: units that the stretch reads.
            writes: units that it writes.
            joined: smallest number of barriers that a wave has passed.
        """
        complete = self.marks.complete
        for kind, units in (("read", reads), ("write", writes)):
            if units is not None:
                last = self.last[self._conflicting(kind)]
                latest = compiled.latest(last, complete, units.places)
                if latest is None:
                    latest = int(complete.take(last.take(units.places, axis=1)).max())
                if latest >= joined:
                    return False
        return True

    def put_last(self, reads: Last | None, writes: Last | None, first: int) -> None:
        """Record the accesses of a stretch, as `put` of each access.

        Args:
            reads: units that the stretch reads, with their last readers.
            writes: units that are written.
            first: the first mark of the stretch.
        """
        if compiled.put_last(self.last, self.marks.wave, reads, writes, first, (WRITER, FIRST_READER)):
            return
        if writes is not None:
            self.last[WRITER][writes.places] = writes.mark + first
        if reads is not None:
            one, two = self.last[FIRST_READER], self.last[SECOND_READER]
            old = one.take(reads.places)
            moved = self.marks.wave.take(old) != reads.wave
            before = np.where(moved, old, two.take(reads.places))
            two[reads.places] = np.where(reads.other >= 0, reads.other + first, before)
            one[reads.places] = reads.mark + first

    def put(self, kind: str, touched: Touched, marks: I32) -> None:
        """Record an access by waves of some workgroups that do not write to one unit together.

        Args:
            kind: ``read``, ``write`` or ``atomic``.
            touched: the units.
            marks: of each unit, (n,).
        """
        at = touched.places
        if kind == "write":
            self.last[WRITER][at] = marks
            return
        self.changed |= kind == "atomic"
        row = FIRST_READER if kind == "read" else FIRST_CHANGER
        first, second = self.last[row], self.last[row + 1]
        old = first.take(at)
        moved = self.marks.wave.take(old) != touched.wave
        second[at] = np.where(moved, old, second.take(at))
        first[at] = marks
        again = touched.before_others
        if len(again):  # the last two waves stay
            second[at[again]] = marks[again]

    def access(
        self, kind: str, wave: int, at: I64, marks: I32, joined: I32, since: I32, same: Callable[[], NDArray[np.uint32]]
    ) -> list[Clash]:
        """One wave in each of some workgroups accesses units.

        Args:
            kind: ``read``, ``write`` or ``atomic``.
            wave: the wave in its workgroup.
            at: places of the units, (n,).
            marks: of the access, by unit, (n,).
            joined: barriers passed by the wave of each unit, (n,).
            since: first record of each wave of the workgroup that no flag orders before it, (n, waves of one).
            same: gives the waves whose order with this access does not matter, a bit for each, by unit, (n,).

        Returns:
            The first unordered access of each sort.
        """
        clashes = self.clashes(kind, wave, at, joined, since, same)
        if kind == "write":
            self.last[WRITER][at] = marks
            return clashes
        self.changed |= kind == "atomic"
        row = FIRST_READER if kind == "read" else FIRST_CHANGER
        first, second = self.last[row], self.last[row + 1]
        old = first[at]
        moved = self.marks.wave[old] != wave
        second[at[moved]] = old[moved]
        first[at] = marks
        return clashes

    def clashes(
        self, kind: str, wave: int, at: I64, joined: I32, since: I32, same: Callable[[], NDArray[np.uint32]]
    ) -> list[Clash]:
        """As `access`, but the access is not recorded.

        Args:
            kind: as of `access`.
            wave: as of `access`.
            at: as of `access`.
            joined: as of `access`.
            since: as of `access`.
            same: as of `access`.
        """
        return [clash for row in CONFLICTING[kind] for clash in self._clashes(row, at, wave, joined, since, same)]

    def first(self, places: I64) -> NDArray[np.bool_]:
        """Whether places have not been written yet."""
        written: NDArray[np.bool_] = (self.last[: WRITER + 1, places] == 0).all(axis=0)
        return written

    def _clashes(
        self, row: int, at: I64, wave: int, joined: I32, since: I32, same: Callable[[], NDArray[np.uint32]]
    ) -> list[Clash]:
        marks, table = self.last[row][at], self.marks
        before, earlier = table.wave[marks], table.record[marks]
        wrong = (before != NO_WAVE) & (before != wave) & (joined <= table.complete[marks])
        wrong &= earlier >= since[np.arange(len(at)), before]
        if not wrong.any():
            return []
        out: dict[tuple[int, bool], Clash] = {}
        atomic = row in (FIRST_CHANGER, SECOND_CHANGER)
        harmless = np.zeros_like(wrong) if atomic else (same() >> before.astype(np.uint32) & 1) != 0
        for place in np.flatnonzero(wrong):
            key = record, alike = int(earlier[place]), bool(harmless[place])
            if key not in out:
                late = bool(joined[place] > table.issued[marks[place]])
                group, unit = divmod(int(at[place]), self.units)
                out[key] = Clash(unit, group, record, int(before[place]), late, alike)
        return list(out.values())
