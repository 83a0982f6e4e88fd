"""Ignored bits of an instruction: bits that its opcode does not read, and that may have any value.

"Not every instruction uses every field in its encoding" (RDNA3 ISA manual, "Instruction encoding"; assemblers fill such
fields with zero, NULL or something else). A field is unread if it names an operand, or modifies one, that the opcode's
row does not have. A modifier that an existing operand does not support is an error: ABS and NEG of
integers are undefined, and OP_SEL of 32-bit operands must be zero (RDNA3 ISA manual, "Input operand modifiers" and the
fields of VOP3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mfmasim.isa.rows import Row


@dataclass(frozen=True, slots=True)
class Unread:
    """Bits of a kernel that the hardware does not read, although they are not zero: information, not an error."""

    kernel: str
    """Mangled name."""
    pc: int | None
    """Address of the instruction; None for the kernel descriptor."""
    text: str
    """The instruction in LLVM's syntax, or ``kernel descriptor``."""
    fields: tuple[tuple[str, int], ...]
    """Fields and their values."""

    def __str__(self) -> str:
        """One line."""
        where = self.text if self.pc is None else f"{self.text} at {self.pc:#x}"
        return f"{self.kernel}: {where} does not use {', '.join(f'{name} {value:#x}' for name, value in self.fields)}"


_ALL = -1

_OPERANDS = frozenset((
    "src0", "src1", "src2", "src0x", "src1x", "src0y", "src1y", "vdst", "sdst", "simm16",
    "sbase", "sdata", "soffset", "offset", "offset0", "offset1",
    "addr", "data0", "data1", "vaddr", "saddr", "data", "vdata", "srsrc",
))  # fmt: skip
"""Fields that name a register, a constant or an offset. A reader leaves one where the row has no such operand."""

_PER_SOURCE = frozenset(("neg", "abs", "op_sel", "neg_lo", "neg_hi"))
"""Fields whose bits 0, 1 and 2 belong to the sources."""

_OF_SECOND_SOURCE = frozenset(("s1", "src1_sel", "src1_sext", "src1_neg", "src1_abs"))


def absent_sources(row: Row) -> int:
    """Mask of the sources, of three, that an opcode does not have."""
    return 7 & -(1 << sum(slot.printed or slot.tied for slot in row.src))


def unread_bits(name: str, row: Row) -> int:
    """Mask of the bits of a field that an opcode does not read, after the decoder has taken the others.

    Args:
        name: field of the encoding.
        row: the opcode.
    """
    if name in _OPERANDS:
        return _ALL
    if name in _PER_SOURCE:
        return absent_sources(row)
    if name in _OF_SECOND_SOURCE:
        return _ALL if absent_sources(row) & 2 else 0
    if name == "omod":
        # CDNA3 ISA manual, 6.2.2; RDNA3 ISA manual, 7.2.3.1: integer results and lane masks ignore it.
        return _ALL if row.dst and all(slot.type[0] in "iuve" for slot in row.dst) else 0
    return 0
