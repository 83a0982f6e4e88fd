"""golden.reference.models: facts measured on hardware, published reference vectors, and the assumed scaling."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from golden.reference import models
from golden.reference.models import RULES
from tests.oracles import SHARED, SHARED_HOW, require
from tests.slow.rounding import DTYPES, nearest_f32

ROOT = Path(__file__).resolve().parents[2]
VECTORS = SHARED / "data" / "reference_vectors"

FILES = {
    "CDNA3__v_mfma_f32_16x16x4_f32.npz": ("f32", 31),
    "CDNA3__v_mfma_f32_16x16x8_xf32.npz": ("xf32", 31),
    "CDNA3__v_mfma_f32_16x16x16_f16.npz": ("16bit", 31),
    "CDNA3__v_mfma_f32_16x16x32_fp8_fp8.npz": ("8bit", 31),
}
SCALED = RULES["CDNA4", "f8f6f4"]


def bits(value):
    return int(np.float32(value).view(np.uint32))


def codes(numbers, name):
    dtype = np.dtype(DTYPES[name])
    return np.array(numbers, float).astype(dtype).view({1: np.uint8, 2: np.uint16, 4: np.uint32}[dtype.itemsize])


def one_dot(a, b, c, name, rule, **scales):
    """One dot product from floats; C is a float or f32 bits."""
    c_bits = c if isinstance(c, int) else bits(c)
    result = models.matmul(
        codes([a], name), codes([b], name).T, name, name, rule, c=np.array([[c_bits]], np.uint32), **scales
    )
    return int(result[0, 0])


# --- Published vectors -------------------------------------------------------------------------------------------


def compare(file, rule):
    """Outputs that agree and all outputs of a vector file; NaN payloads are not compared."""
    z = np.load(VECTORS / file)
    meta = json.loads(str(z["meta"]))
    got = np.stack(
        [models.matmul(a, b, meta["a"], meta["b"], rule, c=c) for a, b, c in zip(z["a"], z["b"], z["c"], strict=True)]
    )
    nan_got, nan_want = ((d & 0x7FFFFFFF) > 0x7F800000 for d in (got, z["d"]))
    return int(((got == z["d"]) | (nan_got & nan_want) | ~z["valid"]).sum()), got.size


@pytest.mark.oracle
@pytest.mark.parametrize("file", FILES)
def test_reference_vectors(file):
    require("reference vectors", VECTORS.is_dir(), SHARED_HOW)
    kind, cases = FILES[file]
    same, total = compare(file, RULES["CDNA3", kind])
    assert total == cases * 256
    assert same == total


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("CDNA3__v_mfma_f32_16x16x8_xf32.npz", {"cuts_to_xf32": False}),
        ("CDNA3__v_mfma_f32_16x16x8_xf32.npz", {"overflowing_products": False}),
        ("CDNA3__v_mfma_f32_16x16x8_xf32.npz", {"group": 8}),
        ("CDNA3__v_mfma_f32_16x16x16_f16.npz", {"group": 16}),
        ("CDNA3__v_mfma_f32_16x16x16_f16.npz", {"halves": 2}),
        ("CDNA3__v_mfma_f32_16x16x32_fp8_fp8.npz", {"halves": 1}),
        ("CDNA3__v_mfma_f32_16x16x32_fp8_fp8.npz", {"drops_far_addend": False}),
        ("CDNA3__v_mfma_f32_16x16x32_fp8_fp8.npz", {"group": 8}),
    ],
)
def test_the_vectors_see_every_parameter(file, change):
    require("reference vectors", VECTORS.is_dir(), SHARED_HOW)
    same, total = compare(file, replace(RULES["CDNA3", FILES[file][0]], **change))
    assert same < total


# --- Facts of the CDNA3 rules ------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", ["CDNA3", "CDNA4"])
def test_negative_addend_is_floored_positive_one_vanishes(family):
    rule = RULES[family, "16bit"]
    assert one_dot([1], [1], -(2.0**-40), "f16", rule) == 0x3F7FFFFF
    assert one_dot([1], [1], 2.0**-40, "f16", rule) == 0x3F800000


@pytest.mark.parametrize("i", range(1, 12))
def test_sum_meets_a_larger_addend_at_32_places(i):
    got = one_dot([10, 2.0**-i], [1, 1], float.fromhex("0x1.fffff8p24"), "f16", RULES["CDNA3", "16bit"])
    assert got == bits(float.fromhex("0x1.000002p25" if i < 7 else "0x1p25"))


@pytest.mark.parametrize(("exponent", "expected"), [(-24, 0x3F7FFFFF), (-25, 0x3F7FFFFF), (-26, 0x3F800000)])
def test_fp8_drops_a_far_addend(exponent, expected):
    assert one_dot([1], [1], -(2.0**exponent), "e4m3fnuz", RULES["CDNA3", "8bit"]) == expected


def test_exponents_are_not_normalised():
    # 1.5 * 1.5 = 2.25 aligns as 2**0: 24 places below it 2**-24 still counts.
    got = one_dot([1.5, 2.0**-12], [1.5, 2.0**-12], -2.25, "f16", RULES["CDNA3", "16bit"])
    assert got == bits(2.0**-24)
    got = one_dot([2, 2.0**-12], [1.125, 2.0**-12], -2.25, "f16", RULES["CDNA3", "16bit"])
    assert got == 0


def test_products_are_truncated_toward_zero():
    rule = RULES["CDNA3", "16bit"]
    for sign in (1, -1):
        assert one_dot([1, sign * 2.0**-13], [1, 2.0**-12], -1.0, "f16", rule) == 0


@pytest.mark.parametrize("kind", ["16bit", "8bit"])
def test_zeros_sum_to_plus_zero(kind):
    name = {"16bit": "f16", "8bit": "e4m3fn"}[kind]
    assert one_dot([-0.0], [1], 0x80000000, name, RULES["CDNA4", kind]) == 0


def test_a_nan_or_infinite_addend_survives_the_drop_rule():
    rule = RULES["CDNA3", "8bit"]
    assert one_dot([2.0**15], [2.0**15], 0x7F800000, "e5m2fnuz", rule) == 0x7F800000
    assert one_dot([2.0**15], [2.0**15], 0xFF800000, "e5m2fnuz", rule) == 0xFF800000
    assert one_dot([2.0**15], [2.0**15], 0x7F812345, "e5m2fnuz", rule) == 0x7FC00000


def test_negative_underflow_keeps_its_sign():
    got = one_dot([2.0**-75, 0], [-(2.0**-76), 0], 0.0, "f32", RULES["CDNA3", "xf32"])
    assert got == 0x80000000


def test_products_beyond_f32_become_infinite():
    huge = 2.0**64
    assert one_dot([huge, huge], [huge, -huge], 0.0, "bf16", RULES["CDNA3", "16bit"]) == 0x7FC00000
    assert one_dot([huge], [-huge], 0.0, "bf16", RULES["CDNA3", "16bit"]) == 0xFF800000
    assert one_dot([huge, huge], [huge / 2, -huge / 2], 0.0, "bf16", RULES["CDNA3", "16bit"]) == 0


def test_xf32_cuts_a_small_nan_to_infinity():
    a, one = np.array([[0x7F800001]], np.uint32), np.array([[0x3F800000]], np.uint32)
    assert int(models.matmul(a, one, "f32", "f32", RULES["CDNA3", "xf32"])[0, 0]) == 0x7F800000


# --- Fused multiply-add ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b", "c", "expected"),
    [
        (-0.0, 1.0, -0.0, 0x80000000),
        (-0.0, 1.0, 0.0, 0),
        (1.0, 1.0, -1.0, 0),
        (float("inf"), 0.0, 1.0, 0x7FC00000),
        (2.0**-100, -(2.0**-100), 0.0, 0x80000000),
        (2.0**100, 2.0**100, float("-inf"), 0xFF800000),
        (1 + 2.0**-23, 1 - 2.0**-23, -1.0, bits(-(2.0**-46))),
    ],
)
def test_fma_facts(a, b, c, expected):
    assert one_dot([a], [b], c, "f32", RULES["CDNA3", "f32"]) == expected


def test_fma_equals_fractions():
    rng = np.random.default_rng(5)
    count = 500
    a, b, c = (
        (rng.standard_normal(count) * 2.0 ** rng.integers(-45, 45, count)).astype(np.float32).astype(float)
        for _ in range(3)
    )
    near = rng.random(count) < 0.5
    c = np.where(near, (-a * b).astype(np.float32).astype(float), c)
    got = [one_dot([x], [y], z, "f32", RULES["CDNA3", "f32"]) for x, y, z in zip(a, b, c, strict=True)]
    want = [nearest_f32(Fraction(x) * Fraction(y) + Fraction(z)) for x, y, z in zip(a, b, c, strict=True)]
    assert got == want


# --- Block scales (assumed) --------------------------------------------------------------------------------------


def random_scaled(name, seed, k=64):
    rng = np.random.default_rng(seed)
    a, b = (codes(rng.standard_normal(shape) * 2, name) for shape in ((4, k), (k, 4)))
    return (
        a,
        b,
        rng.integers(100, 150, (4, k // 32)).astype(np.uint8),
        rng.integers(100, 150, (k // 32, 4)).astype(np.uint8),
    )


@pytest.mark.parametrize("k", [64, 128])
@pytest.mark.parametrize("name", ["e4m3fn", "e5m2", "e3m2fn", "e2m3fn", "e2m1fn"])
def test_neutral_scales_change_nothing(name, k):
    a, b, scale_a, scale_b = random_scaled(name, 6, k)
    plain = models.matmul(a, b, name, name, SCALED)
    scale_a[:], scale_b[:] = 137, 117
    np.testing.assert_array_equal(models.matmul(a, b, name, name, SCALED, scale_a=scale_a, scale_b=scale_b), plain)


@pytest.mark.parametrize("name", ["e4m3fn", "e2m1fn"])
def test_a_uniform_scale_only_moves_the_exponent(name):
    a, b, scale_a, scale_b = random_scaled(name, 7)
    base = models.matmul(a, b, name, name, SCALED, scale_a=scale_a, scale_b=scale_b).view(np.float32)
    moved = models.matmul(a, b, name, name, SCALED, scale_a=scale_a + np.uint8(9), scale_b=scale_b).view(np.float32)
    np.testing.assert_array_equal(moved, base * 512)
    assert len(np.unique(base)) == 16


def test_a_block_meets_its_own_scales():
    """One element per block: the result tells which scales each block had."""
    a = codes(np.zeros((1, 64)), "e4m3fn")
    a[0, 5] = a[0, 40] = codes([1.0], "e4m3fn")[0]
    b = codes(np.ones((64, 1)), "e4m3fn")
    scale_a, scale_b = np.array([[130, 120]], np.uint8), np.array([[128], [129]], np.uint8)
    got = models.matmul(a, b, "e4m3fn", "e4m3fn", SCALED, scale_a=scale_a, scale_b=scale_b)
    assert got.view(np.float32)[0, 0] == 2.0**4 + 2.0**-5


@pytest.mark.parametrize(("exponent", "expected"), [(-24, "below"), (-25, "below"), (-26, "one")])
def test_scales_come_before_the_drop_rule(exponent, expected):
    """The fp8 drop fact holds at the scaled place: 2**20 takes the part of 1."""
    scale_a, scale_b = np.array([[140]], np.uint8), np.array([[134]], np.uint8)
    a = [1.0] + [0.0] * 31
    got = one_dot(a, a, -(2.0 ** (20 + exponent)), "e4m3fn", SCALED, scale_a=scale_a, scale_b=scale_b)
    one = bits(2.0**20)
    assert got == {"one": one, "below": one - 1}[expected]


def test_groups_chain_in_ascending_k():
    """1 and -2**-25 in different blocks: the addend is floored to 24 places, a group's sum only to 32."""
    scale_b = np.array([[127], [127]], np.uint8)
    b = codes(np.ones((64, 1)), "e4m3fn")
    results = []
    for first, second, scales in [(-1.0, 1.0, [102, 127]), (1.0, -1.0, [127, 102])]:
        a = codes(np.zeros((1, 64)), "e4m3fn")
        a[0, 0], a[0, 32] = codes([first, second], "e4m3fn")
        scale_a = np.array([scales], np.uint8)
        got = models.matmul(a, b, "e4m3fn", "e4m3fn", SCALED, scale_a=scale_a, scale_b=scale_b)
        results.append(int(got[0, 0]))
    assert results == [bits(1.0) - 1, bits(1.0)]


def test_nan_scale_gives_nan_even_over_zeros():
    zero = np.zeros((1, 64), np.uint8)
    for byte, expected in [(255, 0x7FC00000), (0, 0), (254, 0)]:
        scale_a, scale_b = np.array([[127, byte]], np.uint8), np.array([[127], [127]], np.uint8)
        got = models.matmul(zero, zero.T, "e2m1fn", "e2m1fn", SCALED, scale_a=scale_a, scale_b=scale_b)
        assert int(got[0, 0]) == expected


def test_scaled_results_overflow_and_underflow_once():
    a = codes([[448.0] + [0.0] * 31], "e4m3fn")
    for scale, expected in [(254, 0x7F800000), (0, bits(448.0 * 448.0 * 2.0**-127))]:
        scale_a, scale_b = np.array([[scale]], np.uint8), np.array([[127]], np.uint8)
        got = models.matmul(a, a.T, "e4m3fn", "e4m3fn", SCALED, scale_a=scale_a, scale_b=scale_b)
        assert int(got[0, 0]) == expected


def test_scales_need_groups():
    a, b, scale_a, scale_b = random_scaled("e4m3fn", 8)
    with pytest.raises(ValueError, match="sums groups of 1"):
        models.matmul(a, b, "e4m3fn", "e4m3fn", RULES["CDNA4", "f32"], scale_a=scale_a, scale_b=scale_b)
