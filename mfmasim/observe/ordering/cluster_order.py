"""Barriers of clusters in the history of global memory: each is a location that waves release and acquire.

A wave that signals releases its clock, with the steps of its workgroup before the last barrier that it has passed.
Waves behind the barrier acquire the clock, with later releases up to the time when they run. This overestimates order:
races may be missed, but no correct kernel is reported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.arrays import I32, I64
    from mfmasim.observe.ordering.clocks import Clocks


class ClusterOrder:
    """Barriers of the clusters of a batch of waves."""

    def __init__(self, clocks: Clocks, together: int) -> None:
        """Follow barriers of clusters.

        Args:
            clocks: of the launch.
            together: waves of a cluster.
        """
        self.clocks, self.together = clocks, together
        self._waiting: NDArray[np.bool_] = np.zeros(0, np.bool_)

    def begin(self, waves: int) -> None:
        """A batch begins."""
        self._waiting = np.zeros(waves, np.bool_)

    def _place(self, wave: int) -> int:
        """The number of a wave's barrier as a location: negative, unlike locations of memory."""
        return -1 - wave // self.together

    def signal(
        self, waves: I64, first: int, tick: I32, settle: Callable[[int], None], met: Callable[[int], I32 | None]
    ) -> None:
        """Waves have signalled, which is a step of each wave.

        Args:
            waves: their numbers in the batch.
            first: number of the batch's first wave in the launch.
            tick: step of each wave.
            settle: brings the clock of a wave up to date.
            met: steps of the workgroup's waves at the last barrier that a wave has passed.
        """
        for wave in waves.tolist():
            settle(wave)
            self.clocks.release(self._place(first + wave), first + wave, int(tick[wave]), met(wave), wide=True)

    def wait(self, waves: I64) -> None:
        """Waves have come to the barrier."""
        self._waiting[waves] = True

    def passed(self, waves: I64, first: int) -> None:
        """Waves run: waves that had come to the barrier have passed it.

        Args:
            waves: their numbers in the batch.
            first: number of the batch's first wave in the launch.
        """
        if not self._waiting.any():
            return
        for wave in waves[self._waiting[waves]].tolist():
            known = self.clocks.acquire(self._place(first + wave), wide=True)
            if known is not None:
                self.clocks.learn(first + wave, known)
        self._waiting[waves] = False
