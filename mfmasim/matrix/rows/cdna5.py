"""Matrix instructions of CDNA5 (gfx1250).

Sources: CDNA5 ISA manual 7.12 (shapes, layouts, scales); names and registers LLVM 22. Cycles: LLVM's SISchedule.td
(GFX125xCommonWriteRes), except for f8f6f4 with an 8-bit format, for which LLVM counts 16 and the CDNA5 white paper's
peak of MXFP8 (20.13 PFLOP/s of 256 WGPs at 2.4 GHz) needs 8.
"""

from __future__ import annotations

from mfmasim.matrix.rows.row import FP8_PAIRS, Row, Table

# Modifiers. The manual's table of NEG says 0 for A and B of 16 and 32 bits; LLVM encodes them (as on RDNA4).
_F16, _F32, _FP8, _IU8, _SMALL = "neg reuse", "neg_32 reuse", "neg_c reuse", "signed reuse", "neg_c"

#       kind            d       m   n   k    blocks  a       b      cycles  modifiers
ROWS = (
    Row("wmma", "f32", 16, 16, 4, 1, "f32", "f32", 16, _F32),
    Row("wmma", "f32", 16, 16, 32, 1, "f16", "f16", 8, _F16),
    Row("wmma", "f32", 16, 16, 32, 1, "bf16", "bf16", 8, _F16),
    Row("wmma", "f16", 16, 16, 32, 1, "f16", "f16", 8, _F16),
    Row("wmma", "bf16", 16, 16, 32, 1, "bf16", "bf16", 8, _F16),
    Row("wmma", "bf16", 16, 16, 32, 1, "bf16", "bf16", 8, _F16, c="f32"),
    *(Row("wmma", d, 16, 16, k, 1, a, b, 8, _FP8) for d in ("f32", "f16") for k in (64, 128) for a, b in FP8_PAIRS),
    Row("wmma", "i32", 16, 16, 64, 1, "iu8", "iu8", 16, _IU8),
    *(
        row
        for kind in ("wmma", "wmma_scale", "wmma_scale16")
        for row in (
            Row(kind, "f32", 16, 16, 128, 1, "f8f6f4", "f8f6f4", 8, _SMALL if kind == "wmma" else _FP8),
            Row(kind, "f32", 32, 16, 128, 1, "f4", "f4", 8, _SMALL if kind == "wmma" else _FP8),
        )
    ),
    Row("swmmac", "f32", 16, 16, 64, 1, "f16", "f16", 8, _F16),
    Row("swmmac", "f32", 16, 16, 64, 1, "bf16", "bf16", 8, _F16),
    Row("swmmac", "f16", 16, 16, 64, 1, "f16", "f16", 8, _F16),
    Row("swmmac", "bf16", 16, 16, 64, 1, "bf16", "bf16", 8, _F16),
    Row("swmmac", "bf16", 16, 16, 64, 1, "bf16", "bf16", 8, _F16, c="f32"),
    *(Row("swmmac", d, 16, 16, 128, 1, a, b, 8, "reuse") for d in ("f32", "f16") for a, b in FP8_PAIRS),
    Row("swmmac", "i32", 16, 16, 128, 1, "iu8", "iu8", 16, _IU8),
)

TABLE = Table(
    ROWS,
    rule="cdna5",
    joined=False,
    source="CDNA5 ISA manual 7.12.2 to 7.12.6; dense forms, f8f6f4 and scales agree with Triton's WMMA version 3",
    ops_unit="WGP",
    scale_source="CDNA5 ISA manual 7.12.6.2; agrees with Triton's layout of scales",
    index_source="loop in the CDNA5 ISA manual 7.12.4 (16 bits), rocjitsu (8 bits); 7.12.3 and 7.12.5 contradict them",
    scale_formats=("e8m0fnu", "e5m3fnu", "e4m3fn"),
    scalar_scales=True,
)
