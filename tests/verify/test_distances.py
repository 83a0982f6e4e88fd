"""Distances between codes, counted through zero, against Python's integers."""

import itertools

import numpy as np
import pytest

import mfmasim
from mfmasim.verify.compare import never_written, ulp_distance

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


@pytest.mark.parametrize(
    ("kept", "words"), [(8, "; all hold what they held"), (5, "; 5 of them hold what they held"), (3, "")]
)
def test_elements_that_nothing_wrote_are_named(kept, words):
    before = np.arange(8, dtype=np.float32)
    before[0] = np.nan
    actual = np.where(np.arange(8) < kept, before, before + 100).astype(np.float32)
    assert never_written(actual, before).startswith(words)
    assert bool(never_written(actual, before)) == bool(words)
