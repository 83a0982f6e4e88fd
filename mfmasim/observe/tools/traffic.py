"""Traffic: bytes that a launch requests from global memory, and how well the accesses of a wave use the lines.

The counts are those of the bytes that executed instructions request. Caches, write combining and time are not modelled,
so nothing here is a bandwidth. Lines of 128 bytes are those of CDNA3's vector L1 cache, of 64 those of CDNA2's
(CDNA3 white paper).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.machine.events import Observer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from mfmasim.machine.events import AccessEvent
    from mfmasim.machine.launch.launch import Launch
    from mfmasim.machine.state.memory import Memory, Region
    from mfmasim.machine.state.touched_bytes import Touched

LINES = (64, 128)
"""Bytes of the lines that are counted."""
OWN = ("code object", "kernel arguments", "dispatch packet", "printf buffer")
"""Beginnings of the names of the launch's own buffers, which are not counted."""


@dataclass
class Site:
    """One instruction and one buffer; sums over all waves that executed it."""

    pc: int
    source: str
    instruction: str
    kind: str
    """``read``, ``write`` or ``atomic``."""
    buffer: str
    accesses: int = 0
    """Number of waves that executed it with at least one active lane."""
    lanes: int = 0
    bytes: int = 0
    """Requested bytes of all lanes."""
    distinct: int = 0
    """Requested bytes, where a byte that several lanes of an access request counts once."""
    lines: dict[int, int] = field(default_factory=lambda: dict.fromkeys(LINES, 0))
    """Sum over all accesses of the lines accessed, by line size."""
    fewest: dict[int, int] = field(default_factory=lambda: dict.fromkeys(LINES, 0))
    """Lines that the distinct bytes of each access would fill if they lay side by side, summed."""

    @property
    def use(self) -> dict[int, float]:
        """Requested fraction of the accessed lines, by line size."""
        return {size: self.distinct / max(1, size * count) for size, count in self.lines.items()}

    def record(self) -> dict[str, Any]:
        """As a dictionary that JSON can represent."""
        return {**vars(self), "lines": _named(self.lines), "fewest": _named(self.fewest), "use": _named(self.use)}


def _named(by_size: dict[int, Any]) -> dict[str, Any]:
    return {str(size): value for size, value in by_size.items()}


@dataclass(frozen=True)
class Used:
    """Traffic to the buffers of one name, in bytes, summed over launches."""

    name: str
    size: int
    read: int
    """Bytes that loads request; a scalar load counts once for each wave."""
    written: int
    """Bytes that stores and atomic operations request."""
    touched_read: int
    """Distinct bytes among them."""
    touched_written: int
    element: float
    """Bytes of an element."""

    def with_another(self, other: Used) -> Used:
        """The sum of this and another launch's buffer of the same name."""
        counts = ("size", "read", "written", "touched_read", "touched_written")
        return replace(self, **{name: getattr(self, name) + getattr(other, name) for name in counts})

    @property
    def elements(self) -> int:
        """Elements of the buffer."""
        return round(self.size / self.element)

    def record(self) -> dict[str, Any]:
        """As a dictionary that JSON can represent."""
        return {**vars(self), "elements": self.elements}


def _number(buffer: str) -> int:
    """Number of the argument by the name that a launch gives its buffer: ``argument 1 (b)``; -1 for a field."""
    number = buffer.removeprefix("argument ").partition(" ")[0]
    return int(number) if number.isdecimal() else -1


def count_access(addresses: NDArray[np.int64], active: NDArray[np.bool_] | None, size: int) -> dict[str, NDArray[Any]]:
    """Count one access of several waves.

    Args:
        addresses: first byte of each lane, int64 (waves, lanes).
        active: active lanes, of the same shape; None means all.
        size: bytes of a lane.

    Returns:
        For each wave, int64 (waves,): ``lanes``, ``distinct`` bytes, and ``64`` and ``128``, the lines touched.
    """
    if active is None:
        starts, lanes = np.sort(addresses, axis=1), np.full(len(addresses), addresses.shape[1], np.int64)
    else:
        lanes = active.sum(axis=1)
        # Inactive lanes repeat an active lane: they add no byte and no line.
        one = np.take_along_axis(addresses, active.argmax(axis=1)[:, None], axis=1)
        starts = np.sort(np.where(active, addresses, one), axis=1)
    steps = np.diff(starts, axis=1)
    some = lanes > 0
    counted = {"lanes": lanes, "distinct": some * (np.minimum(steps, size).sum(axis=1) + size)}
    for line in LINES:
        first, last = starts // line, (starts + size - 1) // line
        # Starts ascend and widths are equal, so that ends ascend, too: each lane adds its bytes beyond the lane before.
        fresh = last[:, 1:] - np.maximum(first[:, 1:], last[:, :-1] + 1) + 1
        counted[str(line)] = some * (np.maximum(fresh, 0).sum(axis=1) + last[:, 0] - first[:, 0] + 1)
    return counted


class Traffic(Observer):
    """Observes launches of one kernel; `sites` and `buffers` have the counts of complete launches."""

    name = "traffic"

    def __init__(self, elements: Mapping[int, float] | None = None) -> None:
        """`elements`: bytes of an element by number of the argument, if they differ from those of the array."""
        self._given = dict(elements or {})
        self._sites: dict[tuple[int, int, str], Site] = {}
        self._asked: dict[str, list[int]] = {}
        """Bytes read and written, by buffer."""
        self._regions: list[Region] = []
        self._source_at: Callable[[int], str] = hex
        self._elements: dict[str, float] = {}
        self._names: Callable[[str], str] = str
        self._used: dict[tuple[str, float], Used] = {}
        self._touched: Touched

    def on_start(self, launch: Launch) -> None:
        """A launch is laid out and about to run."""
        self._regions = list(launch.memory.regions)
        self._names = launch.names.buffer
        self._asked = {}
        self._source_at = launch.kernel.source_at
        self._elements = {
            region.name: self._given.get(_number(region.name), float(array.itemsize))
            for region, array in launch.buffers
        }
        self._touched = launch.memory.follow()

    def on_access(self, event: AccessEvent) -> None:
        """Count an access to global memory."""
        if event.space != "global":
            return
        addresses = np.ascontiguousarray(event.addresses).view(np.int64)
        active = event.active
        if active is not None:
            addresses, active = np.broadcast_arrays(addresses, active)
            if not active.any():
                return
        at = int(addresses[active][0]) if active is not None else int(addresses.flat[0])
        buffer = self._buffer(at)
        if buffer.startswith(OWN):
            return
        alike = event.waves // len(addresses)  # one row for all waves, or one row for each
        counted = count_access(addresses, active, event.size)
        site = self._site(event, buffer)
        total = event.size * int(counted["lanes"].sum()) * alike
        site.accesses += int((counted["lanes"] > 0).sum()) * alike
        site.lanes += int(counted["lanes"].sum()) * alike
        site.bytes += total
        site.distinct += int(counted["distinct"].sum()) * alike
        for line in LINES:
            site.lines[line] += int(counted[str(line)].sum()) * alike
            site.fewest[line] += int((-(-counted["distinct"] // line)).sum()) * alike
        asked = self._asked.setdefault(buffer, [0, 0])
        asked[event.kind != "read"] += total

    on_scalar = on_access
    """A scalar load is the access of one lane."""

    def on_end(self, memory: Memory) -> None:
        """The launch is over: sum up each buffer."""
        runs = self._touched.read, self._touched.written
        for region in self._regions:
            if region.name.startswith(OWN):
                continue
            first = region.address - memory.base
            name, element = self._names(region.name), self._elements.get(region.name, 1.0)
            read, written = self._asked.get(name, (0, 0))
            seen, changed = (each.within(first, first + region.size) for each in runs)
            one = Used(name, region.size, read, written, seen, changed, element)
            before = self._used.get((name, element))
            self._used[name, element] = one if before is None else before.with_another(one)

    @property
    def buffers(self) -> list[Used]:
        """Traffic of each buffer, in the order of the launch's arguments."""
        return list(self._used.values())

    @property
    def sites(self) -> list[Site]:
        """Executed instructions with accesses, in address order."""
        return [self._sites[key] for key in sorted(self._sites)]

    def record(self) -> dict[str, Any]:
        """As a dictionary that JSON can represent."""
        return {"buffers": [used.record() for used in self.buffers], "accesses": [site.record() for site in self.sites]}

    def _site(self, event: AccessEvent, buffer: str) -> Site:
        ins = event.instruction
        key = ins.pc, event.part, buffer
        if key not in self._sites:
            self._sites[key] = Site(ins.pc, self._source_at(ins.pc), ins.name, event.kind, buffer)
        return self._sites[key]

    def _buffer(self, address: int) -> str:
        """Name of the buffer that holds an address."""
        inside = (region for region in self._regions if region.address <= address < region.address + region.size)
        found = next(inside, None)
        return "no buffer" if found is None else self._names(found.name)
