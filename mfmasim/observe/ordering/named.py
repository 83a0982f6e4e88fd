"""Order by named barriers: who has signalled one comes before who has waited at it.

Of several rounds of a barrier all signals so far count: this may miss races, and no correct kernel is reported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from mfmasim.arrays import I32, I64

ANY = 0
"""Stands for a barrier whose number is in a register, and for one that a wave joins or leaves."""


class NamedBarriers:
    """What has been signalled at the named barriers of each workgroup of a batch."""

    def __init__(self, waves: int, per: int) -> None:
        """Nothing yet.

        Args:
            waves: of the batch.
            per: waves of a workgroup.
        """
        self.per = per
        self._waits: I32 = np.zeros(waves, np.int32)
        """Barrier at which each wave has stopped; 0 is none."""
        self._at: dict[tuple[int, int], I32] = {}
        """By workgroup and barrier: first record of each wave of the workgroup that is not ordered before it."""
        self._records: dict[int, list[int]] = {}
        """Accesses of each wave since the last one that was complete at a signal."""

    def accessed(self, waves: I64, number: int) -> None:
        """Waves have accessed the LDS, with a record of this number."""
        for wave in waves.tolist():
            self._records.setdefault(wave, []).append(number)

    def widen(self, groups: int) -> None:
        """Records of the first workgroup were those of each."""
        self._records = {
            wave + self.per * group: list(numbers) for wave, numbers in self._records.items() for group in range(groups)
        }

    def signal(
        self, waves: I64, barrier: int, number: int, since: I32, alike: bool,
        in_flight: Callable[[int], Collection[int]],
    ) -> None:  # fmt: skip
        """Waves signal.

        Args:
            waves: their numbers in the batch.
            barrier: its number, or `ANY`.
            number: records so far.
            since: `Releases.since`.
            alike: whether the first workgroup stands for all.
            in_flight: records of a wave that may be incomplete.
        """
        for wave in waves.tolist():
            group, place = divmod(wave, self.per)
            one = place if alike else wave
            records, left = self._records.get(one, []), in_flight(one)
            del records[: next((n for n in range(len(records), 0, -1) if records[n - 1] not in left), 0)]
            mine = since[wave].copy()
            mine[place] = records[0] if records else number
            self._at[group, barrier] = np.maximum(self._at.get((group, barrier), mine), mine)

    def wait(self, waves: I64, barrier: int) -> None:
        """Waves stop at a barrier."""
        self._waits[waves] = barrier

    def passed(self, waves: I64, since: I32) -> None:
        """Waves run again: what was signalled where they stopped is ordered before them, in `Releases.since`."""
        for wave in waves[self._waits[waves] > 0].tolist():
            for barrier in (int(self._waits[wave]), ANY):
                known = self._at.get((wave // self.per, barrier))
                if known is not None:
                    since[wave] = np.maximum(since[wave], known)
        self._waits[waves] = 0
