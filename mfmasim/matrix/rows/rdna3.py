"""Matrix instructions of RDNA3 and RDNA3.5 (gfx1100, gfx1151).

Sources: RDNA3 ISA manual 7.9; AMD Matrix Instruction Calculator 1.3.2 (cycles, output layout).
"""

from __future__ import annotations

from mfmasim.matrix.rows.row import Row, Table

#       kind    d        m   n   k  blocks  a       b      cycles  modifiers
ROWS = (
    Row("wmma", "f32", 16, 16, 16, 1, "f16", "f16", 32, "neg"),
    Row("wmma", "f32", 16, 16, 16, 1, "bf16", "bf16", 32, "neg"),
    Row("wmma", "f16", 16, 16, 16, 1, "f16", "f16", 32, "neg op_sel_half"),
    Row("wmma", "bf16", 16, 16, 16, 1, "bf16", "bf16", 32, "neg op_sel_half"),
    Row("wmma", "i32", 16, 16, 16, 1, "iu8", "iu8", 32, "signed any_c"),
    Row("wmma", "i32", 16, 16, 16, 1, "iu4", "iu4", 16, "signed any_c"),
)

TABLE = Table(ROWS, rule="rdna3", joined=False, source="calculator 1.3.2 and RDNA3 ISA manual 7.9", ops_unit="WGP")
NONE = Table((), rule="rdna3", joined=False, source="RDNA2 ISA manual: it has dot products and no matrix instructions")
"""RDNA2."""
