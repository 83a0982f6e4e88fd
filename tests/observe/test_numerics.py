"""numerics: where NaN and Inf appear, what conversions cannot hold, and denormals that MODE flushes."""

from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

import mfmasim
from mfmasim.observe.numerics import not_finite
from tests.machine import harness

ONE, ZERO, HUGE, NAN = "1.0", "0", "0x7f000000", "0x7fc00000"
# v4 and v5 before the body; the body; id, mnemonic, words and count of what is reported, for 64 lanes.
BODIES = {
    "a reciprocal of 0": (ZERO, ONE, "v_rcp_f32 v6, v4", [("not-finite", "v_rcp_f32", "Inf appears", 64)]),
    "a reciprocal of 1": (ONE, ONE, "v_rcp_f32 v6, v4", []),
    "NaN from numbers": (ZERO, ONE, "v_rsq_f32 v6, -1.0", [("not-finite", "v_rsq_f32", "NaN appears", 64)]),
    "a product that overflows": (
        HUGE, HUGE, "v_mul_f32 v6, v4, v5",
        [("not-finite", "v_mul_f32", "finite (1.7014118e+38, 1.7014118e+38); 64 values", 64)],
    ),
    "a NaN that goes on": (NAN, ONE, "v_add_f32 v6, v4, v5\n v_mul_f32 v6, v6, v6", []),
    "only the first is reported": (
        HUGE, HUGE, "v_mul_f32 v6, v4, v5\n v_add_f32 v6, v6, v4", [("not-finite", "v_mul_f32", "Inf", 64)]
    ),
    "the result replaces an operand": (HUGE, HUGE, "v_mul_f32 v4, v4, v5", [("not-finite", "v_mul_f32", "Inf", 64)]),
    "two doubles": (
        ZERO, ZERO, "v_mov_b32 v6, 0\n v_mov_b32 v7, 0x7fe00000\n v_add_f64 v[6:7], v[6:7], v[6:7]",
        [("not-finite", "v_add_f64", "finite (8.98846567431158e+307, 8.98846567431158e+307); 64 values", 64)],
    ),
    "the upper half alone": (
        "0x78003c00", ZERO, "v_pk_mul_f16 v6, v4, v4", [("not-finite", "v_pk_mul_f16", "Inf", 64)],
    ),
    "some lanes": (
        HUGE, HUGE, "v_cmpx_gt_u32 MASK, 5, v0\n s_nop 4\n v_mul_f32 v6, v4, v5",
        [("not-finite", "v_mul_f32", "Inf", 5)],
    ),
    "beyond F16": (
        "0x47800000", ONE, "v_cvt_f16_f32 v6, v4",
        [("not-finite", "v_cvt_f16_f32", "Inf", 64), ("overflow", "v_cvt_f16_f32", "65536.0 is outside the range", 64)],
    ),
    "within F16": ("0x477fe000", ONE, "v_cvt_f16_f32 v6, v4", []),
    "beyond I32": ("0x4f000000", ONE, "v_cvt_i32_f32 v6, v4", [("overflow", "v_cvt_i32_f32", "range of I32", 64)]),
    "the smallest I32": ("0xcf000000", ONE, "v_cvt_i32_f32 v6, v4", []),
    "below U32": ("-1.0", ONE, "v_cvt_u32_f32 v6, v4", [("overflow", "v_cvt_u32_f32", "-1.0 is outside", 64)]),
    "denormals": ("0x00000123", ONE, "v_mul_f32 v6, v4, v5", []),
    "denormals flushed": (
        "0x00000123", ONE, "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0\n v_mul_f32 v6, v4, v5",
        [("denormal", "v_mul_f32", "MODE flushes denormal operands", 64)],
    ),
}  # fmt: skip
FP8 = {"gfx942": [("0x43700000", []), ("0x43780000", ["FP8"])], "gfx950": [("0x43e80000", []), ("0x43e90000", ["FP8"])]}


def reported(arch, v4, v5, body, **options):
    mask = "s[20:21]" if arch.startswith("gfx9") else ""
    body = body.replace("MASK, ", f"{mask}, " if mask else "")
    text = f"v_mov_b32 v4, {v4}\n v_mov_b32 v5, {v5}\n s_nop 4\n {body}\n s_endpgm"
    kernel = harness.kernel(text, arch, "p")
    out = np.zeros(64, np.uint32)
    return mfmasim.device("sim").launch(kernel, grid=1, block=64, args=[out], checks="numerics", **options).findings


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("arch", ["gfx942", "gfx1201"])
def test_programs(name, arch):
    v4, v5, body, expected = BODIES[name]
    findings = reported(arch, v4, v5, body)
    assert [(f.id, f.instruction) for f in findings] == [(f"numerics-{e[0]}", e[1]) for e in expected]
    for finding, (_, _, words, count) in zip(findings, expected, strict=True):
        assert words in finding.message
        assert finding.severity == "info"
        assert finding.count == count
        assert (finding.workgroup, finding.wave, finding.lane) == ((0, 0, 0), 0, 0)


@pytest.mark.parametrize("arch", FP8)
def test_flavours_of_fp8_end_elsewhere(arch):
    assert [len(expected) for _, expected in FP8[arch]] == [0, 1]
    for value, expected in FP8[arch]:
        found = reported(arch, value, ONE, "v_cvt_pk_fp8_f32 v6, v4, v5")
        assert [f.message.partition("range of ")[2][:3] for f in found] == expected


def test_a_matrix_instruction_makes_inf():
    body = "v_mov_b32 v6, 0x7f000000\n s_nop 3\n v_mfma_f32_32x32x2_f32 v[16:31], v6, v6, 0"
    (finding,) = reported("gfx942", ONE, ONE, body)
    assert finding.message.startswith("Inf appears here although all operands are finite; 64")
    assert not reported("gfx942", ONE, ONE, body.replace("0x7f000000", NAN))


def test_parts_of_a_grid_tell_the_same():
    kernel = harness.kernel("v_rcp_f32 v4, 0\n s_endpgm", "gfx942", "p")
    out = np.zeros(64, np.uint32)
    with ThreadPoolExecutor(2) as pool:
        both = [
            mfmasim.device("sim").launch(kernel, grid=6, block=64, args=[out], checks="numerics", **options).findings
            for options in ({}, {"executor": pool, "parts": 3})
        ]
    assert both[0] == both[1]
    assert both[0][0].count == 384


def test_all_leaves_it_out():
    kernel = harness.kernel("v_rcp_f32 v4, 0\n s_endpgm", "gfx942", "p")
    report = mfmasim.device("sim").launch(kernel, grid=1, block=64, args=[np.zeros(64, np.uint32)], checks="all")
    assert not report.findings


@pytest.mark.parametrize("kind", ["pk_f32", "pk_f16", "pk_bf16"])
def test_every_register_of_an_operand_is_examined_and_one_word_of_a_constant(kind):
    """A constant is one dword, whatever stands behind it."""
    word = np.full((1, 64), {"pk_f32": 0x7F800000, "pk_f16": 0x7C00, "pk_bf16": 0x7F80}[kind], np.uint32)
    for place in range(3):
        words = tuple(word if place == k else word * 0 for k in range(3))
        registers, constant = (SimpleNamespace(kind=one, type=kind) for one in ("v", "const"))
        assert not_finite(words, registers, result=False, matrix=False).all()
        assert not_finite(words, constant, result=False, matrix=False).all() == (place == 0)
