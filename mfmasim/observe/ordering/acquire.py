"""Acquire detection: loads whose value decides whether their wave continues.

A ticket counter, a flag that is polled, a lock: what other workgroups did before they changed such a location comes
before what follows the acquire. A value that is only stored, or used as an index, implies no order.
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
    """Whether it writes a value to the LDS, where it may decide, usually for the whole workgroup."""
    opcode = instruction.opcode
    return instruction.space == "lds" and (opcode.access == "store" or opcode.atomic == "exchange")


class Uses:
    """What reads what each instruction of a kernel loads, or what vector operations compute from it.

    Overwritten registers count as if they kept the value: this finds too many acquires, so that a race may
    be missed, and no correct kernel is reported.
    """

    def __init__(self, instructions: Sequence[Instruction]) -> None:
        """Prepare for the instructions that a kernel may execute."""
        self.instructions = instructions
        self._at = {ins.pc: ins for ins in instructions}
        self._compares = any(_confirms(ins) for ins in instructions)

    @cached_property
    def _readers(self) -> dict[Register, list[Instruction]]:
        """The instructions that read each register; not those that read the LDS."""
        found: dict[Register, list[Instruction]] = {}
        for ins in self.instructions:
            if not flags.reads_lds(ins):
                for register in flags.registers(ins.src):
                    found.setdefault(register, []).append(ins)
        return found

    def acquires(self, pc: int) -> bool:
        """Whether a value that an instruction loads, or what is computed from it, reaches a condition."""
        return any(flags.decides(ins) or _to_lds(ins) for ins in self._of(pc))

    def acquires_lds(self) -> set[int]:
        """Addresses of the atomic operations on the LDS that return a value which reaches a condition."""
        returning = [
            ins.pc for ins in self.instructions if ins.opcode.atomic and ins.dst and ins.space in ("lds", "flat")
        ]
        return {pc for pc in returning if any(flags.decides(ins) for ins in self._of(pc))}

    def confirmed(self, pc: int) -> bool:
        """Whether a compare-and-swap depends on what a load returns: it confirms the value, or rejects it."""
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
