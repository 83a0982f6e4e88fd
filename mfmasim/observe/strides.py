"""strides: addresses whose step from lane to lane differs from the bytes they move, where that is a mistake.

Two kinds are reported, both warnings: a direct-to-LDS load whose lanes overlap in memory (in the LDS they are
contiguous, so bytes are loaded several times and others never), and an LDS address outside the allocation that would
lie inside if it were divided by the factor by which its step is too large (a byte address multiplied by the element
size).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfmasim.observe.check import Check
from mfmasim.observe.finding import Kind

if TYPE_CHECKING:
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
)


def step_of(event: AccessEvent) -> int:
    """Bytes from each lane of the first wave to the next, or 0 when it is not the same for all, or lanes are idle."""
    steps = np.diff(event.addresses[0].astype(np.int64))
    if event.active is not None and not event.active[0].all():
        return 0
    return int(steps[0]) if len(steps) and (steps == steps[0]).all() else 0


class Strides(Check):
    """Examines each instruction's first execution."""

    name = "strides"
    about = "addresses whose step from lane to lane does not fit the bytes they move"
    kinds = (STEP,)

    def __init__(self, launch: Launch) -> None:
        """Remember how large the allocation of a workgroup is."""
        super().__init__(launch)
        self.lds_bytes = launch.lds_bytes
        self._seen: dict[tuple[int, str], int] = {}
        """Step by address in the code and space."""
        self._said: dict[int, tuple[str, str, Place]] = {}

    def on_access(self, event: AccessEvent) -> None:
        """Record the step, and what is wrong with it."""
        pc, name = event.instruction.pc, event.instruction.name
        if (pc, event.space) in self._seen or event.space == "scratch":
            return
        step = self._seen[pc, event.space] = step_of(event)
        if event.space != "lds":
            return
        if event.instruction.opcode.unit == "LDS":
            said = self._scaled(event, step)
        else:
            said = self._overlapping(self._seen.get((pc, "global"), 0), event.size)
        if said:
            self._said[pc] = name, said, event.place(0, None)

    def _overlapping(self, step: int, size: int) -> str:
        if not 0 < abs(step) < size:
            return ""
        return (
            f"each lane loads {size} bytes to the LDS, but lane addresses differ by {abs(step)} bytes in memory: bytes "
            f"are loaded {size // abs(step)} times and the last ones never; the offset must increase by {size} bytes "
            f"per lane"
        )

    def _scaled(self, event: AccessEvent, step: int) -> str:
        factor = step // event.size
        last = int(event.addresses.max()) + event.size
        if factor < 2 or step % event.size or last <= self.lds_bytes or (event.addresses % factor).any():
            return ""
        if int(event.addresses.max()) // factor + event.size > self.lds_bytes:
            return ""
        return (
            f"lane addresses differ by {step} bytes for accesses of {event.size} bytes and leave the {self.lds_bytes} "
            f"bytes of the allocation; divided by {factor} all addresses would lie inside: a byte address was probably "
            f"multiplied by {factor} again"
        )

    def merge(self, other: Strides) -> None:
        """Add what another part of the same launch found; parts come in the order of the grid."""
        for key, found in other._said.items():
            self._said.setdefault(key, found)

    def findings(self) -> list[Finding]:
        """One warning per instruction, in address order."""
        return [
            self.finding(STEP, message, pc, place, instruction=name)
            for pc, (name, message, place) in sorted(self._said.items())
        ]
