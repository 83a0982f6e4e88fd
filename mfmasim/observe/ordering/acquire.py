"""Acquire detection: loads whose value decides how their wave continues.

A ticket counter, a polled flag, a lock: accesses of other workgroups before they change such a location are ordered
before the accesses after the acquire. A value that is only stored, or used as an index, implies no order.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from mfmasim.observe.ordering import flags

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mfmasim.isa import Instruction

    Register = tuple[str, int]


def _to_lds(instruction: Instruction) -> bool:
    """Whether an instruction writes a value to the LDS, where the value may decide, usually for the whole workgroup."""
    opcode = instruction.opcode
    return instruction.space == "lds" and (opcode.access == "store" or opcode.atomic == "exchange")


class Uses:
    """The readers of each value that a kernel loads, and of values computed from it by vector operations.

    Overwritten registers count as if they kept the value. This overestimates acquires: a race may
    be missed, but no correct kernel is reported.
    """

    def __init__(self, instructions: Sequence[Instruction]) -> None:
        """Prepare for the instructions that a kernel may execute."""
        self.instructions = instructions
        self._at = {ins.pc: ins for ins in instructions}
        self._compares = any(_confirms(ins) for ins in instructions)

    @cached_property
    def _readers(self) -> dict[Register, list[Instruction]]:
        """The instructions that read each register, except those that read the LDS."""
        found: dict[Register, list[Instruction]] = {}
        for ins in self.instructions:
            if not flags.reads_lds(ins):
                for register in flags.registers(ins.src):
                    found.setdefault(register, []).append(ins)
        return found

    def acquires(self, pc: int) -> bool:
        """Whether a loaded value, or a value computed from it, reaches a condition."""
        return any(flags.decides(ins) or _to_lds(ins) for ins in self._of(pc))

    def acquires_lds(self) -> set[int]:
        """Addresses of the LDS atomics whose returned value reaches a condition."""
        returning = [
            ins.pc for ins in self.instructions if ins.opcode.atomic and ins.dst and ins.space in ("lds", "flat")
        ]
        return {pc for pc in returning if any(flags.decides(ins) for ins in self._of(pc))}

    def confirmed(self, pc: int) -> bool:
        """Whether a compare-and-swap depends on a load's value: it confirms the value, or rejects it."""
        return self._compares and any(_confirms(ins) for ins in self._of(pc))

    def _of(self, pc: int) -> Iterator[Instruction]:
        load = self._at.get(pc)
        left = list(flags.registers(load.dst)) if load is not None else []
        known, seen = set(left), {pc}
        while left:
            for ins in self._readers.get(left.pop(), ()):
                if ins.pc in seen:
                    continue
                seen.add(ins.pc)
                yield ins
                if ins.opcode.unit == "VALU":
                    new = flags.registers(ins.dst) - known
                    known |= new
                    left += new


def _confirms(instruction: Instruction) -> bool:
    return instruction.opcode.atomic == "compare" and instruction.space != "lds"
