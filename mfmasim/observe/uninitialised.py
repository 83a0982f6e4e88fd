"""uninitialised: bits that were never written decide a branch, reach a matrix instruction, or reach an output.

The machine follows undefined bits (`mfmasim.machine.definedness`); moves and arithmetic are not uses of
them. This file describes the uses: their places, and the origins of the bits.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mfmasim.observe.check import Check
from mfmasim.observe.finding import Kind

if TYPE_CHECKING:
    from mfmasim.machine.events import UndefinedUse
    from mfmasim.machine.launch.launch import Launch
    from mfmasim.observe.finding import Finding

BRANCH = Kind(
    "uninitialised-branch",
    "error",
    "Uninitialised bits decide the control flow",
    "A branch, a jump or EXEC depends on a register, an LDS byte or an element that was never written. It holds data "
    "of earlier work, so runs differ.",
    "__shared__ int found; if (threadIdx.x == 0 && hit) found = 1; __syncthreads(); if (found) ...",
    "Write it first, in every lane that is read; let one wave set a flag in the LDS before a barrier.",
)
ADDRESS = Kind(
    "uninitialised-address",
    "error",
    "Uninitialised bits in an address",
    "The access may go anywhere, or use any register.",
    "int at[4]; at[0] = n; x = table[at[i]];",
    "Fill the whole array, or bound the index.",
)
MATRIX = Kind(
    "uninitialised-matrix",
    "error",
    "A matrix instruction multiplies uninitialised bits",
    "Every element of A and B reaches a row or a column of the result, and 0 times a leftover NaN is NaN: padding has "
    "to be zero.",
    "if (k < K) tile[k] = a[k];  // and the rest of the tile is read as well",
    "Fill tails with zeros before the barrier; initialise accumulators.",
)
STORED = Kind(
    "uninitialised-stored",
    "error",
    "Uninitialised bits are stored to global memory",
    "The output of the kernel differs from run to run.",
    "float c; if (beta != 0) c = C[i]; C[i] = alpha * acc + beta * c;",
    "Write the value on every path; read C only if beta is not 0.",
)
ATOMIC = Kind(
    "uninitialised-atomic",
    "error",
    "An atomic operation on uninitialised memory",
    "The result includes whatever the memory held before.",
    "atomicAdd(&sum[0], x);  // sum was allocated and never cleared",
    "Clear the buffer before the launch.",
)

#  use       kind     what happens
USES = {
    "branch": (BRANCH, "decides a branch"),
    "exec": (BRANCH, "decides which lanes are active"),
    "skip": (BRANCH, "decides whether vector instructions are skipped"),
    "jump": (BRANCH, "is the target of a jump"),
    "address": (ADDRESS, "is the address of an access"),
    "index": (ADDRESS, "selects a register"),
    "matrix": (MATRIX, "is an operand of a matrix instruction"),
    "stored": (STORED, "is stored to global memory"),
    "atomic": (ATOMIC, "is updated by an atomic operation"),
}


class Uninitialised(Check):
    """Collects uses of undefined bits in one launch."""

    name = "uninitialised"
    about = "bits that were never written and that decide something, are multiplied or leave the kernel"
    kinds = (BRANCH, ADDRESS, MATRIX, STORED, ATOMIC)

    def __init__(self, launch: Launch) -> None:
        """Store the names of buffers and variables."""
        super().__init__(launch)
        self._names = launch.names
        self._found: dict[tuple[int, str, str], Finding] = {}
        self._orders: dict[tuple[int, str, str], tuple[int, ...]] = {}

    def on_use(self, event: UndefinedUse) -> None:
        """Record the first use of each register by each instruction, in the order of the grid.

        All registers of a matrix operand count as one.
        """
        kind, what = USES[event.use]
        origin = self._origin(event)
        ins, place = event.instruction, event.place
        bits = "" if event.bits in (0xFFFFFFFF, 1) else f" (bits {event.bits:#x})"
        found = self.finding(
            kind,
            f"{event.register}{bits} {what} and {origin}",
            ins.pc,
            place,
            register=event.register,
            instruction=ins.name,
            count=event.lanes,
        )
        self._add((ins.pc, event.use, "" if event.use == "matrix" else event.register), found, place.order)

    def _origin(self, event: UndefinedUse) -> str:
        """The origin of the bits in words."""
        origin = event.origin
        if origin.space == "register":
            if not origin.key:
                return "was never written" if event.register == "v0" else "holds bits that were never written"
            name = event.origin_register
            lane = f" in lane {origin.lane}" if name[0] in "va" and origin.lane is not None else ""
            if name == event.register:
                return f"was never written{lane}"
            return f"comes from {name}, which was never written{lane}"
        where = f"byte {origin.address} of the lane's scratch"
        if origin.space == "global":
            where = self._names.at(origin.address)
        elif origin.space == "lds":
            where = self._names.lds(origin.address)
        at = ""
        if event.loaded is not None and event.loaded != event.instruction.pc:
            source = self.kernel.source_at(event.loaded)
            at = f" loaded at {event.loaded:#x}{f' ({source})' if source else ''}"
        return f"comes from {where}, which was never written{',' if at else ''}{at}"

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
        """Add the findings of another part of the same launch."""
        for key, found in other._found.items():
            self._add(key, found, other._orders[key])

    def findings(self) -> list[Finding]:
        """The findings, in address order."""
        return [self._found[key] for key in sorted(self._found)]
