"""Which instructions ask memory whether they may go on: their value decides a branch or a lane mask.

A ticket counter, a flag that is polled, a lock: what other workgroups did before they changed such a place comes before
what follows the question. A value that is only stored, or used as an index, says nothing about them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfmasim.observe.ordering.flags import DECIDES, READS, registers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mfmasim.isa import Instruction

__all__ = ["confirmed", "decides"]

TO_LDS = ("ds_write", "ds_store")
"""What goes to the LDS may decide there, usually for the whole workgroup."""


def decides(instructions: Sequence[Instruction], pc: int) -> bool:
    """Whether a value that an instruction brings, or what is computed from it, reaches a condition.

    Registers that are written anew count as if they kept it: more is taken for a question than asks one, so that an
    order may be believed that is none, and no right kernel is blamed.
    """
    return any(ins.name.startswith((*DECIDES, *TO_LDS)) for ins in _uses(instructions, pc))


def confirmed(instructions: Sequence[Instruction], pc: int) -> bool:
    """Whether a compare-and-swap takes what a load brings: it confirms the value, or refuses it."""
    return any("_cmpswap" in ins.name for ins in _uses(instructions, pc))


def _uses(instructions: Sequence[Instruction], pc: int) -> Iterator[Instruction]:
    """What reads the value that an instruction brings, or what vector operations compute from it."""
    ask = next((ins for ins in instructions if ins.pc == pc), None)
    known = set(registers(ask.dst)) if ask is not None else set()
    before = 0
    while len(known) > before:
        before = len(known)
        for ins in instructions:
            if ins.pc == pc or ins.name.startswith(READS) or not registers(ins.src) & known:
                continue
            yield ins
            if ins.name.startswith("v_"):
                known |= registers(ins.dst)
