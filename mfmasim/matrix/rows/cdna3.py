"""Matrix instructions of CDNA3 (gfx942).

Sources: CDNA3 ISA manual 7.1.2 and 7.3 (names, blocks, cycles); AMD Matrix Instruction Calculator 1.3.2 (modifiers,
layouts), whose layouts agree with CDNA3 ISA manual 7.1.4.
"""

from __future__ import annotations

from mfmasim.matrix.rows.row import FP8_PAIRS, Row, Table

#       kind    d       m   n   k  blocks  a       b      cycles  modifiers
ROWS = (
    Row("mfma", "f32", 32, 32, 1, 2, "f32", "f32", 64, "cbsz blgp"),
    Row("mfma", "f32", 16, 16, 1, 4, "f32", "f32", 32, "cbsz blgp"),
    Row("mfma", "f32", 4, 4, 1, 16, "f32", "f32", 8, "cbsz blgp"),
    Row("mfma", "f32", 32, 32, 2, 1, "f32", "f32", 64, "blgp"),
    Row("mfma", "f32", 16, 16, 4, 1, "f32", "f32", 32, "blgp"),
    Row("mfma", "f32", 32, 32, 4, 1, "xf32", "xf32", 32),
    Row("mfma", "f32", 16, 16, 8, 1, "xf32", "xf32", 16),
    *(
        row
        for word, suffix in (("f16", ""), ("bf16", "_1k"))
        for row in (
            Row("mfma", "f32", 32, 32, 4, 2, word, word, 64, "cbsz blgp", suffix),
            Row("mfma", "f32", 16, 16, 4, 4, word, word, 32, "cbsz blgp", suffix),
            Row("mfma", "f32", 4, 4, 4, 16, word, word, 8, "cbsz blgp", suffix),
            Row("mfma", "f32", 32, 32, 8, 1, word, word, 32, "", suffix),
            Row("mfma", "f32", 16, 16, 16, 1, word, word, 16, "", suffix),
        )
    ),
    Row("mfma", "i32", 32, 32, 4, 2, "i8", "i8", 64, "cbsz blgp"),
    Row("mfma", "i32", 16, 16, 4, 4, "i8", "i8", 32, "cbsz blgp"),
    Row("mfma", "i32", 4, 4, 4, 16, "i8", "i8", 8, "cbsz blgp"),
    Row("mfma", "i32", 32, 32, 16, 1, "i8", "i8", 32),
    Row("mfma", "i32", 16, 16, 32, 1, "i8", "i8", 16),
    Row("mfma", "f64", 16, 16, 4, 1, "f64", "f64", 32, "negate"),
    Row("mfma", "f64", 4, 4, 4, 4, "f64", "f64", 16, "negate"),
    *(Row("mfma", "f32", 16, 16, 32, 1, a, b, 16) for a, b in FP8_PAIRS),
    *(Row("mfma", "f32", 32, 32, 16, 1, a, b, 32) for a, b in FP8_PAIRS),
    *(
        row
        for word in ("f16", "bf16")
        for row in (
            Row("smfmac", "f32", 16, 16, 32, 1, word, word, 16, "abid_index"),
            Row("smfmac", "f32", 32, 32, 16, 1, word, word, 32, "abid_index"),
        )
    ),
    Row("smfmac", "i32", 16, 16, 64, 1, "i8", "i8", 16, "abid_index"),
    Row("smfmac", "i32", 32, 32, 32, 1, "i8", "i8", 32, "abid_index"),
    *(Row("smfmac", "f32", 16, 16, 64, 1, a, b, 16, "abid_index") for a, b in FP8_PAIRS),
    *(Row("smfmac", "f32", 32, 32, 32, 1, a, b, 32, "abid_index") for a, b in FP8_PAIRS),
)

TABLE = Table(ROWS, rule="cdna", joined=False, source="calculator 1.3.2 and CDNA3 ISA manual 7.1.4")
