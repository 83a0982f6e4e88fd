"""golden.reference.formats against ml_dtypes and NumPy, all codes."""

import math

import numpy as np
import pytest

from golden.reference.formats import (
    CANONICAL_NAN,
    FORMATS,
    decode,
    encode,
    encode_finite,
    encode_inf,
    encode_nan,
    find_format,
    largest_finite,
)
from tests.slow.rounding import DTYPES, values

SMALL = [name for name, fmt in FORMATS.items() if fmt.bits <= 16]
ROUNDED = [name for name in SMALL if name != "e8m0fnu"]


def as_float(number):
    if number.kind == "nan":
        return math.nan
    magnitude = math.inf if number.kind == "inf" else math.ldexp(number.significand, number.exponent)
    return math.copysign(magnitude, -1.0 if number.sign else 1.0)


def same(x, y):
    return (math.isnan(x) and math.isnan(y)) or (x == y and math.copysign(1, x) == math.copysign(1, y))


def check_decoding(name, codes):
    fmt = FORMATS[name]
    expected = values(codes.astype(fmt.dtype), name)
    wrong = [
        hex(c) for c, e in zip(codes.tolist(), expected.tolist(), strict=True) if not same(as_float(decode(c, fmt)), e)
    ]
    assert wrong == []
    return len(codes)


@pytest.mark.parametrize("name", SMALL)
def test_every_code_decodes_as_in_ml_dtypes(name):
    bits = FORMATS[name].bits
    assert check_decoding(name, np.arange(1 << bits)) == 1 << bits


def test_f32_codes_decode_as_in_numpy():
    fields = np.arange(256)[:, None] << 23
    fractions = np.array([0, 1, 2, 0x3FFFFF, 0x400000, 0x400001, 0x7FFFFE, 0x7FFFFF])
    magnitudes = (fields | fractions).ravel()
    assert check_decoding("f32", np.concatenate([magnitudes, magnitudes | 1 << 31])) == 4096


@pytest.mark.parametrize("name", ["f32", *ROUNDED])
def test_codes_survive_decoding_and_encoding(name):
    fmt = FORMATS[name]
    codes = range(1 << fmt.bits) if fmt.bits <= 16 else range(0, 1 << 32, 65521)
    finite = 0
    for code in codes:
        number = decode(code, fmt)
        if number.kind == "nan":
            assert decode(encode(number, fmt), fmt).kind == "nan"
        else:
            assert encode(number, fmt) == code
            finite += 1
    assert finite > 0.9 * len(codes)


@pytest.mark.parametrize("name", ROUNDED)
def test_rounding_equals_ml_dtypes_at_every_midpoint(name):
    """Each code's value, the midpoint to the next, and the float32 neighbours of both, with both signs."""
    fmt = FORMATS[name]
    finite = values(np.arange(largest_finite(fmt) + 1).astype(fmt.dtype), name)
    if fmt.bits == 16:
        finite = np.concatenate([finite[:600], finite[1000::61], finite[-600:]])
    points = np.concatenate([finite, (finite[1:] + finite[:-1]) / 2]).astype(np.float32)
    points = np.concatenate(
        [points, np.nextafter(points, np.float32(np.inf)), np.nextafter(points, np.float32(-np.inf))]
    )
    points = np.concatenate([points, -points])
    if name == "bf16":  # its midpoints next to zero are float32 subnormals and below
        points = points[np.abs(points) >= 2.0**-126]
    expected = points.astype(DTYPES[name]).view(fmt.dtype).tolist()
    f32 = FORMATS["f32"]
    inputs = [decode(int(c), f32) for c in points.view(np.uint32)]
    assert len(inputs) > 12
    over = 0
    for number, want in zip(inputs, expected, strict=True):
        got = encode(number, fmt, saturate=fmt.specials == "none")
        if decode(want, fmt).kind == "nan":
            over += 1
            assert decode(got, fmt).kind == "nan"
        else:
            assert got == want, number
    assert over <= 8


def test_f32_rounding_equals_numpy():
    rng = np.random.default_rng(1)
    wide = rng.standard_normal(4000) * 2.0 ** rng.integers(-160, 130, 4000)
    ties = (1 + (2 * rng.integers(0, 1 << 23, 2000) + 1) * 2.0**-24) * 2.0 ** rng.integers(-140, 128, 2000)
    edges = np.array([0.0, -0.0, 2.0**-150, -(2.0**-150), 2.0**-149, 1.5 * 2.0**-149, 2.0**128, 2.0**128 - 2.0**103])
    points = np.concatenate([wide, ties, edges])
    assert len(points) == 6008
    with np.errstate(over="ignore"):
        expected = points.astype(np.float32).view(np.uint32).tolist()
    for point, want in zip(points.tolist(), expected, strict=True):
        fraction, exponent = math.frexp(abs(point))
        sign = int(math.copysign(1, point) < 0)
        assert encode_finite(sign, int(fraction * 2**53), exponent - 53, FORMATS["f32"]) == want, point


@pytest.mark.parametrize("name", ROUNDED)
def test_overflow(name):
    fmt = FORMATS[name]
    for sign in (0, 1):
        largest = largest_finite(fmt) | (fmt.sign_bit * sign)
        assert encode_finite(sign, 1, 400, fmt, saturate=True) == largest
        if fmt.specials == "none":
            with pytest.raises(ValueError, match="no NaN"):
                encode_finite(sign, 1, 400, fmt)
        else:
            kind = decode(encode_finite(sign, 1, 400, fmt), fmt).kind
            assert kind == ("inf" if fmt.specials == "ieee" else "nan")


def test_nan_codes():
    for name, code in CANONICAL_NAN.items():
        assert decode(code, FORMATS[name]).kind == "nan"
    assert encode_nan(FORMATS["e4m3fnuz"]) == 0x80
    assert encode_inf(1, FORMATS["f32"]) == 0xFF800000


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"0x10 does not fit the 4 bits of e2m1fn"):
        decode(0x10, FORMATS["e2m1fn"])
    with pytest.raises(ValueError, match="unknown format 'fp8'"):
        find_format("fp8")
    with pytest.raises(ValueError, match="scale format"):
        encode_finite(0, 1, 0, FORMATS["e8m0fnu"])
