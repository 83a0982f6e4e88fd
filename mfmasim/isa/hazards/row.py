"""What one row of the tables of required wait states says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Row"]


@dataclass(frozen=True)
class Row:
    """A second instruction may not follow a first one too soon when it touches a register that the first put at risk.

    The hardware does not look after these cases; software puts other instructions or S_NOP between.
    """

    first: str
    """What the first instruction does: a name of `mfmasim.isa.hazards.traits.ROLES`."""
    second: str
    """What the second one does, likewise."""
    needs: int | Mapping[int, int]
    """Wait states that have to lie between them; of a matrix instruction, by its passes (none for others)."""
    source: str
    link: str = ""
    """A further condition: ``same`` (C is exactly the D of the first), ``part`` (C overlaps D but is not the same),
    ``same opcode``, ``other opcode``, ``after DGEMM`` (one lies between them)."""
    clock: str = "states"
    """What counts: ``states`` (any instruction is one, S_NOP more), ``vector`` (instructions of the vector ALU),
    ``trans`` (vector instructions, or two transcendental ones)."""
    on: str = ""
    """The field of `Arch` that is true where it holds; empty for all of the table's architectures."""

    @property
    def matrix(self) -> bool:
        """Whether it is about a matrix instruction."""
        return any(word in f"{self.first} {self.second}" for word in ("XDL", "GEMM", "MFMA"))

    def states(self, passes: int) -> int:
        """Wait states after a first instruction of so many passes."""
        return self.needs if isinstance(self.needs, int) else self.needs.get(passes, 0)
