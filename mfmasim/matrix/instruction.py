"""A matrix instruction of one architecture: its shape, its operands, and its arithmetic on matrices and registers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mfmasim.errors import MfmasimError, unknown
from mfmasim.evidence import captured, evidence_of
from mfmasim.figures.instruction import instruction_table
from mfmasim.formats import FORMATS
from mfmasim.matrix import execution
from mfmasim.matrix.models import Model, model_for
from mfmasim.matrix.modifiers import check
from mfmasim.matrix.operands import build, contiguous, under_modes
from mfmasim.matrix.request import PLAIN, Modes, Operands

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from mfmasim.architectures import Arch
    from mfmasim.matrix.fragment import Fragment
    from mfmasim.matrix.rows import Row, Table


@dataclass(frozen=True, eq=False)
class MatrixInstruction:
    """One matrix instruction, with the formats of A and B and the wave size settled.

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
        eight = 8 in (FORMATS[self.a].bits, FORMATS[self.b].bits)
        return self.row.cycles if eight or not self.row.small_cycles else self.row.small_cycles

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
        """How far the arithmetic can be trusted: hardware, reference, specified or assumed."""
        return "hardware" if captured(self.name, self.arch.name) else self.model.fidelity

    @property
    def evidence(self) -> str:
        """What supports the arithmetic."""
        values = sum(row.equal for row in evidence_of(self.name, self.arch.name))
        more = "" if self.model.fidelity == self.fidelity else f"; {values:,} captured values are equal"
        return self.model.evidence + more

    @property
    def source(self) -> str:
        """Where the arithmetic is published."""
        return self.model.source

    @property
    def layout_source(self) -> str:
        """Where the layouts of the inputs are published, or how they were inferred."""
        inputs = [fragment for name, fragment in self.operands.items() if name not in {"C", "D"}]
        return "; ".join(dict.fromkeys(fragment.source for fragment in inputs))

    # Operands

    @cached_property
    def operands(self) -> dict[str, Fragment]:
        """Every operand by name, in the order A, B, C, D, scale_A, scale_B, index."""
        return build(self)

    @property
    def A(self) -> Fragment:
        """Operand A: rows i, columns k (kept elements where A is sparse)."""
        return self.operands["A"]

    @property
    def B(self) -> Fragment:
        """Operand B: rows k, columns j."""
        return self.operands["B"]

    @property
    def C(self) -> Fragment:
        """Operand C: rows i, columns j; for a sparse A it lies in the registers of D."""
        return self.operands["C"]

    @property
    def D(self) -> Fragment:
        """Result D: rows i, columns j."""
        return self.operands["D"]

    @property
    def scale_A(self) -> Fragment | None:
        """Scales of A: rows i, columns blocks of k that share one; None without block scales."""
        return self.operands.get("scale_A")

    @property
    def scale_B(self) -> Fragment | None:
        """Scales of B: rows j, columns blocks of k that share one; None without block scales."""
        return self.operands.get("scale_B")

    @property
    def index(self) -> Fragment | None:
        """2-bit positions of the kept elements: rows and columns as A; None where A is dense."""
        return self.operands.get("index")

    @property
    def index_sets(self) -> int:
        """Sets of indices that one register holds; ABID (CDNA) or OPSEL (RDNA) selects one. 0 where A is dense."""
        return max(1, 32 // (self.A.layout.items * 2)) if self.sparse else 0

    def operand(self, name: str, **modifiers: int) -> Fragment:
        """An operand as the instruction reads it under modifiers.

        Args:
            name: ``A``, ``B``, ``C``, ``D``, ``scale_A``, ``scale_B`` or ``index``.
            modifiers: fields of `mfmasim.matrix.request.Modes`.

        Returns:
            The fragment. Under CBSZ or BLGP several elements may share a place.

        Raises:
            MfmasimError: the instruction has no such operand, or a modifier is not legal.
        """
        if name not in self.operands:
            raise MfmasimError(f"{self.name} has no operand {name!r}; it has {', '.join(self.operands)}")
        return self.under(Modes(**modifiers))[name]  # type: ignore[arg-type]

    @cached_property
    def _under(self) -> dict[Modes, dict[str, Fragment]]:
        return {PLAIN: self.operands}

    def under(self, modes: Modes) -> dict[str, Fragment]:
        """Every operand as the instruction reads it under modes.

        Raises:
            MfmasimError: a modifier is not legal.
        """
        found = self._under.get(modes)
        if found is None:
            # Modes that only concern rounding move no element.
            moving = replace(modes, clamp=False, fp16_ovfl=False, denormals=True)
            if modes == moving:
                check(self, modes)
                found = {name: under_modes(self, fragment, modes) for name, fragment in self.operands.items()}
            else:
                found = self.under(moving)
            self._under[modes] = found
        return found

    def contiguous(self, name: str) -> Fragment:
        """An operand with k numbered so that every lane holds a run of consecutive k, alike in A, B and index.

        The numbers of k are a convention: exact sums do not depend on them. `multiply` and `execute` use those of
        `operands`, because rounding depends on which k are summed together.

        Args:
            name: ``A``, ``B``, ``C``, ``D`` or ``index``.

        Returns:
            The fragment under the other numbering, which may be the one it has.

        Raises:
            MfmasimError: A and B would need different numbers, or scales bind the numbers of k.
        """
        return contiguous(self, name)

    # Arithmetic

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
            cbsz, abid, blgp, clamp=clamp, fp16_ovfl=fp16_ovfl, denormals=denormals,
            scale_a_format=self._scale_code(scale_a_format), scale_b_format=self._scale_code(scale_b_format),
        )  # fmt: skip
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
            d_regs: what D's registers hold before, where D fills only halves of them (RDNA3's 16-bit results); None
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
