"""Which instructions ask memory whether they may go on: their value decides a branch or a lane mask.

A ticket counter, a flag that is polled, a lock: what other workgroups did before they changed such a place comes before
what follows the question. A value that is only stored, or used as an index, says nothing about them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfmasim.observe.ordering import flags

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mfmasim.isa import Instruction

__all__ = ["confirmed", "decides"]


def _to_lds(instruction: Instruction) -> bool:
    """Whether it puts a value into the LDS, which may decide there, usually for the whole workgroup."""
    opcode = instruction.opcode
    return opcode.space == "lds" and (opcode.access == "store" or opcode.atomic == "exchange")


def decides(instructions: Sequence[Instruction], pc: int) -> bool:
    """Whether a value that an instruction brings, or what is computed from it, reaches a condition.

    Registers that are written anew count as if they kept it: more is taken for a question than asks one, so that an
    order may be believed that is none, and no right kernel is blamed.
    """
    return any(flags.decides(ins) or _to_lds(ins) for ins in _uses(instructions, pc))


def confirmed(instructions: Sequence[Instruction], pc: int) -> bool:
    """Whether a compare-and-swap takes what a load brings: it confirms the value, or refuses it."""
    return any(ins.opcode.atomic == "compare" and ins.opcode.space != "lds" for ins in _uses(instructions, pc))


def _uses(instructions: Sequence[Instruction], pc: int) -> Iterator[Instruction]:
    """What reads the value that an instruction brings, or what vector operations compute from it."""
    ask = next((ins for ins in instructions if ins.pc == pc), None)
    known = set(flags.registers(ask.dst)) if ask is not None else set()
    before = 0
    while len(known) > before:
        before = len(known)
        for ins in instructions:
            if ins.pc == pc or flags.reads_lds(ins) or not flags.registers(ins.src) & known:
                continue
            yield ins
            if ins.opcode.unit == "VALU":
                known |= flags.registers(ins.dst)
