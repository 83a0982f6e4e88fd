"""RDNA's dot products at speed, many tiles at a time: against the plain steps, and against the slow model."""

from dataclasses import replace

import numpy as np
import pytest

from mfmasim.formats.rows import ROWS
from mfmasim.matrix.arithmetic import complete, dot_products
from mfmasim.matrix.arithmetic.product import Product
from mfmasim.matrix.models import MODELS
from mfmasim.matrix.request import PLAIN, Formats, Operands
from tests.matrix.flat import multiply
from tests.slow import matrix as slow

SHAPES = [
    ("rdna3_f16", "f16", "f16"),
    ("rdna3_bf16", "bf16", "bf16"),
    ("rdna4_16bit", "f16", "f16"),
    ("rdna4_16bit", "bf16", "bf16"),
    ("rdna4_fp8", "e4m3fn", "e5m2"),
]
FACTORS, ADDENDS = ("near", "any", "zeros", "small"), ("near", "large", "tiny", "zero", "any")
K = 16
BITS = {row.name: row for row in ROWS}


def codes(rng, name, shape, kind):
    """Random codes: exponents near 1, any code, many zeros of either sign and nothing special, or subnormals."""
    form = BITS[name]
    made = rng.integers(0, 1 << form.bits, shape).astype(np.uint16 if form.bits > 8 else np.uint8)
    sign, low = 1 << (form.bits - 1), (1 << form.mantissa_bits) - 1
    if kind == "near":
        return made & (sign | low) | ((form.bias - 3 + rng.integers(0, 6, shape)) << form.mantissa_bits).astype(
            made.dtype
        )
    if kind == "zeros":
        top = ((1 << form.exponent_bits) - 1) << form.mantissa_bits
        return np.where((made & top == top) | (rng.random(shape) < 0.6), made & sign, made).astype(made.dtype)
    return made & (sign | low) if kind == "small" else made


def addends(rng, shape, kind):
    bits = rng.integers(0, 1 << 32, shape, dtype=np.uint64).astype(np.uint32)
    masks = {"tiny": 0x8FFFFFFF, "zero": 0x80000000, "any": 0xFFFFFFFF}
    if kind in masks:
        return bits & np.uint32(masks[kind])
    exponent = rng.integers(*{"near": (100, 140), "large": (200, 250)}[kind], shape).astype(np.uint32)
    return bits & np.uint32(0x807FFFFF) | exponent << np.uint32(23)


@pytest.mark.parametrize(("name", "a_format", "b_format"), SHAPES)
def test_many_tiles_equal_the_plain_steps(name, a_format, b_format):
    rng, model, compared = np.random.default_rng(3), MODELS[name], 0
    for kind_a in FACTORS:
        for kind_b in FACTORS:
            for kind_c in ADDENDS:
                a, b = codes(rng, a_format, (19, 8, K), kind_a), codes(rng, b_format, (19, K, 9), kind_b)
                c = addends(rng, (19, 8, 9), kind_c)
                with np.errstate(all="ignore"):
                    plain = complete.dot(
                        Product(model, Formats(a_format, b_format, "f32"), PLAIN, K), Operands(a, b, c)
                    )
                found = multiply(model, a_format, b_format, "f32", a, b, c)
                assert np.array_equal(found, plain), (kind_a, kind_b, kind_c)
                compared += found.size
    assert compared == 80 * 19 * 72


@pytest.mark.parametrize(("name", "a_format", "b_format"), SHAPES)
def test_many_tiles_equal_the_slow_model(name, a_format, b_format):
    rng, model = np.random.default_rng(4), MODELS[name]
    kinds = [(a, b, c) for a in ("near", "zeros") for b in ("near", "zeros") for c in ("near", "tiny", "zero")]
    a, b, c = (
        np.concatenate([make(kind[i]) for kind in kinds])
        for i, make in enumerate(
            (
                lambda kind: codes(rng, a_format, (2, 3, K), kind),
                lambda kind: codes(rng, b_format, (2, K, 4), kind),
                lambda kind: addends(rng, (2, 3, 4), kind),
            )
        )
    )
    found = multiply(model, a_format, b_format, "f32", a, b, c)
    assert found.size == 24 * 12
    assert np.array_equal(found, slow.multiply(model, a_format, b_format, "f32", a, b, c))


def test_a_tile_that_is_special_leaves_the_others_alone():
    rng, model = np.random.default_rng(5), MODELS["rdna3_f16"]
    a, b, c = codes(rng, "f16", (5, 4, K), "near"), codes(rng, "f16", (5, K, 4), "near"), np.zeros((5, 4, 4), np.uint32)
    want = multiply(model, "f16", "f16", "f32", a, b, c)
    a[1, 2, 3], b[2, 5, 0], c[4, 1, 1] = 0x7E00, 0x7C00, 0x7F800000
    found = multiply(model, "f16", "f16", "f32", a, b, c)
    assert (found[[0, 3]] == want[[0, 3]]).all()
    assert (found[1, 2] == model.nan_factor).all()
    assert (found[2, :, 0] & 0x7FFFFFFF == 0x7F800000).all()
    assert found[4, 1, 1] == 0x7F800000


@pytest.mark.parametrize(
    "other", [{"product_bits": 23}, {"addend_bits": 27}, {"addend_lead_floor": -14}, {"flush_output": ""}]
)
def test_other_parameters_are_computed_plainly(other):
    """And come out as the slow model says."""
    rng, model = np.random.default_rng(6), replace(MODELS["rdna3_f16"], **other)
    formats = Formats("f16", "f16", "f32")
    assert dot_products.usable(Product(MODELS["rdna3_f16"], formats, PLAIN, K))
    assert not dot_products.usable(Product(model, formats, PLAIN, K))
    a, b = codes(rng, "f16", (2, 3, K), "near"), codes(rng, "f16", (2, K, 4), "zeros")
    c = addends(rng, (2, 3, 4), "near")
    want = slow.multiply(model, "f16", "f16", "f32", a, b, c)
    assert np.array_equal(multiply(model, "f16", "f16", "f32", a, b, c), want)


@pytest.mark.parametrize(
    ("factors", "addend"),
    [
        ([(0x38, 0x7C), (0x38, 0xFC)], 0),  # products Inf and -Inf
        ([(0x38, 0x7C), (0xB8, 0x7C)], 0x7FC00123),  # before a NaN of C
        ([(0x38, 0x7C), (0x38, 0x3C)], 0xFF800000),  # Inf and C -Inf
        ([(0x00, 0x7C), (0x38, 0x3C)], 0),  # 0 Inf
        ([(0x7F, 0x3C), (0x38, 0x3C)], 0),  # a NaN factor
    ],
)
def test_every_invalid_sum_of_8_bit_products_has_the_payload_of_a_nan_factor(factors, addend):
    """gfx12 alone, and products of 8 bits alone (rocjitsu, gfx12_dot.h, captured on gfx1201)."""
    a, b = (np.array([column], np.uint8) for column in zip(*(factors * 2), strict=True))
    c = np.array([[addend]], np.uint32)
    assert multiply(MODELS["rdna4_fp8"], "e4m3fn", "e5m2", "f32", a, b.T, c)[0, 0] == 0xFFC00A3D
    wide = np.array([[0x3C00, 0x3C00]], np.uint16), np.array([[0x7C00, 0xFC00]], np.uint16)
    zero = np.zeros((1, 1), np.uint32)
    assert multiply(MODELS["rdna4_16bit"], "f16", "f16", "f32", wide[0], wide[1].T, zero)[0, 0] == 0xFFC00000
