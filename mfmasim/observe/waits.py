"""waits: no register may be read, or written by something else, while a load to it is in flight.

The machine delivers every load at once, so that a missing wait does not show in the values. This check follows, for
every wave, which loads its counters still allow to be in flight. That depends on the path of the wave alone: waves of
one state share it, and a block that was seen from a state is never examined again.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from mfmasim.isa.counters import SPELLING
from mfmasim.observe.check import Check
from mfmasim.observe.finding import Kind
from mfmasim.observe.flights import Flight, execute, touched
from mfmasim.observe.paths import Paths
from mfmasim.observe.redundant_waits import Ended, RedundantWaits

if TYPE_CHECKING:
    from mfmasim.isa import Instruction
    from mfmasim.machine.events import BlockEvent
    from mfmasim.machine.launch.launch import Launch
    from mfmasim.observe.finding import Finding
    from mfmasim.observe.flights import Register

__all__ = ["Waits"]

READ = Kind(
    "waits-read-in-flight", "error", "Register read while a load to it is in flight",
    "The counters allow the load to be unfinished, so the old value may be read. The simulator completes loads at "
    "once: outputs are right here and may be wrong on hardware.",
    "global_load_dword v4, v2, s[8:9]; v_add_u32 v4, 1, v4",
    "Place the wait that the message names between the load and the use.",
)  # fmt: skip
OVERWRITTEN = Kind(
    "waits-overwritten-in-flight", "error", "Register written while a load to it is in flight",
    "The load may complete after the other write and replace its value.",
    "global_load_dword v4, v2, s[8:9]; v_mov_b32 v4, 1",
    "Wait for the load first, or use another register.",
)  # fmt: skip
STRICTER = Kind(
    "waits-stricter", "info", "A wait is stricter than the executed instructions need",
    "On every executed path a larger value, or no wait, would have been sufficient. Reported only if the wait "
    "completed nothing but loads to registers, and nothing that orders memory preceded their use.",
    "two loads, to v4 and v5; s_waitcnt vmcnt(0); v_add_u32 v4, 1, v4  // v5 is used later",
    "Wait for the value that the message names, and for the rest where it is used.",
)  # fmt: skip
State = tuple[tuple[Flight, ...], tuple[Ended, ...]]
"""What may be in flight, and what waits have ended and nothing has needed yet."""


class Waits(Paths[State], Check):
    """Follows the counters of every wave."""

    name = "waits"
    about = "registers that are touched while a load to them is in flight"
    kinds = (READ, OVERWRITTEN, STRICTER)

    def __init__(self, launch: Launch) -> None:
        """Start with nothing in flight."""
        Check.__init__(self, launch)
        Paths.__init__(self, ((), ()), self.kernel)
        self.arch = self.kernel.arch
        self.redundant = RedundantWaits(self.arch)
        self._of_block = RedundantWaits(self.arch)
        """What the block that is followed needed."""
        self._findings: dict[tuple[int, int, str], Finding] = {}
        self._of: dict[tuple[int, int, str], tuple[int, int]] = {}
        """The first wave of the grid to which each happens."""

    def after(self, state: State, event: BlockEvent, index: int) -> State:
        """What is in flight after a block, and which loads waits have ended.

        Args:
            state: of the wave before.
            event: the block.
            index: one of the waves of the event that are in this state.
        """
        before, ended = state
        self._of_block = RedundantWaits(self.arch)
        flights = list(before)
        for instruction in event.instructions:
            if ended or flights:
                ended = self._of_block.step(ended, flights, instruction, frozenset().union(*touched(instruction)))
            flights = execute(self.arch, flights, instruction, partial(self._missing, instruction, event, index))
        return tuple(flights), ended

    def effect(self) -> RedundantWaits:
        """What the block needed."""
        return self._of_block

    def note(self, effect: RedundantWaits) -> None:
        """Add what a block needed."""
        self.redundant.merge(effect)

    def _missing(
        self, instruction: Instruction, event: BlockEvent, index: int, flight: Flight, rank: int, register: Register,
        read: bool,
    ) -> None:  # fmt: skip
        self.reported = True
        key = instruction.pc, flight.pc, flight.counter
        if self._of.setdefault(key, self.first) < self.first or (key in self._findings and self._of[key] == self.first):
            return
        self._of[key] = self.first
        file, number = instruction.written(register)
        name = f"{file}{number}"
        verb = "is read" if read else "is overwritten"
        wait = SPELLING[flight.counter].format(rank - 1)
        largest = "" if rank == 1 else " or less"
        there = self.kernel.source_at(flight.pc)
        self._findings[key] = self.finding(
            READ if read else OVERWRITTEN,
            f"{name} {verb} while {flight.name} at {flight.pc:#x}{f' ({there})' if there else ''} may still be "
            f"writing it: {wait}{largest} is missing before it",
            instruction.pc, event.place(index, None), register=name, instruction=instruction.name, other=there,
        )  # fmt: skip

    def merge(self, other: Waits) -> None:
        """Add what another part of the same launch found; parts come in the order of the grid."""
        for key, found in other._findings.items():
            self._findings.setdefault(key, found)
        self.redundant.merge(other.redundant)

    def findings(self) -> list[Finding]:
        """The findings, in address order; of waits that are stricter than needed when nothing is missing."""
        found = [self._findings[key] for key in sorted(self._findings)]
        return found or [
            self.finding(STRICTER, message, pc, instruction=name) for pc, name, message in self.redundant.reported()
        ]
