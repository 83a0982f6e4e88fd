"""A row of the tables of required wait states, with its evidence and the severity that follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

NOT_EMITTED = "(compilers emit no such instructions)"
DEFECT = "(LLVM lacks it, which is a known defect)"

COMMON = 0.1
"""Share of AMD's prebuilt objects that break a row, from which on it is information to come as close as they do."""
SEVERAL = 3
"""Number of AMD's prebuilt objects from which on it is no error to come as close: one or two may be wrong."""


@dataclass(frozen=True)
class Shipped:
    """How closely AMD's prebuilt kernels follow a row: see `mfmasim.isa.hazards.shipped`."""

    objects: int = 0
    """Objects that were walked."""
    fewest: Mapping[int, int] = field(default_factory=dict)
    """Wait states where fewer are present than required, to objects with that number somewhere and none smaller."""

    @property
    def broken(self) -> int:
        """Objects that somewhere have fewer wait states than required."""
        return sum(self.fewest.values())

    def near(self, present: int) -> int:
        """Objects that somewhere have as few wait states, or fewer."""
        return sum(count for fewest, count in self.fewest.items() if fewest <= present)


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
    """Evidence: section of the manuals, or LLVM where they have no such row."""
    link: str = ""
    """A further condition: ``same`` (C is exactly the D of the first), ``part`` (C overlaps D but is not the same),
    ``same opcode``, ``other opcode``, ``after DGEMM`` (one lies between them)."""
    clock: str = "states"
    """Unit of the distance: ``states`` (any instruction is one, S_NOP more), ``vector`` (instructions of the vector
    ALU), ``trans`` (vector instructions, or two transcendental ones)."""
    serial: int | None = None
    """Distance where SCHED_MODE disables the execution of several instructions at a time; None: the same."""
    on: str = ""
    """Field of `Arch` that is true where the row applies; empty for all architectures of the table."""
    llvm: str = ""
    """Evidence: function of LLVM's GCNHazardRecognizer that inserts these wait states, `NOT_EMITTED`, `DEFECT`, or
    empty if none does although compilers emit such instructions."""
    shipped: Shipped = Shipped()
    """Evidence: AMD's prebuilt kernels for the architecture."""

    @property
    def matrix(self) -> bool:
        """Whether it is about a matrix instruction, or a move from or to its registers."""
        return any(word in f"{self.first} {self.second}" for word in ("XDL", "GEMM", "MFMA", "ACCVGPR"))

    def states(self, passes: int) -> int:
        """Wait states after a first instruction of a number of passes."""
        return self.needs if isinstance(self.needs, int) else self.needs.get(passes, 0)

    def judged(self, needs: int, present: int, stalled: int = 0) -> tuple[str, str]:
        """Severity of a pair with fewer wait states than required, and what speaks against an error.

        It is information if the hardware itself waits long enough. It is no error if several of AMD's prebuilt objects,
        which are in production use, come as close: information if a tenth of all break the row, else a warning. A
        warning also where LLVM emits such instructions and inserts nothing. All else is an error.

        Args:
            needs: wait states required.
            present: wait states by the instructions between them.
            stalled: wait states that the hardware adds.

        Returns:
            Severity and reason, which is empty for an error.
        """
        if present + stalled >= needs:
            return "info", f"the matrix core is busy, so that the hardware adds {stalled}"
        near, total = self.shipped.near(present + stalled), self.shipped.objects
        if near >= SEVERAL:
            severity = "info" if self.shipped.broken >= COMMON * total else "warning"
            return severity, f"{near} of {total} prebuilt objects of AMD have as few"
        return ("error", "") if self.llvm else ("warning", "LLVM inserts none here")
