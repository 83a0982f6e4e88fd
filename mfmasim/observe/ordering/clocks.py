"""Vector clocks: for each wave, the steps of other waves that happened before by synchronisation.

A wave counts its steps: signalled barriers, and writes to locations that a wave acquires (`acquire`). Such a
write releases the wave's clock; a wave that acquires the location later joins the clock, and a barrier joins it
over the workgroup. A clock is an array (kinds of knowledge, waves of the launch) that is constant after its release.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mfmasim.arrays import I32


OVER, BARRIER, ISSUED, BACK, ANY, FRESH, FRESH_BARRIER = range(7)
"""Kinds of knowledge: what the wave itself had waited for; what a barrier ordered; what was issued, complete or
not; what was written back from the L2; what was issued where a scope is too small for other workgroups; and the first
two as far as caches have been invalidated since."""
ROWS = 7
FOREVER = np.int32(2**31 - 1)
"""The step of a wave that has ended."""


@dataclass
class Location:
    """A location that a wave acquires."""

    known: I32
    shared: bool = False
    """Whether a wave refers to `known`, which must then not change."""


@dataclass
class Acquired:
    """Knowledge that a wave gets when its operation is complete."""

    key: tuple[str, str]
    """Counter and order of the operation, empty strings for none."""
    order: int
    known: I32


class Clocks:
    """Knowledge of all waves of a launch, by their numbers in it."""

    def __init__(self, waves: int, per: int) -> None:
        """Prepare for `waves` waves, with `per` waves in a workgroup."""
        self.waves, self.per = waves, per
        self.nothing: I32 = np.zeros((ROWS, waves), np.int32)
        self.known: dict[int, I32] = {}
        self.open: dict[int, list[Acquired]] = {}
        self.locations: dict[int, Location] = {}
        self.meetings: dict[int, dict[int, I32]] = {}
        """Clocks of waves when they signalled a barrier, by workgroup and number of the barrier."""
        self._met: dict[int, int] = {}

    def of(self, wave: int) -> I32:
        """The clock of a wave."""
        return self.known.get(wave, self.nothing)

    def learn(self, wave: int, more: I32) -> None:
        """Join a clock to that of a wave."""
        old = self.known.get(wave)
        self.known[wave] = more if old is None else np.maximum(old, more)

    def receive(self, wave: int, acquired: Acquired) -> None:
        """Join a clock as soon as its operation is complete."""
        self.open.setdefault(wave, []).append(acquired)

    def settle(self, wave: int, complete: dict[tuple[str, str], I32], index: int, joined: int) -> None:
        """Join the clocks of complete acquires, and of the barriers passed since.

        Args:
            wave: its number in the launch.
            complete: operations complete, by class and wave of the batch.
            index: the wave in the batch.
            joined: barriers that it has passed.
        """
        waiting = self.open.get(wave)
        if waiting:
            left = []
            for acquired in waiting:
                if acquired.key[0] and complete[acquired.key][index] <= acquired.order:
                    left.append(acquired)
                else:
                    self.learn(wave, acquired.known)
            if left:
                self.open[wave] = left
            else:
                del self.open[wave]
        meetings = self.meetings.get(wave // self.per)
        if meetings:
            first = self._met.get(wave, 0)
            for number in range(first, joined):
                if number in meetings:
                    self.learn(wave, meetings[number])
            self._met[wave] = joined

    def arrive(self, wave: int, number: int) -> None:
        """A wave signals a barrier."""
        clock = self.known.get(wave)
        if clock is not None:
            meetings = self.meetings.setdefault(wave // self.per, {})
            old = meetings.get(number)
            meetings[number] = clock if old is None else np.maximum(old, clock)

    def invalidated(self, wave: int) -> None:
        """The caches of a wave were invalidated: earlier steps are visible to the wave as well."""
        clock = self.known.get(wave)
        if clock is not None:
            clock = clock.copy()
            clock[FRESH] = np.maximum(clock[FRESH], clock[OVER])
            clock[FRESH_BARRIER] = np.maximum(clock[FRESH_BARRIER], clock[BARRIER])
            self.known[wave] = clock

    def near(self, wave: int) -> I32:
        """The last step of each wave of its workgroup that a wave knows of, (waves of a workgroup,)."""
        first = wave // self.per * self.per
        known: I32 = self.of(wave)[:FRESH, first : first + self.per].max(axis=0)
        return known

    def release(
        self, place: int, wave: int, step: int, met: I32 | None, back: I32 | None = None, *, wide: bool
    ) -> None:
        """A wave writes to a location that a wave acquires.

        Args:
            place: number of the location.
            wave: its number in the launch.
            step: of the wave, including this one.
            met: step of each wave of its workgroup when it signalled the last barrier that this wave has passed.
            back: step of each wave of its workgroup up to which stores have been written back; None if they need
                not be.
            wide: whether other workgroups see the write.
        """
        found = self.locations.get(place)
        if found is None:
            found = self.locations[place] = Location(np.zeros((FRESH, self.waves), np.int32))
        elif found.shared:
            found = self.locations[place] = Location(found.known.copy())
        known, clock = found.known, self.known.get(wave)
        rows = slice(0, FRESH) if wide else slice(ANY, FRESH)
        if clock is not None:
            known[rows] = np.maximum(known[rows], clock[rows])
        for row in (OVER, ISSUED, ANY) if wide else (ANY,):
            known[row, wave] = max(int(known[row, wave]), step)
        first = wave // self.per * self.per
        group = slice(first, first + self.per)
        if met is not None:
            for row in (BARRIER, ISSUED, ANY) if wide else (ANY,):
                known[row, group] = np.maximum(known[row, group], met)
        if back is None:
            known[BACK] = np.maximum(known[BACK], known[ISSUED])
        elif wide:
            known[BACK, group] = np.maximum(known[BACK, group], back)

    def acquire(self, place: int, *, wide: bool) -> I32 | None:
        """The clock released at a location; None if no wave has written to it."""
        found = self.locations.get(place)
        if found is None:
            return None
        found.shared = True
        more = np.zeros((ROWS, self.waves), np.int32)
        rows = slice(0, FRESH) if wide else slice(ANY, FRESH)
        more[rows] = found.known[rows]
        return more
