"""A matrix instruction of one architecture: shape, formats, rate and accumulation model of its row."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from mfmasim.evidence import captured, evidence_of
from mfmasim.formats import FORMATS
from mfmasim.matrix.models import Model, model_for

if TYPE_CHECKING:
    from mfmasim.architectures import Arch
    from mfmasim.matrix.rows import Row, Table


@dataclass(frozen=True, eq=False)
class MatrixForm:
    """One matrix instruction with given formats of A and B and wave size.

    Attributes:
        arch: the architecture.
        name: LLVM's spelling on that architecture.
        wave: lanes of the wave.
        a: number format of A (``i8`` or ``u8``, ``i4`` or ``u4`` for integers).
        b: number format of B.
        row: the instruction's row.
        generation: the table with the row.
    """

    arch: Arch
    name: str
    wave: int
    a: str
    b: str
    row: Row
    generation: Table

    @property
    def kind(self) -> str:
        """``mfma``, ``mfma_scale``, ``smfmac``, ``wmma`` or ``swmmac``."""
        return self.row.kind

    @property
    def d(self) -> str:
        """Number format of D, and of C where `c` is the same."""
        return self.row.d

    @property
    def c(self) -> str:
        """Number format of C."""
        return self.row.c or self.row.d

    @property
    def m(self) -> int:
        """Rows of A and D of one block."""
        return self.row.m

    @property
    def n(self) -> int:
        """Columns of B and D of one block."""
        return self.row.n

    @property
    def k(self) -> int:
        """Summed index; for a sparse A its dense length."""
        return self.row.k

    @property
    def blocks(self) -> int:
        """Independent products side by side."""
        return self.row.blocks

    @property
    def sparse(self) -> bool:
        """Whether A is 4:2 structured sparse. C is then read from the registers of D."""
        return self.row.sparse

    @property
    def cycles(self) -> int:
        """Cycles the matrix core is busy."""
        bits = {FORMATS[name].bits for name in (self.a, self.b) if name in FORMATS}
        if bits == {4} and self.row.four_cycles:
            return self.row.four_cycles
        return self.row.cycles if 8 in bits or not self.row.small_cycles else self.row.small_cycles

    @property
    def passes(self) -> int | None:
        """Passes of four cycles (CDNA), by which the manual counts wait states; None on RDNA."""
        return self.cycles // 4 if self.generation.ops_unit == "CU" else None

    @property
    def flops(self) -> int:
        """Operations of one instruction, a multiplication and an addition counting two; sparse K counts dense."""
        return 2 * self.m * self.n * self.k * self.blocks

    @property
    def ops_per_cycle(self) -> int:
        """Operations per cycle of a compute unit (CDNA) or work-group processor (RDNA): four SIMDs work at once."""
        return 4 * self.flops // self.cycles

    def peak(self, units: int, hertz: float) -> float:
        """Peak operations per second: ``ops_per_cycle`` times units (CU or WGP) times clock.

        Args:
            units: compute units (CDNA) or work-group processors (RDNA) of the product.
            hertz: clock in Hz.
        """
        return self.ops_per_cycle * units * hertz

    @cached_property
    def model(self) -> Model:
        """The accumulation model."""
        variant = self.row.suffix.removeprefix("_")
        return model_for(self.arch, self.kind, self.a, self.b, self.d, self.k, variant)

    @property
    def fidelity(self) -> str:
        """Fidelity of the arithmetic: hardware, reference, specified or assumed."""
        return "hardware" if captured(self.name, self.arch.name) else self.model.fidelity

    @property
    def evidence(self) -> str:
        """Evidence for the arithmetic."""
        values = sum(row.equal for row in evidence_of(self.name, self.arch.name))
        more = "" if self.model.fidelity == self.fidelity else f"; {values:,} captured values are equal"
        return self.model.evidence + more

    @property
    def source(self) -> str:
        """Where the arithmetic is published."""
        return self.model.source
