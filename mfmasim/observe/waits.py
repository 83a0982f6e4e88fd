"""waits: no register may be read, or written by something else, while a load to it is in flight.

The machine delivers every load at once, so that a missing wait does not show in the values. This check follows, for
every wave, which loads its counters still allow to be in flight. That depends on the path of the wave alone: waves of
one state share it, and a block that was seen from a state is never looked at again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mfmasim.isa.counters import SPELLING, raised, waited
from mfmasim.observe.finding import Finding
from mfmasim.observe.paths import Paths
from mfmasim.observe.spare import Ended, Spare, coherent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mfmasim.architectures import Arch
    from mfmasim.isa import Instruction
    from mfmasim.machine.events import BlockEvent

__all__ = ["Flight", "Waits", "registers", "settled"]

Register = tuple[str, int]
State = tuple[tuple["Flight", ...], tuple[Ended, ...]]
"""What may be in flight, and what waits have ended and nothing has needed yet."""


@dataclass(frozen=True)
class Flight:
    """A memory operation that its counter allows to be in flight still."""

    counter: str
    order: str
    limit: int
    pc: int
    name: str
    writes: frozenset[Register]
    """Registers that it will write."""
    coherent: bool = False
    """Whether it goes past caches, as what is volatile or atomic does."""


def registers(operands: Any) -> Iterator[Register]:
    """Registers of operands, one by one."""
    for operand in operands:
        if operand.kind in ("v", "a", "s"):
            for k in range(operand.count):
                yield operand.kind, operand.index + k


def rank(flights: list[Flight], place: int) -> int:
    """Smallest value that the counter of a flight can have while it is in flight."""
    mine = flights[place]
    if not mine.order:
        return 1
    return sum(f.counter == mine.counter and f.order == mine.order for f in flights[place:])


def settled(flights: list[Flight], counter: str, value: int) -> list[Flight]:
    """The flights that may be left once a counter is down to a value."""
    return [f for place, f in enumerate(flights) if f.counter != counter or rank(flights, place) <= value]


class Waits(Paths[State]):
    """Follows the counters of every wave."""

    name = "waits"

    def __init__(self, kernel: str, arch: Arch, source_at: Callable[[int], str]) -> None:
        """Report in the name of `kernel`; `source_at` gives the source line of an address in the code."""
        super().__init__(((), ()))
        self.kernel, self.arch, self.source_at = kernel, arch, source_at
        self.spare = Spare(arch)
        self._findings: dict[tuple[int, int, str], Finding] = {}

    def after(self, state: State, event: BlockEvent, index: int) -> State:
        """What is in flight after a block, and which waits have ended what."""
        before, ended = state
        flights = list(before)
        for instruction in event.instructions:
            if ended or flights:
                parts = instruction.halves or (instruction,)
                touched = frozenset(r for part in parts for r in registers((*part.src, *part.dst)))
                ended = self.spare.step(ended, flights, instruction, touched)
            flights = self._step(flights, instruction, event, index)
        return tuple(flights), ended

    def _step(self, flights: list[Flight], instruction: Instruction, event: BlockEvent, index: int) -> list[Flight]:
        """Execute one instruction: touch its registers, wait, or take off."""
        for counter, value in waited(self.arch, instruction):
            flights = settled(flights, counter, value)
        parts = getattr(instruction, "halves", ()) or (instruction,)
        reads = {r for part in parts for r in registers(part.src)}
        writes = {r for part in parts for r in registers(part.dst)}
        up = raised(self.arch, instruction.opcode, bool(instruction.dst))
        for place, flight in enumerate(flights):
            ordered = any(u.counter == flight.counter and u.order == flight.order != "" for u in up)
            # Loads of one kind come back in order, so that the later one may write the same register.
            touched = flight.writes & ((reads - writes) if ordered else reads) or (
                frozenset() if ordered else flight.writes & writes
            )
            if touched:
                self._missing(instruction, flight, rank(flights, place), min(touched), touched & reads, event, index)
        if flights and any(f.writes & (reads | writes) for f in flights):
            # Told once: what was touched counts as arrived.
            flights = [f if not f.writes & (reads | writes) else _arrived(f) for f in flights]
        for u in up:
            mine = Flight(
                u.counter, u.order, u.limit, instruction.pc, instruction.name, frozenset(writes), coherent(instruction)
            )
            flights = settled([*flights, mine], u.counter, u.limit)
        return flights

    def _missing(
        self, instruction: Instruction, flight: Flight, rank: int, register: Register, reads: Any, event: BlockEvent,
        index: int,
    ) -> None:  # fmt: skip
        key = instruction.pc, flight.pc, flight.counter
        if key in self._findings:
            return
        place = event.place(index, None)
        verb = "is read" if reads else "is overwritten"
        wait = SPELLING[flight.counter].format(rank - 1)
        largest = "" if rank == 1 else " or less"
        there = self.source_at(flight.pc)
        self._findings[key] = Finding(
            check="waits",
            severity="error",
            message=f"{register[0]}{register[1]} {verb} while {flight.name} at {flight.pc:#x}"
            f"{f' ({there})' if there else ''} may still be writing it: {wait}{largest} is missing before it",
            id="waits-read-in-flight" if reads else "waits-overwritten-in-flight",
            kernel=self.kernel,
            pc=instruction.pc,
            source=self.source_at(instruction.pc),
            workgroup=place.workgroup,
            wave=place.wave,
            register=f"{register[0]}{register[1]}",
            instruction=instruction.name,
            other=there,
        )

    def merge(self, other: Waits) -> None:
        """Take in what another part of the same launch found; parts come in the order of the grid."""
        for key, found in other._findings.items():
            self._findings.setdefault(key, found)
        self.spare.merge(other.spare)

    def findings(self) -> list[Finding]:
        """The findings, in address order; of waits that are stricter than needed when nothing is missing."""
        found = [self._findings[key] for key in sorted(self._findings)]
        return found or [
            Finding(
                "waits", "info", message, "waits-stricter", kernel=self.kernel, pc=pc, source=self.source_at(pc),
                instruction=name,
            )
            for pc, name, message in self.spare.told()
        ]  # fmt: skip


def _arrived(flight: Flight) -> Flight:
    return Flight(flight.counter, flight.order, flight.limit, flight.pc, flight.name, frozenset())
