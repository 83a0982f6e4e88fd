"""uninitialised: bits that nobody wrote decide something, reach a matrix instruction, or leave the kernel.

The machine follows undefined bits (`mfmasim.machine.definedness`); moving them and computing with them is no use of
them. This file puts uses into words: where they are, and where the bits come from.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mfmasim.observe.finding import Finding

if TYPE_CHECKING:
    from mfmasim.machine.events import UndefinedUse
    from mfmasim.program import Kernel

__all__ = ["Uninitialised"]

#  use         kind of finding             what happens
USES = {
    "branch":  ("uninitialised-branch",  "decides a branch"),
    "exec":    ("uninitialised-branch",  "decides which lanes are active"),
    "jump":    ("uninitialised-branch",  "is where a jump goes"),
    "address": ("uninitialised-address", "is the address of an access"),
    "index":   ("uninitialised-address", "chooses a register"),
    "matrix":  ("uninitialised-matrix",  "is an operand of a matrix instruction"),
    "stored":  ("uninitialised-stored",  "is stored to global memory"),
    "atomic":  ("uninitialised-atomic",  "is what an atomic starts from"),
}  # fmt: skip


class Uninitialised:
    """Collects uses of undefined bits of one launch."""

    name = "uninitialised"

    def __init__(self, kernel: Kernel, launch: Any) -> None:
        """Report in the name of a kernel; the launch tells where buffers lie."""
        self.kernel, self.source_at = kernel.name, kernel.source_at
        self._layout: list[tuple[str, int, int]] = launch.layout
        self._found: dict[tuple[int, str, str], Finding] = {}
        self._orders: dict[tuple[int, str, str], tuple[int, ...]] = {}

    def on_use(self, event: UndefinedUse) -> None:
        """Remember the first use of each register by each instruction, in the order of the grid.

        Registers of a matrix operand stand for one another.
        """
        kind, what = USES[event.use]
        origin = self._origin(event)
        ins, place = event.instruction, event.place
        bits = "" if event.bits in (0xFFFFFFFF, 1) else f" (bits {event.bits:#x})"
        found = Finding(
            check=self.name,
            severity="error",
            message=f"{event.register}{bits} {what} and {origin}",
            id=kind,
            kernel=self.kernel,
            pc=ins.pc,
            source=self.source_at(ins.pc),
            workgroup=place.workgroup,
            wave=place.wave,
            lane=place.lane,
            register=event.register,
            instruction=ins.name,
            count=event.lanes,
        )
        self._add((ins.pc, event.use, "" if event.use == "matrix" else event.register), found, place.order)

    def _origin(self, event: UndefinedUse) -> str:
        """Where the bits come from, in words."""
        origin = event.origin
        if origin.space == "register":
            if not origin.key:
                return "was never written" if event.register == "v0" else "holds bits that were never written"
            name = event.origin_register
            lane = f" in lane {origin.lane}" if name[0] in "va" and origin.lane is not None else ""
            if name == event.register:
                return f"was never written{lane}"
            return f"comes from {name}, which was never written{lane}"
        where = f"byte {origin.address} of " + {"lds": "the LDS", "scratch": "the lane's scratch"}.get(origin.space, "")
        if origin.space == "global":
            holds = ((n, first) for n, first, size in self._layout if first <= origin.address < first + size)
            name, first = next(holds, ("memory", 0))
            where = f"byte {origin.address - first} of {name}"
        at = ""
        if event.loaded is not None and event.loaded != event.instruction.pc:
            source = self.source_at(event.loaded)
            at = f" loaded at {event.loaded:#x}{f' ({source})' if source else ''}"
        return f"comes from {where}, which nothing has written{',' if at else ''}{at}"

    def _add(self, key: tuple[int, str, str], found: Finding, order: tuple[int, ...]) -> None:
        before = self._found.get(key)
        if before is None:
            self._found[key], self._orders[key] = found, order
            return
        count = before.count + found.count
        if order < self._orders[key]:
            before, self._orders[key] = found, order
        self._found[key] = replace(before, count=count)

    def merge(self, other: Uninitialised) -> None:
        """Take in what another part of the same launch found."""
        for key, found in other._found.items():
            self._add(key, found, other._orders[key])

    def findings(self) -> list[Finding]:
        """The findings, in address order."""
        return [self._found[key] for key in sorted(self._found)]
