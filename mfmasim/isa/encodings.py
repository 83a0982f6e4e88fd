"""Bit fields of the gfx9 encodings (CDNA1 to CDNA4), as the ISA manuals draw them in their last chapter.

A field is (lowest bit, width), counted from bit 0 of the first dword; `src0` of a VOP3 starts at bit 32. Bits that
no field covers are reserved: the hardware of this generation gives them no meaning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

Field = tuple[int, int]

LONGEST_PREFIX = 9
"""Bits of the longest prefix."""


@dataclass(frozen=True)
class Encoding:
    """One microcode format."""

    name: str
    size: int
    """Bytes without a literal."""
    prefix: str
    """Leading bits of the first dword, from bit 31 down, that identify it."""
    op: Field
    fields: dict[str, Field]
    reader: str = ""
    """Name of the decoder's function for it, where that differs from its own."""
    refused: bool = False
    """Named, but not decoded: images and exports."""
    op_high: Field = (0, 0)
    """Further bits of the opcode, above those of `op` (MTBUF of RDNA2)."""
    reserved: int = field(init=False)
    """Mask of the bits that have no meaning."""

    def __post_init__(self) -> None:
        covered = ((1 << len(self.prefix)) - 1) << (32 - len(self.prefix))
        for low, width in (self.op, self.op_high, *self.fields.values()):
            covered |= ((1 << width) - 1) << low
        object.__setattr__(self, "reserved", ~covered & ((1 << 8 * self.size) - 1))
        object.__setattr__(self, "reader", self.reader or self.name)

    def opcode(self, word: int) -> int:
        """The opcode of an instruction.

        Args:
            word: the instruction as one integer.
        """
        (low, width), (high, more) = self.op, self.op_high
        return word >> low & ((1 << width) - 1) | (word >> high & ((1 << more) - 1)) << width

    def placed(self, op: int) -> int:
        """An opcode in its bits of an instruction, the others 0."""
        (low, width), (high, _) = self.op, self.op_high
        return (op & ((1 << width) - 1)) << low | op >> width << high

    @property
    def opcodes(self) -> int:
        """How many opcodes its bits tell apart."""
        return 1 << self.op[1] + self.op_high[1]

    def matches(self, dword: int) -> bool:
        """Whether the first dword carries the prefix."""
        return dword >> (32 - len(self.prefix)) == int(self.prefix, 2)


class EncodingSet:
    """The encodings of one generation, found by the first dword of an instruction or by name."""

    def __init__(self, encodings: Sequence[Encoding]) -> None:
        """Index the encodings; among overlapping prefixes the first wins."""
        self.by_name = {encoding.name: encoding for encoding in encodings}
        self._by_prefix: list[Encoding | None] = [None] * (1 << LONGEST_PREFIX)
        for encoding in reversed(encodings):
            free = LONGEST_PREFIX - len(encoding.prefix)
            first, count = int(encoding.prefix, 2) << free, 1 << free
            self._by_prefix[first : first + count] = [encoding] * count

    def identify(self, dword: int) -> Encoding | None:
        """The encoding of an instruction by its first dword, or None."""
        return self._by_prefix[dword >> 32 - LONGEST_PREFIX]


_SRC = {"src0": (32, 9), "src1": (41, 9), "src2": (50, 9)}

# Scalar and short vector formats, the same on all. Longer prefixes first: SOP1, SOPC, SOPP and SOPK lie inside SOP2's
# opcode space, VOP1 and VOPC inside VOP2's.
SHORT = (
    Encoding("SOP1", 4, "101111101", (8, 8), {"sdst": (16, 7), "src0": (0, 8)}),
    Encoding("SOPC", 4, "101111110", (16, 7), {"src1": (8, 8), "src0": (0, 8)}),
    Encoding("SOPP", 4, "101111111", (16, 7), {"simm16": (0, 16)}),
    Encoding("SOPK", 4, "1011", (23, 5), {"sdst": (16, 7), "simm16": (0, 16)}),
    Encoding("SOP2", 4, "10", (23, 7), {"sdst": (16, 7), "src1": (8, 8), "src0": (0, 8)}),
    Encoding("VOP1", 4, "0111111", (9, 8), {"vdst": (17, 8), "src0": (0, 9)}),
    Encoding("VOPC", 4, "0111110", (17, 8), {"src1": (9, 8), "src0": (0, 9)}),
    Encoding("VOP2", 4, "0", (25, 6), {"vdst": (17, 8), "src1": (9, 8), "src0": (0, 9)}),
)
GFX9 = EncodingSet((
    *SHORT,
    Encoding("VOP3P", 8, "110100111", (16, 7), {
        "vdst": (0, 8), "neg_hi": (8, 3), "op_sel": (11, 3), "op_sel_hi2": (14, 1), "clamp": (15, 1), **_SRC,
        "op_sel_hi": (59, 2), "neg_lo": (61, 3),
    }),
    Encoding("VOP3", 8, "110100", (16, 10), {
        "vdst": (0, 8), "abs": (8, 3), "op_sel": (11, 4), "clamp": (15, 1), **_SRC, "omod": (59, 2), "neg": (61, 3),
    }),
    Encoding("SMEM", 8, "110000", (18, 8), {
        "sbase": (0, 6), "sdata": (6, 7), "soffset_en": (14, 1), "nv": (15, 1), "glc": (16, 1), "imm": (17, 1),
        "offset": (32, 21), "soffset": (57, 7),
    }),
    Encoding("DS", 8, "110110", (17, 8), {
        "offset0": (0, 8), "offset1": (8, 8), "gds": (16, 1), "acc": (25, 1), "addr": (32, 8), "data0": (40, 8),
        "data1": (48, 8), "vdst": (56, 8),
    }),
    Encoding("FLAT", 8, "110111", (18, 7), {
        "offset": (0, 13), "sve": (13, 1), "seg": (14, 2), "glc": (16, 1), "slc": (17, 1), "scc": (25, 1),
        "vaddr": (32, 8), "data": (40, 8), "saddr": (48, 7), "acc": (55, 1), "vdst": (56, 8),
    }),
    Encoding("MUBUF", 8, "111000", (18, 7), {
        "offset": (0, 12), "offen": (12, 1), "idxen": (13, 1), "glc": (14, 1), "scc": (15, 1), "lds": (16, 1),
        "slc": (17, 1), "vaddr": (32, 8), "vdata": (40, 8), "srsrc": (48, 5), "acc": (55, 1), "soffset": (56, 8),
    }),
    # Bit 53 is SC1 of CDNA3 (manual, 13.5.1); CDNA2's manual reserves it, LLVM has it as the scc of MUBUF.
    Encoding("MTBUF", 8, "111010", (15, 4), {
        "offset": (0, 12), "offen": (12, 1), "idxen": (13, 1), "glc": (14, 1), "data_format": (19, 4),
        "num_format": (23, 3), "vaddr": (32, 8), "vdata": (40, 8), "srsrc": (48, 5), "scc": (53, 1), "slc": (54, 1),
        "acc": (55, 1), "soffset": (56, 8),
    }, reader="MUBUF"),
))  # fmt: skip


def _changed(name: str, without: Sequence[str], extra: dict[str, Field]) -> Encoding:
    """A format of `GFX9` with other fields."""
    found = GFX9.by_name[name]
    kept = {key: place for key, place in found.fields.items() if key not in without}
    return Encoding(name, found.size, found.prefix, found.op, kept | extra, found.reader)


CDNA1 = EncodingSet(
    (
        *SHORT,
        *(GFX9.by_name[name] for name in ("VOP3P", "VOP3", "SMEM")),
        # Memory instructions have no AGPRs (acc) and no scc; their bit is tfe in buffers and nv in FLAT.
        _changed("DS", ("acc",), {}),
        _changed("FLAT", ("acc", "scc"), {"nv": (55, 1)}),
        _changed("MUBUF", ("acc", "scc"), {"tfe": (55, 1)}),
        _changed("MTBUF", ("acc", "scc"), {"tfe": (55, 1)}),
        Encoding("EXP", 8, "110001", (4, 6), {}, refused=True),
        Encoding("VINTRP", 4, "110101", (16, 2), {}, refused=True),
        Encoding("MIMG", 8, "111100", (18, 7), {}, refused=True),
    )
)
"""CDNA1 ISA manual, chapter 13."""

VOP3B = {"sdst": (8, 7)}
"""VOP3 with a scalar destination (carries, v_div_scale): it lies where `abs` and `op_sel` are."""

MAI = {"cbsz": (8, 3), "abid": (11, 4), "acc_cd": (15, 1), "acc": (59, 2), "blgp": (61, 3)}
"""VOP3P of the matrix instructions: other names for the modifier bits."""

# Second dword of a VOP1, VOP2 or VOPC whose src0 is 249 or 250.
SDWA9 = {
    "src0": (32, 8), "dst_sel": (40, 3), "dst_unused": (43, 2), "clamp": (45, 1), "omod": (46, 2),
    "src0_sel": (48, 3), "src0_sext": (51, 1), "src0_neg": (52, 1), "src0_abs": (53, 1), "s0": (55, 1),
    "src1_sel": (56, 3), "src1_sext": (59, 1), "src1_neg": (60, 1), "src1_abs": (61, 1), "s1": (63, 1),
}  # fmt: skip
SDWA9B = {
    "src0": (32, 8), "sdst": (40, 7), "sd": (47, 1),
    "src0_sel": (48, 3), "src0_sext": (51, 1), "src0_neg": (52, 1), "src0_abs": (53, 1), "s0": (55, 1),
    "src1_sel": (56, 3), "src1_sext": (59, 1), "src1_neg": (60, 1), "src1_abs": (61, 1), "s1": (63, 1),
}  # fmt: skip
"""SDWA of a VOPC: a scalar destination instead of the destination's modifiers."""
DPP16 = {
    "src0": (32, 8), "dpp_ctrl": (40, 9), "bound_ctrl": (51, 1), "src0_neg": (52, 1), "src0_abs": (53, 1),
    "src1_neg": (54, 1), "src1_abs": (55, 1), "bank_mask": (56, 4), "row_mask": (60, 4),
}  # fmt: skip
SDWA9_RESERVED, DPP16_RESERVED = 1 << 54 | 1 << 62, 3 << 49
"""Bits of the second dword without a meaning."""
