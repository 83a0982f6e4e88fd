"""Which lanes an instruction can reach, as far as the path alone says: a load and a use under masks that share no lane.

EXEC is followed through the scalar instructions that compute it from constants and from itself. What they leave unknown
counts as all lanes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mfmasim.isa.operands import EXEC

if TYPE_CHECKING:
    from mfmasim.isa import Instruction

SAME, WITHIN, APART, ANY = "same", "within", "apart", "any"
"""The lanes after an instruction and those before: unchanged, a part of them, none of them, unknown."""


@dataclass(frozen=True)
class Lanes:
    """What is known of EXEC."""

    value: int | None = None
    """Its bits, if they are a constant."""
    saved: tuple[int, int] | None = None
    """First and last scalar register of a mask of which EXEC is a part: what S_AND_SAVEEXEC saved."""


UNKNOWN = Lanes()


def by_lane(instruction: Instruction) -> bool:
    """Whether an instruction reads and writes vector registers of the lanes of EXEC only."""
    opcode = instruction.opcode
    if opcode.unit == "VALU":
        apart = instruction.encoding in ("MAI", "WMMA", "DPP", "DPP8") or "DPP" in instruction.form.upper()
        return not (apart or opcode.matrix or opcode.lane or opcode.relative)
    return opcode.memory and not (opcode.scalar or opcode.kind or opcode.transposes)


def follow(before: Lanes, instruction: Instruction, wave: int) -> tuple[Lanes, str]:
    """What is known of EXEC after an instruction, and how it compares with EXEC before.

    Args:
        before: what was known.
        instruction: what is executed.
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
        return Lanes(None, before.saved), WITHIN  # V_CMPX: lanes that do not take part get 0
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
