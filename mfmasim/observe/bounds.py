"""bounds: accesses outside every buffer, one finding per instruction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfmasim.observe.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Callable

    from mfmasim.machine.events import AccessFault

__all__ = ["Bounds"]


class Bounds:
    """Collects access faults of one launch."""

    name = "bounds"

    def __init__(self, kernel: str, source_at: Callable[[int], str]) -> None:
        """Report in the name of `kernel`; `source_at` gives the source line of an address."""
        self.kernel, self.source_at = kernel, source_at
        self._first: dict[int, AccessFault] = {}
        self._lanes: dict[int, int] = {}

    def on_fault(self, event: AccessFault) -> None:
        """Remember the first fault of each instruction and count the lanes of all."""
        if event.kind.startswith("misaligned"):
            return  # told by the check `alignment`
        self._add(event.instruction.pc, event, event.lanes)

    def merge(self, other: Bounds) -> None:
        """Take in what another part of the same launch found."""
        for pc, event in other._first.items():
            self._add(pc, event, other._lanes[pc])

    def _add(self, pc: int, event: AccessFault, lanes: int) -> None:
        """The first wave of the grid is told, whichever came first."""
        first = self._first.get(pc)
        if first is None or event.place.order < first.place.order:
            self._first[pc] = event
        self._lanes[pc] = self._lanes.get(pc, 0) + lanes

    def findings(self) -> list[Finding]:
        """The findings, in address order."""
        return [self._finding(pc, self._first[pc]) for pc in sorted(self._first)]

    def _finding(self, pc: int, event: AccessFault) -> Finding:
        lanes = self._lanes[pc]
        if event.space == "buffer":
            return self._clipped(pc, event, lanes)
        outside = "to read-only memory" if event.nearest.startswith("in ") else "outside every buffer"
        became = "the store was dropped" if event.kind == "write" else "the load returned poison"
        kind = "bounds-read-only" if event.nearest.startswith("in ") else "bounds-outside-buffer"
        if event.space == "lds":
            kind = "bounds-lds"
            became = "the store was dropped" if event.kind == "write" else "the load returned 0"
            where = f"LDS address {event.address}"
        elif event.space == "scratch":
            kind = "bounds-scratch"
            address = event.address - (event.address >> 63 << 64)
            outside = "before the private segment" if address < 0 else "beyond the private segment (stack overflow)"
            where = f"scratch address {address} {event.nearest} a work-item"
        else:
            where = f"address {event.address:#x}, {event.nearest}"
        message = f"{event.kind} of {event.size} bytes {outside}: {where}; {_lanes(lanes)} in all, {became}"
        return self._at(kind, pc, event, lanes, "error", message)

    def _clipped(self, pc: int, event: AccessFault, lanes: int) -> Finding:
        """Lanes beyond num_records of a buffer resource: often meant, so only told."""
        became = "the store was dropped" if event.kind == "write" else "the load returned 0"
        message = f"{event.kind} beyond the range of the buffer resource; {_lanes(lanes)} in all, {became}"
        return self._at("bounds-buffer-range", pc, event, lanes, "info", message)

    def _at(self, kind: str, pc: int, event: AccessFault, lanes: int, severity: str, message: str) -> Finding:
        """The finding at the place of an event."""
        return Finding(
            check="bounds",
            severity=severity,
            message=message,
            id=kind,
            kernel=self.kernel,
            pc=pc,
            source=self.source_at(pc),
            workgroup=event.place.workgroup,
            wave=event.place.wave,
            lane=event.place.lane,
            instruction=event.instruction.name,
            count=lanes,
        )


def _lanes(count: int) -> str:
    return f"{count} lane{'s' if count != 1 else ''}"
