"""Lanes that an instruction can access, by the path alone: a load and a use may have masks without a common lane.

EXEC is followed through the scalar instructions that compute it from constants and from EXEC. An unknown EXEC counts
as all lanes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mfmasim.isa.operands import EXEC

if TYPE_CHECKING:
    from mfmasim.isa import Instruction

SAME, WITHIN, APART, ANY = "same", "within", "crosses", "any"
"""Relation of EXEC after an instruction to EXEC before: equal, a subset, disjoint, unknown."""


@dataclass(frozen=True)
class Lanes:
    """Known properties of EXEC."""

    value: int | None = None
    """The bits, if they are a constant."""
    saved: tuple[int, int] | None = None
    """First and last scalar register of a mask that includes EXEC, as saved by S_AND_SAVEEXEC."""


UNKNOWN = Lanes()


def by_lane(instruction: Instruction) -> bool:
    """Whether an instruction reads and writes vector registers of active lanes only."""
    opcode = instruction.opcode
    if opcode.unit == "VALU":
        crosses = instruction.encoding in ("MAI", "WMMA", "DPP", "DPP8") or "DPP" in instruction.form.upper()
        return not (crosses or opcode.matrix or opcode.lane or opcode.relative)
    return opcode.memory and not (opcode.scalar or opcode.kind or opcode.transposes)


def exec_after(before: Lanes, instruction: Instruction, wave: int) -> tuple[Lanes, str]:
    """EXEC after an instruction, and its relation to EXEC before the instruction.

    Args:
        before: EXEC before it.
        instruction: the instruction.
        wave: lanes of a wave.
    """
    opcode = instruction.opcode
    written = [(o.index, o.index + o.count - 1) for o in instruction.dst if o.kind == "s"]
    if not opcode.saves_exec and not any(first <= EXEC + 1 and last >= EXEC for first, last in written):
        saved = before.saved
        if saved is None or not any(first <= saved[1] and last >= saved[0] for first, last in written):
            return before, SAME
        return Lanes(before.value), SAME
    if opcode.compare:
        return Lanes(None, before.saved), WITHIN  # V_CMPX: inactive lanes get 0
    kept = written[0] if opcode.saves_exec and opcode.mask == "and" and not opcode.returns_exec else None
    sources = [(o.index, o.index + o.count - 1) for o in instruction.src if o.kind == "s"]
    whole = (EXEC, EXEC + wave // 32 - 1)
    if not opcode.saves_exec and written != [whole]:
        return Lanes(), ANY
    full = (1 << wave) - 1
    if opcode.moves_scalar:
        source = instruction.src[0]
        return (Lanes(source.bits & full), ANY) if source.kind == "const" else (Lanes(), ANY)
    second = opcode.saves_exec or sources[-1:] == [whole]
    if opcode.mask == "not" and second:
        return Lanes(None if before.value is None else before.value ^ full), APART
    if opcode.mask == "without":
        return Lanes(), APART if second else WITHIN if sources[:1] == [whole] else ANY
    if opcode.mask == "and" and (second or whole in sources):
        return Lanes(None, kept), WITHIN
    if opcode.mask == "xor" and whole in sources and before.saved in sources:
        return Lanes(), APART
    return Lanes(), ANY
