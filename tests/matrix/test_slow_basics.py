"""The slow model's own tools: exact numbers, integers, matrices, the exact yardstick, and what it refuses."""

import math
import random
import struct
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from mfmasim.errors import MfmasimError
from mfmasim.matrix.models import MODELS
from tests.slow.matrix import dot, exact, exact_sum, multiply
from tests.slow.matrix.codes import f16, f32, f64, small, vector
from tests.slow.matrix.fixed import UNIT, decode, encode, floor_to, lead, round_to, truncate_to, units


def number(x):
    """A float in units."""
    count = Fraction(x) / Fraction(2) ** UNIT
    assert count.denominator == 1
    return int(count)


@pytest.mark.parametrize(
    ("x", "down", "zero", "near"), [(2.5, 2, 2, 2), (3.5, 3, 3, 4), (-2.5, -3, -2, -2), (-0.25, -1, 0, 0)]
)
def test_rounding_to_a_grid(x, down, zero, near):
    assert floor_to(number(x), 0) == units(down, 0)
    assert truncate_to(number(x), 0) == units(zero, 0)
    assert round_to(number(x), 0) == units(near, 0)


def test_lead_is_the_exponent_of_the_leading_bit():
    assert [lead(number(x)) for x in (1.0, 1.99, 2.0, -0.75, 2.0**-1074, 0.0)] == [0, 0, 1, -1, -1074, -1024]


@pytest.mark.parametrize(("form", "pack", "store"), [("f16", "<e", "<H"), ("f32", "<f", "<I"), ("f64", "<d", "<Q")])
def test_decode_and_encode_agree_with_the_struct_module(form, pack, store):
    source = random.Random(form)
    size = struct.calcsize(store)
    compared = 0
    for _ in range(3000):
        code = source.getrandbits(8 * size)
        value = struct.unpack(pack, struct.pack(store, code))[0]
        found = decode(code, form)
        if math.isnan(value) or math.isinf(value):
            assert found.kind == ("nan" if math.isnan(value) else "inf")
            continue
        assert found.value == number(value)
        if value:
            assert encode(found.value, form) == code
        # A double near the middle of two neighbours, rounded by the struct module (to nearest, ties to even).
        wide = value * (1 + source.choice([-1, 0, 1]) * 2.0**-12) + source.choice([-1, 1]) * 2.0**-25
        if form != "f64" and wide:
            try:
                expected = struct.unpack(store, struct.pack(pack, wide))[0]
            except OverflowError:
                expected = (0x7C00 if form == "f16" else 0x7F800000) | (wide < 0) << (8 * size - 1)
            assert encode(number(wide), form) == expected
            compared += 1
    assert compared > 2500 or form == "f64"


@pytest.mark.parametrize(
    ("form", "largest", "least", "nans", "infs"),
    [
        ("e4m3fn", 448.0, 2.0**-9, 2, 0),
        ("e5m2", 57344.0, 2.0**-16, 6, 2),
        ("e4m3fnuz", 240.0, 2.0**-10, 1, 0),
        ("e5m2fnuz", 57344.0, 2.0**-17, 1, 0),
        ("e2m3fn", 7.5, 0.125, 0, 0),
        ("e3m2fn", 28.0, 2.0**-4, 0, 0),
        ("e2m1fn", 6.0, 0.5, 0, 0),
        ("e8m0fnu", 2.0**127, 2.0**-127, 1, 0),
    ],
)
def test_small_formats_have_the_published_range(form, largest, least, nans, infs):
    bits = {"e2m3fn": 6, "e3m2fn": 6, "e2m1fn": 4}.get(form, 8)
    decoded = [decode(code, form) for code in range(1 << bits)]
    finite = [one.value for one in decoded if one.kind == "finite"]
    assert max(finite) == number(largest)
    assert min(value for value in finite if value > 0) == number(least)
    assert [sum(one.kind == kind for one in decoded) for kind in ("nan", "inf")] == [nans, infs]


# --- integers -------------------------------------------------------------------------------------


def test_integers_are_exact_and_wrap_or_saturate_at_the_end():
    model = MODELS["cdna_i8"]
    top, low = 0x7FFFFFFF, 0x80000000
    assert dot(model, "i8", "i8", "i32", [0x80, 0x7F], [0x80, 0xFF], 5) == 128 * 128 - 127 + 5
    assert dot(model, "i8", "i8", "i32", [1], [1], top) == low
    assert dot(model, "i8", "i8", "i32", [1], [1], top, clamp=True) == top
    assert dot(model, "i8", "i8", "i32", [0xFF], [1], low, clamp=True) == low
    # An intermediate sum may leave the range: only the total is brought back.
    assert dot(model, "i8", "i8", "i32", [1, 0xFF], [1, 1], top, clamp=True) == top
    assert dot(model, "i8", "i8", "i32", [1], [1], top, fp16_ovfl=True) == top


def test_integer_signedness_is_per_operand_and_rdna_saturates_by_the_clamp_bit_only():
    model = MODELS["rdna_int"]
    assert dot(model, "u8", "i8", "i32", [0xFF], [0xFF], 0) == -255 & 0xFFFFFFFF
    assert dot(model, "u4", "i4", "i32", [0xF, 0x7], [0xF, 0x8], 0) == (-15 - 56) & 0xFFFFFFFF
    assert dot(model, "u4", "u4", "i32", [0xF], [0xF], 0) == 225
    assert dot(model, "u8", "u8", "i32", [1], [1], 0x7FFFFFFF, fp16_ovfl=True) == 0x80000000
    assert dot(model, "u8", "u8", "i32", [1], [1], 0x7FFFFFFF, clamp=True) == 0x7FFFFFFF


def test_rdna4_saturates_after_each_half_of_k():
    """bjacob/goc, integer_wmma_hardware.h: halves with opposite signs near the limit."""
    model, top, low = MODELS["rdna4_int"], 0x7FFFFFFF, 0x80000000
    assert dot(model, "i8", "i8", "i32", [1, 0xFF], [1, 1], top, clamp=True) == top - 1
    assert dot(model, "i8", "i8", "i32", [0xFF, 1], [1, 1], low, clamp=True) == low + 1
    assert dot(model, "i8", "i8", "i32", [1, 0xFF, 0, 0], [1, 1, 0, 0], top, clamp=True) == top
    assert dot(model, "i8", "i8", "i32", [1, 0xFF], [1, 1], top) == top


# --- matrices -------------------------------------------------------------------------------------


def test_multiply_takes_batches_and_selections():
    model = MODELS["cdna3_sparse_16bit"]
    source = np.random.default_rng(3)
    a = np.array([f16(x) for x in source.integers(-9, 9, 2 * 3 * 4)], np.uint16).reshape(2, 1, 3, 4)
    b = np.array([f16(x) for x in source.integers(-9, 9, 8 * 5)], np.uint16).reshape(8, 5)
    c = np.array([f32(x) for x in source.integers(-9, 9, 6 * 3 * 5)], np.uint32).reshape(2, 3, 3, 5)
    selection = np.array([[0, 3, 5, 6], [1, 2, 4, 7], [0, 1, 6, 7]])
    d = multiply(model, "f16", "f16", "f32", a, b, c, selection=selection)
    plain_a, plain_b = a.view(np.float16).astype(int), b.view(np.float16).astype(int)
    dense = np.zeros((2, 1, 3, 8), int)
    for row, ks in enumerate(selection):
        dense[..., row, ks] = plain_a[..., row, :]
    assert d.dtype == np.uint32
    np.testing.assert_array_equal(d.view(np.float32), dense @ plain_b + c.view(np.float32))


def test_multiply_passes_scales_by_row_and_column():
    model = MODELS["cdna4_f8f6f4_scale"]
    a = np.full((2, 64), small(1.0, "e2m1fn"), np.uint8)
    b = np.full((64, 3), small(1.0, "e4m3fn"), np.uint8)
    scale_a = np.array([[127, 128], [129, 130]], np.uint8)
    scale_b = np.array([[127, 128, 129], [127, 127, 127]], np.uint8)
    d = multiply(model, "e2m1fn", "e4m3fn", "f32", a, b, np.zeros((2, 3), np.uint32), scale_a=scale_a, scale_b=scale_b)
    expected = [[32 * (2 ** (int(p) - 127) * 2**j + 2 ** (int(q) - 127)) for j in range(3)] for p, q in scale_a]
    np.testing.assert_array_equal(d.view(np.float32), expected)


# --- the exact yardstick --------------------------------------------------------------------------


def test_exact_rounds_the_rational_sum_once():
    a, b = vector([1.0, 2.0**-13, -1.0], "f16", 3), vector([1.0, 2.0**-13, 1.0], "f16", 3)
    assert exact_sum("f16", "f16", "f32", a, b, f32(-(2.0**-40))) == Fraction(2) ** -26 - Fraction(2) ** -40
    assert exact("f16", "f16", "f32", a, b, f32(-(2.0**-40))) == f32(2.0**-26 - 2.0**-40)
    assert exact_sum("f16", "f16", "f32", [0x7C00], [0], 0) == "nan"
    assert exact("f16", "f16", "f32", [0x7C00], [0], 0) == 0x7FC00000
    assert exact("f16", "f16", "f32", [0x7C00], [f16(-1.0)], 0) == 0xFF800000
    assert exact("f64", "f64", "f64", [f64(2.0**-1074)], [f64(0.5)], f64(2.0**-1074)) == 2  # 1.5 units, ties to even
    assert exact("i8", "i8", "i32", [0xFF], [2], 1) == 0xFFFFFFFF


def test_exact_scales_each_element_by_its_own_block():
    a = vector([1.0] * 64, "e2m1fn", 64)
    total = exact_sum("e2m1fn", "e2m1fn", "f32", a, a, f32(1.0), scale_a=[0, 127], scale_b=[127, 126])
    assert total == 1 + 32 * Fraction(2) ** -127 + 16
    assert exact("e2m1fn", "e2m1fn", "f32", a, a, 0, scale_a=[0, 255]) == 0x7FC00000


# --- refusals -------------------------------------------------------------------------------------


def test_refusals_name_what_is_wrong():
    model = MODELS["cdna3_16bit"]
    with pytest.raises(MfmasimError, match="a has 1 elements and b has 2"):
        dot(model, "f16", "f16", "f32", [0], [0, 0], 0)
    with pytest.raises(MfmasimError, match="a has 1 elements and b has 2"):
        exact("f16", "f16", "f32", [0], [0, 0], 0)
    with pytest.raises(MfmasimError, match="unknown number format 'f17'; did you mean 'f16'"):
        dot(model, "f17", "f16", "f32", [0], [0], 0)
    with pytest.raises(MfmasimError, match="unknown integer format 'i9'"):
        dot(MODELS["cdna_i8"], "i9", "i8", "i32", [0], [0], 0)
    with pytest.raises(MfmasimError, match="no clamp"):
        dot(MODELS["rdna3_f16"], "f16", "f16", "f32", [0], [0], 0, clamp=True)
    with pytest.raises(MfmasimError, match="no block scales"):
        dot(model, "f16", "f16", "f32", [0], [0], 0, scale_a=[127])
    with pytest.raises(MfmasimError, match="unknown algorithm 'magic'"):
        dot(replace(model, algorithm="magic"), "f16", "f16", "f32", [0], [0], 0)
    wide = replace(MODELS["cdna4_f8f6f4_scale"], group=48)
    with pytest.raises(MfmasimError, match="crosses a scale block"):
        dot(wide, "e2m1fn", "e2m1fn", "f32", [0] * 64, [0] * 64, 0, scale_a=[127, 127])
    shapes = np.zeros((2, 4), np.uint16), np.zeros((3, 2), np.uint16), np.zeros((2, 2), np.uint32)
    with pytest.raises(MfmasimError, match="shapes do not fit"):
        multiply(model, "f16", "f16", "f32", *shapes)
    with pytest.raises(MfmasimError, match="selection has shape"):
        multiply(model, "f16", "f16", "f32", *shapes, selection=np.zeros((2, 3), int))
    with pytest.raises(MfmasimError, match="unknown output format"):
        multiply(model, "f16", "f16", "f8", *shapes)


# --- editing a row changes the model --------------------------------------------------------------


def mixed(source, form):
    """Few non-zero products, of middling, tiny or subnormal factors, and a c of similar size: a, b, c."""
    fields, fractions = {"e5m2fnuz": (5, 2), "xf32": (8, 23), "bf16": (8, 7)}[form]
    bias = (1 << (fields - 1)) - 1
    tiny = source.random() < 0.5

    def code():
        field = bias + source.randint(1 - min(bias, 40), min(bias, 40))
        if tiny:
            field = source.choice([0, bias // 2, bias // 2 + 1, bias + bias // 2])
        return (source.getrandbits(1) << fields | field) << fractions | source.getrandbits(fractions)

    a, b = [0] * 16, [0] * 16
    for k in source.sample(range(16), source.randint(1, 4)):
        a[k], b[k] = code(), code()
    field = source.choice([0, 0, 1, 2]) if tiny and form == "bf16" else 127 + source.randint(-30, 30)
    return a, b, source.getrandbits(1) << 31 | field << 23 | source.getrandbits(23)


@pytest.mark.parametrize(
    ("name", "form", "before", "change"),
    [
        ("cdna3_fp8", "e5m2fnuz", {}, {"group": 8}),
        ("cdna3_fp8", "e5m2fnuz", {}, {"partial_sums": 1}),
        ("cdna3_fp8", "e5m2fnuz", {}, {"product_bits": 20}),
        ("cdna3_fp8", "e5m2fnuz", {}, {"product_rounding": "floor"}),
        ("cdna3_fp8", "e5m2fnuz", {}, {"partial_bits": 20}),
        ("cdna3_fp8", "e5m2fnuz", {}, {"partial_rounding": "truncate"}),
        ("cdna3_fp8", "e5m2fnuz", {}, {"sum_bits": 22}),
        ("cdna3_fp8", "e5m2fnuz", {"sum_bits": 22}, {"sum_rounding": "truncate"}),
        ("cdna3_fp8", "e5m2fnuz", {}, {"addend_bits": 20}),
        ("cdna3_fp8", "e5m2fnuz", {}, {"addend_rounding": "truncate"}),
        ("cdna3_fp8", "e5m2fnuz", {}, {"drop_addend_below": None}),
        ("cdna3_fp8", "e5m2fnuz", {}, {"final_bits": 23}),
        ("cdna3_fp8", "e5m2fnuz", {"final_bits": 23}, {"final_rounding": "truncate"}),
        ("cdna3_xf32", "xf32", {}, {"input_mantissa_bits": None}),
        ("cdna2_bf16", "bf16", {}, {"flush_inputs": ""}),
        ("cdna2_bf16", "bf16", {}, {"flush_addend": ""}),
        ("cdna2_bf16", "bf16", {}, {"flush_output": ""}),
        ("cdna2_bf16", "bf16", {}, {"flush_output": "positive"}),
        ("cdna2_bf16", "bf16", {}, {"group": 4}),
        ("rdna3_bf16", "bf16", {}, {"flush_inputs": ""}),
        ("rdna3_bf16", "bf16", {}, {"flush_addend": ""}),
        ("rdna3_bf16", "bf16", {}, {"flush_output": ""}),
        ("rdna3_bf16", "bf16", {}, {"addend_bits": 24}),
        ("rdna4_16bit", "bf16", {}, {"product_bits": 23}),
        ("rdna4_16bit", "bf16", {}, {"pair": 4}),
        ("rdna4_16bit", "bf16", {}, {"addend_lead_floor": -100}),
    ],
    ids=lambda value: ",".join(value) if isinstance(value, dict) else value,
)
def test_editing_a_parameter_of_a_row_changes_results(name, form, before, change):
    source = random.Random(name)
    model = replace(MODELS[name], **before)
    changed = replace(model, **change)
    for _ in range(3000):
        a, b, c = mixed(source, form)
        if dot(model, form, form, "f32", a, b, c) != dot(changed, form, form, "f32", a, b, c):
            return
    pytest.fail(f"{change} changed none of 3000 results of {name}")


def test_a_product_that_overflows_is_an_infinity_only_where_the_row_says_so():
    a, b = vector([2.0**64, -(2.0**64)], "bf16", 8), vector([2.0**64, 2.0**64], "bf16", 8)
    model = MODELS["cdna3_16bit"]
    assert dot(model, "bf16", "bf16", "f32", a, b, 0) == model.nan_invalid
    assert dot(replace(model, product_overflow=False), "bf16", "bf16", "f32", a, b, 0) == 0
