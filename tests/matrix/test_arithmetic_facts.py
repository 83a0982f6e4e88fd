"""Single facts about the arithmetic, each from the published models, with numbers that can be checked by hand."""

import numpy as np
import pytest

from mfmasim.errors import MfmasimError
from mfmasim.matrix.models import MODELS
from tests.matrix.flat import multiply

F16, BF16, FP8 = 0x3C00, 0x3F80, 0x40  # 1.0; e4m3fnuz has bias 8


def bits(value):
    return int(np.float32(value).view(np.uint32))


def dot(model, fmt, a, b, c, d_format="f32", **modifiers):
    """Raw bits of one dot product; a and b are codes, c raw bits."""
    width = {"f64": "u8", "f32": "u4", "xf32": "u4", "f16": "u2", "bf16": "u2"}.get(fmt, "u1")
    wide = {"f64": "u8", "f32": "u4", "i32": "u4", "f16": "u2", "bf16": "u2"}[d_format]
    x, y = np.array([a], width), np.array([b], width).T
    found = multiply(MODELS[model], fmt, fmt, d_format, x, y, np.array([[c]], wide), **modifiers)
    return int(found[0, 0])


@pytest.mark.parametrize(("c", "d"), [(-(2.0**-40), 0x3F7FFFFF), (2.0**-40, 0x3F800000)])
def test_cdna3_floors_the_addend(c, d):
    assert dot("cdna3_16bit", "f16", [F16] + [0] * 7, [F16] * 8, bits(c)) == d


@pytest.mark.parametrize("i", range(1, 11))
def test_cdna3_sees_a_tie_only_to_31_bits(i):
    """10 + 2^-i under an addend of 0x1.fffff8p24."""
    parts = [np.float16(v).view(np.uint16) for v in (8, 2, 2.0**-i)]
    d = dot("cdna3_16bit", "f16", [*parts, 0], [F16] * 4, bits(float.fromhex("0x1.fffff8p24")))
    assert d == bits(float.fromhex("0x1.000002p25" if i < 7 else "0x1p25"))


@pytest.mark.parametrize(("c", "d"), [(-(2.0**-24), 0x3F7FFFFF), (-(2.0**-25), 0x3F7FFFFF), (-(2.0**-26), 0x3F800000)])
def test_cdna3_fp8_drops_a_far_addend(c, d):
    assert dot("cdna3_fp8", "e4m3fnuz", [FP8] + [0] * 15, [FP8] * 16, bits(c)) == d


def test_xf32_truncates_before_it_looks():
    """A NaN whose payload sits in the low bits is an infinity to the XF32 unit."""
    assert dot("cdna3_xf32", "xf32", [0x7F800001, 0, 0, 0], [bits(1)] * 4, 0) == 0x7F800000
    assert dot("cdna3_xf32", "xf32", [bits(1) | 0x1FFF, 0, 0, 0], [bits(1)] * 4, 0) == bits(1)


@pytest.mark.parametrize(
    ("a", "b", "c", "gfx11", "gfx12"),
    [
        ((-1, 1), (1, 1), 1.0, 0x3F7FFFFF, 0x3F800000),
        ((-1, 1), (0, 1), 0.0, 0x3F7FFFFF, 0x3F800000),
        ((1, 1), (0, 1), -0.0, 0x3F800001, 0x3F800000),
    ],
)
def test_gfx11_and_gfx12_differ(a, b, c, gfx11, gfx12):
    x, y = ([int(np.float16(v).view(np.uint16)) for v in values] for values in (a, b))
    assert dot("rdna3_f16", "f16", x, y, bits(c)) == gfx11
    assert dot("rdna4_16bit", "f16", x, y, bits(c)) == gfx12


def test_rdna_nan_payloads_and_their_order():
    nan, inf = 0x7E01, 0x7C00
    for model in ("rdna3_f16", "rdna4_16bit"):
        assert dot(model, "f16", [nan, inf], [F16, 0], 0x7F800001) == 0xFFC00A3D
        assert dot(model, "f16", [inf, 0], [0, 0], 0x7F800001) == 0xFFC00000
        assert dot(model, "f16", [inf, inf], [F16, F16 | 0x8000], 0) == 0xFFC00000
        assert dot(model, "f16", [inf, 0], [F16, 0], 0x7F800001) == 0x7FC00001
        assert dot(model, "f16", [inf, 0], [F16, 0], 0xFF800000) == 0xFFC00000
        assert dot(model, "f16", [inf, 0], [F16, 0], bits(1)) == 0x7F800000
    for model, fmt, one, invalid in (("rdna3_f16_out", "f16", F16, 0xFE3D), ("rdna4_bf16_out", "bf16", BF16, 0xFFFD)):
        assert dot(model, fmt, [0x7FFF, 0], [one, 0], 0, fmt) == invalid


@pytest.mark.parametrize("model", ["rdna3_f16_out", "rdna4_f16_out"])
def test_fp16_ovfl_clamps_packed_f16(model):
    big = 0x7BFF  # 65504
    assert dot(model, "f16", [big, 0], [big, 0], 0, "f16") == 0x7C00
    assert dot(model, "f16", [big, 0], [big, 0], 0, "f16", fp16_ovfl=True) == 0x7BFF
    assert dot(model, "f16", [0x7C00, 0], [F16, 0], 0, "f16", fp16_ovfl=True) == 0x7C00


def test_packed_outputs_narrow_after_every_step():
    """2048 + 1 + 1 in f16: one step of both ones reaches 2050, two steps of one each round to even twice."""
    one_step = dot("rdna3_f16_out", "f16", [F16, F16], [F16, F16], 0x6800, "f16")
    two_steps = dot("rdna3_f16_out", "f16", [F16, 0, F16, 0], [F16] * 4, 0x6800, "f16")
    assert (one_step, two_steps) == (0x6801, 0x6800)


def test_packed_bf16_is_truncated():
    assert dot("rdna4_bf16_out", "bf16", [BF16, 0, 0, 0], [0x3BFF, 0, 0, 0], BF16, "bf16") == BF16


def test_fma_keeps_signed_zeros():
    minus = 0x80000000
    assert dot("cdna3_f32", "f32", [minus], [bits(1)], minus) == minus
    assert dot("cdna3_f32", "f32", [bits(1)], [bits(1)], bits(-1)) == 0
    assert dot("cdna3_16bit", "f16", [0x8000] * 8, [F16] * 8, minus) == 0


def test_fma_rounds_once():
    """(1 + 2^-12)^2 - 1 loses 2^-24 when the product is rounded first."""
    x = bits(1 + 2.0**-12)
    assert dot("cdna3_f32", "f32", [x], [x], bits(-1)) == bits(2.0**-11 + 2.0**-24)
    x64 = int(np.float64(1 + 2.0**-27).view(np.uint64))
    minus = int(np.float64(-1).view(np.uint64))
    expected = int(np.float64(2.0**-26 + 2.0**-54).view(np.uint64))
    assert dot("cdna_f64", "f64", [x64], [x64], minus, "f64") == expected


@pytest.mark.parametrize(
    ("a", "b", "c", "d"),
    [
        (2.0**-600, 2.0**-474, 2.0**-1074, 2.0**-1073),  # subnormal sum
        (2.0**-600, -(2.0**-475), 2.0**-1074, 2.0**-1074),  # half an ulp down: tie to even goes to 0 or 2^-1073
        (2.0**1000, 2.0**23, -np.inf, -np.inf),
        (2.0**1000, 2.0**1000, -(2.0**1023), np.inf),
        (-(2.0**-1000), 2.0**-1000, 0.0, -0.0),
        (1 + 2.0**-52, 1 + 2.0**-52, -(2.0**-1074), 1 + 2.0**-51),
    ],
)
def test_f64_fma_at_the_edges(a, b, c, d):
    raw = [int(np.float64(v).view(np.uint64)) for v in (a, b, c, d)]
    if (a, b) == (2.0**-600, -(2.0**-475)):
        raw[3] = 0  # 2^-1074 - 2^-1075 lies halfway between 0 and 2^-1074; even is 0
    assert dot("cdna_f64", "f64", [raw[0]], [raw[1]], raw[2], "f64") == raw[3]


def test_mode_denorm_flushes_f32_factors_but_not_the_addend():
    tiny = 0x00400000
    assert dot("cdna3_f32", "f32", [tiny], [bits(2)], 0) == 0x00800000
    assert dot("cdna3_f32", "f32", [tiny], [bits(2)], tiny, denormals=False) == tiny
    half = 0x0200  # subnormal f16: MODE is ignored
    assert dot("cdna3_16bit", "f16", [half], [F16], 0, denormals=False) == bits(2.0**-15)


def test_cdna2_flushes_everything():
    assert dot("cdna2_f16", "f16", [0x0200] * 4, [F16] * 4, 0) == 0
    assert dot("cdna2_f16", "f16", [0] * 4, [F16] * 4, 0x80400000) == 0
    # A sum that underflows is flushed to a zero of its sign, and stays so only where -0 is added.
    smallest, steps = 0x00800000, [0x8080, 0, 0, 0]
    assert dot("cdna2_f16", "bf16", steps, [0x3FC0, 0, 0, 0], smallest) == 0x80000000


def test_cdna1_is_exact_within_a_step():
    big, small = 0x7BFF, 0x0001  # 65504 and 2^-24
    a, b = [big, big, small, 0], [big, big | 0x8000, small, 0]
    assert dot("cdna1_f16", "f16", a, b, 0) == bits(2.0**-48)
    assert dot("cdna3_16bit", "f16", a, b, 0) == 0


def test_cdna3_clamps_overflow_on_request():
    big = 0x7F7F  # bf16, 2^128 (1 - 2^-8)
    overflow = ([big] + [0] * 7, [0x4000] + [0] * 7)
    assert dot("cdna3_16bit", "bf16", *overflow, 0) == 0x7F800000
    for modifier in ({"fp16_ovfl": True}, {"clamp": True}):
        assert dot("cdna3_16bit", "bf16", *overflow, 0, **modifier) == 0x7F7FFFFF
        assert dot("cdna3_16bit", "bf16", *overflow, 0xFF800000, **modifier) in (0x7FC00000, 0xFF800000)
        assert dot("cdna3_16bit", "f16", [0x7C00], [F16], 0, **modifier) == 0x7F800000


def test_integers_wrap_or_saturate():
    top = 0x7FFFFFF0
    assert dot("cdna_i8", "i8", [0x7F], [0x7F], top, "i32") == (top + 127 * 127) & 0xFFFFFFFF
    assert dot("cdna_i8", "i8", [0x7F], [0x7F], top, "i32", clamp=True) == 0x7FFFFFFF
    assert dot("cdna_i8", "i8", [0x7F], [0x7F], top, "i32", fp16_ovfl=True) == 0x7FFFFFFF
    assert dot("rdna_int", "i4", [0x8], [0x7], 0x80000000, "i32", clamp=True) == 0x80000000
    assert dot("rdna_int", "u4", [0xF], [0xF], 0, "i32") == 225
    assert dot("rdna_int", "i8", [0x80], [0x80], 0, "i32") == 16384


def test_scales_multiply_blocks_before_the_addend():
    model = MODELS["cdna4_f8f6f4_scale"]
    a, b = np.zeros((1, 64), np.uint8), np.full((64, 1), 2, np.uint8)  # e2m1: 2 is 1.0
    a[0, 0], a[0, 32] = 2, 2
    scale_a, scale_b = np.array([[127, 130]], np.uint8), np.array([[128], [127]], np.uint8)
    c = np.array([[bits(1)]], np.uint32)
    d = multiply(model, "e2m1fn", "e2m1fn", "f32", a, b, c, scale_a=scale_a, scale_b=scale_b)
    assert d[0, 0] == bits(1 + 2 + 8)
    for code, value in ((255, 0x7FC00000), (0, bits(1))):
        scale_a[:] = code
        d = multiply(model, "e2m1fn", "e2m1fn", "f32", a, b, c, scale_a=scale_a, scale_b=scale_b)
        assert d[0, 0] == value


def test_float_wmma_has_no_clamp():
    with pytest.raises(MfmasimError, match="rdna3_f16 has no clamp"):
        dot("rdna3_f16", "f16", [0, 0], [0, 0], 0, clamp=True)
