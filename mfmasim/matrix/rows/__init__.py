"""Tables of matrix instructions, one file per generation."""

from __future__ import annotations

from mfmasim.matrix.rows import cdna1, cdna2, cdna3, cdna4, cdna5, rdna3, rdna4
from mfmasim.matrix.rows.row import Row, Table, other_spelling, spelling

__all__ = ["TABLES", "Row", "Table", "other_spelling", "spelling"]

TABLES: dict[str, Table] = {
    "CDNA1": cdna1.TABLE,
    "CDNA2": cdna2.TABLE,
    "CDNA3": cdna3.TABLE,
    "CDNA4": cdna4.TABLE,
    **cdna5.TABLES,
    "RDNA2": rdna3.NONE,
    "RDNA3": rdna3.TABLE,
    "RDNA3.5": rdna3.TABLE,
    "RDNA4": rdna4.TABLE,
    "RDNA4m": rdna4.TABLE_4M,
}
"""Table of a generation, by `mfmasim.architectures.Arch.generation`."""
