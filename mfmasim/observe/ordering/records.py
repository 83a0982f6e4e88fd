"""Accesses to the LDS that may be in flight."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mfmasim.arrays import I32, I64
    from mfmasim.isa import Instruction
    from mfmasim.observe.ordering.progress import Progress
    from mfmasim.observe.ordering.shadow import Marks
    from mfmasim.observe.ordering.touched import Touched


FEW = 512
"""Rows that are kept before complete ones are dropped."""


class Sort(NamedTuple):
    """Accesses with the same ordering rules within their wave."""

    kind: str
    key: tuple[str, str]
    """Counter and order."""
    direct: bool
    """Whether they are direct-to-LDS loads, which are out of order with the wave's other accesses to the LDS."""

    def needs_no_wait(self, other: Sort) -> bool:
        """Whether two accesses of one wave need no wait between them: both read, or they are in program order."""
        if self.kind == other.kind == "read":
            return True
        return self.direct == other.direct and (not self.direct or self.key == other.key)


@dataclass
class Record:
    """One executed access of a group of waves that may be in flight in each wave."""

    number: int
    instruction: Instruction
    sort: Sort
    waves: I64
    order: I32
    """Number of the operation within its class, by wave."""
    touches: Callable[[], Touched]

    @cached_property
    def touched(self) -> list[Touched]:
        """The units, which only a later access around them asks for."""
        return [self.touches()]


WAVE, ORDER, MARK, NUMBER, LOW, HIGH = range(6)
"""Columns of a wave's part of a record: the wave of the batch, the number of the operation, its mark in the shadow, the
number of the record, first and last unit."""


class Flying:
    """Accesses that may be in flight: for each sort a table with a column for each wave of each record."""

    def __init__(self) -> None:
        """Nothing is in flight."""
        self.records: dict[int, Record] = {}
        self._tables: dict[Sort, list[I64]] = {}
        self._size = self._kept = 0

    def add(self, records: Sequence[Record], marks: I32, low: I64, high: I64) -> None:
        """Add accesses of one sort by the same waves.

        Args:
            records: the accesses.
            marks: of the examined waves, which are the first ones of the records, (records, n).
            low: first unit, (records, waves of the batch).
            high: last unit, likewise.
        """
        count = marks.shape[1]
        waves = records[0].waves[:count]
        part = np.empty((6, *marks.shape), np.int64)
        part[WAVE], part[MARK], part[LOW], part[HIGH] = waves, marks, low[:, waves], high[:, waves]
        for row, record in enumerate(records):
            part[ORDER, row], part[NUMBER, row] = record.order[:count], record.number
            self.records[record.number] = record
        self._tables.setdefault(records[0].sort, []).append(part.reshape(6, -1))
        self._size += marks.size

    def _table(self, sort: Sort) -> I64:
        parts = self._tables[sort]
        if len(parts) > 1:
            parts[:] = [np.concatenate(parts, axis=1)]
        return parts[0]

    def signalled(self, progress: Progress, marks: Marks) -> None:
        """Some waves have signalled a barrier: it does not order their accesses in flight.

        Args:
            progress: of all waves.
            marks: of the shadow, which record the barriers.
        """
        for sort in self._tables:
            table = self._table(sort)
            wave = table[WAVE]
            late = progress.complete[sort.key][wave] <= table[ORDER]
            marks.complete[table[MARK, late]] = progress.signalled[wave[late]]

    def settle(self, progress: Progress) -> None:
        """Drop complete accesses, once in a while."""
        if self._size < 2 * self._kept + FEW:
            return
        numbers: set[int] = set()
        self._size = 0
        for sort, parts in list(self._tables.items()):
            table = self._table(sort)
            left = table[:, progress.complete[sort.key][table[WAVE]] <= table[ORDER]]
            numbers.update(left[NUMBER].tolist())
            self._size += left.shape[1]
            parts[:] = [left]
            if not left.size:
                del self._tables[sort]
        self.records = {number: self.records[number] for number in sorted(numbers)}
        self._kept = self._size

    def close(
        self, sort: Sort, low: I64, high: I64, complete: Mapping[tuple[str, str], I32], since: I32
    ) -> set[tuple[int, int]]:
        """Waves with an access in flight whose units surround a further access that is out of order with it.

        Args:
            sort: of the further access.
            low: its first unit by wave of the batch.
            high: its last unit, likewise.
            complete: operations complete, by class and wave of the batch.
            since: first record that may be in flight, by wave of the batch.

        Returns:
            The wave of the batch and the number of the record.
        """
        found: set[tuple[int, int]] = set()
        for other in self._tables:
            if other.needs_no_wait(sort):
                continue
            table = self._table(other)
            wave = table[WAVE]
            around = (low[wave] <= table[HIGH]) & (high[wave] >= table[LOW])
            if not around.any():
                continue
            around &= complete[other.key][wave] <= table[ORDER]
            around &= table[NUMBER] >= since[wave]
            found.update(zip(wave[around].tolist(), table[NUMBER, around].tolist(), strict=True))
        return found

    def free(self, sort: Sort, low: I64, high: I64, complete: Mapping[tuple[str, str], I32]) -> bool:
        """Whether `close` finds nothing for several accesses, without flags.

        Args:
            sort: of all of the accesses.
            low: first unit, (accesses, waves of the batch).
            high: last unit, likewise.
            complete: operations complete, by class and wave of the batch.
        """
        for other in self._tables:
            if other.needs_no_wait(sort):
                continue
            table = self._table(other)
            left = table[:, complete[other.key][table[WAVE]] <= table[ORDER]]
            wave = left[WAVE]
            if ((low[:, wave] <= left[HIGH]) & (high[:, wave] >= left[LOW])).any():
                return False
        return True

    def in_flight(self, wave: int, complete: Mapping[tuple[str, str], I32], *, direct: bool) -> set[int]:
        """Numbers of the accesses that a wave has in flight.

        Args:
            wave: of the batch.
            complete: operations complete, by class and wave of the batch.
            direct: only direct-to-LDS loads.
        """
        found: set[int] = set()
        for sort in self._tables:
            if sort.direct or not direct:
                table = self._table(sort)
                mine = (table[WAVE] == wave) & (complete[sort.key][wave] <= table[ORDER])
                found.update(table[NUMBER, mine].tolist())
        return found

    def widen(self, groups: int, units: int, per: int, marks: int) -> None:
        """Each workgroup gets its own row of the shadow.

        Args:
            groups: workgroups of the batch.
            units: of the LDS of each.
            per: waves of each.
            marks: number of marks of the row that represented all workgroups.
        """
        for sort, parts in self._tables.items():
            table = self._table(sort)
            step = np.zeros((6, 1), np.int64)
            step[WAVE], step[MARK] = per, marks
            parts[:] = [np.concatenate([table + step * group for group in range(groups)], axis=1)]
        for record in self.records.values():
            record.touched = [
                one for touched in record.touched for one in touched.widened(groups, units, len(record.waves) // groups)
            ]
        self._size *= groups

    def marks(self) -> list[I64]:
        """The rows of marks, which may be changed in place."""
        return [self._table(sort)[MARK] for sort in self._tables]
