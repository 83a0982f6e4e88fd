"""Order by named barriers: accesses before a signal are ordered before accesses behind a wait at the same barrier.

If a wave waits after each of its signals, each signal belongs to one round: the signal of the next round is excluded.
For other waves all signals so far count: races may be missed, but no correct kernel is reported.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from mfmasim.arrays import I32, I64

ANY = 0
"""A barrier whose number is in a register, or a barrier that a wave joins or leaves."""


@dataclass
class Signals:
    """Signals of one wave at one barrier."""

    last: I32
    """First record of each wave of the workgroup that is not ordered before the last signal."""
    previous: I32
    """The same for the signal before the last."""
    count: int = 0
    paired: bool = True
    """Whether the wave has waited after each signal but the last."""


class NamedBarriers:
    """Signals at the named barriers of each workgroup of a batch."""

    def __init__(self, waves: int, per: int) -> None:
        """Begin without signals.

        Args:
            waves: of the batch.
            per: waves of a workgroup.
        """
        self.per = per
        self._joined: I32 = np.zeros(waves, np.int32)
        """Barrier that each wave has joined, at which it waits; 0 is none."""
        self._waits: I32 = np.zeros(waves, np.int32)
        """Barrier at which each wave has stopped; 0 is none."""
        self._at: dict[tuple[int, int], dict[int, Signals]] = {}
        """Signals by workgroup and barrier, then by wave."""
        self._waited: Counter[tuple[int, int]] = Counter()
        """Number of waits, by wave and barrier."""
        self._records: dict[int, list[int]] = {}
        """Accesses of each wave since the last one that was complete at a signal."""

    def accessed(self, waves: I64, number: int) -> None:
        """Waves have accessed the LDS, with a record of this number."""
        for wave in waves.tolist():
            self._records.setdefault(wave, []).append(number)

    def widen(self, groups: int) -> None:
        """Copy the records of the first workgroup to all workgroups."""
        self._records = {
            wave + self.per * group: list(numbers) for wave, numbers in self._records.items() for group in range(groups)
        }

    def signal(
        self,
        waves: I64,
        barrier: int,
        number: int,
        since: I32,
        lockstep: bool,
        in_flight: Callable[[int], Collection[int]],
    ) -> None:
        """Waves signal.

        Args:
            waves: their numbers in the batch.
            barrier: its number, or `ANY`.
            number: records so far.
            since: `Releases.since`.
            lockstep: whether the first workgroup represents all workgroups.
            in_flight: records of a wave that may be incomplete.
        """
        for wave in waves.tolist():
            group, place = divmod(wave, self.per)
            one = place if lockstep else wave
            records, left = self._records.get(one, []), in_flight(one)
            del records[: next((n for n in range(len(records), 0, -1) if records[n - 1] not in left), 0)]
            mine = since[wave].copy()
            mine[place] = records[0] if records else number
            old = self._at.setdefault((group, barrier), {}).get(wave, Signals(mine, mine))
            paired = old.paired and barrier != ANY and self._waited[wave, barrier] == old.count
            self._at[group, barrier][wave] = Signals(np.maximum(old.last, mine), old.last, old.count + 1, paired)

    def wait(self, waves: I64, barrier: int) -> None:
        """Waves stop at a barrier: at the one that they have joined, else at the given one."""
        self._waits[waves] = np.where(self._joined[waves] > 0, self._joined[waves], barrier)

    def join(self, waves: I64, barrier: int) -> None:
        """Waves join a barrier."""
        self._joined[waves] = barrier

    def passed(self, waves: I64, since: I32) -> None:
        """Waves run again: update `Releases.since` by the signals at the barrier where they stopped."""
        for wave in waves[self._waits[waves] > 0].tolist():
            barrier = int(self._waits[wave])
            self._waited[wave, barrier] += 1
            for one in (barrier, ANY):
                for known in self._at.get((wave // self.per, one), {}).values():
                    next_round = known.paired and known.count == self._waited[wave, barrier] + 1
                    since[wave] = np.maximum(since[wave], known.previous if next_round else known.last)
        self._waits[waves] = 0
