"""CDNA5's scales with a mantissa, its two sizes of blocks, and results of 16 bits, against the slow model."""

from fractions import Fraction

import numpy as np
import pytest

import mfmasim
from mfmasim.errors import MfmasimError
from mfmasim.formats import FORMATS
from mfmasim.matrix import arithmetic
from mfmasim.matrix.models import MODELS
from mfmasim.matrix.request import Formats, Modes, Operands
from tests.slow import formats as slow_formats
from tests.slow.matrix import multiply as slow_multiply

ARCH = "gfx1250"
MODEL = MODELS["cdna5_scale"]


def drawn(rng, name, shape):
    """Codes of every class; of scales mostly near 1."""
    fmt = FORMATS[name]
    if name in {"e8m0fnu", "e5m3fnu", "e4m3fn"} and shape[-1] < 16:
        near = fmt.bias << fmt.mantissa_bits
        codes = rng.integers(near - (9 << fmt.mantissa_bits), near + (9 << fmt.mantissa_bits), shape)
        rare = rng.choice([0, 1, fmt.max_code, fmt.nan_code], shape)
        return np.where(rng.random(shape) < 0.04, rare, codes).clip(0, fmt.mask).astype(np.uint8)
    finite = fmt.mask & ~4 if name == "e5m2" else fmt.mask
    return rng.integers(0, fmt.mask + 1, shape).astype(fmt.carrier) & np.uint8(finite)


@pytest.mark.parametrize("block", [16, 32])
@pytest.mark.parametrize(
    ("a", "b", "scales"),
    [
        ("e2m1fn", "e2m1fn", ("e5m3fnu", "e5m3fnu")),
        ("e2m1fn", "e2m1fn", ("e4m3fn", "e4m3fn")),
        ("e4m3fn", "e2m1fn", ("e8m0fnu", "e5m3fnu")),
        ("e2m1fn", "e3m2fn", ("e4m3fn", "e8m0fnu")),
        ("e5m2", "e2m3fn", ("e8m0fnu", "e8m0fnu")),
    ],
)
def test_scales_equal_the_slow_model(a, b, scales, block):
    rng = np.random.default_rng(5)
    m, n, k = 5, 4, 64
    codes = drawn(rng, a, (3, m, k)), drawn(rng, b, (3, k, n))
    c = (rng.integers(0x3F000000, 0x45000000, (3, m, n)) | rng.integers(0, 2, (3, m, n)) << 31).astype(np.uint32)
    given = drawn(rng, scales[0], (3, m, k // block)), drawn(rng, scales[1], (3, n, k // block))
    formats = Formats(a, b, "f32", "", *scales, block)
    ours = arithmetic.multiply(MODEL, formats, Operands(*codes, c, *given))
    theirs = slow_multiply(
        MODEL,
        a,
        b,
        "f32",
        *codes,
        c,
        scale_a=given[0],
        scale_b=given[1].swapaxes(-1, -2),
        scale_formats=scales,
        block=block,
    )
    assert np.array_equal(ours, theirs)
    finite = (theirs & 0x7F800000) != 0x7F800000
    assert finite.sum() >= 20


def exact(name, code):
    number = slow_formats.decode(FORMATS[name], int(code))
    return -number.magnitude if number.negative else number.magnitude


@pytest.mark.parametrize(
    ("scale", "name"), [("e5m3", "v_wmma_scale_f32_16x16x128_f8f6f4"), ("e4m3", "v_wmma_scale16_f32_32x16x128_f4")]
)
def test_scaled_products_are_exact_where_they_fit(scale, name):
    """Against sums of fractions, with one value of K per block; every element meets the scale of its own block."""
    op = mfmasim.instruction(ARCH, name, "fp4", "fp4") if "f8f6f4" in name else mfmasim.instruction(ARCH, name)
    full = {"e5m3": "e5m3fnu", "e4m3": "e4m3fn"}[scale]
    rng, block = np.random.default_rng(9), op.row.scale_block
    a, b = np.zeros(op.A.shape, np.uint8), np.zeros(op.B.shape, np.uint8)
    groups = 128 // block
    a[:, ::block], b[::block] = rng.integers(0, 16, (op.m, groups)), rng.integers(0, 16, (groups, op.n))
    one = FORMATS[full].bias << 3
    sa, sb = (rng.integers(one - 8, one + 16, (rows, groups)).astype(np.uint8) for rows in (op.m, op.n))
    d = op.multiply(a, b, np.zeros(op.C.shape, np.uint32), sa, sb, scale_a_format=scale, scale_b_format=scale)
    expected = {
        (i, j): sum(
            exact("e2m1fn", a[i, g * block])
            * exact(full, sa[i, g])
            * exact("e2m1fn", b[g * block, j])
            * exact(full, sb[j, g])
            for g in range(groups)
        )
        for i, j in np.ndindex(op.m, op.n)
    }
    assert {place: Fraction(float(value)) for place, value in np.ndenumerate(d.view(np.float32))} == expected


def test_names_of_scale_formats():
    op = mfmasim.instruction(ARCH, "v_wmma_scale_f32_32x16x128_f4")
    zeros = [np.zeros(fragment.shape, fragment.dtype) for fragment in (op.A, op.B, op.C)]
    for name in ("e5m3", "e5m3fnu", "e4m3", "e4m3fn", "e8m0"):
        assert not op.multiply(*zeros, scale_a_format=name, scale_b_format=name).any()
    with pytest.raises(MfmasimError, match="unknown format of scales 'e5m2'"):
        op.multiply(*zeros, scale_a_format="e5m2")
    older = mfmasim.instruction("gfx950", "v_mfma_scale_f32_16x16x128_f8f6f4")
    zeros = [np.zeros(fragment.shape, fragment.dtype) for fragment in (older.A, older.B, older.C)]
    with pytest.raises(MfmasimError, match="unknown format of scales 'e5m3'"):
        older.multiply(*zeros, scale_a_format="e5m3")


@pytest.mark.parametrize(("d", "c"), [("f16", ""), ("bf16", ""), ("bf16", "f32")])
@pytest.mark.parametrize("overflow", [False, True])
def test_narrow_results_equal_the_slow_model(d, c, overflow):
    rng = np.random.default_rng(3)
    model, a = MODELS["cdna5_16bit"], "f16" if d == "f16" else "bf16"
    wide = np.uint32 if c else np.uint16
    x, y = (rng.integers(0, 1 << 16, shape).astype(np.uint16) for shape in ((4, 6, 32), (4, 32, 5)))
    x[1:], y[1:] = x[1:] & 0xBFFF | 0x3000, y[1:] & 0xBFFF | 0x3000  # one tile of all codes, others of numbers
    z = rng.integers(0, np.iinfo(wide).max, (4, 6, 5), endpoint=True).astype(wide)
    ours = arithmetic.multiply(model, Formats(a, a, d, c), Operands(x, y, z), Modes(fp16_ovfl=overflow))
    theirs = slow_multiply(model, a, a, d, x, y, z, c_format=c, fp16_ovfl=overflow)
    assert ours.dtype == np.uint16
    assert np.array_equal(ours, theirs)


def test_overflow_of_a_narrow_result_is_infinite_or_largest():
    """CDNA5 ISA manual 7.12: with FP16_OVFL = 1 the largest number; an infinite factor stays infinite."""
    op = mfmasim.instruction(ARCH, "v_wmma_f16_16x16x32_f16")
    a, b = np.full(op.A.shape, 0x7800, np.uint16), np.full(op.B.shape, 0x7800, np.uint16)  # 32768
    a[3] = 0x7C00
    c = np.zeros(op.C.shape, np.uint16)
    plain, largest = op.multiply(a, b, c), op.multiply(a, b, c, fp16_ovfl=True)
    assert (plain == 0x7C00).all()
    assert (np.delete(largest, 3, axis=0) == 0x7BFF).all()
    assert (largest[3] == 0x7C00).all()


def test_f32_results_ignore_overflow_modes():
    op = mfmasim.instruction(ARCH, "v_wmma_f32_16x16x4_f32")
    a, b = np.full(op.A.shape, 0x7F000000, np.uint32), np.full(op.B.shape, 0x7F000000, np.uint32)
    c = np.zeros(op.C.shape, np.uint32)
    assert (op.multiply(a, b, c, fp16_ovfl=True) == 0x7F800000).all()
    subnormal = np.full(op.A.shape, 0x00000001, np.uint32)
    one = np.full(op.B.shape, 0x3F800000, np.uint32)
    assert (op.multiply(subnormal, one, c, denormals=False) == 4).all()  # MODE.denorm is ignored
    with pytest.raises(MfmasimError, match="has no clamp"):
        op.multiply(a, b, c, clamp=True)
