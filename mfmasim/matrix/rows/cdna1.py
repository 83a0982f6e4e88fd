"""Matrix instructions of CDNA1 (gfx908).

Sources: CDNA1 ISA manual (names); AMD Matrix Instruction Calculator 1.3.2 (shapes, cycles, modifiers, layouts).
"""

from __future__ import annotations

from mfmasim.matrix.rows.row import Row, Table

#       kind    d       m   n   k  blocks  a       b      cycles  modifiers
ROWS = (
    Row("mfma", "f32", 32, 32, 1, 2, "f32", "f32", 64, "cbsz blgp"),
    Row("mfma", "f32", 16, 16, 1, 4, "f32", "f32", 32, "cbsz blgp"),
    Row("mfma", "f32", 4, 4, 1, 16, "f32", "f32", 8, "cbsz blgp"),
    Row("mfma", "f32", 32, 32, 2, 1, "f32", "f32", 64, "blgp"),
    Row("mfma", "f32", 16, 16, 4, 1, "f32", "f32", 32, "blgp"),
    Row("mfma", "f32", 32, 32, 4, 2, "f16", "f16", 64, "cbsz blgp"),
    Row("mfma", "f32", 16, 16, 4, 4, "f16", "f16", 32, "cbsz blgp"),
    Row("mfma", "f32", 4, 4, 4, 16, "f16", "f16", 8, "cbsz blgp"),
    Row("mfma", "f32", 32, 32, 8, 1, "f16", "f16", 64, "blgp"),
    Row("mfma", "f32", 16, 16, 16, 1, "f16", "f16", 32, "blgp"),
    Row("mfma", "i32", 32, 32, 4, 2, "i8", "i8", 64, "cbsz blgp"),
    Row("mfma", "i32", 16, 16, 4, 4, "i8", "i8", 32, "cbsz blgp"),
    Row("mfma", "i32", 4, 4, 4, 16, "i8", "i8", 8, "cbsz blgp"),
    Row("mfma", "i32", 32, 32, 8, 1, "i8", "i8", 64, "blgp"),
    Row("mfma", "i32", 16, 16, 16, 1, "i8", "i8", 32, "blgp"),
    Row("mfma", "f32", 32, 32, 2, 2, "bf16", "bf16", 64, "cbsz blgp"),
    Row("mfma", "f32", 16, 16, 2, 4, "bf16", "bf16", 32, "cbsz blgp"),
    Row("mfma", "f32", 4, 4, 2, 16, "bf16", "bf16", 8, "cbsz blgp"),
    Row("mfma", "f32", 32, 32, 4, 1, "bf16", "bf16", 64, "blgp"),
    Row("mfma", "f32", 16, 16, 8, 1, "bf16", "bf16", 32, "blgp"),
)

TABLE = Table(ROWS, rule="cdna", joined=True, source="calculator 1.3.2")
