"""Follows, instruction by instruction, the results that must not be used yet, and reports pairs that are too close.

There are two clocks. The manuals count instructions between two others, S_NOP as several. Time passes at least as
fast, and faster before a matrix instruction: the matrix core accepts the next one only after the passes of the previous
one (LLVM, GCNHazardRecognizer: getMFMAPipelineWaitStates), so that the hardware itself waits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from mfmasim.isa.hazards.traits import ROLES, Register, Traits

if TYPE_CHECKING:
    from collections.abc import Callable

    from mfmasim.architectures import Arch
    from mfmasim.isa.hazards.row import Row
    from mfmasim.isa.instruction import Instruction

TRANS = 1
"""Transcendental instructions after which the result of another one may still be missed."""
TRANSCENDENTAL = 256
"""What one of them adds to an age, beside itself as a vector instruction."""


@dataclass(frozen=True, eq=False)
class Known:
    """The properties of an instruction that the rows use."""

    traits: Traits
    firsts: tuple[tuple[int, frozenset[Register], int], ...]
    """Row, registers at risk, what has to pass, of the rows that begin with it."""
    seconds: dict[str, frozenset[Register]]
    """Registers touched, by the role in which it ends a row; of the roles that were asked for."""

    def touched(self, role: str) -> frozenset[Register]:
        """Its registers in a role."""
        found = self.seconds.get(role)
        if found is None:
            found = self.seconds[role] = ROLES[role](self.traits)
        return found


class Risk(NamedTuple):
    """A first instruction, whose registers must not be accessed yet."""

    row: int
    pc: int
    first: Known
    registers: frozenset[Register]
    needs: int
    """Wait states, or what else the row counts, that are required."""
    age: int = 0
    """What has passed since, in the row's unit."""
    stalled: int = 0
    """Wait states that the hardware added."""
    armed: bool = True
    """Whether the instruction that the row requires between them was executed."""


@dataclass(frozen=True)
class State:
    """The risks on a path, and the time for which the matrix core is still busy."""

    risks: tuple[Risk, ...] = ()
    busy: int = 0
    """Wait states until it accepts another instruction."""
    serial: bool = False
    """Whether SCHED_MODE disables the execution of several instructions at a time."""


@dataclass(frozen=True)
class Broken:
    """A pair of instructions with less between them than a row requires."""

    row: Row
    pc: int
    """Address of the first instruction."""
    first: Traits
    register: Register
    needs: int
    present: int
    """By the letter: what the instructions between them are worth."""
    stalled: int
    """Wait states that the hardware adds to them."""

    @property
    def covered(self) -> bool:
        """Whether the hardware waits long enough by itself."""
        return self.present + self.stalled >= self.needs


class Follower:
    """The rows of an architecture, applied to paths of instructions."""

    def __init__(
        self, rows: tuple[Row, ...], arch: Arch, wave: int, passes: Callable[[Instruction, Arch, int], int]
    ) -> None:
        """Apply rows.

        Args:
            rows: of the architecture.
            arch: the architecture.
            wave: lanes of a wave.
            passes: returns the passes of a matrix instruction, 0 for other instructions.
        """
        self.rows, self.arch, self.wave, self.passes = rows, arch, wave, passes
        self._known: dict[tuple[object, ...], Known] = {}
        self._begun: dict[str, list[int]] = {}
        """Rows that begin with an instruction in a role."""
        for number, row in enumerate(rows):
            self._begun.setdefault(row.first, []).append(number)

    def _knows(self, instruction: Instruction) -> Known:
        """The properties of an instruction for the rows, by its bytes and the registers that MODE selects."""
        operands = (*instruction.dst, *instruction.src) if self.arch.vgprs > 256 else ()
        key = instruction.raw, *(operand.index for operand in operands)
        known = self._known.get(key)
        if known is None:
            passes = self.passes(instruction, self.arch, self.wave)
            traits = Traits(instruction, self.arch.m0, passes)
            firsts = []
            for role, begun in self._begun.items():
                if registers := ROLES[role](traits):
                    firsts += [(row, registers, states) for row in begun if (states := self.rows[row].states(passes))]
            firsts.sort(key=lambda first: first[0])
            known = self._known[key] = Known(traits, tuple(firsts), {})
        return known

    def step(self, state: State, instruction: Instruction, report: Callable[[Broken], None]) -> State:
        """Execute one instruction: it accesses registers, time passes, and it may add a risk.

        Args:
            state: before it.
            instruction: the instruction.
            report: called for each earlier instruction for which it is too early.

        Returns:
            The state after it.
        """
        known = self._knows(instruction)
        traits = known.traits
        stall = state.busy if traits.occupies else 0
        left = []
        for risk in state.risks:
            row, before, stalled = self.rows[risk.row], risk.first.traits, risk.stalled + stall
            touched = risk.registers & known.touched(row.second)
            needs = risk.needs if row.serial is None or not state.serial else row.serial
            present = _counted(row, risk.age)
            if touched and risk.armed and present < needs and _linked(row, before, traits):
                report(Broken(row, risk.pc, before, min(touched), needs, present, stalled))
            age = _later(row, risk.age, traits)
            # Registers that a later matrix instruction overwrites hold that one's result.
            again = traits.writes if row.first.endswith(" D") and traits.matrix else frozenset()
            registers = risk.registers - again if again else risk.registers
            if registers and age is not None and not _over(row, age, risk.needs):
                armed = risk.armed or traits.matrix == "dgemm"
                left.append(Risk(risk.row, risk.pc, risk.first, registers, risk.needs, age, stalled, armed))
        begun = (
            Risk(row, instruction.pc, known, registers, needs, armed=self.rows[row].link != "after DGEMM")
            for row, registers, needs in known.firsts
        )
        busy = traits.passes - 1 if traits.occupies else max(state.busy - traits.states, 0)
        serial = state.serial if traits.serial is None else traits.serial
        return State((*left, *begun), busy, serial)


def _linked(row: Row, first: Traits, second: Traits) -> bool:
    """Whether a row's further condition holds."""
    if row.link in ("same", "part"):
        return (first.d == second.c) == (row.link == "same")
    if row.link in ("same opcode", "other opcode"):
        return (first.opcode == second.opcode) == (row.link == "same opcode")
    return True


def _later(row: Row, age: int, passed: Traits) -> int | None:
    """The age of a risk after an instruction has passed; None where it has expired."""
    if row.clock == "states":
        return age + passed.states
    if row.clock == "trans":
        if passed.memory or passed.lds or passed.waits_for_vectors:
            return None
        age += TRANSCENDENTAL * passed.opcode.trans
    return age + passed.vector


def _counted(row: Row, age: int) -> int:
    """The elapsed wait states, for the report."""
    return age % TRANSCENDENTAL if row.clock == "trans" else age


def _over(row: Row, age: int, needs: int) -> bool:
    """Whether a first instruction is old enough."""
    return _counted(row, age) >= needs or (row.clock == "trans" and age // TRANSCENDENTAL > TRANS)
