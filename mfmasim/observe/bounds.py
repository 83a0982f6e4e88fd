"""bounds: accesses outside every buffer, and buffer resources that cannot be meant, one finding per instruction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfmasim.observe.descriptors import Descriptor, wrong
from mfmasim.observe.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.architectures import Arch
    from mfmasim.isa import Instruction
    from mfmasim.machine.events import AccessFault, Place, ResourceEvent

__all__ = ["Bounds"]


class Bounds:
    """Collects access faults of one launch."""

    name = "bounds"

    def __init__(self, kernel: str, source_at: Callable[[int], str], arch: Arch) -> None:
        """Report in the name of `kernel` of an architecture; `source_at` gives the source line of an address."""
        self.kernel, self.source_at, self.arch = kernel, source_at, arch
        self._described: set[tuple[int, ...]] = set()
        self._resources: dict[tuple[int, str], tuple[Place, Finding]] = {}
        self._first: dict[int, AccessFault] = {}
        self._lanes: dict[int, int] = {}

    def on_fault(self, event: AccessFault) -> None:
        """Remember the first fault of each instruction and count the lanes of all."""
        if event.kind.startswith("misaligned"):
            return  # told by the check `alignment`
        self._add(event.instruction.pc, event, event.lanes)

    def on_resource(self, event: ResourceEvent) -> None:
        """Look at the buffer resources that an instruction has not had yet."""
        words = event.words if len(event.words) == 1 else np.unique(event.words, axis=0)
        for row in words.tolist():
            seen = (event.instruction.pc, *row)
            if seen in self._described:
                continue
            mine = (event.words == row).all(axis=1)[:, None] & event.active()
            if mine.any():
                self._described.add(seen)
                self._describe(event, Descriptor((row[0], row[1], row[2], row[3]), self.arch), mine)

    def _describe(self, event: ResourceEvent, descriptor: Descriptor, mine: NDArray[np.bool_]) -> None:
        """What is wrong about a resource at its first use."""
        where = event.place(int(mine.any(axis=1).argmax()), None)
        for text in wrong(descriptor):
            self._keep(event, where, "bounds-resource", "error", f"{text}; {descriptor.text()}")
        outside = event.outside(descriptor.base) if descriptor.records else ""
        if outside:
            message = f"the base of the buffer resource is {outside}; {descriptor.text()}"
            self._keep(event, where, "bounds-resource-base", "warning", message)

    def _keep(self, event: ResourceEvent, where: Place, kind: str, severity: str, message: str) -> None:
        """The first wave of the grid is told, whichever came first."""
        had = self._resources.get((event.instruction.pc, kind))
        if had is None or where.order < had[0].order:
            finding = self._told(kind, event.instruction, where, severity, message)
            self._resources[event.instruction.pc, kind] = where, finding

    def merge(self, other: Bounds) -> None:
        """Take in what another part of the same launch found."""
        for pc, event in other._first.items():
            self._add(pc, event, other._lanes[pc])
        for key, (where, finding) in other._resources.items():
            had = self._resources.get(key)
            if had is None or where.order < had[0].order:
                self._resources[key] = where, finding

    def _add(self, pc: int, event: AccessFault, lanes: int) -> None:
        """The first wave of the grid is told, whichever came first."""
        first = self._first.get(pc)
        if first is None or event.place.order < first.place.order:
            self._first[pc] = event
        self._lanes[pc] = self._lanes.get(pc, 0) + lanes

    def findings(self) -> list[Finding]:
        """The findings, in address order; the resource before what came of it."""
        found = [((pc, 1, ""), self._finding(pc, self._first[pc])) for pc in self._first]
        found += [((pc, 0, kind), finding) for (pc, kind), (_, finding) in self._resources.items()]
        return [finding for _, finding in sorted(found, key=lambda entry: entry[0])]

    def _finding(self, pc: int, event: AccessFault) -> Finding:
        lanes = self._lanes[pc]
        if event.space == "buffer":
            return self._clipped(event, lanes)
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
        return self._told(kind, event.instruction, event.place, "error", message, lanes)

    def _clipped(self, event: AccessFault, lanes: int) -> Finding:
        """Lanes beyond num_records of a buffer resource: often meant, so only told."""
        became = "the store was dropped" if event.kind == "write" else "the load returned 0"
        message = f"{event.kind} beyond the range of the buffer resource; {_lanes(lanes)} in all, {became}"
        return self._told("bounds-buffer-range", event.instruction, event.place, "info", message, lanes)

    def _told(
        self, kind: str, instruction: Instruction, place: Place, severity: str, message: str, lanes: int = 1
    ) -> Finding:
        """The finding of an instruction at a place."""
        pc = instruction.pc
        return Finding(
            check="bounds",
            severity=severity,
            message=message,
            id=kind,
            kernel=self.kernel,
            pc=pc,
            source=self.source_at(pc),
            workgroup=place.workgroup,
            wave=place.wave,
            lane=place.lane,
            instruction=instruction.name,
            count=lanes,
        )


def _lanes(count: int) -> str:
    return f"{count} lane{'s' if count != 1 else ''}"
