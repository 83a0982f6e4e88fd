"""Opcode tables: one file per encoding, its rows with a column of opcode numbers per architecture.

`mfmasim.isa.rows` has the grammar of a row; `python -m tests.isa.generate_tables` measures them from llvm-mc 22, those
of gfx1170 from the assembler of LLVM 24.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

__all__ = ["ENCODINGS", "Cells", "columns", "lines", "table"]

Cells = tuple[str, str, str, str]
"""Name, destinations, sources and flags of a row."""

ENCODINGS = (
    "SOP1", "SOP2", "SOPC", "SOPK", "SOPP", "SMEM", "VOP1", "VOP2", "VOPC", "VOP3", "VOP3P", "MAI", "WMMA", "VOPDX",
    "VOPDY", "VOPD3X", "VOPD3Y", "DS", "FLAT", "SCRATCH", "GLOBAL", "MUBUF", "MTBUF", "VINTERP", "VIMAGE",
)  # fmt: skip
"""Encodings that have a file, such as ``vop3.txt``."""


@cache
def lines(encoding: str) -> list[str]:
    """Lines of an encoding's file, the first of them its columns."""
    return files(__name__).joinpath(f"{encoding.lower()}.txt").read_text("ascii").splitlines()


def columns(encoding: str) -> list[str]:
    """Architectures that an encoding's file has a column for."""
    return [cell.strip() for cell in lines(encoding)[0].split("|")[4:]]


def table(encoding: str, arch: str) -> list[tuple[int, Cells]]:
    """Opcode number and row of each operation that an architecture has in an encoding, by number.

    Args:
        encoding: one of `ENCODINGS`.
        arch: an architecture; without a column of its name there are no rows.
    """
    known = columns(encoding)
    if arch not in known:
        return []
    column = 4 + known.index(arch)
    rows = []
    for line in lines(encoding)[1:]:
        cells = line.split("|")
        # Trailing empty cells are not written.
        if column < len(cells) and (number := cells[column].strip()):
            name, to, sources, flags = (cell.strip() for cell in cells[:4])
            rows.append((int(number, 16), (name, to, sources, flags)))
    return sorted(rows, key=lambda row: row[0])
