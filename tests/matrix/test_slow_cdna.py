"""Published facts about CDNA's arithmetic, one test each.

Sources: arXiv 2511.10909v2, MMA-Sim's MI300X notebook, CDNA ISA manuals.
"""

import pytest

from mfmasim.matrix.models import MODELS
from tests.slow.matrix import dot
from tests.slow.matrix.codes import bf16, f16, f32, f64, vector

NAN = 0x7FC00000
INF = 0x7F800000


def run(model, form, a, b, c, k=16, d="f32", **modifiers):
    """Dot product of two short lists of floats, padded with zeros, and a float c; returns bits."""
    made = {"f64": f64, "f32": f32}[d]
    bits = made(c) if isinstance(c, float) else c
    return dot(MODELS[model], form, form, d, vector(a, form, k), vector(b, form, k), bits, **modifiers)


# --- FMA chains -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("model", "d"), [("cdna12_f32", "f32"), ("cdna3_f32", "f32"), ("cdna_f64", "f64")])
def test_fma_keeps_minus_zero_only_when_every_term_is_minus_zero(model, d):
    minus_zero = run(model, d, [], [], -0.0, k=1, d=d)
    assert minus_zero == run(model, d, [], [], 0.0, k=1, d=d) == 0  # -0 + (+0) * (+0) = +0
    made, top = (f64, 1 << 63) if d == "f64" else (f32, 1 << 31)
    zeros = [made(-0.0)] * 2
    assert dot(MODELS[model], d, d, d, zeros, [made(1.0)] * 2, made(-0.0)) == top
    assert dot(MODELS[model], d, d, d, [made(3.0)], [made(1.0)], made(-3.0)) == 0


def test_fma_rounds_once_per_k():
    x = 1 + 2.0**-23
    # x*x = 1 + 2^-22 + 2^-46: the last bit survives only if the product is not rounded first.
    assert run("cdna3_f32", "f32", [x], [x], -(1 + 2.0**-22), k=1) == f32(2.0**-46)
    assert run("cdna_f64", "f64", [1 + 2.0**-52], [1 + 2.0**-52], -(1 + 2.0**-51), k=1, d="f64") == f64(2.0**-104)


def test_fma_works_in_ascending_k():
    big = 2.0**24
    assert run("cdna3_f32", "f32", [big, 1.0, -big], [1.0, 1.0, 1.0], 0.0, k=3) == f32(0.0)
    assert run("cdna3_f32", "f32", [big, -big, 1.0], [1.0, 1.0, 1.0], 0.0, k=3) == f32(1.0)


def test_fma_underflows_gradually_and_keeps_the_sign():
    assert run("cdna3_f32", "f32", [2.0**-100], [2.0**-49], 0.0, k=1) == 1
    assert run("cdna3_f32", "f32", [-(2.0**-100)], [2.0**-100], -0.0, k=1) == 0x80000000


def test_mode_denorm_touches_a_and_b_of_the_f32_form_only():
    tiny = 2.0**-127
    assert run("cdna3_f32", "f32", [tiny], [1.0], 0.0, k=1) == f32(tiny)
    assert run("cdna3_f32", "f32", [tiny], [1.0], 0.0, k=1, denormals=False) == 0
    assert run("cdna3_f32", "f32", [0.0], [1.0], tiny, k=1, denormals=False) == f32(tiny)
    assert run("cdna_f64", "f64", [2.0**-1074], [1.0], 0.0, k=1, d="f64", denormals=False) == 1
    assert run("cdna3_16bit", "f16", [2.0**-24], [1.0], 0.0, denormals=False) == f32(2.0**-24)


# --- CDNA1: exact groups --------------------------------------------------------------------------


def test_cdna1_products_beyond_f32_cancel():
    huge = 2.0**64
    assert run("cdna1_bf16", "bf16", [huge, -huge], [huge, huge], 1.0) == f32(1.0)
    # CDNA2 rounds each product to f32, where both overflow; CDNA3 counts them as infinities.
    assert run("cdna2_bf16", "bf16", [huge, -huge], [huge, huge], 1.0) == NAN
    assert run("cdna3_16bit", "bf16", [huge, -huge], [huge, huge], 1.0) == NAN


def test_cdna1_rounds_once_per_group():
    c = 2.0**24
    assert run("cdna1_f16", "f16", [0.5] * 4, [1.0] * 4, c) == f32(c + 2)
    # The same four halves in two groups: each group ties to even and is lost.
    halves = [0.5, 0.5, 0.0, 0.0, 0.5, 0.5]
    assert run("cdna1_f16", "f16", halves, [1.0] * 6, c) == f32(c)


def test_cdna1_bf16_groups_are_two():
    assert run("cdna1_bf16", "bf16", [0.5] * 4, [1.0] * 4, 2.0**24) == f32(2.0**24)


def test_cdna1_zero_is_positive_but_negative_underflow_is_not():
    minus_zeros = [f16(-0.0)] * 4
    assert dot(MODELS["cdna1_f16"], "f16", "f16", "f32", minus_zeros, [f16(1.0)] * 4, f32(-0.0)) == 0
    assert run("cdna1_bf16", "bf16", [-(2.0**-100)], [2.0**-100], 0.0, k=2) == 0x80000000


# --- CDNA2: rounded and flushed pairwise ----------------------------------------------------------


@pytest.mark.parametrize("sign", [1, -1])
def test_cdna2_subnormal_inputs_become_plus_zero(sign):
    assert run("cdna2_f16", "f16", [sign * 2.0**-24], [1.0], 0.0) == 0
    assert run("cdna2_bf16", "bf16", [1.0], [sign * 2.0**-130], 0.0) == 0
    assert run("cdna2_f16", "f16", [], [], sign * 2.0**-130) == 0


def test_cdna2_minus_zero_c_enters_as_plus_zero():
    minus = [bf16(-0.0)] * 4
    assert dot(MODELS["cdna2_f16"], "bf16", "bf16", "f32", minus, [bf16(1.0)] * 4, f32(-0.0)) == 0


def test_cdna2_negative_underflow_gives_minus_zero_and_it_survives_minus_zero_groups():
    c, a = f32(2.0**-126), [bf16(1.5), *[0] * 15]
    products_plus_zero = [bf16(-(2.0**-126)), *[bf16(1.0)] * 15]
    products_minus_zero = [bf16(-(2.0**-126)), *[bf16(-1.0)] * 15]
    model = MODELS["cdna2_f16"]
    assert dot(model, "bf16", "bf16", "f32", a[:4], products_minus_zero[:4], c) == 0x80000000
    assert dot(model, "bf16", "bf16", "f32", a, products_minus_zero, c) == 0x80000000
    assert dot(model, "bf16", "bf16", "f32", a, products_plus_zero, c) == 0


def test_cdna2_sums_in_pairs_of_pairs():
    # (2^24 + 1) + (1 + 1): the first pair loses its 1 (tie to even), the second keeps 2.
    assert run("cdna2_f16", "f16", [2.0**12, 1, 1, 1], [2.0**12, 1, 1, 1], 0.0) == f32(2.0**24 + 2)
    # In groups of two (bf16 without _1k) the first pair meets c before the second is added.
    a, b = [2.0**12, 1, 1, 1], [2.0**12, 1, 1, 1]
    assert run("cdna2_bf16", "bf16", a, b, -(2.0**24)) == f32(2.0)
    assert run("cdna2_f16", "bf16", a, b, -(2.0**24)) == f32(2.0)
    assert run("cdna2_bf16", "bf16", [1, 0, 2.0**12], [1, 0, 2.0**12], -(2.0**24)) == f32(1.0)
    assert run("cdna2_f16", "bf16", [1, 0, 2.0**12], [1, 0, 2.0**12], -(2.0**24)) == f32(0.0)


# --- CDNA3: TR-FDPA -------------------------------------------------------------------------------


@pytest.mark.parametrize(("form", "model"), [("f16", "cdna3_16bit"), ("bf16", "cdna3_16bit"), ("xf32", "cdna3_xf32")])
def test_cdna3_far_away_c_is_floored(model, form):
    assert run(model, form, [1.0], [1.0], -(2.0**-40)) == 0x3F7FFFFF
    assert run(model, form, [1.0], [1.0], 2.0**-40) == 0x3F800000


@pytest.mark.parametrize("i", range(1, 14))
def test_cdna3_sum_is_floored_at_31_bits_after_renormalisation(i):
    c = float.fromhex("0x1.fffff8p24")
    expected = float.fromhex("0x1.000002p25") if i < 7 else 2.0**25
    assert run("cdna3_16bit", "f16", [10.0, 2.0**-i], [1.0, 1.0], c) == f32(expected)


def test_cdna3_products_are_truncated_toward_zero_before_the_sum():
    # 1 - 2^-25: below the grid 2^-24 of the largest product, so a small product vanishes whatever its sign.
    assert run("cdna3_16bit", "f16", [1.0, -(2.0**-13)], [1.0, 2.0**-12], 0.0) == 0x3F800000
    assert run("cdna3_16bit", "f16", [1.0, -(2.0**-12)], [1.0, 2.0**-12], 0.0) == 0x3F7FFFFF


def test_cdna3_exponents_of_products_are_not_renormalised():
    # 1.5 * 1.5 = 2.25 has exponent 0, so the grid is 2^-24 and not 2^-23.
    a, b = [1.5, 2.0**-12, -1.5], [1.5, 2.0**-12, 1.5]
    assert run("cdna3_16bit", "f16", a, b, 0.0) == f32(2.0**-24)


def test_cdna3_cancelled_products_still_set_the_grid():
    a, b = [1024.0, -1024.0, 2.0**-10], [1.0, 1.0, 2.0**-4]
    assert run("cdna3_16bit", "f16", a, b, 0.0) == f32(2.0**-14)
    # 2^-15 lies below the grid 2^(10-24) that the two cancelled products leave behind.
    assert run("cdna3_16bit", "f16", a, [1.0, 1.0, 2.0**-5], 0.0) == 0
    assert run("cdna3_16bit", "f16", [1024.0, -1024.0], [1.0, 1.0], -(2.0**-20)) == f32(-(2.0**-14))


def test_cdna3_groups_are_eight_in_ascending_k():
    a = [1.0, *[0.0] * 7, 1.0]
    b = [1.0, *[0.0] * 7, -1.0]
    # First group: 1 + (-2^-40) floors to 1 - 2^-24; second group takes the 1 away.
    assert run("cdna3_16bit", "f16", a, b, -(2.0**-40)) == f32(-(2.0**-24))
    assert run("cdna3_16bit", "f16", [1.0, 1.0], [1.0, -1.0], -(2.0**-40)) == f32(-(2.0**-24))
    assert run("cdna3_16bit", "f16", [*[0.0] * 8, 1.0, 1.0], [*[0.0] * 8, 1.0, -1.0], -(2.0**-40)) == f32(-(2.0**-24))
    assert run("cdna3_16bit", "f16", [], [], -(2.0**-40)) == f32(-(2.0**-40))


def test_cdna3_zero_is_positive_and_negative_underflow_is_minus_zero():
    minus = [bf16(-0.0)] * 8
    assert dot(MODELS["cdna3_16bit"], "bf16", "bf16", "f32", minus, [bf16(1.0)] * 8, f32(-0.0)) == 0
    assert run("cdna3_16bit", "bf16", [-(2.0**-75)], [2.0**-75], 0.0, k=8) == 0x80000000
    # The next group finds a zero sum and makes it +0.
    assert run("cdna3_16bit", "bf16", [-(2.0**-75)], [2.0**-75], 0.0, k=16) == 0


def test_cdna3_product_overflow_is_an_infinity():
    assert run("cdna3_16bit", "bf16", [2.0**64], [2.0**64], -(2.0**127)) == INF
    assert run("cdna3_16bit", "bf16", [-(2.0**64)], [2.0**64], 0.0) == INF | 1 << 31
    # A sum of finite products that overflows only at the end rounds to Inf, and may cancel before.
    assert run("cdna3_16bit", "bf16", [2.0**64, 2.0**64], [2.0**63, 2.0**63], 0.0) == INF
    assert run("cdna3_16bit", "bf16", [2.0**64] * 2, [2.0**63] * 2, -(2.0**127)) == f32(2.0**127)


def test_cdna3_overflow_is_clamped_with_fp16_ovfl():
    largest = 0x7F7FFFFF
    assert run("cdna3_16bit", "bf16", [2.0**64] * 2, [2.0**63] * 2, 0.0, fp16_ovfl=True) == largest
    assert run("cdna3_16bit", "bf16", [-(2.0**64)], [2.0**64], 0.0, clamp=True) == largest | 1 << 31
    assert run("cdna3_16bit", "bf16", [1.0], [1.0], INF, fp16_ovfl=True) == INF


def test_xf32_nan_becomes_inf_and_mantissas_are_truncated():
    one = f32(1.0)
    model = MODELS["cdna3_xf32"]
    assert dot(model, "xf32", "xf32", "f32", [0x7F800001, 0, 0, 0], [one, 0, 0, 0], 0) == INF
    assert dot(model, "xf32", "xf32", "f32", [0x7FC00000, 0, 0, 0], [one, 0, 0, 0], 0) == NAN
    # Rounding to 10 bits would carry into the next number.
    assert dot(model, "xf32", "xf32", "f32", [0x3F801FFF, 0, 0, 0], [one, 0, 0, 0], 0) == one
    assert dot(model, "xf32", "xf32", "f32", [0x3F803FFF, 0, 0, 0], [one, 0, 0, 0], 0) == 0x3F802000


# --- CDNA3: GTR-FDPA ------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["e4m3fnuz", "e5m2fnuz"])
@pytest.mark.parametrize(("c", "expected"), [(-24, 0x3F7FFFFF), (-25, 0x3F7FFFFF), (-26, 0x3F800000)])
def test_cdna3_fp8_floors_a_near_c_and_drops_a_far_one(form, c, expected):
    assert run("cdna3_fp8", form, [1.0], [1.0], -(2.0**c)) == expected


def test_cdna3_fp8_halves_are_truncated_apart_and_floored_together():
    tiny, big = 2.0**-13, 2.0**13
    # Both in the even half: -tiny*tiny is truncated away. In different halves: floored to a unit of 2^(26-24).
    same = run("cdna3_fp8", "e5m2fnuz", [big, 0.0, -tiny], [big, 0.0, tiny], 0.0)
    apart = run("cdna3_fp8", "e5m2fnuz", [big, -tiny], [big, tiny], 0.0)
    assert (same, apart) == (f32(2.0**26), f32(2.0**26 - 4))


def test_cdna3_fp8_renormalised_sum_is_floored_at_31_bits():
    c = float.fromhex("0x1.fffff8p24")
    for i in range(1, 8):
        expected = float.fromhex("0x1.000002p25") if i < 7 else 2.0**25
        assert run("cdna3_fp8", "e4m3fnuz", [10.0, 2.0**-i], [1.0, 1.0], c) == f32(expected)


@pytest.mark.parametrize(("c", "expected"), [(0x7FC00000, NAN), (INF, INF), (INF | 1 << 31, INF | 1 << 31)])
def test_cdna3_bf8_keeps_a_nan_or_inf_in_c_however_large_the_products(c, expected):
    big = 2.0**13
    assert run("cdna3_fp8", "e5m2fnuz", [big], [big], c) == expected


def test_cdna3_fnuz_has_one_nan_and_no_minus_zero():
    model = MODELS["cdna3_fp8"]
    assert dot(model, "e4m3fnuz", "e4m3fnuz", "f32", [0x80], [0x40], 0) == NAN
    assert dot(model, "e4m3fnuz", "e4m3fnuz", "f32", [0x7F], [0x40], 0) == f32(240.0)


# --- specials that all of them share --------------------------------------------------------------


@pytest.mark.parametrize("model", ["cdna1_f16", "cdna2_f16", "cdna3_16bit", "cdna4_16bit"])
def test_cdna_specials_follow_ieee(model):
    inf, nan, one = f16(float("inf")), 0x7E00, f16(1.0)
    minus_inf = inf | 0x8000

    def two(a, b, c=0):
        return dot(MODELS[model], "f16", "f16", "f32", [*a, 0, 0], [*b, 0, 0], c)

    assert two([nan, 0], [0, 0]) == NAN
    assert two([inf, 0], [0, 0]) == NAN
    assert two([inf, inf], [one, minus_inf]) == NAN
    assert two([inf, 0], [one, 0], INF | 1 << 31) == NAN
    assert two([minus_inf, 0], [one, 0], f32(1.0)) == INF | 1 << 31
    assert two([one, 0], [one, 0], 0xFF800000) == 0xFF800000
    assert two([one, 0], [one, 0], 0x7F800001) == NAN


# --- CDNA4 (assumed): formats and scales ----------------------------------------------------------


def test_fnuz_and_ocp_codes_differ_by_two_per_factor():
    codes = [0x38, 0x41, 0x29, 0x72]
    fnuz = dot(MODELS["cdna3_fp8"], "e4m3fnuz", "e4m3fnuz", "f32", codes, codes, 0)
    ocp = dot(MODELS["cdna4_fp8"], "e4m3fn", "e4m3fn", "f32", codes, codes, 0)
    assert ocp - fnuz == 2 << 23  # four times as large
    assert dot(MODELS["cdna4_fp8"], "e4m3fn", "e4m3fn", "f32", [0x80], [0x38], 0) == 0


@pytest.mark.parametrize("form", ["e4m3fn", "e5m2", "e2m3fn", "e3m2fn", "e2m1fn"])
def test_block_scales_multiply_their_own_block(form):
    model = MODELS["cdna4_f8f6f4_scale"]
    a = vector([1.0] * 128, form, 128)
    got = dot(model, form, form, "f32", a, a, f32(5.0), scale_a=[127, 128, 129, 130], scale_b=[127, 127, 127, 124])
    assert got == f32(5.0 + 32 * (1 + 2 + 4 + 1))
    assert dot(model, form, form, "f32", a, a, 0, scale_a=[126] * 4) == f32(64.0)
    assert dot(model, form, form, "f32", a, a, 0) == f32(128.0)


def test_a_nan_scale_makes_nan_and_scale_zero_is_a_number():
    model = MODELS["cdna4_f8f6f4_scale"]
    a = vector([1.0] * 64, "e4m3fn", 64)
    assert dot(model, "e4m3fn", "e4m3fn", "f32", a, a, 0, scale_a=[127, 255]) == NAN
    assert dot(model, "e4m3fn", "e4m3fn", "f32", a, a, 0, scale_a=[0, 0]) == f32(2.0**-121)
    assert dot(model, "e4m3fn", "e4m3fn", "f32", a, a, 0, scale_a=[254, 254], scale_b=[254, 254]) == INF


def test_scales_come_after_the_groups_sum_and_before_c():
    # 1 + 2^-25 loses its tail on the group's own grid; a scale of 2^25 does not bring it back.
    a, b = vector([1.0, 0, 2.0**-12], "e5m2", 32), vector([1.0, 0, 2.0**-13], "e5m2", 32)
    model = MODELS["cdna4_f8f6f4_scale"]
    assert dot(model, "e5m2", "e5m2", "f32", a, b, 0, scale_a=[152]) == f32(2.0**25)
    # And a scale moves the sum against c: 2^-40 * dot is far below c = 1.
    assert dot(model, "e5m2", "e5m2", "f32", a, b, f32(1.0), scale_a=[87]) == f32(1.0)


def test_the_largest_scaled_inputs_are_integers_of_the_unit():
    a = vector([2.0**-16], "e5m2", 32)
    assert dot(MODELS["cdna4_f8f6f4_scale"], "e5m2", "e5m2", "f32", a, a, 0, scale_a=[0], scale_b=[0]) == 0
