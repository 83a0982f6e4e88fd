"""Matrix instructions of CDNA4 (gfx950): those of CDNA3 without xf32, f64 at half the rate, and the wider forms.

Source: CDNA4 ISA manual 7.1.2 (dense), 7.2.1 (block scales), 7.5 (sparse). The manual prints
no layout table for FP8 and FP6; the sources of those layouts are in their rows. None was compared with hardware.
"""

from __future__ import annotations

from dataclasses import replace

from mfmasim.matrix.rows import cdna3
from mfmasim.matrix.rows.row import FP8_PAIRS, Row, Table

_SPARSE = "CDNA4 ISA manual 7.5.1.3 for B and index; A inferred from them"
_SCALES = "CDNA4 ISA manual 7.2.1 (one byte of 64 lanes); order of lanes from Triton and Composable Kernel"
_SMALL = {
    8: "AMD's HIP examples, CK-tile, Triton and rocjitsu agree: two runs of 16 k; not measured here",
    6: "open: rocjitsu and CK-tile have 32 k in a row as for FP4, a comment in Triton two runs of 16",
    4: "CDNA4 ISA manual 7.1.5.1",
}

_F64_CYCLES = {(16, 16, 4): 64, (4, 4, 4): 32}

#       kind    d       m   n    k  blocks  a       b      cycles  modifiers
ROWS = (
    *(
        replace(row, cycles=_F64_CYCLES[row.m, row.n, row.k]) if row.a == "f64" else row
        for row in cdna3.ROWS if row.a != "xf32"
    ),
    *(row for word in ("f16", "bf16") for row in (
        Row("mfma", "f32", 16, 16, 32, 1, word, word, 16),
        Row("mfma", "f32", 32, 32, 16, 1, word, word, 32),
    )),
    Row("mfma", "i32", 16, 16,  64, 1, "i8", "i8", 16),
    Row("mfma", "i32", 32, 32,  32, 1, "i8", "i8", 32),
    *(row for kind in ("mfma", "mfma_scale") for row in (
        Row(kind, "f32", 16, 16, 128, 1, "f8f6f4", "f8f6f4", 32, small_cycles=16, source=_SMALL),
        Row(kind, "f32", 32, 32,  64, 1, "f8f6f4", "f8f6f4", 64, small_cycles=32, source=_SMALL),
    )),
    *(row for word in ("f16", "bf16") for row in (
        Row("smfmac", "f32", 16, 16, 64, 1, word, word, 16, "abid_index", source=_SPARSE),
        Row("smfmac", "f32", 32, 32, 32, 1, word, word, 32, "abid_index", source=_SPARSE),
    )),
    Row("smfmac", "i32", 16, 16, 128, 1, "i8", "i8", 16, "abid_index", source=_SPARSE),
    Row("smfmac", "i32", 32, 32,  64, 1, "i8", "i8", 32, "abid_index", source=_SPARSE),
    *(Row("smfmac", "f32", 16, 16, 128, 1, a, b, 16, "abid_index", source=_SPARSE) for a, b in FP8_PAIRS),
    *(Row("smfmac", "f32", 32, 32,  64, 1, a, b, 32, "abid_index", source=_SPARSE) for a, b in FP8_PAIRS),
)  # fmt: skip

TABLE = Table(ROWS, rule="cdna", joined=False, source="CDNA4 ISA manual 7.1.4 and 7.1.5.1", scale_source=_SCALES)
