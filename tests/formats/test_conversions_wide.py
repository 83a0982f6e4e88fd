"""Conversions among f64, f32, f16 and integers, in every mode."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mfmasim import formats
from mfmasim.formats.conversions import Mode, Modifiers, conversion
from mfmasim.formats.conversions.operands import flushed
from tests.slow import formats as slow
from tests.slow.conversions import samples


@given(code=st.integers(0, (1 << 32) - 1), mode=st.integers(0, 3), ovfl=st.booleans())
@example(code=0x7F800000, mode=0, ovfl=True)
@example(code=0xFF800000, mode=3, ovfl=True)
@example(code=0x477FF000, mode=0, ovfl=True)
@example(code=0x477FF000, mode=0, ovfl=False)
def test_f32_to_f16_in_every_mode(code, mode, ovfl):
    rounding = ("nearest_even", "up", "down", "toward_zero")[mode]
    run = conversion("gfx942", "v_cvt_f16_f32")
    out = int(run(np.uint32([code]), mode=Mode(round_f16_f64=mode, fp16_ovfl=ovfl))[0])
    number = slow.decode(formats.format("f32"), code)
    if number.magnitude == "nan":
        assert out == (code >> 16 & 0x8000) | 0x7E00 | (code >> 13 & 0x1FF)
    else:
        overflow = "saturate_finite" if ovfl else "infinity_or_nan"
        assert out == slow.encode(formats.format("f16"), number, rounding, overflow)


@given(codes=st.lists(st.integers(0, (1 << 32) - 1), min_size=2, max_size=2))
def test_pairs_of_halves(codes):
    a, b = (np.uint32([code]) for code in codes)
    for arch, name, target, rounding in (
        ("gfx950", "v_cvt_pk_bf16_f32", "bf16", "nearest_even"),
        ("gfx950", "v_cvt_pk_f16_f32", "f16", "nearest_even"),
        ("gfx942", "v_cvt_pkrtz_f16_f32", "f16", "toward_zero"),
        ("gfx1201", "v_cvt_pk_rtz_f16_f32", "f16", "toward_zero"),
    ):
        out = int(conversion(arch, name)(a, b)[0])
        fmt = formats.format(target)
        for code, half in zip(codes, (out & 0xFFFF, out >> 16), strict=True):
            number = slow.decode(formats.format("f32"), code)
            if number.magnitude == "nan":
                assert slow.decode(fmt, half) == number
            else:
                assert half == slow.encode(fmt, number, rounding, "infinity_or_nan")


@given(code=st.integers(0, (1 << 64) - 1), mode=st.integers(0, 3))
def test_f64_to_f32_rounds_once(code, mode):
    rounding = ("nearest_even", "up", "down", "toward_zero")[mode]
    out = int(conversion("gfx1201", "v_cvt_f32_f64")(np.uint64([code]), mode=Mode(round_f16_f64=mode))[0])
    number = slow.decode(formats.format("f64"), code)
    if number.magnitude == "nan":
        assert out == (code >> 32 & 0x80000000) | 0x7FC00000 | (code >> 29 & 0x3FFFFF)
    else:
        assert out == slow.encode(formats.format("f32"), number, rounding, "infinity_or_nan")


def test_exact_widenings():
    halves_ = np.arange(1 << 16, dtype=np.uint32)
    out = conversion("gfx90a", "v_cvt_f32_f16")(halves_)
    with np.errstate(invalid="ignore"):
        theirs = halves_.astype(np.uint16).view(np.float16).astype(np.float32)
    np.testing.assert_array_equal(out.view(np.float32), theirs)
    nan = np.isnan(theirs)
    np.testing.assert_array_equal(out[nan] & 0x80400000, (halves_[nan] & 0x8000) << 16 | 0x400000)
    np.testing.assert_array_equal(conversion("gfx950", "v_cvt_f32_bf16")(halves_), halves_ << np.uint32(16))
    bits = samples(5000)
    wide = conversion("gfx1100", "v_cvt_f64_f32")(bits)
    for code, found in zip(bits[:400], wide[:400], strict=True):
        assert slow.decode(formats.format("f64"), int(found)) == slow.decode(formats.format("f32"), int(code))


def test_flushing_leaves_all_but_denormals():
    codes = np.arange(1 << 16, dtype=np.uint32)
    half = formats.FORMATS["f16"]
    expected = np.where((codes & 0x7FFF) < 0x400, codes & 0x8000, codes)
    np.testing.assert_array_equal(flushed(codes, half, 0), expected)
    np.testing.assert_array_equal(flushed(codes, half, 1), codes)


def test_flushing_and_clamping_halves():
    tiny = np.uint32([0x8001, 0x3C00, 0x4000, 0xBC00, 0x7E00])
    run = conversion("gfx942", "v_cvt_f32_f16")
    assert run(tiny, mode=Mode(denorm_f16_f64=2))[0] == 0x80000000
    assert run(tiny, modifiers=Modifiers(clamp=True)).tolist() == [0, 0x3F800000, 0x3F800000, 0, 0]
    assert run(tiny, modifiers=Modifiers(clamp=True), mode=Mode(dx10_clamp=False))[4] == 0x7FC00000
    for name in ("s_cvt_f32_f16", "s_cvt_hi_f32_f16"):
        scalar, both = conversion("gfx1201", name), np.uint32([0x80018001, 0x3C003C00])
        for mode in range(4):
            kept = 0xB3800000 if mode & 1 else 0x80000000
            assert scalar(both, mode=Mode(denorm_f16_f64=mode)).tolist() == [kept, 0x3F800000]
    narrow = conversion("gfx1100", "v_cvt_f16_f32")
    small = np.float32([-(2.0**-20)]).view(np.uint32)
    assert narrow(small).tolist() == [0x8010]
    assert narrow(small, mode=Mode(denorm_f16_f64=1)).tolist() == [0x8000]
    upper = narrow(small, old=np.uint32([0x12345678]), modifiers=Modifiers(op_sel=8, neg=1))
    assert upper.tolist() == [0x00105678]


def integer_of(value, low, high):
    number = Fraction(value) if np.isfinite(value) else None
    if number is None:
        return 0 if np.isnan(value) else (high if value > 0 else low)
    whole = abs(number).numerator // abs(number).denominator
    return min(max(-whole if number < 0 else whole, low), high)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("i32_f32", np.int32),
        ("u32_f32", np.uint32),
        ("i32_f64", np.int32),
        ("u32_f64", np.uint32),
        ("i16_f16", np.int16),
        ("u16_f16", np.uint16),
    ],
)
def test_towards_integers(name, dtype):
    source = name[4:]
    limits = np.iinfo(dtype)
    edges = [
        limits.max,
        limits.max + 0.5,
        limits.max + 1.0,
        limits.min,
        limits.min - 0.5,
        limits.min - 1.0,
        0.0,
        -0.0,
        0.99,
    ]
    values = np.array([*edges, -0.99, 1.5, -2.5, np.nan, np.inf, -np.inf, 1e30, -1e30, 12345.678, -999.5])
    if source == "f64":
        sources = values.view(np.uint64)
    else:
        with np.errstate(over="ignore"):
            carrier = np.float32 if source == "f32" else np.float16
            values = values.astype(carrier)
        sources = values.view(f"u{values.itemsize}").astype(np.uint32)
    out = conversion("gfx950", f"v_cvt_{name}")(sources).astype(f"u{np.dtype(dtype).itemsize}").view(dtype)
    expected = [integer_of(float(value), int(limits.min), int(limits.max)) for value in values]
    assert out.tolist() == expected


@given(code=st.integers(0, (1 << 32) - 1), mode=st.integers(0, 3))
def test_from_integers(code, mode):
    rounding = ("nearest_even", "up", "down", "toward_zero")[mode]
    for name, fmt in (("i32", "i32"), ("u32", None)):
        value = slow.decode(formats.format("i32"), code) if fmt else slow.Number(False, Fraction(code))
        out = conversion("gfx908", f"v_cvt_f32_{name}")(np.uint32([code]), mode=Mode(round_f32=mode))
        assert int(out[0]) == slow.encode(formats.format("f32"), value, rounding, "infinity_or_nan")
        wide = conversion("gfx908", f"v_cvt_f64_{name}")(np.uint32([code]))
        assert slow.decode(formats.format("f64"), int(wide[0])).magnitude == value.magnitude
    low = code & 0xFFFF
    for name, number in (("u16", low), ("i16", low - (low >> 15 << 16))):
        value = slow.Number(number < 0, Fraction(abs(number)))
        out = conversion("gfx942", f"v_cvt_f16_{name}")(np.uint32([code]), mode=Mode(round_f16_f64=mode))
        assert int(out[0]) == slow.encode(formats.format("f16"), value, rounding, "infinity_or_nan")


def test_the_other_integer_conversions():
    def run(arch, name, *operands, **more):
        return conversion(arch, name)(*(np.uint32([operand]) for operand in operands), **more).tolist()[0]

    def f32(value):
        return int(np.float32(value).view(np.uint32))

    assert [run("gfx942", f"v_cvt_f32_ubyte{byte}", 0x04030201) for byte in range(4)] == [f32(v) for v in (1, 2, 3, 4)]
    assert [run("gfx942", "v_cvt_flr_i32_f32", f32(v)) for v in (1.5, -1.5)] == [1, 0xFFFFFFFE]
    nearest = [run("gfx1201", "v_cvt_nearest_i32_f32", f32(v)) for v in (0.5, -0.5, 0.49999997, 8388609.0)]
    assert nearest == [1, 0, 0, 8388609]
    assert [run("gfx950", "v_cvt_off_f32_i4", v) for v in (8, 0xF, 0, 7)] == [
        f32(v) for v in (-0.5, -0.0625, 0, 0.4375)
    ]
    assert run("gfx942", "v_cvt_pk_i16_i32", 40000, 0xFFFF0000) == 0x80007FFF
    assert run("gfx942", "v_cvt_pk_u16_u32", 0x12345, 7) == 0x0007FFFF
    assert run("gfx1201", "v_cvt_pk_i16_f32", f32(-1.9), f32(1e9)) == 0x7FFFFFFF
    assert run("gfx1201", "v_cvt_pk_u16_f32", f32(-1.9), f32(2.9)) == 0x00020000
    assert run("gfx942", "v_cvt_pknorm_i16_f32", f32(-1.0), f32(0.5)) == 0x40008001
    assert run("gfx942", "v_cvt_pknorm_i16_f32", f32(-np.inf), f32(np.inf)) == 0x7FFF8001
    assert run("gfx942", "v_cvt_pknorm_u16_f32", f32(-1.0), f32(2.0)) == 0xFFFF0000
    assert run("gfx942", "v_cvt_pknorm_u16_f32", f32(-np.inf), f32(np.nan)) == 0
    assert run("gfx1201", "v_cvt_norm_u16_f16", 0x3800) == 0x8000
    assert run("gfx1201", "v_cvt_i32_i16", 0x1234FFFE) == 0xFFFFFFFE
    assert run("gfx1201", "v_cvt_u32_u16", 0x1234FFFE, modifiers=Modifiers(op_sel=1)) == 0x1234
    assert run("gfx1201", "s_cvt_hi_f32_f16", 0x3C000000) == f32(1)


def test_the_mode_without_changes_is_that_of_a_kernel_that_asks_for_nothing():
    """MODE 0x1F0 (LLVM, AMDGPU: FP_DENORM 3 twice, DX10_CLAMP): nearest even, all denormals, NaN clamps to 0."""
    assert Mode() == Mode.from_register(0x1F0)
    assert Mode.from_register(0x0080_0009) == Mode(1, 2, 0, 0, fp16_ovfl=True, dx10_clamp=False)
