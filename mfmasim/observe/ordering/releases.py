"""Order by locations of the LDS, within a workgroup: a ticket, a counter, a lock, a polled flag.

A wave that writes to a location releases its earlier accesses: the LDS executes the operations of one wave in
order, except for loads from memory to the LDS that are in flight. A wave that later executes an atomic operation there
whose result decides a branch, or reads the location in a loop that waits for a value, acquires them, with all accesses
that the releasing wave had acquired.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.arrays import I32, I64


FEW = 4
"""Most locations of an access to flags; an access to more locations moves data."""


class Releases:
    """Releases at locations of the LDS of each workgroup of a batch."""

    def __init__(self, waves: int, per: int) -> None:
        """Nothing yet.

        Args:
            waves: of the batch.
            per: waves of a workgroup.
        """
        self.per = per
        self.since: I32 = np.zeros((waves, per), np.int32)
        """First record of each wave of its workgroup that is not ordered before a wave, (waves, waves of a workgroup).
        """
        self._at: dict[tuple[int, int], I32] = {}
        """Clocks by workgroup and unit."""
        self._last: dict[tuple[int, int], int] = {}
        """Record of the last release, by workgroup and unit."""
        self._first: dict[tuple[int, int], int] = {}
        """Record of the initialising write, by workgroup and unit."""
        self._taken: set[tuple[int, int]] = set()
        """Pairs of wave and acquired unit."""

    def own(self) -> I32:
        """The first own record of each wave that is not complete by a release or flag, (waves,)."""
        waves = np.arange(len(self.since))
        return self.since[waves, waves % self.per]

    def poll(self, waves: I64, units: I64, number: int, written: I32) -> None:
        """Waves read locations until they hold a value.

        Args:
            waves: the wave of each unit, by its number in the batch, (n,).
            units: (n,).
            number: records so far.
            written: the last record that wrote to each unit, (n,). If that record released nothing, as the data of many
                lanes, all accesses of the workgroup are ordered before the wave.
        """
        for wave, unit, last in np.unique(np.stack([waves, units, written]), axis=1).T.tolist():
            group = wave // self.per
            if self._last.get((group, unit), -1) < last:
                self.since[wave] = number
            elif not self.initial(group, unit):
                self.since[wave] = np.maximum(self.since[wave], self._at[group, unit])

    def initial(self, group: int, unit: int) -> bool:
        """Whether a location has been written exactly once: before this write a read may return any value."""
        return (group, unit) in self._first and self._first[group, unit] == self._last[group, unit]

    def frees(self, waves: I64, units: I64) -> bool:
        """Whether each wave has acquired the location to which it writes: it frees a lock, as an atomic store would.

        The two have the same encoding.
        """
        if not self._taken or len(units) > FEW * len(np.unique(waves)):
            return False
        return all(pair in self._taken for pair in zip(waves.tolist(), units.tolist(), strict=True))

    def access(
        self,
        waves: I64,
        units: I64,
        number: int,
        *,
        first: NDArray[np.bool_],
        acquires: bool,
        released: Callable[[int], int],
    ) -> None:
        """Waves write to locations.

        Args:
            waves: the wave of each unit, by its number in the batch, (n,).
            units: (n,).
            number: of the record.
            first: whether the location was not written before, (n,).
            acquires: whether the returned value decides how the waves continue.
            released: the first incomplete record of a wave.
        """
        both = np.unique(np.stack([waves, units]), axis=1)
        several, count = np.unique(both[0], return_counts=True)
        few = set(several[count <= FEW].tolist())
        for wave, unit in zip(waves[first].tolist(), units[first].tolist(), strict=True):
            if wave in few:
                self._first.setdefault((wave // self.per, unit), number)
        for wave, unit in both.T.tolist():
            if wave not in few:
                continue
            group, place = divmod(wave, self.per)
            known = self._at.get((group, unit))
            self._last[group, unit] = number
            if acquires:
                self._taken.add((wave, unit))
            if acquires and known is not None:
                self.since[wave] = np.maximum(self.since[wave], known)
            mine = self.since[wave].copy()
            mine[place] = released(wave)
            self._at[group, unit] = mine if known is None else np.maximum(known, mine)
