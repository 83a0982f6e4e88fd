"""Matrix instructions of RDNA4 (gfx1200, gfx1201), which RDNA 4m (gfx1170) has too.

Sources: RDNA4 ISA manual 7.12; AMD Matrix Instruction Calculator 1.3.2 (cycles, numbering of k).
"""

from __future__ import annotations

from dataclasses import replace

from mfmasim.matrix.rows.row import FP8_PAIRS, Row, Table

#       kind      d        m   n   k  blocks  a       b      cycles  modifiers
ROWS = (
    Row("wmma", "f32", 16, 16, 16, 1, "f16", "f16", 16, "neg"),
    Row("wmma", "f32", 16, 16, 16, 1, "bf16", "bf16", 16, "neg"),
    Row("wmma", "f16", 16, 16, 16, 1, "f16", "f16", 16, "neg"),
    Row("wmma", "bf16", 16, 16, 16, 1, "bf16", "bf16", 16, "neg"),
    Row("wmma", "i32", 16, 16, 16, 1, "iu8", "iu8", 8, "signed"),
    Row("wmma", "i32", 16, 16, 16, 1, "iu4", "iu4", 8, "signed"),
    Row("wmma", "i32", 16, 16, 32, 1, "iu4", "iu4", 8, "signed"),
    # The manual denies NEG to fp8 in 7.7 and only for A and B in 7.12; LLVM encodes it for C.
    *(Row("wmma", "f32", 16, 16, 16, 1, a, b, 8, "neg_c") for a, b in FP8_PAIRS),
    Row("swmmac", "f32", 16, 16, 32, 1, "f16", "f16", 16, "neg op_sel_index"),
    Row("swmmac", "f32", 16, 16, 32, 1, "bf16", "bf16", 16, "neg op_sel_index"),
    Row("swmmac", "f16", 16, 16, 32, 1, "f16", "f16", 16, "neg op_sel_index"),
    Row("swmmac", "bf16", 16, 16, 32, 1, "bf16", "bf16", 16, "neg op_sel_index"),
    Row("swmmac", "i32", 16, 16, 32, 1, "iu8", "iu8", 8, "signed op_sel_index"),
    Row("swmmac", "i32", 16, 16, 32, 1, "iu4", "iu4", 8, "signed op_sel_index"),
    Row("swmmac", "i32", 16, 16, 64, 1, "iu4", "iu4", 8, "signed op_sel_index"),
    *(Row("swmmac", "f32", 16, 16, 32, 1, a, b, 8, "op_sel_index") for a, b in FP8_PAIRS),
)

TABLE = Table(ROWS, rule="rdna4", joined=False, source="calculator 1.3.2 and RDNA4 ISA manual 7.12.2", ops_unit="WGP")
TABLE_4M = replace(
    TABLE, source="names, registers and modifiers as LLVM 24; layouts as RDNA4 (so rocMLIR has them), cycles assumed"
)
"""RDNA 4m: LLVM 24's assembler takes each of these rows and no other WMMA or SWMMAC of gfx12 and gfx1250."""
