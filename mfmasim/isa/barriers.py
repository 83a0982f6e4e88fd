"""Barrier numbers of barrier instructions (CDNA5 ISA manual, table 21; RDNA4 likewise, without clusters)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mfmasim.isa.instruction import Instruction

WORKGROUP, TRAP, CLUSTER, CLUSTER_TRAP = -1, -2, -3, -4
NUMBER = 31
"""Bits of M0 that hold the number of a named barrier."""


def barrier_number(instruction: Instruction) -> int | None:
    """The number of the barrier; 0 and above are named barriers, None is a named barrier whose number is in a register.

    S_BARRIER, without an operand, uses the workgroup's barrier.
    """
    if not instruction.src:
        return WORKGROUP
    operand = instruction.src[0]
    if operand.kind not in ("const", "imm"):
        return None
    return (operand.bits & 0xFFFF ^ 0x8000) - 0x8000


def of_workgroup(instruction: Instruction) -> bool:
    """Whether an instruction signals or waits at the barrier of the workgroup."""
    return barrier_number(instruction) == WORKGROUP
