"""Memory operations in flight: what a wave's counters still allow to be unfinished."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mfmasim.isa.counters import raised, waited

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from mfmasim.architectures import Arch
    from mfmasim.isa import Instruction, Operand

    Touched = Callable[["Flight", int, "Register", bool], None]
    """Called with a flight, the value that its counter must fall below, a register, and whether that is read."""

__all__ = ["Flight", "Register", "coherent", "execute", "registers", "settled", "touched"]

Register = tuple[str, int]
"""File (v, a or s) and number."""


@dataclass(frozen=True)
class Flight:
    """A memory operation that its counter allows to be still in flight."""

    counter: str
    order: str
    limit: int
    pc: int
    name: str
    writes: frozenset[Register]
    """Registers that it will write."""
    coherent: bool = False
    """Whether it bypasses caches, as volatile and atomic operations do."""


def registers(operands: Iterable[Operand]) -> Iterator[Register]:
    """Registers of operands, one by one."""
    for operand in operands:
        if operand.kind in ("v", "a", "s"):
            for k in range(operand.count):
                yield operand.kind, operand.index + k


def touched(instruction: Instruction) -> tuple[frozenset[Register], frozenset[Register]]:
    """Registers that an instruction, or both halves of a dual one, read and write."""
    parts = instruction.halves or (instruction,)
    return (
        frozenset(r for part in parts for r in registers(part.src)),
        frozenset(r for part in parts for r in registers(part.dst)),
    )


def coherent(instruction: Instruction) -> bool:
    """Whether a memory operation bypasses caches, as volatile and atomic operations do."""
    return any(instruction.modifiers.get(bit) for bit in ("sc0", "sc1", "glc", "dlc", "scope"))


def rank(flights: list[Flight], place: int) -> int:
    """Smallest value that the counter of a flight can have while it is in flight."""
    flight = flights[place]
    if not flight.order:
        return 1
    return sum(f.counter == flight.counter and f.order == flight.order for f in flights[place:])


def settled(flights: list[Flight], counter: str, value: int) -> list[Flight]:
    """The operations that may still be in flight.

    Args:
        flights: in the order in which they were issued.
        counter: name of a counter.
        value: its value after the wait.
    """
    return [f for place, f in enumerate(flights) if f.counter != counter or rank(flights, place) <= value]


def execute(arch: Arch, flights: list[Flight], instruction: Instruction, report: Touched | None = None) -> list[Flight]:
    """Execute one instruction: it waits, touches registers, or issues an operation.

    Args:
        arch: architecture.
        flights: before the instruction.
        instruction: what is executed.
        report: called for each flight whose registers the instruction touches too early.

    Returns:
        The flights after it.
    """
    for counter, value in waited(arch, instruction):
        flights = settled(flights, counter, value)
    reads, writes = touched(instruction)
    up = raised(arch, instruction.opcode, bool(instruction.dst))
    for place, flight in enumerate(flights) if report is not None else ():
        ordered = any(u.counter == flight.counter and u.order == flight.order != "" for u in up)
        # Loads of one kind return in order, so that the later one may write the same register.
        early = flight.writes & ((reads - writes) if ordered else reads) or (
            frozenset() if ordered else flight.writes & writes
        )
        if early and report is not None:
            report(flight, rank(flights, place), min(early), bool(early & reads))
    if flights and any(f.writes & (reads | writes) for f in flights):
        # Reported once: the touched registers count as written.
        flights = [
            f if not f.writes & (reads | writes) else replace(f, writes=frozenset(), coherent=False) for f in flights
        ]
    for u in up:
        flight = Flight(u.counter, u.order, u.limit, instruction.pc, instruction.name, writes, coherent(instruction))
        flights = settled([*flights, flight], u.counter, u.limit)
    return flights
