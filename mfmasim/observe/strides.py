"""strides: addresses whose step from lane to lane differs from the bytes of a lane, where this is an error.

Two kinds are reported, both warnings: a direct-to-LDS load whose lanes overlap in memory (in the LDS they are
contiguous: some bytes are loaded several times and others never), and an LDS address outside the allocation that would
lie inside after a division by the excess factor of its step (a byte address multiplied by the element
size).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.observe.check import Check
from mfmasim.observe.finding import Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.machine.events import AccessEvent, Place
    from mfmasim.machine.launch.launch import Launch
    from mfmasim.observe.finding import Finding

STEP = Kind(
    "strides-lds",
    "warning",
    "Addresses step too far from lane to lane",
    "The step is a multiple of the access and leaves the LDS; the element size was probably applied twice.",
    "a byte offset is used as an index: tile[4 * threadIdx.x]",
    "Remove one of the two factors.",
    place="wave",
)


def step_of(addresses: NDArray[Any], active: NDArray[np.bool_] | None) -> int:
    """Bytes from each lane of a wave to the next; 0 if they are unequal, or if lanes are inactive.

    Args:
        addresses: of the lanes, (lanes,).
        active: active lanes; None means all.
    """
    if active is not None and not active.all():
        return 0
    steps = np.diff(addresses.astype(np.int64))
    return int(steps[0]) if len(steps) and (steps == steps[0]).all() else 0


class Strides(Check):
    """Examines each instruction's first execution."""

    name = "strides"
    about = "addresses whose step from lane to lane does not fit the bytes they move"
    kinds = (STEP,)

    def __init__(self, launch: Launch) -> None:
        """Store the size of a workgroup's allocation."""
        super().__init__(launch)
        self.lds_bytes = launch.lds_bytes
        self._seen: set[tuple[int, str]] = set()
        """Instructions already examined, by address in the code and space."""
        self._loads: dict[int, tuple[NDArray[Any], NDArray[np.bool_] | None]] = {}
        """Addresses and lanes of the first wave's reads from memory, by address in the code."""
        self._said: dict[int, tuple[str, str, Place]] = {}

    def on_access(self, event: AccessEvent) -> None:
        """Record the step and its error."""
        pc = event.instruction.pc
        if (pc, event.space) in self._seen or event.space == "scratch":
            return
        self._seen.add((pc, event.space))
        if event.space != "lds":
            if event.kind == "read":
                active = event.active
                self._loads[pc] = event.addresses[0].copy(), active if active is None else active[0].copy()
            return
        said = self._scaled(event) if event.instruction.opcode.unit == "LDS" else self._overlapping(pc, event.size)
        if said:
            self._said[pc] = event.instruction.name, said, event.place(0, None)

    def _overlapping(self, pc: int, size: int) -> str:
        step = step_of(*self._loads[pc]) if pc in self._loads else 0
        if not 0 < abs(step) < size:
            return ""
        return (
            f"each lane loads {size} bytes to the LDS, but lane addresses differ by {abs(step)} bytes in memory: bytes "
            f"are loaded {size // abs(step)} times and the last ones never; the offset must increase by {size} bytes "
            f"per lane"
        )

    def _scaled(self, event: AccessEvent) -> str:
        if int(event.addresses.max()) + event.size <= self.lds_bytes:
            return ""
        step = step_of(event.addresses[0], None if event.active is None else event.active[0])
        factor = step // event.size
        if factor < 2 or step % event.size or (event.addresses % factor).any():
            return ""
        if int(event.addresses.max()) // factor + event.size > self.lds_bytes:
            return ""
        return (
            f"lane addresses differ by {step} bytes for accesses of {event.size} bytes and leave the {self.lds_bytes} "
            f"bytes of the allocation; divided by {factor} all addresses would lie inside: a byte address was probably "
            f"multiplied by {factor} again"
        )

    def merge(self, other: Strides) -> None:
        """Add the findings of another part of the same launch; parts come in the order of the grid."""
        for key, found in other._said.items():
            self._said.setdefault(key, found)

    def findings(self) -> list[Finding]:
        """One warning per instruction, in address order."""
        return [
            self.finding(STEP, message, pc, place, instruction=name)
            for pc, (name, message, place) in sorted(self._said.items())
        ]
