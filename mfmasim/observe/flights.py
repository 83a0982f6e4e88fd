"""Memory operations in flight: operations that a wave's counters allow to be incomplete."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mfmasim.isa.counters import raised, waited
from mfmasim.observe.lanes import ANY, APART, SAME, UNKNOWN, WITHIN, Lanes, by_lane

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from mfmasim.architectures import Arch
    from mfmasim.isa import Instruction, Operand

    Touched = Callable[["Flight", int, "Register", bool], None]
    """Called with a flight, the value that its counter must fall below, a register, and whether that is read."""

Register = tuple[str, int]
"""File (v, a or s) and number."""


@dataclass(frozen=True)
class Flight:
    """A memory operation that may be in flight by its counter."""

    counter: str
    order: str
    limit: int
    pc: int
    name: str
    writes: frozenset[Register]
    """Registers that it will write."""
    coherent: bool = False
    """Whether it bypasses caches, as volatile and atomic operations do."""
    half: str = ""
    """``low`` or ``high``, if it writes that half of its register."""
    blamed: tuple[tuple[int, int, str], int] | None = None
    """The finding reported while it was in flight, and the value to which its counter had to fall."""
    lanes: int | None = None
    """EXEC of a load by lanes, if it is a constant."""
    reach: str = ANY
    """Relation of EXEC to EXEC at the load: ``same``, ``apart`` (no lane in common) or ``any``."""

    def under(self, lanes: Lanes, change: str) -> Flight:
        """The flight after an instruction that changes EXEC (see `mfmasim.observe.lanes.exec_after`)."""
        if self.lanes is not None and lanes.value is not None:
            reach = APART if not self.lanes & lanes.value else ANY
        elif change == WITHIN:
            reach = self.reach if self.reach == APART else ANY
        else:
            reach = APART if change == APART and self.reach == SAME else ANY
        return self if reach == self.reach else replace(self, reach=reach)


def registers(operands: Iterable[Operand]) -> Iterator[Register]:
    """Registers of operands, one by one."""
    for operand in operands:
        if operand.kind in ("v", "a", "s"):
            for k in range(operand.count):
                yield operand.kind, operand.index + k


def accessed(instruction: Instruction) -> tuple[frozenset[Register], frozenset[Register]]:
    """Registers that an instruction, or both halves of a dual one, read and write."""
    parts = instruction.halves or (instruction,)
    return (
        frozenset(r for part in parts for r in registers(part.src)),
        frozenset(r for part in parts for r in registers(part.dst)),
    )


_SMALL = ("u8", "i8", "b8", "u16", "i16", "b16")
"""Types of data in memory that fill half a register."""
_DATA = ("vdst", "vdata", "data", "data0")
"""Fields of the data of loads and stores."""


def _half(arch: Arch, instruction: Instruction) -> tuple[str, frozenset[Register]]:
    """The half of a register that a load writes or a store reads, and the register; empty for other instructions."""
    opcode = instruction.opcode
    half = opcode.d16 or ("low" if opcode.access == "store" and opcode.narrow else "")
    if not half or not arch.keeps_halves or (opcode.access == "load" and "sramecc" in arch.features):
        return "", frozenset()
    operands = (*instruction.dst, *instruction.src)
    data = [operand for operand in operands if operand.field in _DATA and operand.type in _SMALL]
    others = [operand for operand in operands if operand not in data]
    return half, frozenset(registers(data)) - frozenset(registers(others))


def coherent(instruction: Instruction) -> bool:
    """Whether a memory operation bypasses caches, as volatile and atomic operations do."""
    return any(instruction.modifiers.get(bit) for bit in ("sc0", "sc1", "glc", "dlc", "scope"))


def rank(flights: list[Flight], place: int) -> int:
    """Smallest value that the counter of a flight can have while it is in flight."""
    flight = flights[place]
    if not flight.order:
        return 1
    return sum(f.counter == flight.counter and f.order == flight.order for f in flights[place:])


def remaining(flights: list[Flight], counter: str, value: int) -> list[Flight]:
    """The operations that may still be in flight.

    Args:
        flights: in the order in which they were issued.
        counter: name of a counter.
        value: its value after the wait.
    """
    left: list[Flight] = []
    behind: dict[str, int] = {}
    for flight in reversed(flights):
        if flight.counter == counter:
            if flight.order:
                behind[flight.order] = behind.get(flight.order, 0) + 1
            if behind.get(flight.order, 1) > value:  # its `rank`
                continue
        left.append(flight)
    return left[::-1]


def execute(
    arch: Arch, flights: list[Flight], instruction: Instruction, report: Touched | None = None, lanes: Lanes = UNKNOWN
) -> list[Flight]:
    """Execute one instruction: it waits, accesses registers, or issues an operation.

    Memory operations on different halves of a register are independent on architectures with such halves; any other
    instruction accesses the whole register (LLVM, SIInsertWaitcnts: determineVGPR16Dependency).

    Args:
        arch: architecture.
        flights: before the instruction.
        instruction: the instruction.
        report: called for each flight whose registers the instruction accesses too early.
        lanes: known properties of EXEC.

    Returns:
        The flights after it.
    """
    for counter, value in waited(arch, instruction):
        flights = remaining(flights, counter, value)
    reads, writes = accessed(instruction)
    both = reads | writes
    up = raised(arch, instruction.opcode, bool(instruction.dst), instruction.space)
    if not up and all(flight.writes.isdisjoint(both) for flight in flights):  # most instructions
        return flights
    half, data = _half(arch, instruction)
    left: list[Flight] = []
    for place, flight in enumerate(flights):
        if flight.writes.isdisjoint(both) or (flight.reach == APART and by_lane(instruction)):
            left.append(flight)
            continue
        apart = data if {half, flight.half} == {"low", "high"} else frozenset()
        ordered = any(u.counter == flight.counter and u.order == flight.order != "" for u in up)
        # Loads of one kind usually return in order, so that the later one may write the same register.
        ordered &= arch.counters.writes_in_order or flight.counter != arch.counters.loads
        read = flight.writes & (reads - apart) - (writes if ordered else frozenset())
        early = read or (frozenset() if ordered else flight.writes & (writes - apart))
        if early and report is not None:
            report(flight, rank(flights, place), min(early), bool(read))
        # Reported once: the accessed registers count as written.
        over = flight.writes & (both - apart)
        left.append(replace(flight, writes=frozenset()) if over else flight)
    flights = left
    for u in up:
        flight = Flight(
            u.counter,
            u.order,
            u.limit,
            instruction.pc,
            instruction.name,
            writes,
            coherent(instruction),
            half if data & writes else "",
            None,
            *((lanes.value, SAME) if by_lane(instruction) else ()),
        )
        flights = remaining([*flights, flight], u.counter, u.limit)
    return flights
