"""hazards: pairs of instructions without the wait states that software has to provide.

The simulator executes one instruction after the other, so values are correct here but may be wrong on hardware.
This check follows, on the executed path of every wave and across branches, which results must not be used yet. That
depends on the path alone: waves of one state share it, and a block that was seen from a state is never examined again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mfmasim.isa.hazards import ROLES, Register, Row, Traits, named, rows
from mfmasim.observe.check import Check
from mfmasim.observe.finding import Kind
from mfmasim.observe.paths import Paths

if TYPE_CHECKING:
    from mfmasim.isa import Instruction
    from mfmasim.machine.events import BlockEvent
    from mfmasim.machine.launch import Launch
    from mfmasim.observe.finding import Finding

__all__ = ["Hazards"]

STATES = Kind(
    "hazards-wait-states", "error", "Too few wait states between two instructions",
    "The hardware does not interlock this pair: the second instruction may read the previous value. The simulator "
    "executes instructions one after the other, so outputs are right here.",
    "v_readfirstlane_b32 s4, v1; global_load_dword v2, v3, s[4:5]  // inline assembly, CDNA",
    "Place the s_nop that the message names, or as many independent instructions, between them.",
)  # fmt: skip
MATRIX = Kind(
    "hazards-matrix", "error", "A matrix instruction and another instruction are too close",
    "Results of a matrix instruction are written pass by pass, and its sources are read late; the hardware does not "
    "interlock.",
    "v_mfma_f32_32x32x8_f16 v[0:15], ...; v_add_f32 v16, v0, v0  // inline assembly, CDNA",
    "Place independent instructions, or the s_nop that the message names, between them.",
)  # fmt: skip
VECTOR = Kind(
    "hazards-vector", "error", "A vector ALU instruction is required between two others",
    "S_NOP is not a vector instruction, and S_DELAY_ALU is only a hint.",
    "v_wmma_f32_16x16x16_f16 v[0:7], ...; v_wmma_f32_16x16x16_f16 v[8:15], v[0:7], ...  // RDNA",
    "Place an independent vector instruction, or v_nop, between them.",
)  # fmt: skip
DEPENDENCY = Kind(
    "hazards-dependency", "error", "A wait for the vector or the scalar ALU is missing",
    "This chip does not detect the dependency unless the program waits.",
    "v_rcp_f32 v1, v2; v_mul_f32 v3, v1, v1  // inline assembly, gfx1100",
    "Place the s_waitcnt_depctr or s_wait_alu that the message names between them.",
)  # fmt: skip
LONGEST_NOP = 16
"""Wait states of the longest S_NOP."""
TRANS = 1
"""Transcendental instructions after which the result of another one may still be missed."""
TRANSCENDENTAL = 256
"""What one of them adds to an age, beside itself as a vector instruction."""


@dataclass(frozen=True)
class Risk:
    """A first instruction, whose registers may not be touched yet."""

    row: int
    pc: int
    registers: frozenset[Register]
    needs: int
    """Wait states, or what else the row counts, that are required."""
    age: int = 0
    """What has passed since, in the row's unit."""
    armed: bool = True
    """Whether the instruction that the row requires between them was executed."""


State = tuple[Risk, ...]


@dataclass(frozen=True)
class Known:
    """An instruction as the rows see it."""

    traits: Traits
    firsts: tuple[tuple[int, frozenset[Register], int], ...]
    """Row, registers at risk, what has to pass, of the rows that begin with it."""
    seconds: dict[int, frozenset[Register]]
    """Registers touched, of the rows that end with it."""


class Hazards(Paths[State], Check):
    """Follows results that must not be used yet, for every wave."""

    name = "hazards"
    about = "pairs of instructions without the wait states that software has to provide"
    kinds = (STATES, MATRIX, VECTOR, DEPENDENCY)

    def __init__(self, launch: Launch) -> None:
        """Find the rows of the architecture."""
        Check.__init__(self, launch)
        Paths.__init__(self, ())
        self.arch, self.passes = self.kernel.arch, launch.passes
        self.rows: tuple[Row, ...] = rows(self.arch)
        self._known: dict[int, Known] = {}
        self._findings: dict[tuple[int, int], tuple[int, Finding]] = {}
        """(Second, first) address to how much is missing, and the finding."""

    def after(self, state: State, event: BlockEvent, index: int) -> State:
        """What is at risk after a block.

        Args:
            state: of the wave before.
            event: the block.
            index: one of the waves of the event that are in this state.
        """
        for instruction in event.instructions:
            state = self._step(state, instruction, event, index)
        return state

    def _knows(self, instruction: Instruction) -> Known:
        """What the rows see in an instruction."""
        known = self._known.get(instruction.pc)
        if known is None:
            passes = self.passes(instruction, self.arch, self.kernel.wave)
            traits = Traits(instruction, self.arch.m0, passes)
            firsts, seconds = [], {}
            for number, row in enumerate(self.rows):
                states = row.states(passes)
                risky = ROLES[row.first](traits)
                if risky and states:
                    firsts.append((number, risky, states))
                touched = ROLES[row.second](traits)
                if touched:
                    seconds[number] = touched
            known = self._known[instruction.pc] = Known(traits, tuple(firsts), seconds)
        return known

    def _step(self, risks: State, instruction: Instruction, event: BlockEvent, index: int) -> State:
        """Execute one instruction: it touches registers, time passes, and it may put others at risk."""
        known = self._knows(instruction)
        left = []
        for risk in risks:
            row, before = self.rows[risk.row], self._known[risk.pc]
            touched = risk.registers & known.seconds.get(risk.row, frozenset())
            if touched and risk.armed and _linked(row, before.traits, known.traits):
                self._missing(row, risk, min(touched), instruction, event, index)
            age = _later(row, risk.age, known.traits)
            armed = risk.armed or known.traits.matrix == "dgemm"
            # Registers that a later matrix instruction overwrites hold that one's result.
            again = known.traits.writes if row.first.endswith(" D") and known.traits.matrix else frozenset()
            registers = risk.registers - again if again else risk.registers
            if registers and age is not None and not _over(row, age, risk.needs):
                left.append(Risk(risk.row, risk.pc, registers, risk.needs, age, armed))
        begun = [
            Risk(row, instruction.pc, registers, needs, 0, self.rows[row].link != "after DGEMM")
            for row, registers, needs in known.firsts
        ]
        return (*left, *begun)

    def _missing(
        self, row: Row, risk: Risk, register: Register, instruction: Instruction, event: BlockEvent,
        index: int,
    ) -> None:  # fmt: skip
        needs, present = risk.needs, _counted(row, risk.age)
        place = event.place(index, None)
        first = self._known[risk.pc].traits.opcode
        there = self.kernel.source_at(risk.pc)
        name = named(instruction.written(register), self.arch.m0)
        kind, unit, fix = _advice(row, needs - present)
        message = (
            f"{row.first} ({first.name} at {risk.pc:#x}{f', {there}' if there else ''}), then {row.second} "
            f"({name}): {_many(needs, unit)} are required between them, {present} present; "
            f"{fix} is missing ({row.source})"
        )
        finding = self.finding(
            kind, message, instruction.pc, place, register=name, instruction=instruction.name,
            expected=_many(needs, unit), actual=_many(present, unit),
        )  # fmt: skip
        self._keep((instruction.pc, risk.pc), needs - present, finding)

    def _keep(self, key: tuple[int, int], short: int, finding: Finding) -> None:
        """Of a pair of instructions the worst case is reported, and the first one of these."""
        had = self._findings.get(key)
        if had is None or had[0] < short:
            self._findings[key] = short, finding

    def merge(self, other: Hazards) -> None:
        """Add what another part of the same launch found; parts come in the order of the grid."""
        for key, (short, finding) in other._findings.items():
            self._keep(key, short, finding)

    def findings(self) -> list[Finding]:
        """The findings, in address order."""
        return [self._findings[key][1] for key in sorted(self._findings)]


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
    """What has passed, as it is reported."""
    return age % TRANSCENDENTAL if row.clock == "trans" else age


def _over(row: Row, age: int, needs: int) -> bool:
    """Whether a first instruction is old enough."""
    return _counted(row, age) >= needs or (row.clock == "trans" and age // TRANSCENDENTAL > TRANS)


def _many(count: int, unit: str) -> str:
    return f"{count} {unit}{'s' * (count != 1)}"


def _advice(row: Row, short: int) -> tuple[Kind, str, str]:
    """Kind of the finding, what is counted, and what would suffice."""
    if row.clock == "states":
        parts = [LONGEST_NOP] * (short // LONGEST_NOP) + [short % LONGEST_NOP] * bool(short % LONGEST_NOP)
        kind = MATRIX if row.matrix else STATES
        return kind, "wait state", "; ".join(f"s_nop {part - 1}" for part in parts)
    if row.clock == "trans":
        return DEPENDENCY, "vector instruction", "s_waitcnt_depctr depctr_va_vdst(0)"
    return VECTOR, "vector instruction", "an instruction such as v_nop"
