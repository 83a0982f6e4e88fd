"""The record that decoding functions fill in."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mfmasim.isa.instruction import Operand
    from mfmasim.isa.opcode import Opcode


@dataclass(slots=True)
class Parts:
    """Operands, modifiers and form of one instruction, before they are frozen."""

    modifiers: dict[str, int] = field(default_factory=dict)
    dst: list[Operand] = field(default_factory=list)
    src: list[Operand] = field(default_factory=list)
    target: int | None = None
    encoding: str = ""
    """Set where it is not the format's name: SDWA, DPP, MAI, GLOBAL, SCRATCH."""
    form: str = ""
    """Suffix of the mnemonic."""
    opcode: Opcode | None = None
    """Set where it is not the row's."""

    halves: list[tuple[Opcode, Parts]] = field(default_factory=list)
    """Opcode and operands of the two operations of a VOPD."""

    def read_back(self, destination: Operand) -> None:
        """The operation also reads its destination."""
        self.src.append(dataclasses.replace(destination, printed=False, field=""))
