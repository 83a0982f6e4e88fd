"""Every code of every format of at most 16 bits, against the slow model, ml_dtypes and gfloat."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfmasim import formats
from tests.formats.ml_dtypes_table import ML_DTYPES
from tests.oracles import require
from tests.slow import formats as slow

NARROW = [fmt for fmt in formats.FORMATS.values() if fmt.bits <= 16]
WIDE = [fmt for fmt in formats.FORMATS.values() if fmt.bits > 16]


def all_codes(fmt):
    return np.arange(1 << fmt.bits, dtype=fmt.carrier)


def same(value, number):
    if number.magnitude == "nan":
        return np.isnan(value)
    magnitude = np.inf if number.magnitude == "inf" else float(number.magnitude)
    return abs(value) == magnitude and np.signbit(value) == number.negative


@pytest.mark.parametrize("fmt", NARROW, ids=lambda fmt: fmt.name)
def test_every_code_against_the_slow_model(fmt):
    values = fmt.decode(all_codes(fmt))
    wrong = [code for code, value in enumerate(values) if not same(value, slow.decode(fmt, code))]
    assert not wrong
    assert len(values) == 1 << fmt.bits


@pytest.mark.parametrize("name", ML_DTYPES)
def test_every_code_against_ml_dtypes(name):
    fmt = formats.format(name)
    codes = all_codes(fmt)
    with np.errstate(invalid="ignore"):
        theirs = codes.view(ML_DTYPES[name]).astype(np.float64)
    ours = fmt.decode(codes)
    np.testing.assert_array_equal(ours, theirs)
    number = ~np.isnan(ours)
    np.testing.assert_array_equal(np.signbit(ours[number]), np.signbit(theirs[number]))
    assert number.sum() == sum(slow.decode(fmt, int(code)).magnitude != "nan" for code in codes)


def gfloat_format(fmt):
    """Describe a row to gfloat, which has no FNUZ format of its own."""
    import gfloat

    nans = {"ieee": (1 << fmt.mantissa_bits) - 1, "fn": 1, "fnu": 1, "fnuz": 0, "finite": 0, "scale": 1}[fmt.special]
    return gfloat.FormatInfo(
        fmt.name,
        fmt.bits,
        fmt.mantissa_bits + 1,
        bias=fmt.bias,
        is_signed=fmt.signed,
        domain=gfloat.Domain.Extended if fmt.special == "ieee" else gfloat.Domain.Finite,
        has_nz=fmt.special in {"ieee", "fn", "finite"},
        num_high_nans=nans,
        has_subnormals=fmt.special != "scale",
        is_twos_complement=False,
    )


@pytest.mark.oracle
@pytest.mark.parametrize("fmt", [fmt for fmt in NARROW if not fmt.integer], ids=lambda fmt: fmt.name)
def test_every_code_against_gfloat(fmt):
    require("gfloat", importlib.util.find_spec("gfloat") is not None, "pip install gfloat")
    import gfloat

    codes = all_codes(fmt)
    theirs = gfloat.decode_ndarray(gfloat_format(fmt), codes.astype(np.int64))
    ours = fmt.decode(codes)
    np.testing.assert_array_equal(ours, theirs)
    number = ~np.isnan(ours)
    np.testing.assert_array_equal(np.signbit(ours[number]), np.signbit(theirs[number]))
    assert len(codes) == 1 << fmt.bits


@pytest.mark.parametrize("fmt", WIDE, ids=lambda fmt: fmt.name)
@given(data=st.data())
def test_wide_codes_against_the_slow_model(fmt, data):
    code = data.draw(st.integers(0, fmt.mask))
    assert same(float(fmt.decode(np.array(code, fmt.carrier))), slow.decode(fmt, code))


def test_decoding_keeps_the_shape_and_accepts_wider_carriers():
    fmt = formats.format("e4m3fn")
    codes = np.arange(24, dtype=np.uint32).reshape(2, 3, 4)
    assert fmt.decode(codes).shape == (2, 3, 4)
    np.testing.assert_array_equal(fmt.decode(codes[:, ::2, ::-1]), fmt.decode(codes)[:, ::2, ::-1])
    assert fmt.decode(np.zeros((0, 3), np.uint8)).shape == (0, 3)
    assert fmt.decode([]).shape == (0,)


def test_the_same_byte_is_half_as_large_in_fnuz():
    """T50: FNUZ is FN / 2 but for the codes that are special in one of the two."""
    codes = np.arange(256, dtype=np.uint8)
    for fn, fnuz, exceptions in [
        ("e4m3fn", "e4m3fnuz", {0x7F, 0x80, 0xFF}),
        ("e5m2", "e5m2fnuz", {*range(0x7C, 0x81), *range(0xFC, 0x100)}),
    ]:
        halved = formats.format(fn).decode(codes) == 2 * formats.format(fnuz).decode(codes)
        assert set(codes[~halved].tolist()) == exceptions


@pytest.mark.trap("T47")
def test_e5m2fnuz_nan_is_the_negative_zero():
    """T47: the sign is part of the NaN; 0x00 is zero."""
    fmt = formats.format("e5m2fnuz")
    assert np.isnan(fmt.decode(0x80))
    assert fmt.decode(0x00) == 0.0


# name: largest, smallest normal and subnormal. IEEE 754-2019; OCP OFP8 1.0 and MX 1.0; CDNA3 ISA manual, table 30;
# CDNA5 ISA manual, 7.12.6 (e5m3fnu).
LIMITS = {
    "f64": (1.7976931348623157e308, 2.0**-1022, 2.0**-1074),
    "f32": (3.4028234663852886e38, 2.0**-126, 2.0**-149),
    "xf32": (3.4011621342146535e38, 2.0**-126, 2.0**-136),
    "f16": (65504.0, 2.0**-14, 2.0**-24),
    "bf16": (3.3895313892515355e38, 2.0**-126, 2.0**-133),
    "e4m3fn": (448.0, 2.0**-6, 2.0**-9),
    "e4m3fnuz": (240.0, 2.0**-7, 2.0**-10),
    "e5m2": (57344.0, 2.0**-14, 2.0**-16),
    "e5m2fnuz": (57344.0, 2.0**-15, 2.0**-17),
    "e2m3fn": (7.5, 1.0, 0.125),
    "e3m2fn": (28.0, 0.25, 0.0625),
    "e2m1fn": (6.0, 1.0, 0.5),
    "e8m0fnu": (2.0**127, 2.0**-127, None),
    "e5m3fnu": (114688.0, 2.0**-14, 2.0**-17),
    "i4": (7.0, 1.0, None),
    "u2": (3.0, 1.0, None),
    "u4": (15.0, 1.0, None),
    "i8": (127.0, 1.0, None),
    "u8": (255.0, 1.0, None),
    "i32": (2147483647.0, 1.0, None),
}


@pytest.mark.parametrize("name", formats.FORMATS)
def test_limits(name):
    fmt = formats.format(name)
    assert name in LIMITS, f"LIMITS lacks {name}"
    assert (fmt.max, fmt.smallest_normal, fmt.smallest_subnormal) == LIMITS[name]
    assert float(fmt.decode(fmt.max_code)) == fmt.max
    if fmt.integer:
        assert (fmt.exponent_bits, fmt.mantissa_bits, fmt.bias) == (0, 0, 0)


@pytest.mark.parametrize("fmt", formats.FORMATS.values(), ids=lambda fmt: fmt.name)
def test_special_codes_decode_to_what_they_are_called(fmt):
    for code, check in [
        (fmt.nan_code, np.isnan),
        (fmt.inf_code, np.isposinf),
        (fmt.zero_code, lambda v: v == 0 and not np.signbit(v)),
        (fmt.negative_zero_code, lambda v: v == 0 and np.signbit(v)),
    ]:
        assert code is None or check(float(fmt.decode(np.array(code, fmt.carrier))))
    assert fmt.source


def test_xf32_drops_the_bits_that_the_matrix_core_does_not_read():
    fmt = formats.format("xf32")
    assert float(fmt.decode(0x3F801FFF)) == 1.0
    assert float(fmt.decode(0x3F802000)) == 1.0 + 2.0**-10
    assert int(fmt.encode(np.float32(1.0 + 2.0**-10 + 2.0**-20))) == 0x3F802000


def test_the_code_of_zero():
    """E8M0, which holds scales, has none."""
    without = [fmt.name for fmt in formats.FORMATS.values() if fmt.zero_code is None]
    assert without == [fmt.name for fmt in formats.FORMATS.values() if fmt.special == "scale"] != []
    for fmt in formats.FORMATS.values():
        if fmt.zero_code is not None:
            assert fmt.zero_code == 0
            assert float(fmt.decode(np.zeros(1, np.uint64).astype(fmt.carrier))[0]) == 0
