"""variables: accesses to one variable in the LDS that extend into the next variable.

The LDS of a workgroup has bounds, its variables have none: the byte past the end of a tile lies in the next tile. An
instruction usually accesses one variable. The check reports accesses that reach or cross a variable's end and that
access only a small part of the next variable; an instruction that accesses two variables equally is not reported.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.observe.check import Check
from mfmasim.observe.finding import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.arrays import U8
    from mfmasim.isa import Instruction
    from mfmasim.machine.events import AccessEvent
    from mfmasim.machine.launch.launch import Launch
    from mfmasim.observe.finding import Finding

PAST = Kind(
    "variables-past-end",
    "warning",
    "Accesses of a variable in the LDS reach into its neighbour",
    "Most accesses of the instruction lie in one variable, up to its end or from its beginning, and some in the next "
    "or the one before. The LDS itself has no bounds between them.",
    "__shared__ float a[64], b[64]; a[threadIdx.x + 1] = x;  // a[64] is b[0]",
    "Correct the index.",
)
DWORD = 4
FAR = 1 << 62
"""A number above any address in the LDS."""
MOST = 256
"""Most ranges of one instruction; further ranges only extend the first and last byte."""


@dataclass
class Reach:
    """The bytes that the executions of one instruction have accessed."""

    instruction: Instruction
    ranges: set[tuple[int, int]] = field(default_factory=set)
    """First byte and one past the last byte of all waves of one execution."""
    dwords: U8 = field(default_factory=lambda: np.zeros(0, np.uint8))
    """Flags of the dwords of the LDS in which accesses begin or end."""
    lowest: int = 1 << 62
    highest: int = 0
    low_at: tuple[int, int] = (0, 0)
    """Number of the wave in the launch, and lane, of the lowest access."""
    high_at: tuple[int, int] = (0, 0)

    def merge(self, other: Reach) -> None:
        """Add the accesses of another part of the launch."""
        self.ranges |= other.ranges
        if len(other.dwords):
            self.flags(4 * len(other.dwords))[: len(other.dwords)] |= other.dwords
        if other.lowest < self.lowest:
            self.lowest, self.low_at = other.lowest, other.low_at
        if other.highest > self.highest:
            self.highest, self.high_at = other.highest, other.high_at

    def flags(self, size: int) -> U8:
        """Flags for `size` bytes."""
        if 4 * len(self.dwords) < size:
            self.dwords = np.concatenate([self.dwords, np.zeros(-(-size // 4) - len(self.dwords), np.uint8)])
        return self.dwords

    def passes_any(self, edges: Sequence[int]) -> bool:
        """Whether `passes` holds for one of several edges, in order."""
        upper = edges[bisect_left(edges, (2 * self.highest + self.lowest) / 3) : bisect_left(edges, self.highest)]
        lower = edges[bisect_right(edges, self.lowest) : bisect_right(edges, (2 * self.lowest + self.highest) / 3)]
        return any(self.passes(edge, up=True) for edge in upper) or any(self.passes(edge, up=False) for edge in lower)

    def passes(self, edge: int, *, up: bool) -> bool:
        """Whether accesses lie on both sides of an edge between two variables, and only close to it beyond the edge."""
        inside, beyond = (edge - self.lowest, self.highest - edge) if up else (self.highest - edge, edge - self.lowest)
        if not 0 < beyond <= inside / 2:
            return False
        return bool(self.dwords[edge // 4 - 1] and self.dwords[edge // 4])


class Variables(Check):
    """Compares the accesses of instructions with the places of variables."""

    name = "variables"
    about = "accesses of one variable in the LDS that reach into the next"
    kinds = (PAST,)

    def __init__(self, launch: Launch) -> None:
        """Start without accesses."""
        super().__init__(launch)
        self._launch = launch
        self._names, self._bytes, self._waves = launch.names, launch.lds_bytes, launch.waves_per_workgroup
        self._reach: dict[tuple[int, int], Reach] = {}
        """Accesses by address of the instruction and number of its access."""

    def on_access(self, event: AccessEvent) -> None:
        """Record the range of an access to the LDS."""
        if event.space != "lds":
            return
        addresses, active = event.addresses, event.active
        lowest, highest = addresses, addresses
        if active is not None:
            if not active.any():
                return
            lowest, highest = (np.where(active, addresses, far) for far in (FAR, -FAR))
        low = int(np.minimum.reduce(lowest, axis=None))
        high = int(np.maximum.reduce(highest, axis=None)) + event.size
        if low < 0 or high > self._bytes:
            return  # reported by the check `bounds`
        key = event.instruction.pc, event.part
        reach = self._reach.get(key)
        if reach is None:
            reach = self._reach[key] = Reach(event.instruction)
        if (low, high) in reach.ranges:
            return
        if len(reach.ranges) < MOST:
            reach.ranges.add((low, high))
        flags = reach.flags(high)
        if active is not None:
            addresses = np.broadcast_to(addresses, lowest.shape)[np.broadcast_to(active, lowest.shape)]
        elif len(addresses) > self._waves:
            addresses = addresses[: self._waves]  # workgroups usually access the same ranges
            if int(addresses.min()) != low or int(addresses.max()) + event.size != high:
                addresses = event.addresses
        flags[addresses >> 2] = 1  # an access at an edge begins or ends there
        if event.size > DWORD:
            flags[(addresses + (event.size - DWORD)) >> 2] = 1
        if low < reach.lowest:
            reach.lowest, reach.low_at = low, _place(event, lowest.shape, int(lowest.argmin()))
        if high > reach.highest:
            reach.highest, reach.high_at = high, _place(event, lowest.shape, int(highest.argmax()))

    def merge(self, other: Variables) -> None:
        """Add the accesses of another part of the same launch."""
        for key, reach in other._reach.items():
            self._reach.setdefault(key, Reach(reach.instruction)).merge(reach)

    def findings(self) -> list[Finding]:
        """The findings, in address order."""
        several = self._reach.values()
        edges = sorted({edge for reach in several for edge in (reach.lowest, reach.highest)})
        if not self._names.declared and not any(reach.passes_any(edges) for reach in several):
            return []  # the names of variables may need a compilation
        placed = sorted((v for v in self._names.variables if v.size), key=lambda variable: variable.offset)
        found = [self._judged(pc, self._reach[pc, part], placed) for pc, part in sorted(self._reach)]
        return [finding for finding in found if finding is not None]

    def _judged(self, pc: int, reach: Reach, placed: list[Any]) -> Finding | None:
        """The finding about an instruction, if there is one; `placed` are `Names.variables`."""
        for before, after in pairwise(placed):
            end = before.offset + before.size
            last = after.offset + after.size
            if before.offset <= reach.lowest < end < reach.highest < last and reach.passes(end, up=True):
                return self._finding(pc, reach, before, reach.highest - 1, f"past the end of {before.name}", after)
            start = after.offset
            if before.offset < reach.lowest < start < reach.highest <= last and reach.passes(start, up=False):
                return self._finding(pc, reach, after, reach.lowest, f"before the beginning of {after.name}", before)
        return None

    def _finding(self, pc: int, reach: Reach, meant: Any, byte: int, where: str, other: Any) -> Finding:
        inside = other.offset <= byte < other.offset + other.size
        aligned = byte - (byte - other.offset) % (other.type.innermost.size or 1)
        lands = f"in {self._names.lds(aligned)}" if inside else f"between the two, at byte {byte} of the LDS"
        access = "writes" if reach.instruction.opcode.access == "store" else "accesses"
        element = meant.type.innermost.size or 1
        far = byte - meant.offset - meant.size + 1 if byte >= meant.offset + meant.size else meant.offset - byte
        count = -(-far // element)
        text = (
            f"this instruction {access} {meant.name} up to {count} element{'s' * (count != 1)} of {element} bytes "
            f"{where}: that lands {lands}"
        )
        number, lane = reach.high_at if byte >= meant.offset + meant.size else reach.low_at
        place = self._launch.place(number, lane)
        return self.finding(PAST, text, pc, place, instruction=reach.instruction.name)


def _place(event: AccessEvent, shape: tuple[int, ...], at: int) -> tuple[int, int]:
    """Wave, by its number in the launch, and lane of an element of an array (1 or waves, lanes)."""
    row, lane = divmod(at, shape[1])
    return int(event.numbers[row * (event.waves // shape[0])]), lane
