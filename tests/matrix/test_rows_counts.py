"""Rows against the lists of the manuals, and the generated page against the rows."""

import importlib.util
from pathlib import Path

import pytest

import mfmasim

DOCS = Path(__file__).resolve().parents[2] / "docs"

# Instructions by type of A and B, counted in the manuals: CDNA3 ISA manual 7.1.2 and table of sparse opcodes, CDNA4
# ISA manual tables 28 and 33, RDNA3 ISA manual table 33, RDNA4 ISA manual table 41, lists of opcodes for CDNA1 and 2.
COUNTS = {
    "gfx908": {"f32": 5, "f16": 5, "bf16": 5, "i8": 5},
    "gfx90a": {"f32": 5, "f16": 5, "bf16": 5, "bf16_1k": 5, "i8": 5, "f64": 2},
    "gfx942": {"f32": 5, "xf32": 2, "f16": 5, "bf16_1k": 5, "i8": 5, "f64": 2, "fp8": 8,
               "sparse f16": 2, "sparse bf16": 2, "sparse i8": 2, "sparse fp8": 8},
    "gfx950": {"f32": 5, "f16": 7, "bf16_1k": 5, "bf16": 2, "i8": 7, "f64": 2, "fp8": 8, "f8f6f4": 2, "scale": 2,
               "sparse f16": 4, "sparse bf16": 4, "sparse i8": 4, "sparse fp8": 16},
    "gfx1100": {"f16": 2, "bf16": 2, "iu8": 1, "iu4": 1},
    "gfx1151": {"f16": 2, "bf16": 2, "iu8": 1, "iu4": 1},
    "gfx1200": {"f16": 2, "bf16": 2, "iu8": 1, "iu4": 2, "fp8": 4,
                "sparse f16": 2, "sparse bf16": 2, "sparse iu8": 1, "sparse iu4": 2, "sparse fp8": 4},
    "gfx1201": {"f16": 2, "bf16": 2, "iu8": 1, "iu4": 2, "fp8": 4,
                "sparse f16": 2, "sparse bf16": 2, "sparse iu8": 1, "sparse iu4": 2, "sparse fp8": 4},
    # CDNA5 ISA manual, table 43 and the opcodes of 14.3.6.
    "gfx1250": {"f32": 1, "f16": 2, "bf16": 3, "fp8": 16, "iu8": 1, "f8f6f4": 1, "f4": 1, "scale": 4,
                "sparse f16": 2, "sparse bf16": 3, "sparse fp8": 8, "sparse iu8": 1},
}  # fmt: skip


@pytest.mark.parametrize("arch", COUNTS)
def test_counts_by_type(arch):
    counts = {}
    for name in mfmasim.instructions(arch):
        row = mfmasim.instruction(arch, name).row
        word = {"bf8": "fp8"}.get(row.a, row.a) + row.suffix
        word = "scale" if row.scaled else f"sparse {word}" if row.sparse else word
        counts[word] = counts.get(word, 0) + 1
    assert counts == COUNTS[arch]


# CDNA4 ISA manual table 28 and 33: cycles by shape and blocks; f8f6f4 has the larger count if A or B has 8 bits.
CYCLES = {
    ("f32", 32, 1, 2): 64, ("f32", 16, 1, 4): 32, ("f32", 4, 1, 16): 8, ("f32", 32, 2, 1): 64, ("f32", 16, 4, 1): 32,
    ("f16", 32, 4, 2): 64, ("f16", 16, 4, 4): 32, ("f16", 4, 4, 16): 8, ("f16", 32, 8, 1): 32, ("f16", 16, 16, 1): 16,
    ("f16", 16, 32, 1): 16, ("f16", 32, 16, 1): 32, ("f16", 16, 64, 1): 16, ("f16", 32, 32, 1): 32,
    ("i8", 32, 4, 2): 64, ("i8", 16, 4, 4): 32, ("i8", 4, 4, 16): 8, ("i8", 32, 16, 1): 32, ("i8", 16, 32, 1): 16,
    ("i8", 16, 64, 1): 16, ("i8", 32, 32, 1): 32, ("i8", 16, 128, 1): 16, ("i8", 32, 64, 1): 32,
    ("f64", 16, 4, 1): 64, ("f64", 4, 4, 4): 32,
}  # fmt: skip


def test_cycles_of_cdna4():
    names = mfmasim.instructions("gfx950")
    assert len(names) == sum(COUNTS["gfx950"].values())
    for name in names:
        op = mfmasim.instruction("gfx950", name)
        if op.row.a != "f8f6f4":
            word = {"bf16": "f16", "fp8": "i8", "bf8": "i8"}.get(op.row.a, op.row.a)
            assert op.cycles == CYCLES[word, op.m, op.k, op.blocks], name
        else:
            slow = {16: 32, 32: 64}[op.m]
            for a in ("e4m3fn", "e5m2", "e2m3fn", "e3m2fn", "e2m1fn"):
                for b in ("e4m3fn", "e5m2", "e2m3fn", "e3m2fn", "e2m1fn"):
                    eight = {a, b} & {"e4m3fn", "e5m2"}
                    cycles = mfmasim.instruction("gfx950", name, a, b).cycles
                    assert cycles == (slow if eight else slow // 2)


@pytest.mark.trap("T48")
@pytest.mark.parametrize(
    ("arch", "name", "units", "clock", "peak"),
    [
        # Peaks in TFLOP/s of the CDNA3 white paper (MI300X: 304 CU, 2.1 GHz), and what follows from the operations
        # per clock and CU of the CDNA4 white paper (MI355X: 256 CU, 2.4 GHz; it prints 78.6 TF, 2.5 PF, 5.0 PF).
        ("gfx942", "v_mfma_f64_16x16x4_f64", 304, 2.1e9, 163.4),
        ("gfx942", "v_mfma_f32_32x32x8_f16", 304, 2.1e9, 1307.4),
        ("gfx942", "v_mfma_f32_32x32x16_fp8_fp8", 304, 2.1e9, 2614.9),
        ("gfx942", "v_mfma_f32_16x16x8_xf32", 304, 2.1e9, 653.7),
        ("gfx942", "v_smfmac_f32_32x32x16_f16", 304, 2.1e9, 2614.9),
        ("gfx950", "v_mfma_f64_16x16x4_f64", 256, 2.4e9, 78.6),
        ("gfx950", "v_mfma_f32_16x16x32_f16", 256, 2.4e9, 2516.6),
        ("gfx950", "v_mfma_f32_32x32x64_f8f6f4", 256, 2.4e9, 5033.2),
        # CDNA5 white paper (MI455X: 256 WGPs, 2.4 GHz): 40.26, 20.13, 20.13 and 5.03 PF, 315 TF.
        ("gfx1250", "v_wmma_scale_f32_32x16x128_f4", 256, 2.4e9, 40265.3),
        ("gfx1250", "v_wmma_scale_f32_16x16x128_f8f6f4", 256, 2.4e9, 20132.7),
        ("gfx1250", "v_wmma_f32_16x16x128_fp8_fp8", 256, 2.4e9, 20132.7),
        ("gfx1250", "v_wmma_f32_16x16x32_bf16", 256, 2.4e9, 5033.2),
        ("gfx1250", "v_wmma_f32_16x16x4_f32", 256, 2.4e9, 314.6),
    ],
)
def test_peaks(arch, name, units, clock, peak):
    assert mfmasim.instruction(arch, name).peak(units, clock) / 1e12 == pytest.approx(peak, abs=0.06)


def test_fp4_doubles_the_peak():
    op = mfmasim.instruction("gfx950", "v_mfma_f32_32x32x64_f8f6f4", a="fp4", b="fp6")
    assert op.peak(256, 2.4e9) / 1e12 == pytest.approx(10066.3, abs=0.06)


def test_every_row_states_arithmetic_and_layout():
    for arch, counts in COUNTS.items():
        names = mfmasim.instructions(arch)
        assert len(names) == sum(counts.values())
        for name in names:
            op = mfmasim.instruction(arch, name)
            assert op.fidelity in {"hardware", "reference", "specified", "assumed"}
            assert op.evidence
            assert op.source
            assert all(fragment.source for fragment in op.operands.values())
            if arch in {"gfx950", "gfx1250"} and op.d != "i32":
                assert op.fidelity == "assumed"


def test_instruction_is_cached():
    one = mfmasim.instruction("gfx942", "v_mfma_f32_32x32x8_f16")
    assert mfmasim.instruction("gfx942", "V_MFMA_F32_32X32X8F16", a="f16", wave=64) is one
    assert mfmasim.instruction(mfmasim.arch("gfx942"), "v_mfma_f32_32x32x8f16") is one


def test_page_of_instructions_is_up_to_date():
    spec = importlib.util.spec_from_file_location("make_instructions", DOCS / "make_instructions.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (DOCS / "instructions.md").read_text(encoding="utf-8") == module.page(), "python -m docs.make_instructions"
