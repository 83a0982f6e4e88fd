"""barrier: waves of one workgroup that wait at different barrier instructions.

The hardware counts arrivals and does not look where a wave waits, so that such waves go on together (CDNA3 ISA manual,
S_BARRIER; RDNA4 ISA manual 5.6.1); waves that have ended are not waited for. It works, and is hardly ever meant: in HIP
a ``__syncthreads()`` that only some threads reach is undefined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfmasim.observe.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Callable

    from mfmasim.machine.events import BarrierEvent

__all__ = ["Barriers"]


class Barriers:
    """Collects meetings at different barriers, one finding per pair of instructions."""

    name = "barrier"

    def __init__(self, kernel: str, source_at: Callable[[int], str]) -> None:
        """Report in the name of `kernel`; `source_at` gives the source line of an address."""
        self.kernel, self.source_at = kernel, source_at
        self._first: dict[tuple[int, int], BarrierEvent] = {}
        self._count: dict[tuple[int, int], int] = {}

    def on_barrier(self, event: BarrierEvent) -> None:
        """Remember the first wave of each pair of barriers, and count all."""
        self._add(event, 1)

    def merge(self, other: Barriers) -> None:
        """Take in what another part of the same launch found."""
        for pair, event in other._first.items():
            self._add(event, other._count[pair])

    def _add(self, event: BarrierEvent, count: int) -> None:
        """The first wave of the grid is told, whichever came first."""
        pair = event.pc, event.other
        first = self._first.get(pair)
        if first is None or event.place.order < first.place.order:
            self._first[pair] = event
        self._count[pair] = self._count.get(pair, 0) + count

    def findings(self) -> list[Finding]:
        """The findings, in address order."""
        return [self._finding(pair) for pair in sorted(self._first)]

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
