"""Acquire detection: loads whose value decides whether their wave continues.

A ticket counter, a flag that is polled, a lock: what other workgroups did before they changed such a location comes
before what follows the acquire. A value that is only stored, or used as an index, implies no order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfmasim.observe.ordering import flags

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mfmasim.isa import Instruction


def _to_lds(instruction: Instruction) -> bool:
    """Whether it writes a value to the LDS, where it may decide, usually for the whole workgroup."""
    opcode = instruction.opcode
    return instruction.space == "lds" and (opcode.access == "store" or opcode.atomic == "exchange")


def acquires(instructions: Sequence[Instruction], pc: int) -> bool:
    """Whether a value that an instruction loads, or what is computed from it, reaches a condition.

    Overwritten registers count as if they kept the value: this finds too many acquires, so that a race may
    be missed, and no correct kernel is reported.
    """
    return any(flags.decides(ins) or _to_lds(ins) for ins in _uses(instructions, pc))


def acquires_lds(instructions: Sequence[Instruction]) -> set[int]:
    """Addresses of the atomic operations on the LDS that return a value which reaches a condition."""
    returning = [ins.pc for ins in instructions if ins.opcode.atomic and ins.dst and ins.space in ("lds", "flat")]
    return {pc for pc in returning if any(flags.decides(ins) for ins in _uses(instructions, pc))}


def confirmed(instructions: Sequence[Instruction], pc: int) -> bool:
    """Whether a compare-and-swap depends on what a load returns: it confirms the value, or rejects it."""
    return any(ins.opcode.atomic == "compare" and ins.space != "lds" for ins in _uses(instructions, pc))


def _uses(instructions: Sequence[Instruction], pc: int) -> Iterator[Instruction]:
    """What reads the value that an instruction loads, or what vector operations compute from it."""
    load = next((ins for ins in instructions if ins.pc == pc), None)
    known = set(flags.registers(load.dst)) if load is not None else set()
    before = 0
    while len(known) > before:
        before = len(known)
        for ins in instructions:
            if ins.pc == pc or flags.reads_lds(ins) or not flags.registers(ins.src) & known:
                continue
            yield ins
            if ins.opcode.unit == "VALU":
                known |= flags.registers(ins.dst)
