"""Matrix instructions of CDNA5: gfx1250 in its steppings B0 and A0, and gfx1251.

Sources: CDNA5 ISA manual 7.12 (shapes, layouts, scales); names and registers LLVM 22. Wait states follow from the
cycles (`mfmasim.isa.hazards.cdna5`), as in LLVM's GCNHazardRecognizer, and so do the rates of the cost model.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mfmasim.matrix.rows.row import FP8_PAIRS, Row, Table

VARIANTS = ("B0", "A0", "12.51")
"""Columns of `CYCLES`: `mfmasim.architectures.Arch.variant`. 12.51 is gfx1251, as LLVM numbers its instruction set."""

_A0 = "LLVM 22, SISchedule.td (GFX125xCommonWriteRes)"
_B0 = f"{_A0}; B0: LLVM pull request 202522, ROCm/llvm-project pull request 2915"
_51 = "gfx1251: ROCm/llvm-project, SISchedule.td (GFX1251SpeedModel); LLVM pull request 203145"
_PEAK = "B0: also the peak of MXFP8 in the CDNA5 white paper, 20.13 PFLOP/s of 256 WGPs at 2.4 GHz"

#   class                          B0  A0  gfx1251; 0: it lacks the instruction
CYCLES: dict[str, tuple[tuple[int, int, int], str]] = {
    "f32":                        ((16, 16, 16), _A0),
    "f64":                        ((0, 0, 16), _51),
    "f16, bf16":                  ((8, 8, 16), f"{_A0}; {_51}"),
    "8 bits, K = 64":             ((4, 8, 16), f"{_B0}; {_51}"),
    "8 bits, K = 128":            ((8, 0, 32), f"{_B0}; {_51}"),
    "iu8":                        ((16, 16, 32), f"{_A0}; {_51}"),
    "f8f6f4, some 8 bits":        ((8, 16, 32), f"{_B0}; {_PEAK}; {_51}"),
    "f8f6f4, 6 bits":             ((8, 8, 32), f"{_B0}; {_51}"),
    "f8f6f4, 4 bits alone":       ((4, 8, 16), f"{_B0}; rocm-libraries pull request 11647; {_51}"),
    "f4, 32 rows":                ((8, 0, 32), f"{_B0}; {_51}"),
    "sparse f16, bf16":           ((8, 8, 16), f"{_A0}; {_51}"),
    "sparse 8 bits":              ((8, 8, 16), f"{_A0}; {_51}"),
    "sparse iu8":                 ((16, 16, 32), f"{_A0}; {_51}"),
}  # fmt: skip
"""Cycles of a matrix instruction by class and variant, with the source of each."""

LACKING = {"A0": ("wmma_scale16",)}
"""Kinds that a variant lacks as a whole."""

# Modifiers. The manual's table of NEG says 0 for A and B of 16 and 32 bits; LLVM encodes them (as on RDNA4).
_F16, _F32, _FP8, _IU8, _SMALL = "neg reuse", "neg_32 reuse", "neg_c reuse", "signed reuse", "neg_c"
_SOURCE = "CDNA5 ISA manual 7.12.2 to 7.12.6; dense forms, f8f6f4 and scales agree with Triton's WMMA version 3"
_F64 = "; f64: registers and NEG as LLVM 24's assembler, places of the elements assumed, as f32"


def rows(variant: str) -> tuple[Row, ...]:
    """The matrix instructions of one of `VARIANTS`."""
    column = VARIANTS.index(variant)
    of = {name: cycles[column] for name, (cycles, _) in CYCLES.items()}
    half, sparse = of["f16, bf16"], of["sparse f16, bf16"]
    eight = {64: of["8 bits, K = 64"], 128: of["8 bits, K = 128"]}
    some, six, four = of["f8f6f4, some 8 bits"], of["f8f6f4, 6 bits"], of["f8f6f4, 4 bits alone"]

    def found() -> Iterator[Row]:
        #         kind    d       m   n   k  blocks a       b      cycles     modifiers
        yield Row("wmma", "f32", 16, 16, 4, 1, "f32", "f32", of["f32"], _F32)
        yield Row("wmma", "f64", 16, 16, 4, 1, "f64", "f64", of["f64"], "neg_64")
        yield Row("wmma", "f32", 16, 16, 32, 1, "f16", "f16", half, _F16)
        yield Row("wmma", "f32", 16, 16, 32, 1, "bf16", "bf16", half, _F16)
        yield Row("wmma", "f16", 16, 16, 32, 1, "f16", "f16", half, _F16)
        yield Row("wmma", "bf16", 16, 16, 32, 1, "bf16", "bf16", half, _F16)
        yield Row("wmma", "bf16", 16, 16, 32, 1, "bf16", "bf16", half, _F16, c="f32")
        for d in ("f32", "f16"):
            for k, cycles in eight.items():
                yield from (Row("wmma", d, 16, 16, k, 1, a, b, cycles, _FP8) for a, b in FP8_PAIRS)
        yield Row("wmma", "i32", 16, 16, 64, 1, "iu8", "iu8", of["iu8"], _IU8)
        for kind in ("wmma", "wmma_scale", "wmma_scale16"):
            words = _SMALL if kind == "wmma" else _FP8
            mixed = Row(kind, "f32", 16, 16, 128, 1, "f8f6f4", "f8f6f4", some, words)
            yield replace(mixed, small_cycles=six, four_cycles=four)
            yield Row(kind, "f32", 32, 16, 128, 1, "f4", "f4", of["f4, 32 rows"], words)
        yield Row("swmmac", "f32", 16, 16, 64, 1, "f16", "f16", sparse, _F16)
        yield Row("swmmac", "f32", 16, 16, 64, 1, "bf16", "bf16", sparse, _F16)
        yield Row("swmmac", "f16", 16, 16, 64, 1, "f16", "f16", sparse, _F16)
        yield Row("swmmac", "bf16", 16, 16, 64, 1, "bf16", "bf16", sparse, _F16)
        yield Row("swmmac", "bf16", 16, 16, 64, 1, "bf16", "bf16", sparse, _F16, c="f32")
        for d in ("f32", "f16"):
            yield from (Row("swmmac", d, 16, 16, 128, 1, a, b, of["sparse 8 bits"], "reuse") for a, b in FP8_PAIRS)
        yield Row("swmmac", "i32", 16, 16, 128, 1, "iu8", "iu8", of["sparse iu8"], _IU8)

    return tuple(row for row in found() if row.cycles and row.kind not in LACKING.get(variant, ()))


TABLES = {
    f"CDNA5 {variant}": Table(
        rows(variant),
        rule="cdna5",
        joined=False,
        source=_SOURCE + _F64 * (variant == "12.51"),
        ops_unit="WGP",
        scale_source="CDNA5 ISA manual 7.12.6.2; agrees with Triton's layout of scales",
        index_source="loop in the CDNA5 ISA manual 7.12.4 (16 bits), rocjitsu (8 bits); 7.12.3 and 7.12.5 contradict "
        "them",
        scale_formats=("e8m0fnu", "e5m3fnu", "e4m3fn"),
        scalar_scales=True,
    )
    for variant in VARIANTS
}
