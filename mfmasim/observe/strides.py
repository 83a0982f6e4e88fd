"""strides: addresses that step from lane to lane by another distance than the bytes they move, where that is a mistake.

Two are told, both warnings: a load straight to the LDS whose lanes overlap in memory (in the LDS they lie side by side,
so that bytes arrive several times and others never), and an LDS address that leaves the allocation but would lie inside
if it were divided by what its step is too large by (a byte address that was multiplied by an element's size again).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.observe.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Callable

    from mfmasim.machine.events import AccessEvent, Place

__all__ = ["Strides"]


def step_of(event: AccessEvent) -> int:
    """Bytes from each lane of the first wave to the next, or 0 when it is not the same for all, or lanes are idle."""
    steps = np.diff(event.addresses[0].astype(np.int64))
    if event.active is not None and not event.active[0].all():
        return 0
    return int(steps[0]) if len(steps) and (steps == steps[0]).all() else 0


class Strides:
    """Looks at each instruction's first execution."""

    name = "strides"

    def __init__(self, kernel: str, source_at: Callable[[int], str], lds_bytes: int) -> None:
        """Report in the name of `kernel`; `lds_bytes` is the allocation of a workgroup."""
        self.kernel, self.source_at, self.lds_bytes = kernel, source_at, lds_bytes
        self._seen: dict[tuple[int, str], int] = {}
        """Step by address in the code and space."""
        self._said: dict[int, tuple[str, str, Place]] = {}

    def on_access(self, event: AccessEvent) -> None:
        """Note the step, and what is wrong with it."""
        pc, name = event.instruction.pc, event.instruction.name
        if (pc, event.space) in self._seen or event.space == "scratch":
            return
        step = self._seen[pc, event.space] = step_of(event)
        if event.space != "lds":
            return
        if name.startswith("ds_"):
            said = self._scaled(event, step)
        else:
            said = self._overlapping(self._seen.get((pc, "global"), 0), event.size)
        if said:
            self._said[pc] = name, said, event.place(0, 0)

    def _overlapping(self, step: int, size: int) -> str:
        if not 0 < abs(step) < size:
            return ""
        return (
            f"each lane loads {size} bytes to the LDS, but lanes lie {abs(step)} bytes apart in memory: bytes arrive "
            f"{size // abs(step)} times and the last ones never; the offset has to grow by {size} bytes a lane"
        )

    def _scaled(self, event: AccessEvent, step: int) -> str:
        factor = step // event.size
        last = int(event.addresses.max()) + event.size
        if factor < 2 or step % event.size or last <= self.lds_bytes or (event.addresses % factor).any():
            return ""
        if int(event.addresses.max()) // factor + event.size > self.lds_bytes:
            return ""
        return (
            f"lanes lie {step} bytes apart for accesses of {event.size} bytes and leave the {self.lds_bytes} bytes of "
            f"the allocation; divided by {factor} all addresses would lie inside: a byte address that was multiplied "
            f"by {factor} again"
        )

    def merge(self, other: Strides) -> None:
        """Take in what another part of the same launch found; parts come in the order of the grid."""
        for key, found in other._said.items():
            self._said.setdefault(key, found)

    def findings(self) -> list[Finding]:
        """One warning an instruction, in address order."""
        return [self._finding(pc, *said) for pc, said in sorted(self._said.items())]

    def _finding(self, pc: int, instruction: str, message: str, place: Any) -> Finding:
        return Finding(
            check="strides", severity="warning", message=message, id="strides-lds", kernel=self.kernel, pc=pc,
            source=self.source_at(pc), workgroup=place.workgroup, wave=place.wave, instruction=instruction,
        )  # fmt: skip
