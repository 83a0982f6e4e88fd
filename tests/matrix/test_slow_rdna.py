"""Published facts about RDNA's dot products, one test each (ROCm/rocm-systems PR 12120, issue 12056)."""

import pytest

from mfmasim.matrix.models import MODELS
from tests.slow.matrix import dot
from tests.slow.matrix.codes import bf16, f16, f32, vector

FACTOR_NAN, INVALID_NAN, INF, MINUS = 0xFFC00A3D, 0xFFC00000, 0x7F800000, 0x80000000


def run(model, form, a, b, c, d="f32", k=2, **modifiers):
    return dot(MODELS[model], form, form, d, vector(a, form, k), vector(b, form, k), c, **modifiers)


@pytest.mark.parametrize(
    ("a", "b", "c", "gfx11", "gfx12"),
    [
        ([-1.0, 1.0], [1.0, 1.0], 1.0, 0x3F7FFFFF, 0x3F800000),
        ([-1.0, 1.0], [0.0, 1.0], 0.0, 0x3F7FFFFF, 0x3F800000),
        ([1.0, 1.0], [0.0, 1.0], -0.0, 0x3F800001, 0x3F800000),
    ],
    ids=["negative product", "minus-zero product", "minus-zero c"],
)
def test_opposing_terms_are_inverted_on_gfx11_and_negated_on_gfx12(a, b, c, gfx11, gfx12):
    assert run("rdna3_f16", "f16", a, b, f32(c)) == gfx11
    assert run("rdna4_16bit", "f16", a, b, f32(c)) == gfx12


@pytest.mark.parametrize(
    ("a", "b", "c", "expected"),
    [
        ([1.0, 1.0], [1.0, 1.0], -2.0, 0x34000000),
        ([3.0, 8.0], [8.0, 4.0], -1.0, 0x425C0001),
        ([1.0, 1.0], [0.0, 1.0], 0.0, 0x3F800000),
    ],
)
def test_words_published_for_gfx1151(a, b, c, expected):
    assert run("rdna3_f16", "f16", a, b, f32(c)) == expected


def test_all_zero_is_plus_zero_whatever_the_signs():
    for model in ("rdna3_f16", "rdna4_16bit"):
        zeros = [f16(-0.0), f16(0.0)]
        assert dot(MODELS[model], "f16", "f16", "f32", zeros, zeros[::-1], MINUS) == 0


# --- subnormals -----------------------------------------------------------------------------------


def test_gfx11_keeps_f16_subnormals_and_flushes_bf16_ones():
    assert run("rdna3_f16", "f16", [2.0**-24], [1.0], 0) == f32(2.0**-24)
    assert run("rdna3_bf16", "bf16", [2.0**-130], [2.0**100], 0) == 0
    assert run("rdna4_16bit", "bf16", [2.0**-130], [2.0**100], 0) == f32(2.0**-30)


def test_gfx11_infinity_times_a_subnormal_bf16_is_invalid():
    inf = 0x7F80
    assert dot(MODELS["rdna3_bf16"], "bf16", "bf16", "f32", [inf, 0], [1, 0], 0) == INVALID_NAN
    assert dot(MODELS["rdna4_16bit"], "bf16", "bf16", "f32", [inf, 0], [1, 0], 0) == INF


def test_gfx11_flushes_c_but_keeps_its_sign():
    # The flushed c still decides the sign frame: a positive product beside -0 gains a unit.
    one, zero = [f16(1.0), f16(1.0)], [f16(0.0), f16(1.0)]
    assert dot(MODELS["rdna3_f16"], "f16", "f16", "f32", one, zero, 0x80000001) == 0x3F800001
    assert dot(MODELS["rdna3_f16"], "f16", "f16", "f32", one, zero, 0x00000001) == 0x3F800000


def test_gfx11_flushes_results_after_rounding_to_24_bits():
    least = 2.0**-126
    assert run("rdna3_bf16", "bf16", [2.0**-63], [2.0**-64], 0) == 0
    assert run("rdna3_bf16", "bf16", [-(2.0**-63)], [2.0**-63], 0) == f32(-least)
    assert run("rdna4_16bit", "bf16", [2.0**-63], [2.0**-64], 0) == f32(2.0**-127)


def test_gfx12_keeps_subnormal_c_and_results():
    assert run("rdna4_16bit", "f16", [], [], 0x80000001) == 0x80000001
    assert run("rdna3_f16", "f16", [], [], 0x80000001) == 0


def test_gfx12_sum_that_rounds_to_zero_is_plus_zero():
    assert run("rdna4_16bit", "bf16", [-(2.0**-76)], [2.0**-76], 0) == 0


# --- grids ----------------------------------------------------------------------------------------


def test_gfx12_far_away_negative_c_is_dropped_on_coarse_grids():
    assert run("rdna4_16bit", "f16", [1.0], [1.0], f32(-(2.0**-40))) == 0x3F800000
    # c of at least one unit is floored.
    assert run("rdna4_16bit", "f16", [1.0], [1.0], f32(-(2.0**-24) - 2.0**-40)) == f32(1 - 2.0**-23)
    # c of less than one unit, but on a grid at or below 2^-126: minus one unit.
    a, b = [2.0**-60], [2.0**-66]
    assert run("rdna4_16bit", "bf16", a, b, MINUS | 1) == f32(2.0**-126 - 2.0**-149)


def test_gfx12_pairs_are_floored_apart_before_they_meet():
    # A tiny negative product beside a large one costs its pair a unit; alone in a pair it costs the sum a unit.
    tiny = 2.0**-14
    assert run("rdna4_16bit", "f16", [1.0, -tiny], [1.0, tiny], 0, k=4) == f32(1 - 2.0**-24)
    assert run("rdna4_16bit", "f16", [1.0, 0, -tiny], [1.0, 0, tiny], 0, k=4) == f32(1 - 2.0**-24)
    # Two tiny ones: each costs a unit beside the large product, but together only one in a pair of their own.
    a = [1.0, -tiny, -tiny, 0]
    assert run("rdna4_16bit", "f16", a, [1.0, tiny, tiny, 0], 0, k=4) == f32(1 - 2.0**-23)
    a = [1.0, 0, -tiny, -tiny]
    assert run("rdna4_16bit", "f16", a, [1.0, 0, tiny, tiny], 0, k=4) == f32(1 - 2.0**-24)


def test_steps_round_one_after_the_other():
    # Half a unit per step: lost each time when the steps are DOT2, kept when both halves meet in one DOT4.
    c = f32(2.0**24)
    halves = [0.5, 0.0, 0.5, 0.0]
    assert run("rdna3_f16", "f16", [1.0, 0, 1.0, 0], [1.0] * 4, c, k=4) == f32(2.0**24)
    assert run("rdna4_16bit", "f16", [1.0, 0, 1.0, 0], [1.0] * 4, c, k=4) == f32(2.0**24 + 2)
    assert run("rdna4_16bit", "f16", halves, [1.0] * 4, c, k=4) == f32(2.0**24)


# --- NaN and Inf ----------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["rdna3_f16", "rdna4_16bit"])
def test_specials_in_the_hardwares_order(model):
    inf, nan, one, c_nan = 0x7C00, 0x7C01, f16(1.0), 0x7F800123

    def two(a, b, c):
        return dot(MODELS[model], "f16", "f16", "f32", a, b, c)

    assert two([nan, inf], [one, 0], c_nan) == FACTOR_NAN
    assert two([one, inf], [one, 0], c_nan) == INVALID_NAN
    assert two([inf, inf], [one, one | 0x8000], c_nan) == INVALID_NAN
    assert two([inf, one], [one, one], c_nan) == c_nan | 0x00400000
    assert two([one, one], [one, one], 0xFF800001) == 0xFFC00001
    assert two([inf, one], [one | 0x8000, one], INF) == INVALID_NAN
    assert two([inf, one], [one, one], INF) == INF
    assert two([inf | 0x8000, inf], [one, one | 0x8000], 0) == INF | MINUS


@pytest.mark.parametrize(
    ("model", "form", "factor", "invalid", "inf"),
    [
        ("rdna3_f16_out", "f16", 0xFE3D, 0xFE00, 0x7C00),
        ("rdna4_f16_out", "f16", 0xFE3D, 0xFE00, 0x7C00),
        ("rdna3_bf16_out", "bf16", 0xFFFD, 0xFFC0, 0x7F80),
        ("rdna4_bf16_out", "bf16", 0xFFFD, 0xFFC0, 0x7F80),
    ],
)
def test_packed_results_have_nan_bits_of_their_own(model, form, factor, invalid, inf):
    def two(a, b, c):
        return dot(MODELS[model], form, form, form, a, b, c)

    one = f16(1.0) if form == "f16" else bf16(1.0)
    assert two([inf | 1, one], [one, one], 0) == factor
    assert two([inf, one], [0, one], 0) == invalid
    assert two([one, one], [one, one], inf | 5) == inf | 5 | (0x200 if form == "f16" else 0x40)
    assert two([inf, one], [one | 0x8000, one], 0) == inf | 0x8000


# --- packed results -------------------------------------------------------------------------------


def test_packed_f16_narrows_after_every_step():
    # 2048 + 1 ties to even in f16: two steps lose both ones, one step of gfx12 keeps their sum.
    a, b = [1.0, 0, 1.0, 0], [1.0] * 4
    assert run("rdna3_f16_out", "f16", a, b, f16(2048.0), d="f16", k=4) == f16(2048.0)
    assert run("rdna4_f16_out", "f16", a, b, f16(2048.0), d="f16", k=4) == f16(2050.0)


def test_packed_f16_rounds_directly_and_not_through_f32():
    # 2049 + 2^-13 is just above a tie of f16; rounding to f32's 24 bits first (unit 2^-12) would make it a tie.
    a, b = [2048.0, 2.0**-7, 1.0], [1.0, 2.0**-6, 1.0]
    assert run("rdna4_f16_out", "f16", a, b, 0, d="f16", k=4) == f16(2050.0)
    assert run("rdna4_f16_out", "f16", [2048.0, 0, 1.0], b, 0, d="f16", k=4) == f16(2048.0)


def test_packed_f16_has_subnormals_and_overflows_by_mode():
    for model in ("rdna3_f16_out", "rdna4_f16_out"):
        assert run(model, "f16", [2.0**-14], [2.0**-10], 0, d="f16") == 1
        assert run(model, "f16", [-65504.0] * 2, [1.0] * 2, 0, d="f16") == 0xFC00
        assert run(model, "f16", [-65504.0] * 2, [1.0] * 2, 0, d="f16", fp16_ovfl=True) == 0xFBFF
        inf = [0x7C00, 0]
        assert dot(MODELS[model], "f16", "f16", "f16", inf, [f16(1.0)] * 2, 0, fp16_ovfl=True) == 0x7C00


@pytest.mark.parametrize("model", ["rdna3_bf16_out", "rdna4_bf16_out"])
def test_packed_bf16_is_truncated(model):
    assert run(model, "bf16", [1.0, 2.0**-8], [1.0, 1.5], 0, d="bf16") == bf16(1.0)
    assert run(model, "bf16", [-1.0, -(2.0**-8)], [1.0, 1.5], 0x8000, d="bf16") == bf16(-1.0)


def test_rdna4_fp8_steps_of_four_share_one_grid():
    big, tiny = 2.0**15, 2.0**-16
    for place in (1, 2, 3):
        a = [big] + [-tiny if k == place else 0.0 for k in (1, 2, 3)]
        b = [big] + [tiny if k == place else 0.0 for k in (1, 2, 3)]
        assert run("rdna4_fp8", "e5m2", a, b, 0, k=4) == f32(2.0**30 - 64)
    nan = dot(MODELS["rdna4_fp8"], "e5m2", "e5m2", "f32", [0x7C, 0, 0, 0], [0, 0, 0, 0], 0)
    assert nan == FACTOR_NAN
