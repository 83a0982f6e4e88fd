"""The end of a comparison: an instruction whose effect it cannot follow for all inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfmasim.errors import MfmasimError

if TYPE_CHECKING:
    from mfmasim.isa import Instruction


class Stopped(MfmasimError):  # noqa: N818 (what a comparison does, no error of its user)
    """An instruction that the comparison cannot follow."""

    def __init__(self, instruction: Instruction, why: str) -> None:
        """Name the instruction and the reason."""
        super().__init__(f"{instruction.text.strip()} at {instruction.pc:#x}: {why}")
        self.instruction, self.why = instruction, why
