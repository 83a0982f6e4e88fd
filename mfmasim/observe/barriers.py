"""barrier: waves of one workgroup that wait at different barrier instructions, or pass different numbers of them.

The hardware counts arrivals and does not look where a wave waits, so that such waves go on together (CDNA3 ISA manual,
S_BARRIER; RDNA4 ISA manual 5.6.1); waves that have ended are not waited for. It works, and is hardly ever meant: in HIP
a ``__syncthreads()`` that only some threads reach is undefined. Kernels whose waves work in turns let them meet at
different barriers on purpose; they have to pass as many of them all the same, or the last ones open only because the
others have ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfmasim.observe.finding import Finding
from mfmasim.observe.progress import ARRIVALS

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.machine.events import BarrierEvent, BlockEvent, Place

__all__ = ["Barriers"]


class Barriers:
    """Collects meetings at different barriers, one finding per pair of instructions, and the first uneven workgroup."""

    name = "barrier"

    def __init__(self, kernel: str, source_at: Callable[[int], str], waves: int = 1) -> None:
        """Report in the name of `kernel`; `source_at` gives the source line of an address; `waves` of a workgroup."""
        self.kernel, self.source_at, self.per = kernel, source_at, waves
        self._first: dict[tuple[int, int], BarrierEvent] = {}
        self._count: dict[tuple[int, int], int] = {}
        self._passed: NDArray[np.int64]
        """Barriers passed by each wave of the batch."""
        self._ended: NDArray[np.int64]
        """Barriers that the first wave to end had passed, by workgroup; -1 while none has."""
        self._uneven: dict[int, tuple[Place, int, int, int]] = {}
        """By address of the end: first wave, its barriers, those of a wave that ended earlier, and waves in all."""

    def on_block(self, event: BlockEvent) -> None:
        """Count barriers, and compare where waves end."""
        if event.fresh:
            self._passed = np.zeros(event.total, np.int64)
            self._ended = np.full(-(-event.total // self.per), -1)
        last = event.instructions[-1]
        if last.name in ARRIVALS:
            self._passed[event.waves] += 1
        elif last.name.startswith("s_endpgm"):
            self._end(event, last.pc)

    def _end(self, event: BlockEvent, pc: int) -> None:
        mine, groups = self._passed[event.waves], event.waves // self.per
        first = np.flatnonzero(self._ended[groups] < 0)[::-1]  # of several waves of a workgroup the first one stays
        self._ended[groups[first]] = mine[first]
        other = self._ended[groups]
        wrong = np.flatnonzero(mine != other)
        if len(wrong):
            index = int(wrong[0])
            self._unequal(pc, event.place(index, None), int(mine[index]), int(other[index]), len(wrong))

    def _unequal(self, pc: int, place: Place, mine: int, other: int, count: int) -> None:
        known = self._uneven.get(pc)
        if known is not None:
            count += known[3]
            if known[0].order < place.order:
                place, mine, other = known[:3]
        self._uneven[pc] = place, mine, other, count

    def on_barrier(self, event: BarrierEvent) -> None:
        """Remember the first wave of each pair of barriers, and count all."""
        self._add(event, 1)

    def merge(self, other: Barriers) -> None:
        """Take in what another part of the same launch found."""
        for pair, event in other._first.items():
            self._add(event, other._count[pair])
        for pc, uneven in other._uneven.items():
            self._unequal(pc, *uneven)

    def _add(self, event: BarrierEvent, count: int) -> None:
        """The first wave of the grid is told, whichever came first."""
        pair = event.pc, event.other
        first = self._first.get(pair)
        if first is None or event.place.order < first.place.order:
            self._first[pair] = event
        self._count[pair] = self._count.get(pair, 0) + count

    def findings(self) -> list[Finding]:
        """The findings, in address order."""
        uneven = [self._uneven_finding(pc) for pc in sorted(self._uneven)]
        return [*(self._finding(pair) for pair in sorted(self._first)), *uneven]

    def _uneven_finding(self, pc: int) -> Finding:
        place, mine, other, count = self._uneven[pc]
        return Finding(
            check="barrier",
            severity="warning",
            message=f"this wave ends after {mine} barriers, another one of its workgroup after {other}; {count} "
            f"wave{'s' * (count != 1)} in all: the barriers that are too many open only because waves have ended",
            id="barrier-uneven",
            kernel=self.kernel,
            pc=pc,
            source=self.source_at(pc),
            workgroup=place.workgroup,
            wave=place.wave,
            count=count,
        )

    def _finding(self, pair: tuple[int, int]) -> Finding:
        event, count = self._first[pair], self._count[pair]
        there = self.source_at(event.other)
        return Finding(
            check="barrier",
            severity="warning",
            message=f"this wave waits here while others of its workgroup wait at {event.other:#x}"
            + (f" ({there})" if there else "")
            + f"; {count} wave{'s' * (count != 1)} in all, the hardware counts arrivals and lets them go on together",
            id="barrier-different",
            kernel=self.kernel,
            pc=event.pc,
            source=self.source_at(event.pc),
            workgroup=event.place.workgroup,
            wave=event.place.wave,
            count=count,
        )
