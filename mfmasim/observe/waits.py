"""waits: no register may be read, or written by another instruction, while a load to it is in flight.

The machine delivers every load at once, so that a missing wait does not change the values. This check follows, for
every wave, the loads that its counters allow to be in flight. They depend on the path of the wave alone: waves share
a state, and a block is examined once for each state.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from mfmasim.isa.counters import SPELLING
from mfmasim.observe.check import Check
from mfmasim.observe.finding import Kind
from mfmasim.observe.flights import Flight, accessed, execute, rank
from mfmasim.observe.lanes import SAME, Lanes, exec_after
from mfmasim.observe.paths import Paths
from mfmasim.observe.redundant_waits import Ended, RedundantWaits

if TYPE_CHECKING:
    from mfmasim.isa import Instruction
    from mfmasim.machine.events import BlockEvent, Place
    from mfmasim.machine.launch.launch import Launch
    from mfmasim.observe.finding import Finding
    from mfmasim.observe.flights import Register

READ = Kind(
    "waits-read-in-flight",
    "error",
    "Register read while a load to it is in flight",
    "The counters allow the load to be unfinished, so the old value may be read. The simulator completes loads at "
    "once: outputs are right here and may be wrong on hardware.",
    "global_load_dword v4, v2, s[8:9]; v_add_u32 v4, 1, v4",
    "Place the wait that the message names between the load and the use. After loads in inline assembly place it in "
    "the assembly: the compiler does not know of them.",
    place="wave",
)
OVERWRITTEN = Kind(
    "waits-overwritten-in-flight",
    "error",
    "Register written while a load to it is in flight",
    "The load may complete after the other write and replace its value.",
    "global_load_dword v4, v2, s[8:9]; v_mov_b32 v4, 1",
    "Wait for the load first, or use another register.",
    place="wave",
)
STRICTER = Kind(
    "waits-stricter",
    "info",
    "A wait is stricter than the executed instructions need",
    "On every executed path a larger value, or no wait, would have been sufficient. Reported only if the wait "
    "completed nothing but loads to registers, and nothing that orders memory preceded their use.",
    "two loads, to v4 and v5; s_waitcnt vmcnt(0); v_add_u32 v4, 1, v4  // v5 is used later",
    "Wait for the value that the message names, and for the rest where it is used.",
    place="code",
)
WRITE_BACK = Kind(
    "waits-write-back",
    "warning",
    "A store for another device is issued while a write-back of the L2 is in flight",
    "Another device that sees the flag may read data that the L2 has not written back yet. A write-back counts like a "
    "store until it is complete (LLVM's memory model of gfx942 and gfx12: a release of system scope waits for it).",
    "buffer_wbl2 sc0 sc1; global_store_dword v0, v1, s[0:1] sc0 sc1",
    "Place the wait that the message names between the write-back and the store.",
    place="wave",
)
SYSTEM = 3
"""SCOPE_SYS (RDNA4 ISA manual, "Scope")."""
MOST = 3
"""Most places of loads in a finding."""
Key = tuple[int, int, str]
"""Addresses of a use and of the load for which it is too early, and the counter."""
State = tuple[tuple[Flight, ...], tuple[Ended, ...], Lanes]
"""Operations in flight, loads that waits have ended and that no instruction has used yet, and EXEC."""


@dataclass(frozen=True)
class Missed:
    """A use that comes too early."""

    instruction: Instruction
    load: str
    value: int
    """Largest value of the counter at which the load is complete."""
    register: Register
    read: bool
    place: Place
    first: tuple[int, int]
    """`Paths.first`: the wave."""


class Waits(Paths[State], Check):
    """Follows the counters of every wave."""

    name = "waits"
    about = "registers that are touched while a load to them is in flight"
    kinds = (READ, OVERWRITTEN, STRICTER, WRITE_BACK)

    def __init__(self, launch: Launch) -> None:
        """Start with nothing in flight."""
        Check.__init__(self, launch)
        Paths.__init__(self, ((), (), Lanes()), self.kernel)
        self.arch = self.kernel.arch
        self.redundant = RedundantWaits(self.arch)
        self._of_block = RedundantWaits(self.arch)
        """Needs of the current block."""
        self._missed: dict[Key, Missed] = {}
        self._written_back: dict[Key, tuple[int, Place, tuple[int, int]]] = {}
        """Stores that come too early after a write-back: the value of the counter, and the wave."""
        self._further: dict[Key, dict[Key, int]] = {}
        """Later uses that a missing wait would also cover, by the first use; each with the required counter value."""

    def after(self, state: State, event: BlockEvent, index: int) -> State:
        """Operations in flight after a block, and loads that waits have ended.

        Args:
            state: of the wave before.
            event: the block.
            index: one of the waves of the event that are in this state.
        """
        before, ended, lanes = state
        self._of_block = RedundantWaits(self.arch)
        flights = list(before)
        for instruction in event.instructions:
            if ended or flights:
                ended = self._of_block.step(ended, flights, instruction, frozenset().union(*accessed(instruction)))
            if flights and instruction.opcode.access in ("store", "atomic"):
                self._behind_write_back(flights, instruction, event, index)
            reported: dict[str, Key] = {}
            report = partial(self._missing, instruction, event, index, reported)
            following = execute(self.arch, flights, instruction, report, lanes)
            if reported:
                following = execute(self.arch, self._blamed(flights, reported), instruction, None, lanes)
            lanes, change = exec_after(lanes, instruction, self.kernel.wave)
            flights = following if change == SAME else [flight.under(lanes, change) for flight in following]
        return tuple(flights), ended, lanes

    def _behind_write_back(
        self, flights: list[Flight], instruction: Instruction, event: BlockEvent, index: int
    ) -> None:
        """A store that another device sees, while a write-back for it is in flight."""
        if not _for_devices(instruction):
            return
        for place, flight in enumerate(flights):
            write = self.kernel.instruction_at(flight.pc) if not flight.writes else None
            if write is not None and write.opcode.writes_back and _for_devices(write):
                self.reported = True
                key = instruction.pc, flight.pc, flight.counter
                had = self._written_back.get(key)
                if had is None or had[2] > self.first:
                    self._written_back[key] = rank(flights, place) - 1, event.place(index, None), self.first

    def _blamed(self, flights: list[Flight], reported: dict[str, Key]) -> list[Flight]:
        """Mark the operations in flight at a missing wait: the wait would have ended them as well."""
        return [
            replace(flight, blamed=(reported[flight.counter], rank(flights, place) - 1))
            if flight.counter in reported and flight.blamed is None
            else flight
            for place, flight in enumerate(flights)
        ]

    def effect(self) -> RedundantWaits:
        """Needs of the block."""
        return self._of_block

    def note(self, effect: RedundantWaits) -> None:
        """Add the needs of a block."""
        self.redundant.merge(effect)

    def _missing(
        self,
        instruction: Instruction,
        event: BlockEvent,
        index: int,
        reported: dict[str, Key],
        flight: Flight,
        value: int,
        register: Register,
        read: bool,
    ) -> None:
        self.reported = True
        key = instruction.pc, flight.pc, flight.counter
        if flight.blamed is not None:
            root, needs = flight.blamed
            further = self._further.setdefault(root, {})
            further[key] = min(needs, further.get(key, needs))
            return
        reported.setdefault(flight.counter, key)
        had = self._missed.get(key)
        if had is None or had.first > self.first:
            place = event.place(index, None)
            self._missed[key] = Missed(instruction, flight.name, value - 1, register, read, place, self.first)

    def merge(self, other: Waits) -> None:
        """Add the findings of another part of the same launch; parts come in the order of the grid."""
        for key, missed in other._missed.items():
            self._missed.setdefault(key, missed)
        for key, late in other._written_back.items():
            self._written_back.setdefault(key, late)
        for root, further in other._further.items():
            ours = self._further.setdefault(root, {})
            for key, value in further.items():
                ours[key] = min(value, ours.get(key, value))
        self.redundant.merge(other.redundant)

    def findings(self) -> list[Finding]:
        """The findings, in address order; those about too strict waits only if no wait is missing."""
        found = [self._finding(key) for key in sorted(self._missed)]
        for (pc, write, counter), (value, place, _) in sorted(self._written_back.items()):
            text = (
                f"the write-back at {self.kernel.line_at(write)} may be in flight when other devices see this store: "
                f"{SPELLING[counter].format(value)}{' or less' if value else ''} is missing before it"
            )
            found.append(self.finding(WRITE_BACK, text, pc, place, other=self.kernel.source_at(write)))
        return found or [
            self.finding(STRICTER, message, pc, instruction=name) for pc, name, message in self.redundant.reported()
        ]

    def _finding(self, key: Key) -> Finding:
        """One missing wait, and all uses that it would have covered."""
        missed, (pc, load, counter) = self._missed[key], key
        further = {other: value for other, value in self._further.get(key, {}).items() if other not in self._missed}
        value = min([missed.value, *further.values()])
        file, number = missed.instruction.written(missed.register)
        there = self.kernel.source_at(load)
        message = (
            f"{file}{number} {'is read' if missed.read else 'is overwritten'} while {missed.load} at {load:#x}"
            f"{f' ({there})' if there else ''} may still be writing it: {SPELLING[counter].format(value)}"
            f"{' or less' if value else ''} is missing before it"
        )
        if further:
            loads = sorted({self.kernel.line_at(one) for _, one, _ in further})
            uses = len({use for use, _, _ in further} - {pc})
            shown = ", ".join(loads[:MOST]) + (f" and {len(loads) - MOST} others" if len(loads) > MOST else "")
            message += f"; the same wait serves {uses} further instructions and the loads at {shown}"
        return self.finding(
            READ if missed.read else OVERWRITTEN,
            message,
            pc,
            missed.place,
            register=f"{file}{number}",
            instruction=missed.instruction.name,
            other=there,
            count=1 + len(further),
        )


def _for_devices(instruction: Instruction) -> bool:
    """Whether an instruction has the scope of the system."""
    bits = instruction.modifiers
    # SC0 of an atomic operation says that it returns a value.
    whole = bool(bits.get("sc1") and (bits.get("sc0") or instruction.opcode.access == "atomic"))
    return bits.get("scope") == SYSTEM or whole
