"""E8M0 scales: every rule against Fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mfmasim import MfmasimError, formats
from tests.slow.formats import power

ELEMENTS = ["e4m3fn", "e5m2", "e4m3fnuz", "e2m3fn", "e3m2fn", "e2m1fn"]
RULES = ["ocp", "floor", "ceil", "rceil", "even"]


def floor_log2(value):
    exponent = 0
    while power(exponent + 1) <= value:
        exponent += 1
    while power(exponent) > value:
        exponent -= 1
    return exponent


def slow_scale(amax, element, rule):
    """Exponent of the scale, by the words of the rule."""
    fmt = formats.format(element)
    largest = Fraction(fmt.max)
    target = floor_log2(largest)
    exponent = floor_log2(amax)
    if rule == "ceil":
        exponent += amax != power(exponent)
        return exponent - target
    if rule == "rceil":
        ratio = amax / largest
        low = floor_log2(ratio)
        return low + (ratio != power(low))
    if rule == "even":
        unit = power(exponent - fmt.mantissa_bits)
        rounded = (amax / unit + Fraction(1, 2)).__floor__() * unit
        return floor_log2(rounded) - target
    return exponent - target


@given(
    amax=st.one_of(st.floats(2.0**-60, 2.0**60), st.floats(5e-324, 1.7e308), st.floats(0.5, 2, width=16)),
    element=st.sampled_from(ELEMENTS),
    rule=st.sampled_from(RULES),
)
@example(amax=448.0, element="e4m3fn", rule="rceil")
@example(amax=448.0000001, element="e4m3fn", rule="rceil")
@example(amax=1.9375, element="e4m3fn", rule="even")
@example(amax=5e-324, element="e2m1fn", rule="ceil")
def test_rules(amax, element, rule):
    expected = min(max(slow_scale(Fraction(amax), element, rule) + 127, 0), 254)
    assert int(formats.scale_of(np.float64(amax), element, rule)) == expected
    assert int(formats.scale_of(np.float64(-amax), element, rule)) == expected


def test_the_largest_element_fits_under_rceil_and_ceil():
    amax = np.random.default_rng(2).uniform(0.01, 1000, 5000)
    for element in ELEMENTS:
        fmt = formats.format(element)
        for rule in ("ceil", "rceil"):
            scale = formats.format("e8m0fnu").decode(formats.scale_of(amax, element, rule))
            assert (amax / scale <= fmt.max).all() or rule == "ceil"
        tight = formats.format("e8m0fnu").decode(formats.scale_of(amax, element, "rceil"))
        assert (amax / (tight / 2) > fmt.max).all()


def test_ocp_rule_of_the_specification():
    """OCP MX 1.0, 6.3: the exponent of the largest power of two in the block, less that in the element format."""
    assert formats.scale_of(np.float32([6.0, 4.0, 3.9]), "e2m1fn").tolist() == [127, 127, 126]
    assert formats.scale_of(np.float32([448.0, 480.0]), "e4m3fn").tolist() == [127, 127]


def test_special_blocks():
    amax = np.float32([0.0, -0.0, np.nan, np.inf, -np.inf])
    for rule in RULES:
        assert formats.scale_of(amax, "e4m3fn", rule).tolist() == [0, 0, 255, 255, 255]


def test_e8m0_as_a_format_rounds_between_powers_of_two():
    fmt = formats.format("e8m0fnu")
    values = np.float32([1.0, 1.25, 1.5, 1.75, 3.0, 0.0, -1.0, np.nan, np.inf])
    assert fmt.encode(values, "down").tolist() == [127, 127, 127, 127, 128, 0, 255, 255, 254]
    assert fmt.encode(values, "up").tolist() == [127, 128, 128, 128, 129, 0, 255, 255, 254]
    # A tie goes to the even code: 1.5 to 128, and 3.0 as well.
    assert fmt.encode(values, "nearest_even", "infinity_or_nan").tolist() == [127, 127, 128, 128, 128, 0, 255, 255, 255]


def test_bad_rules_are_explained():
    with pytest.raises(MfmasimError, match="did you mean 'floor'"):
        formats.scale_of(1.0, "e4m3fn", "flor")
    with pytest.raises(MfmasimError, match="not an element format"):
        formats.scale_of(1.0, "e8m0fnu")
