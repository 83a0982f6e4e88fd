"""Waits that are stricter than the code behind them needs, on every executed path.

A wait ends loads. Each load is followed as if it were still in flight, until an instruction accesses its registers (the
wait was needed, up to a value that would still have ended this load), or a later wait would have ended it, too (this
wait was not needed for it). Waits order more than registers: stores, the LDS between waves, caches, volatile accesses.
So a wait counts as needed unchanged if it ended anything other than a plain load to registers, and if an instruction
that stores or orders memory precedes the access to the registers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mfmasim.isa.counters import SPELLING, raised, waited
from mfmasim.observe.flights import coherent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mfmasim.architectures import Arch
    from mfmasim.isa import Instruction
    from mfmasim.observe.flights import Flight, Register

UNNEEDED = 1 << 16
"""A value above that of any counter: the wait may be removed."""
_ORDERING = ("sleep", "message", "icache", "setreg", "gws")
"""Kinds of operations that order memory, or that have effects on other waves."""


@dataclass(frozen=True)
class Ended:
    """A load that a wait has ended."""

    registers: frozenset[Register]
    wait: int
    """Address of the wait."""
    value: int
    """Counter value of the wait."""
    counter: str
    order: str
    limit: int
    largest: int
    """Largest value of the wait that would have ended it."""
    rank: int
    """Smallest value that the counter could have now, if it were still in flight."""


def orders_memory(instruction: Instruction) -> bool:
    """Whether an instruction stores, or orders memory, so that a wait before it may be intended."""
    opcode = instruction.opcode
    if (
        opcode.barrier
        or opcode.kind in _ORDERING
        or opcode.flow in ("jump", "call", "trap")
        or opcode.access == "cache"
    ):
        return True
    if opcode.access != "load":
        return opcode.memory
    to_lds = opcode.to_lds or bool(instruction.modifiers.get("lds"))
    return not opcode.scalar and (to_lds or coherent(instruction))


class RedundantWaits:
    """The largest sufficient value of each wait, in a launch or in one block of it."""

    def __init__(self, arch: Arch) -> None:
        """Follow waits of an architecture."""
        self.arch = arch
        self.needed: dict[tuple[int, str], int] = {}
        """Largest sufficient value of each wait that ended a load, by its address and counter."""
        self.values: dict[tuple[int, str], int] = {}
        """Counter value of each wait."""
        self.names: dict[int, str] = {}

    def step(
        self,
        ended: tuple[Ended, ...],
        flights: Sequence[Flight],
        instruction: Instruction,
        touched: frozenset[Register],
    ) -> tuple[Ended, ...]:
        """Execute one instruction.

        Args:
            ended: loads that earlier waits have ended.
            flights: operations in flight before the instruction.
            instruction: the instruction.
            touched: registers that it reads or writes.

        Returns:
            Loads that waits have ended after the instruction.
        """
        if instruction.opcode.wait:
            for counter, value in waited(self.arch, instruction):
                # Loads that this wait would end did not need the earlier wait.
                ended = tuple(e for e in ended if e.counter != counter or e.rank <= value)
                ended += tuple(self._ends(flights, instruction, counter, value))
            return ended
        if not ended:
            return ended
        if orders_memory(instruction):
            for each in ended:
                self._needs(each, each.value)
            return ()
        left = []
        up = raised(self.arch, instruction.opcode, bool(instruction.dst), instruction.space)
        for each in ended:
            if each.registers & touched:
                self._needs(each, each.largest)
                continue
            later = sum(u.counter == each.counter and u.order == each.order != "" for u in up)
            if each.rank + later <= each.limit:
                left.append(replace(each, rank=each.rank + later) if later else each)
        return tuple(left)

    def _ends(self, flights: Sequence[Flight], wait: Instruction, counter: str, value: int) -> Iterator[Ended]:
        """The loads that a wait ends; if it ends another operation, it is needed unchanged."""
        counted = [f for f in flights if f.counter == counter]
        for place, flight in enumerate(counted):
            rank = sum(f.order == flight.order for f in counted[place:]) if flight.order else 1
            if rank <= value:
                continue
            key = wait.pc, counter
            self.names[wait.pc] = wait.name
            self.values[key] = value
            self.needed.setdefault(key, UNNEEDED)
            if flight.writes and not flight.coherent:
                yield Ended(flight.writes, wait.pc, value, counter, flight.order, flight.limit, rank - 1, rank)
            else:
                self.needed[key] = value

    def _needs(self, each: Ended, value: int) -> None:
        key = each.wait, each.counter
        self.needed[key] = min(self.needed.get(key, UNNEEDED), value)

    def merge(self, other: RedundantWaits) -> None:
        """Add the needs of another part, or block, of the same launch."""
        for key, value in other.needed.items():
            self.needed[key] = min(value, self.needed.get(key, UNNEEDED))
        self.values |= other.values
        self.names |= other.names

    def reported(self) -> Iterator[tuple[int, str, str]]:
        """Address, mnemonic and the sufficient wait, of each wait that is stricter than needed."""
        for (pc, counter), needed in sorted(self.needed.items()):
            if needed > self.values[pc, counter]:
                now = SPELLING[counter].format(self.values[pc, counter])
                if needed == UNNEEDED:
                    yield pc, self.names[pc], f"no executed instruction needs {now} here"
                else:
                    yield pc, self.names[pc], f"{SPELLING[counter].format(needed)} is sufficient instead of {now}"
