"""A row of the tables of required wait states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Row"]


@dataclass(frozen=True)
class Row:
    """Two instructions on the same registers that need wait states between them.

    The hardware does not interlock these cases; software inserts other instructions or S_NOP.
    """

    first: str
    """What the first instruction does: a name of `mfmasim.isa.hazards.traits.ROLES`."""
    second: str
    """What the second one does, also by name."""
    needs: int | Mapping[int, int]
    """Wait states between them; after a matrix instruction by its passes (none for passes that are not listed)."""
    source: str
    link: str = ""
    """A further condition: ``same`` (C is exactly the D of the first), ``part`` (C overlaps D but is not the same),
    ``same opcode``, ``other opcode``, ``after DGEMM`` (one lies between them)."""
    clock: str = "states"
    """Unit of the distance: ``states`` (any instruction is one, S_NOP more), ``vector`` (instructions of the vector
    ALU), ``trans`` (vector instructions, or two transcendental ones)."""
    on: str = ""
    """Field of `Arch` that is true where the row applies; empty for all architectures of the table."""

    @property
    def matrix(self) -> bool:
        """Whether it is about a matrix instruction, or a move from or to its registers."""
        return any(word in f"{self.first} {self.second}" for word in ("XDL", "GEMM", "MFMA", "ACCVGPR"))

    def states(self, passes: int) -> int:
        """Wait states after a first instruction of a number of passes."""
        return self.needs if isinstance(self.needs, int) else self.needs.get(passes, 0)
