"""Opcode rows: the grammar of the tables in `mfmasim.isa.tables` and the record of a row.

A table is text, one operation a line, columns between ``|``: name, dst, src, flags, then the opcode number on each
architecture that has it.
An operand is written ``[-][=][file:]type[*n][!]``:

=========  =====================================================================================================
``-``      the long encodings give it neg and abs
``=``      the destination, read as a source; not printed
``a:``     an AGPR; ``v:`` a vector register, ``s:`` a scalar one (in VOP3 a constant as well)
``h:``     one half of a register, which op_sel selects (LLVM prints ``.l`` or ``.h``)
``l:``     in the short encodings one of the lower 128 registers: bit 7 of the field is reserved
``odd:``   registers that may start at an odd one even where others may not
``c:``     a scalar register or an inline constant, no literal
``rtn:``   an atomic's old value; any other word is a field of the encoding (``data0:``)
``*n``     n values, register after register
``!``      implicit and not printed
``vcc``    a lane mask: VCC in the short encodings, a scalar pair in VOP3
``K``      the literal of the operation (v_fmamk_f32)
``exec``   EXEC, as wide as the wave; ``exec32`` its low dword, ``exec64`` all of it
=========  =====================================================================================================

The flag ``plain`` marks what LLVM prints without names of halves by default, with these bits of op_sel if it selects
any (gfx12; on gfx11 halves always have names).

``simm16 hwreg gpr_idx label delay msg imm5 imm7 offset addr saddr`` are immediates and address forms of their encoding.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from mfmasim.isa.opcode import Opcode, Slot, opcode
from mfmasim.isa.operands import DWORDS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mfmasim.isa.tables import Cells


@dataclass(frozen=True, slots=True)
class Row:
    """One opcode of one encoding."""

    op: int
    opcode: Opcode
    """Its record."""
    dst: tuple[Slot, ...]
    src: tuple[Slot, ...]
    flags: dict[str, tuple[str, ...]] = field(hash=False)
    """Flag to its arguments: ``e64:clamp:omod`` is ``{"e64": ("clamp", "omod")}``."""

    @property
    def name(self) -> str:
        """Base mnemonic."""
        return self.opcode.name


@cache
def _slot(text: str, mask: int) -> Slot:
    """Read one operand; a lane mask has `mask` dwords."""
    signed, text = text.startswith("-"), text.removeprefix("-")
    tied, text = text.startswith("="), text.removeprefix("=")
    implicit, text = text.endswith("!"), text.removesuffix("!")
    file, _, kind = text.rpartition(":")
    kind, _, many = kind.partition("*")
    count = DWORDS.get(kind, mask if kind in ("vcc", "exec") else 1) * int(many or 1)
    return Slot(kind, count, file, signed, tied, not (tied or implicit))


def _flag(text: str) -> tuple[str, tuple[str, ...]]:
    name, *arguments = text.split(":")
    return name, tuple(arguments)


def read_rows(encoding: str, table: Iterable[tuple[int, Cells]], wave: int = 64) -> list[Row]:
    """Read the rows of a table.

    Args:
        encoding: its key, such as ``VOP2``.
        table: opcode number and cells of each row.
        wave: lanes of a wave, 32 or 64.

    Raises:
        MfmasimError: `mfmasim.isa.opcode` has no row for an opcode.
    """
    mask = wave // 32
    rows = []
    for op, (name, to, sources, flags) in table:
        dst = tuple(_slot(token, mask) for token in to.split())
        src = tuple(_slot(token, mask) for token in sources.split())
        rows.append(Row(op, opcode(name, encoding, dst, src), dst, src, dict(map(_flag, flags.split()))))
    return rows
