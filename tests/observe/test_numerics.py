"""numerics: where NaN and Inf appear, what conversions cannot hold, and denormals that MODE flushes."""

from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mfmasim
from mfmasim.observe.float_words import not_finite
from tests.machine import harness
from tests.observe.faults import gfx1201

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
    "infinities that cancel": (
        "0x7f800000", ONE, "v_sub_f32 v6, v4, v4\n v_add_f32 v6, v6, v6",
        [("not-finite", "v_sub_f32", "no operand is NaN: it comes of infinities (inf, inf)", 64)],
    ),
    "an infinity and 0": (
        "0x7f800000", ZERO, "v_mul_f32 v6, v4, v5", [("not-finite", "v_mul_f32", "it comes of infinities", 64)],
    ),
    "an infinity that goes on": ("0x7f800000", ONE, "v_add_f32 v6, v4, v5\n v_mul_f32 v6, v6, v6", []),
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
        overflows = [f for f in found if f.id == "numerics-overflow"]
        assert [f.message.partition("range of ")[2][:3] for f in overflows] == expected


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


# Bodies after `LOAD`, which fills v4 with x[lane]; words of the origin of what out holds.
LOAD = (
    "s_load_dwordx4 s[8:11], s[0:1], 0x0\nv_lshlrev_b32_e32 v2, 2, v0\ns_waitcnt lgkmcnt(0)\n"
    "global_load_dword v4, v2, s[10:11]"
)
MATRIX = "v_mfma_f32_32x32x2_f32 v[16:31], {}, 0\ns_nop 15\ns_nop 3"
STORE = "global_store_dword v2, v7, s[8:9]"
LDS = "ds_write_b32 v2, v5\ns_waitcnt lgkmcnt(0)\nv_xor_b32 v6, 4, v2\nds_read_b32 v7, v6\ns_waitcnt lgkmcnt(0)"
ORIGINS = {
    "through the LDS to another lane": (
        f"v_rcp_f32 v5, v4\nv_add_f32 v5, v5, v5\n{LDS}\n{STORE}",
        ["Inf is made by v_rcp_f32 of v4 = 0.0; p0[1] hold it", "v_add_f32", "ds_write_b32", "ds_read_b32"],
    ),
    "the end of a division, whose quotient is another value": (
        f"v_rcp_f32 v5, v4\nv_mul_f32 v5, 0, v5\nv_mov_b32 v6, 1.0\nv_div_fixup_f32 v7, v5, v4, v6\n{STORE}",
        ["Inf is made by v_div_fixup_f32 of v5 = nan, v4 = 0.0, v6 = 1.0; p0[0] hold it; from there: global_store"],
    ),
    "of another kind than what it is made of": (
        f"v_rcp_f32 v5, v4\nv_add_f32 v6, 1.0, v5\nv_sub_f32 v7, v6, v5\n{STORE}",
        ["NaN is made by v_sub_f32 of v6 = inf, v5 = inf, and the Inf is made by v_rcp_f32 of v4 = 0.0 (0x", "p0[0]"],
    ),
    "of two that were in memory": (
        f"v_add_f32 v6, 1.0, v4\nv_sub_f32 v7, v6, v4\n{STORE}",
        ["NaN is made by v_sub_f32 of v6 = inf, v4 = inf, and the Inf comes in as operand v4 of v_add_f32", "p0[9]"],
    ),
    "of an infinite operand alone": (
        f"v_sub_f32 v7, v4, v4\n{STORE}", ["NaN is made by v_sub_f32 of v4 = inf, v4 = inf; p0[9] hold"]
    ),
    "overwritten before it is stored": ("v_rcp_f32 v7, v4\nv_mov_b32 v7, 0\n" + STORE, None),
    "lost in a comparison": ("v_rcp_f32 v7, v4\nv_min_f32 v7, 1.0, v7\n" + STORE, None),
    "that was in memory": (f"v_mul_f32 v7, v5, v4\n{STORE}", ["NaN comes in as operand v4 of v_mul", "p0[3] hold"]),
    "a row of a matrix": (
        f"v_mov_b32 v5, 1.0\n{MATRIX.format('v4, v5')}\nglobal_store_dword v2, v19, s[8:9]",
        ["NaN comes in as operand v4 in lane 3 of v_mfma", "31 further dwords"],
    ),
    "made before a matrix": (
        f"v_rcp_f32 v5, v4\nv_mov_b32 v6, 1.0\n{MATRIX.format('v6, v5')}\nglobal_store_dword v2, v16, s[8:9]",
        ["Inf is made by v_rcp_f32 of v4 = 0.0", "1 further dwords", "from there: v_mfma_f32_32x32x2_f32"],
    ),
    "saturated": (
        "v_mul_f32 v4, 0x41000000, v4\nv_cvt_pk_fp8_f32 v7, v4, v4\nglobal_store_short v2, v7, s[8:9]",
        ["a saturated value is made by v_cvt_pk_fp8_f32", "p0[31]"],
    ),
    "by another lane's": (
        f"v_rcp_f32 v5, v4\ns_nop 1\nv_mov_b32_dpp v7, v5 row_shr:1 bound_ctrl:1\n{STORE}",
        ["Inf is made", "p0[1] hold"],
    ),
    "selected": (
        f"v_rcp_f32 v5, v4\nv_mov_b32 v6, 1.0\nv_cmp_eq_u32_e32 vcc, 0, v0\nv_cndmask_b32_e32 v7, v6, v5, vcc\n{STORE}",
        ["Inf is made by v_rcp_f32", "v_cndmask_b32"],
    ),
    "through a scalar register": (
        f"v_rcp_f32 v5, v4\nv_readlane_b32 s14, v5, 0\ns_mov_b32 s15, s14\nv_mov_b32 v7, s15\n{STORE}",
        ["Inf is made by v_rcp_f32 of v4 = 0.0; p0[0] and 63 further", "v_readlane_b32", "s_mov_b32", "v_mov_b32"],
    ),
    "a scalar register that was written since": (
        f"v_rcp_f32 v5, v4\nv_readlane_b32 s14, v5, 0\ns_lshl_b32 s14, 1, 4\nv_mov_b32 v7, s14\n{STORE}", None,
    ),
    "a mask of lanes": (f"v_rcp_f32 v5, v4\nv_cmp_lt_f32 s[14:15], v5, v4\nv_mov_b32 v7, s14\n{STORE}", None),
    "not selected": (
        f"v_rcp_f32 v5, v4\nv_mov_b32 v6, 1.0\nv_cmp_eq_u32_e32 vcc, 5, v0\nv_cndmask_b32_e32 v7, v6, v5, vcc\n{STORE}",
        None,
    ),
}  # fmt: skip


def followed(body, x, arch="gfx942"):
    text = f"{LOAD}\ns_waitcnt vmcnt(0)\n{body}\ns_waitcnt vmcnt(0) lgkmcnt(0)\ns_endpgm"
    kernel = harness.kernel(text, arch, "pp", lds=1024)
    args = [np.zeros(256, np.float32), x]
    report = mfmasim.device("sim").launch(kernel, grid=1, block=64, args=args, checks="numerics:origin")
    return [f for f in report.findings if f.id == "numerics-origin" and "p0[" in f.message], report


def test_floats_of_scalar_registers():
    body = "v_rcp_f32_e32 v12, v11\nv_readlane_b32 s14, v12, 0\ns_add_f32 s15, s14, s14\nv_mov_b32_e32 v4, s15"
    text = f"{gfx1201.BEGIN}v_cvt_f32_u32_e32 v11, v10\n{body}{gfx1201.END}"
    kernel = harness.kernel(text, "gfx1201", "pp", lds=64)
    args = [np.zeros(4096, np.uint32), np.zeros(4096, np.uint32)]
    report = mfmasim.device("sim").launch(kernel, 1, 32, args, checks="numerics:origin")
    (found,) = [f.message for f in report.findings if f.id == "numerics-origin"]
    assert "Inf is made by v_rcp_f32 of v11 = 0.0; p0[0] and 31 further dwords" in found
    assert "s_add_f32" in found


@pytest.mark.parametrize("name", ORIGINS)
def test_where_values_of_outputs_come_from(name):
    body, words = ORIGINS[name]
    x = np.arange(256, dtype=np.float32)
    if "p0[9]" in str(words):
        x[9] = np.inf
    elif "comes in" in str(words):
        x[3] = np.nan
    found, _ = followed(body, x)
    assert len(found) == (words is not None), found
    for word in words or ():
        assert word in found[0].message


def test_what_conversions_lose():
    x = np.array([0, 1e-9, 0.001, 1, 2, 3, 240, 300, np.inf, np.nan] + 54 * [1.5], np.float32)
    _, report = followed(f"v_cvt_pk_fp8_f32 v7, v4, v4\n{STORE}", x)
    (found,) = [f for f in report.findings if f.id == "numerics-losses"]
    assert found.message.startswith(
        "128 values to e4m3fnuz: 2 beyond ±240 saturate, 2 that are not 0 become 0, 2 are 0"
    )
    assert "4 are NaN or Inf" in found.message
    assert "2^-30: 2, 2^-10: 2, 2^0: 110, 2^1: 4, 2^7: 2, 2^8: 2" in found.message


STEPS = st.one_of(
    st.tuples(st.just("add"), *3 * [st.integers(4, 7)]),
    st.tuples(st.just("sub"), *3 * [st.integers(4, 7)]),
    st.tuples(st.just("rcp"), *3 * [st.integers(4, 7)]),
    st.tuples(st.just("mov"), *3 * [st.integers(4, 7)]),
    st.tuples(st.just("lds"), st.integers(4, 7), st.integers(4, 7), st.sampled_from([1, 2, 16])),
)


@settings(max_examples=25)
@given(st.lists(STEPS, min_size=1, max_size=8), st.integers(4, 7), st.lists(st.integers(0, 63), max_size=3))
def test_origins_are_those_of_a_lane_at_a_time(steps, stored, zeros):
    """A lane at a time: which step made the first value, in which lane, of each element of the output."""
    x = np.ones(64, np.float32)
    x[zeros] = 0
    held = {r: [(float(x[lane]) if r == 4 else 1.0, None) for lane in range(64)] for r in range(4, 8)}
    lines = ["v_mov_b32 v5, 1.0", "v_mov_b32 v6, 1.0", "v_mov_b32 v7, 1.0"]
    for number, (what, a, b, c) in enumerate(steps):
        if what == "lds":
            lines += [
                f"ds_write_b32 v2, v{b}",
                "s_waitcnt lgkmcnt(0)",
                f"v_xor_b32 v8, {4 * c}, v2",
                f"ds_read_b32 v{a}, v8",
            ]
            lines += ["s_waitcnt lgkmcnt(0)"]
            held[a] = [held[b][lane ^ c] for lane in range(64)]
        elif what == "mov":
            lines.append(f"v_mov_b32 v{a}, v{b}")
            held[a] = list(held[b])
        else:
            lines.append(f"v_rcp_f32 v{a}, v{b}" if what == "rcp" else f"v_{what}_f32 v{a}, v{b}, v{c}")
            made = []
            for lane in range(64):
                (u, tag), (v, other) = held[b][lane], held[c][lane]
                with np.errstate(all="ignore"):
                    value = float(
                        {"add": np.add, "sub": np.subtract, "rcp": lambda u, _: np.divide(1.0, u)}[what](u, v)
                    )
                mine = tag or (other if what != "rcp" else None) or (number, lane)
                if np.isnan(value) and not np.isnan(u) and (what == "rcp" or not np.isnan(v)):
                    mine = number, lane
                made.append((value, None if np.isfinite(value) else mine))
            held[a] = made
    found, _ = followed("\n".join([*lines, f"global_store_dword v2, v{stored}, s[8:9]"]), x)
    special = [(lane, tag) for lane, (value, tag) in enumerate(held[stored]) if not np.isfinite(value)]
    assert len(found) == bool(special)
    if special:
        lane, (number, born) = special[0]
        assert (found[0].lane, found[0].count) == (born, len(special))
        assert f"p0[{lane}]" in found[0].message
        assert {"add": "v_add_f32", "sub": "v_sub_f32", "rcp": "v_rcp_f32"}[steps[number][0]] == found[0].instruction
