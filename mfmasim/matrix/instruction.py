"""A matrix instruction of one architecture: its shape, its operands, and its arithmetic on matrices and registers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mfmasim.errors import unknown
from mfmasim.figures.instruction import instruction_table
from mfmasim.formats import FORMATS
from mfmasim.matrix import execution
from mfmasim.matrix.operands import MatrixOperands
from mfmasim.matrix.request import Modes, Operands

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import ArrayLike, NDArray


class MatrixInstruction(MatrixOperands):
    """One matrix instruction with given formats of A and B and wave size; `MatrixForm` has the fields."""

    def multiply(
        self,
        a: ArrayLike,
        b: ArrayLike,
        c: ArrayLike,
        scale_a: ArrayLike | None = None,
        scale_b: ArrayLike | None = None,
        index: ArrayLike | None = None,
        cbsz: int = 0,
        abid: int = 0,
        blgp: int = 0,
        clamp: bool = False,
        *,
        fp16_ovfl: bool = False,
        denormals: bool = True,
        scale_a_format: str = "e8m0",
        scale_b_format: str = "e8m0",
    ) -> NDArray[Any]:
        """Multiply and accumulate matrices: D = A * B + C, as the matrix core rounds it.

        Args:
            a: raw codes (..., [blocks,] M, K); a sparse A has K/2 columns, the kept elements.
            b: raw codes (..., [blocks,] K, N).
            c: raw codes (..., [blocks,] M, N).
            scale_a: codes of scales (..., M, K/block), block 16 for scale16 and else 32; None is 2^0.
            scale_b: codes of scales (..., N, K/block), or (..., K/block, N); None is 2^0.
            index: position 0..3 of each kept element in its group of four, (..., M, K/2).
            cbsz: broadcast size of A's blocks.
            abid: block that is broadcast.
            blgp: lane-group permutation of B; for f64 on CDNA3 and later, bits that negate A, B and C.
            clamp: the instruction's CLAMP bit.
            fp16_ovfl: MODE.FP16_OVFL.
            denormals: whether MODE.denorm lets f32 denormals of A and B through.
            scale_a_format: number format of A's scales (CDNA5: e8m0, e5m3, e4m3).
            scale_b_format: number format of B's scales.

        Returns:
            Raw codes (..., [blocks,] M, N) in D's format. Leading axes broadcast.

        Raises:
            MfmasimError: wrong shape, type, operand or modifier.
        """
        # A sparse A has no blocks to broadcast; there CBSZ and ABID choose among sets of indices in a register.
        cbsz, abid = (0, 0) if self.sparse else (cbsz, abid)
        modes = Modes(
            cbsz,
            abid,
            blgp,
            clamp=clamp,
            fp16_ovfl=fp16_ovfl,
            denormals=denormals,
            scale_a_format=self._scale_code(scale_a_format),
            scale_b_format=self._scale_code(scale_b_format),
        )
        given = Operands(a, b, c, scale_a, scale_b, index)  # type: ignore[arg-type]  # checked with their fragments
        return execution.multiply(self, given, modes)

    def _scale_code(self, name: str) -> int:
        """The instruction's code of a format of scales."""
        known = self.generation.scale_formats
        found = self.arch.format_name("fp8" if name == "e4m3" else name)
        full = next((fmt for fmt in known if found == fmt or found in FORMATS[fmt].aliases), None)
        if full is None:
            raise unknown("format of scales", name, known, f"of {self.name}")
        return known.index(full)

    def execute(
        self,
        a_regs: NDArray[np.uint32],
        b_regs: NDArray[np.uint32],
        c_regs: NDArray[np.uint32],
        scale_a: NDArray[np.uint32] | None = None,
        scale_b: NDArray[np.uint32] | None = None,
        index: NDArray[np.uint32] | None = None,
        *,
        d_regs: NDArray[np.uint32] | None = None,
        **modes: int,
    ) -> NDArray[np.uint32]:
        """Execute on registers, as the wave does; EXEC has no effect.

        Args:
            a_regs: uint32 (..., vgprs, lanes) of A. Registers beyond the operand's are ignored.
            b_regs: the same of B.
            c_regs: the same of C (of D's registers where A is sparse).
            scale_a: uint32 (..., 1, lanes), one byte of which scales A; None is 2^0.
            scale_b: the same for B.
            index: uint32 (..., 1, lanes) with the sparse indices.
            d_regs: D's registers before the instruction, if D fills only halves of them (RDNA3's 16-bit results); None
                counts as 0.
            modes: fields of `mfmasim.matrix.request.Modes`: cbsz, abid, blgp, op_sel, neg, neg_hi, scale_a_byte,
                scale_b_byte, scale_a_row, scale_b_row, scale_a_format, scale_b_format, clamp, fp16_ovfl, denormals.

        Returns:
            uint32 (..., vgprs, lanes) of D. Leading axes broadcast.

        Raises:
            MfmasimError: wrong shape, type or modifier.
        """
        registers = Operands(a_regs, b_regs, c_regs, scale_a, scale_b, index)
        return execution.execute(self, registers, Modes(**modes), d_regs)  # type: ignore[arg-type]

    def details(self) -> Iterator[list[Any]]:
        """Name and value of each property of the instruction."""
        unit = self.generation.ops_unit
        yield from (
            ["architecture", f"{self.arch.name} ({self.arch.family})"],
            ["instruction", self.name],
            ["shape M x N x K", f"{self.m} x {self.n} x {self.k}"],
            ["blocks", self.blocks],
            ["A", self.a],
            ["B", self.b],
            ["C and D", self.d if self.c == self.d else f"{self.c} and {self.d}"],
            ["A is sparse 4:2", "yes" if self.sparse else "no"],
            ["wave", self.wave],
            ["cycles", self.cycles],
        )
        if self.passes is not None:
            yield ["passes of four cycles", self.passes]
        yield from (
            ["operations", self.flops],
            [f"operations per {unit} and cycle", self.ops_per_cycle],
            ["peak", f"{self.ops_per_cycle} x {unit}s x clock"],
            ["modifiers", self.row.modifiers or "none"],
            ["arithmetic", f"{self.fidelity}: {self.evidence}"],
            ["arithmetic source", self.source],
            ["accumulation model", f"{self.model.name} ({self.model.algorithm}, groups of {self.model.group})"],
        )
        for fragment in self.operands.values():
            registers = f"{fragment.vgprs} VGPR{'s' * (fragment.vgprs > 1)}"
            where = " (the registers of D)" if self.sparse and fragment.name == "C" else ""
            yield from (
                [f"{fragment.name} registers", f"{fragment.shape_text} {fragment.format} in {registers}{where}"],
                [f"{fragment.name} lane and item", fragment.layout.formula],
                [f"{fragment.name} coordinates", fragment.layout.inverse],
                [f"{fragment.name} layout source", fragment.source],
            )
        if self.sparse:
            yield ["index sets in the register", self.index_sets]

    def _repr_html_(self) -> str:
        return instruction_table(self)

    def __repr__(self) -> str:
        formats = self.a if self.a == self.b else f"{self.a} x {self.b}"
        blocks = f" in {self.blocks} blocks" if self.blocks > 1 else ""
        return (
            f"<{self.name} on {self.arch.name}: {self.m}x{self.n}x{self.k}{blocks}, {formats} -> {self.d}, "
            f"wave{self.wave}, {self.cycles} cycles, arithmetic {self.fidelity}>"
        )
