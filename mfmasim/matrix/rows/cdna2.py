"""Matrix instructions of CDNA2 (gfx90a): those of CDNA1, bf16 at the rate of f16 (_1k), and f64.

Sources: CDNA2 ISA manual (names); AMD Matrix Instruction Calculator 1.3.2 (shapes, cycles, modifiers, layouts).
"""

from __future__ import annotations

from mfmasim.matrix.rows import cdna1
from mfmasim.matrix.rows.row import Row, Table

#       kind    d       m   n   k  blocks  a       b      cycles  modifiers    suffix
ROWS = (
    *cdna1.ROWS,
    Row("mfma", "f32", 32, 32, 4, 2, "bf16", "bf16", 64, "cbsz blgp", "_1k"),
    Row("mfma", "f32", 16, 16, 4, 4, "bf16", "bf16", 32, "cbsz blgp", "_1k"),
    Row("mfma", "f32", 4, 4, 4, 16, "bf16", "bf16", 8, "cbsz blgp", "_1k"),
    Row("mfma", "f32", 32, 32, 8, 1, "bf16", "bf16", 64, "blgp", "_1k"),
    Row("mfma", "f32", 16, 16, 16, 1, "bf16", "bf16", 32, "blgp", "_1k"),
    Row("mfma", "f64", 16, 16, 4, 1, "f64", "f64", 32),
    Row("mfma", "f64", 4, 4, 4, 4, "f64", "f64", 16),
)

TABLE = Table(ROWS, rule="cdna", joined=True, source="calculator 1.3.2")
