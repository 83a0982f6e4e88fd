"""The strategies draw what their classes promise, and shrink to something a person can read."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import find, given
from hypothesis import strategies as st

from mfmasim import MfmasimError, formats
from mfmasim.testing import CODE_KINDS, Code, cancellation_pairs, code_arrays, codes

NAMES = sorted(formats.FORMATS)


@given(data=st.data(), name=st.sampled_from(NAMES))
def test_codes_fit_their_format(data, name):
    fmt = formats.format(name)
    code = data.draw(codes(fmt, near="e2m1fn"))
    assert 0 <= code <= fmt.mask
    fmt.decode([code])


CHECKS = {
    "zero": lambda v, fmt: v == 0,
    "subnormal": lambda v, fmt: 0 < abs(v) <= 1.51 * fmt.smallest_normal,
    "one": lambda v, fmt: 0.49 < abs(v) <= 2,
    "max": lambda v, fmt: abs(v) >= fmt.max / 2,
    "inf": lambda v, fmt: np.isinf(v),
    "nan": lambda v, fmt: np.isnan(v),
}


@pytest.mark.parametrize("kind", CHECKS)
@given(data=st.data(), name=st.sampled_from([n for n in NAMES if not formats.format(n).integer]))
def test_classes_hold_what_they_say(data, name, kind):
    fmt = formats.format(name)
    try:
        strategy = codes(fmt, [kind])
    except MfmasimError:
        assert (kind, fmt.special) in {
            ("zero", "scale"),
            ("subnormal", "scale"),
            ("nan", "finite"),
            ("inf", "fn"),
            ("inf", "fnu"),
            ("inf", "fnuz"),
            ("inf", "finite"),
            ("inf", "scale"),
        }
        return
    assert CHECKS[kind](float(fmt.decode([data.draw(strategy)])[0]), fmt)


@given(code=codes("f32", ["midpoint"], near="e4m3fn"))
def test_midpoints_decide_a_rounding(code):
    """Within one ulp of a midpoint, rounding up and down differ, and neither is far away."""
    fmt, value = formats.format("e4m3fn"), np.uint32([code]).view(np.float32)
    up, down = fmt.decode(fmt.encode(value, "up")), fmt.decode(fmt.encode(value, "down"))
    middle = (up + down) / 2
    assert abs(middle[0] - float(value[0])) <= np.spacing(abs(value[0])) * 1.0
    assert up[0] > down[0]


def test_examples_shrink_to_readable_hex():
    assert repr(find(codes("f32"), lambda code: np.isnan(formats.format("f32").decode([code])[0]))) == "0x7f800001"
    assert repr(find(codes("e4m3fn", ["max"]), lambda code: code < 0x80)) == "0x7e"
    assert repr(Code(255)) == "0xff"
    assert repr(find(cancellation_pairs("f16"), lambda pair: True)) == "(0x1, 0x8001)"


@given(array=code_arrays("e5m2", (2, 3), near="e2m1fn"))
def test_arrays_have_shape_and_dtype(array):
    assert array.shape == (2, 3)
    assert array.dtype == np.uint8


@given(name=st.sampled_from(["f32", "bf16", "e4m3fn", "e2m1fn"]), data=st.data())
def test_pairs_cancel(name, data):
    fmt = formats.format(name)
    a, b = fmt.decode(list(data.draw(cancellation_pairs(fmt))))
    assert np.signbit(a) != np.signbit(b)
    assert abs(a + b) <= max(abs(a), abs(b)) * 2.0**-fmt.mantissa_bits or abs(a) <= 2 * fmt.smallest_normal


def test_bad_classes_are_explained():
    with pytest.raises(MfmasimError, match="did you mean 'nan'"):
        codes("f32", ["nans"])
    with pytest.raises(MfmasimError, match="at most 16 bits"):
        codes("f64", near="f32")
    with pytest.raises(MfmasimError, match="no negative codes"):
        cancellation_pairs("e8m0fnu")
    assert len(CODE_KINDS) == 8


def test_importing_the_package_does_not_import_hypothesis():
    program = "import sys, mfmasim.testing; sys.exit('hypothesis' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
