"""Where ml_dtypes and this package disagree, by name; and the ban that follows from the first of them."""

from __future__ import annotations

import re
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import mfmasim
from mfmasim import formats


def theirs(values, dtype):
    with np.errstate(over="ignore", invalid="ignore"):
        return values.astype(dtype).view(np.uint8).tolist()


@pytest.mark.parametrize(
    ("name", "dtype", "ours", "rounded_twice"),
    [("e4m3fn", ml_dtypes.float8_e4m3fn, 0x39, 0x38), ("e4m3fnuz", ml_dtypes.float8_e4m3fnuz, 0x41, 0x40)],
)
def test_ml_dtypes_rounds_float64_twice(name, dtype, ours, rounded_twice):
    """Just above a midpoint the way through float32 loses the bit that decides."""
    value = np.float64([1 + 2.0**-4 + 2.0**-40])
    assert formats.format(name).encode(value).tolist() == [ours]
    assert theirs(value, dtype) == [rounded_twice]


def test_ml_dtypes_does_not_saturate():
    values = np.float32([1e6, -1e6, np.inf])
    assert formats.format("e4m3fn").encode(values).tolist() == [0x7E, 0xFE, 0x7E]
    assert theirs(values, ml_dtypes.float8_e4m3fn) == [0x7F, 0xFF, 0x7F]
    assert formats.format("e5m2").encode(values).tolist() == [0x7B, 0xFB, 0x7B]
    assert theirs(values, ml_dtypes.float8_e5m2) == [0x7C, 0xFC, 0x7C]


def test_ml_dtypes_turns_nan_into_a_zero_of_fp4_and_fp6():
    values = np.array([np.nan, -np.nan], np.float32)
    assert formats.format("e2m1fn").encode(values).tolist() == [0x7, 0xF]
    assert theirs(values, ml_dtypes.float4_e2m1fn) == [0x8, 0x0]
    assert formats.format("e2m3fn").encode(values).tolist() == [0x1F, 0x3F]
    assert theirs(values, ml_dtypes.float6_e2m3fn) == [0x20, 0x00]


def test_ml_dtypes_rounds_e8m0_subnormals_up_below_the_midpoint():
    """1.36 * 2**-127 is nearer to 2**-127; ml_dtypes takes 2**-126."""
    value = np.uint32([0x00571F87]).view(np.float32)
    assert formats.format("e8m0fnu").encode(value).tolist() == [0]
    assert theirs(value, ml_dtypes.float8_e8m0fnu) == [1]


def test_ml_dtypes_has_no_zero_scale_but_a_nan_for_it():
    value = np.float32([-0.0])
    assert formats.format("e8m0fnu").encode(value).tolist() == [0]
    assert theirs(value, ml_dtypes.float8_e8m0fnu) == [0xFF]


CAST = re.compile(r"astype\([^)]*(float8_|float6_|float4_|bfloat16|e4m3|e5m2|e2m1|e2m3|e3m2|e8m0)")


def test_the_pattern_of_the_ban_finds_a_cast():
    assert CAST.search("x.astype(ml_dtypes.float8_e4m3fn)")
    assert CAST.search("x.astype(dtypes.bfloat16, copy=False)")


def test_no_cast_to_a_narrow_float_in_the_package():
    """`float64.astype(float8)` rounds twice; the package encodes."""
    root = Path(mfmasim.__file__).parent
    files = sorted(root.rglob("*.py"))
    found = [
        f"{path.relative_to(root)}: {line}"
        for path in files
        for line in path.read_text().splitlines()
        if CAST.search(line)
    ]
    assert not found
    assert len(files) > 20
