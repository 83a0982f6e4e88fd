"""What one row of an instruction table says, and how its name is spelt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

FP8_PAIRS = (("bf8", "bf8"), ("bf8", "fp8"), ("fp8", "bf8"), ("fp8", "fp8"))
"""Words of A and B in the forms with two 8-bit floats."""
SCALE_BLOCKS = {"mfma_scale": 32, "wmma_scale": 32, "wmma_scale16": 16}
"""Elements along K that share one scale, by kind (CDNA4 ISA manual 7.2, CDNA5 ISA manual 7.12.6)."""


@dataclass(frozen=True)
class Row:
    """One matrix instruction; what is not here follows from it.

    ``a`` and ``b`` are the words of the instruction's name (``fp8``, ``bf8``, ``iu8``, ``f8f6f4``), which an
    architecture turns into number formats.
    """

    kind: str
    """``mfma``, ``mfma_scale``, ``smfmac``, ``wmma``, ``wmma_scale``, ``wmma_scale16`` or ``swmmac``."""
    d: str
    """Format of D, and of C unless `c` names another: ``f64``, ``f32``, ``f16``, ``bf16``, ``i32``."""
    m: int
    n: int
    k: int
    blocks: int
    a: str
    b: str
    cycles: int
    """Cycles of the instruction; of the 8-bit forms where the formats of A and B matter."""
    modifiers: str = ""
    """Words of the modifiers it takes: ``cbsz`` (with abid), ``blgp``, ``negate`` (BLGP negates A, B, C),
    ``abid_index`` and ``op_sel_index`` (choose the set of sparse indices), ``op_sel_half`` (C and D in the upper
    halves), ``neg`` (NEG and NEG_HI: halves of A and B, sign and magnitude of C), ``neg_32`` (the same where
    A and B have 32 bits: NEG_HI only for C), ``neg_c`` (C only), ``signed`` (NEG says which integers are signed),
    ``any_c`` (NEG of an integer C is not read: hipBLASLt's int8 kernels for gfx11 set it and add sums up),
    ``reuse`` (hints that A or B comes again; they take a bit of OPSEL, whose other bits must be 0)."""
    suffix: str = ""
    """End of the name in the joined spelling: ``_1k`` for the bf16 forms with the K of f16. CDNA1 has bf16 without it
    only, CDNA2 both, later generations only what is called ``_1k`` there."""
    small_cycles: int = 0
    """Cycles when neither A nor B is an 8-bit format; 0 where formats do not matter."""
    four_cycles: int = 0
    """Cycles when A and B are both 4-bit formats; 0 where that does not matter."""
    c: str = ""
    """Format of C where it is not that of D."""
    source: str | Mapping[int, str] = ""
    """Where the lane layout of A and B comes from, when it is not the table's own source; by bits of an element
    where that matters."""

    @property
    def sparse(self) -> bool:
        """Whether A is 4:2 structured sparse."""
        return self.kind in {"smfmac", "swmmac"}

    @property
    def scaled(self) -> bool:
        """Whether A and B have block scales."""
        return self.kind in SCALE_BLOCKS

    @property
    def scale_block(self) -> int:
        """Elements along K that share one scale; 0 without scales."""
        return SCALE_BLOCKS.get(self.kind, 0)

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of the source operands in the assembler's order; a sparse instruction reads C from D's registers."""
        if self.sparse:
            return "A", "B", "index", "C"
        return ("A", "B", "C", "scale_A", "scale_B") if self.scaled else ("A", "B", "C")

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of `modifiers`."""
        return frozenset(self.modifiers.split())

    @property
    def inputs(self) -> str:
        """The end of the name: one word when A and B are named alike."""
        two = self.a in {"fp8", "bf8"}
        return f"{self.a}_{self.b}" if two else self.a


@dataclass(frozen=True)
class Table:
    """Rows of one generation and what they share."""

    rows: tuple[Row, ...]
    rule: str
    """Name of the layout rule in `mfmasim.matrix.rules`."""
    joined: bool
    """Spelling of dense names: ``32x32x8f16`` (joined) or ``32x32x8_f16``."""
    source: str
    """Source of shapes, cycles and layouts."""
    scale_source: str = ""
    """Source of the places of scales; "" where there are none."""
    index_source: str = ""
    """Source of the places of sparse indices where they do not follow those of A."""
    scale_formats: tuple[str, ...] = ("e8m0fnu",)
    """Formats of scales, by their code in the instruction."""
    scalar_scales: bool = False
    """An SGPR as scales gives its lowest byte to all of them, and the inline constant 0 stands for 0x7F."""
    ops_unit: str = "CU"
    """What the throughput counts for: a compute unit (CU) or a work-group processor (WGP), four SIMDs either way."""


def spelling(row: Row, *, joined: bool) -> str:
    """Name of an instruction.

    >>> row = Row("mfma", "f32", 32, 32, 4, 2, "bf16", "bf16", 64, suffix="_1k")
    >>> spelling(row, joined=True), spelling(row, joined=False)
    ('v_mfma_f32_32x32x4bf16_1k', 'v_mfma_f32_32x32x4_2b_bf16')
    """
    head = f"v_{row.kind}_{row.d}{row.c}_{row.m}x{row.n}x{row.k}"
    if joined and row.kind == "mfma":
        return f"{head}{row.inputs}{row.suffix}"
    blocks = f"_{row.blocks}b" if row.blocks > 1 else ""
    return f"{head}{blocks}_{row.inputs}"


def other_spelling(row: Row, *, joined: bool) -> str | None:
    """The spelling that other generations use for a dense instruction, or None where there is only one."""
    if row.kind != "mfma" or row.inputs == "f8f6f4" or "_" in row.inputs:
        return None
    return spelling(row, joined=not joined)
