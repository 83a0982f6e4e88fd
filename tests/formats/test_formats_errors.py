"""Bad input names the value and what is allowed; good values survive a round of checks."""

from __future__ import annotations

import dataclasses
import re

import ml_dtypes
import numpy as np
import pytest

import mfmasim
from mfmasim import MfmasimError, formats

FP8 = formats.format("e4m3fn")


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: formats.format("e4m3"), "did you mean 'e4m3fn'"),
        (lambda: formats.format("nope"), "allowed: f64, f32, xf32"),
        (lambda: FP8.decode(np.float32([1])), "codes must be unsigned integers, not float32; use .view() for its bits"),
        (lambda: FP8.decode(np.zeros(1, ml_dtypes.float8_e4m3fn)), "not float8_e4m3fn; use .view()"),
        (lambda: FP8.decode([256]), "code 0x100 does not fit the 8 bits of e4m3fn; allowed: 0 to 0xff"),
        (lambda: formats.format("fp4").decode(np.uint8([16])), "code 0x10 does not fit the 4 bits"),
        (lambda: FP8.decode([-1]), "code -1 does not fit"),
        (lambda: FP8.decode([True]), "not bool"),
        (lambda: FP8.encode(np.int32([1])), "must be float64, float32, float16, bfloat16, not int32"),
        (lambda: FP8.encode(np.zeros(1, ml_dtypes.float8_e5m2)), "not float8_e5m2"),
        (lambda: FP8.encode(["one"]), "must be float64"),
        (lambda: FP8.encode([2**53 + 1]), "integers above 2**53"),
        (lambda: FP8.encode(1.0, "nearest"), "unknown rounding 'nearest'; did you mean 'nearest_even'"),
        (lambda: FP8.encode(1.0, overflow="clip"), "unknown overflow rule 'clip'"),
        (lambda: FP8.encode(1.0, "stochastic"), "needs random="),
        (lambda: FP8.encode(1.0, random=[1]), "random bits are for rounding='stochastic', not 'nearest_even'"),
        (lambda: FP8.encode([1.0, 2.0], "stochastic", random=[1, 2, 3]), "does not broadcast"),
        (lambda: FP8.encode(1.0, "stochastic", random=1 << 32), "integers from 0 to 2**32 - 1"),
        (lambda: FP8.encode(1.0, "stochastic", random=0.5), "not float64"),
        (lambda: formats.convert([1], "f31", "f16"), "unknown format 'f31'"),
        (lambda: formats.convert([1], "f32", "f16", nan="keep"), "unknown NaN rule 'keep'"),
    ],
)
def test_bad_input_is_explained(call, text):
    with pytest.raises(MfmasimError, match=re.escape(text)) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_names_aliases_and_formats_are_accepted():
    assert mfmasim.format("FP4") is mfmasim.format("float4_e2m1fn") is mfmasim.format("e2m1fn")
    assert mfmasim.format(FP8) is FP8
    assert mfmasim.format(formats.ROWS[5]) == FP8
    names = [name for row in formats.ROWS for name in (row.name, *row.aliases)]
    assert len(names) == len(set(names))


def test_a_format_is_a_value():
    with pytest.raises(dataclasses.FrozenInstanceError):
        FP8.bits = 9
    assert hash(FP8) == hash(formats.Format(**{f.name: getattr(FP8, f.name) for f in dataclasses.fields(FP8)}))


def test_python_numbers_and_lists_count_as_float64():
    assert FP8.encode(1).tolist() == 0x38
    assert FP8.encode([1, 0.5, -2]).tolist() == [0x38, 0x30, 0xC0]
    assert FP8.encode([]).tolist() == []
    assert FP8.encode(np.float32(1)).shape == ()
