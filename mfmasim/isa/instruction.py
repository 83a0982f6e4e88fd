"""A decoded instruction: the one record that the machine, the checks and the printer share."""

from __future__ import annotations

from dataclasses import dataclass, field

from mfmasim.isa import printer
from mfmasim.isa.record import InstructionFields, Operand

__all__ = ["Instruction", "Operand"]


@dataclass(frozen=True)
class Instruction(InstructionFields):
    """One decoded instruction, with its text."""

    _template: Instruction | None = field(default=None, init=False, repr=False, compare=False)
    """The same bytes at address 0, where the decoder has them; all copies share its text."""

    def __repr__(self) -> str:
        return f"<{self.text} at {self.pc:#x}>"

    @property
    def text(self) -> str:
        """The instruction in LLVM's syntax, as llvm-objdump prints it."""
        same = self._template or self
        found: str | None = same.__dict__.get("_text")
        if found is None:
            found = same.__dict__["_text"] = printer.text(same)
        return found
