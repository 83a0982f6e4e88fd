"""Distances between codes, counted through zero, against Python's integers."""

import itertools

import numpy as np
import pytest

import mfmasim
from mfmasim.verify.compare import bit_exact, common_factor, never_written, ulp_distance

MOST = 2**63 - 1


def slow(a, b, fmt):
    def place(code):
        size = code & fmt.mask & ~fmt.sign_bit
        return -size if code & fmt.sign_bit else size

    nans = [bool(np.isnan(fmt.decode(np.array([code], fmt.carrier))[0])) for code in (a, b)]
    if all(nans):
        return 0
    return min(fmt.mask if any(nans) else abs(place(a) - place(b)), MOST)


@pytest.mark.parametrize("name", ["f64", "f32", "f16", "bf16", "e4m3fn", "e4m3fnuz", "e5m2"])
def test_against_integers(name):
    """With f64, the range does not fit into int64: what NumPy makes of such a number differs between its versions."""
    fmt = mfmasim.format(name)
    ends = [0, 1, fmt.sign_bit, fmt.sign_bit | 1, fmt.max_code, fmt.max_code | fmt.sign_bit, fmt.nan_code, fmt.bias]
    codes = [(a, b) for a, b in itertools.product(ends, ends) if a is not None and b is not None]
    assert len(codes) >= 49
    a, b = (np.array(side, fmt.carrier) for side in zip(*codes, strict=True))
    assert ulp_distance(a, b, fmt).tolist() == [slow(*pair, fmt) for pair in codes]


ONES = np.ones(16)


@pytest.mark.parametrize(
    ("have", "want", "factor"),
    [
        (4 * ONES, ONES, 4.0),
        (-ONES, -8 * ONES, 0.125),
        (2 * ONES, np.repeat([1.0, 0.0], [9, 7]), 2.0),  # of what is not 0
        (np.ldexp(ONES, 600), np.ldexp(ONES, -400), 2.0**1000),
        (np.ldexp(ONES, -600), np.ldexp(ONES, 600), 0.0),  # the ratio underflows
        (np.ldexp(ONES, 600), np.ldexp(ONES, -600), 0.0),  # and overflows
        (np.tile([1.0, -1.0], 8), ONES, 0.0),  # the median of the ratios is 0
        (-2 * ONES, ONES, 0.0),
    ],
)
def test_a_common_factor_is_found_without_a_warning(have, want, factor):
    """Warnings are errors here: ratios of numbers of f64 leave its range, and those of both signs cancel."""
    with np.errstate(all="raise"):
        assert common_factor(have, want) == factor


def test_errors_beyond_the_range_of_f64_are_infinite():
    f64 = mfmasim.format("f64")
    have, want = f64.encode(np.array([1e300, -1.7e308])), f64.encode(np.array([1e-300, 1.7e308]))
    with np.errstate(all="raise"):
        text = bit_exact(have, want, f64).worst(have, want)
    assert text.endswith("error at most absolute inf, relative inf")


@pytest.mark.parametrize(
    ("kept", "words"), [(8, "; all hold what they held"), (5, "; 5 of them hold what they held"), (3, "")]
)
def test_elements_that_nothing_wrote_are_named(kept, words):
    before = np.arange(8, dtype=np.float32)
    before[0] = np.nan
    actual = np.where(np.arange(8) < kept, before, before + 100).astype(np.float32)
    assert never_written(actual, before).startswith(words)
    assert bool(never_written(actual, before)) == bool(words)
