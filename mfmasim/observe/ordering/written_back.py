"""Stores of waves and their workgroups that have been written back, on devices with several L2 caches.

A write-back follows the stores that its wave has issued, on their way to the L2, and those of other waves before the
last barrier that its wave has passed. It needs a wait; the next barrier makes it known to the other waves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from mfmasim.arrays import I32
    from mfmasim.observe.ordering.progress import Class, Progress


class _Open(NamedTuple):
    """A write-back in flight."""

    key: Class
    order: int
    steps: I32


class WrittenBack:
    """For each wave of a batch, the step of each wave of its workgroup up to which stores have been written back."""

    def __init__(self, progress: Progress, per: int) -> None:
        """Nothing is written back.

        Args:
            progress: of the batch.
            per: waves of a workgroup.
        """
        self._progress, self.per = progress, per
        self._known: I32 = np.zeros((progress.waves, per), np.int32)
        self._open: dict[int, list[_Open]] = {}
        self._signalled: dict[tuple[int, int], I32] = {}
        """Steps known to the waves that signalled a barrier, by workgroup and number of the barrier."""

    def begin(self, wave: int, key: Class, tick: int, met: I32) -> None:
        """A wave executes a write-back.

        Args:
            wave: its number in the batch.
            key: class of the operation.
            tick: step of the wave, including this one.
            met: step of each other wave of its workgroup up to which stores are on their way to the L2.
        """
        steps = np.maximum(self.of(wave), met)
        steps[wave % self.per] = tick
        order = int(self._progress.of(key)[0][wave])
        self._open.setdefault(wave, []).append(_Open(key, order, steps))

    def of(self, wave: int) -> I32:
        """The steps that a wave knows to be written back, (waves of a workgroup,)."""
        progress = self._progress
        known: I32 = self._known[wave]
        for each in list(self._open.get(wave, ())):
            if progress.complete[each.key][wave] > each.order:
                np.maximum(known, each.steps, out=known)
                self._open[wave].remove(each)
        others = self._signalled.get((wave // self.per, int(progress.joined[wave]) - 1))
        if others is not None:
            np.maximum(known, others, out=known)
        return known

    def signal(self, wave: int) -> None:
        """A wave has signalled a barrier."""
        key = wave // self.per, int(self._progress.signalled[wave]) - 1
        steps, old = self.of(wave), self._signalled.get(key)
        if old is not None:
            np.maximum(old, steps, out=old)
        elif steps.any():
            self._signalled[key] = steps.copy()
