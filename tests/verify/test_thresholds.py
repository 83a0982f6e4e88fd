"""Tolerances of published tests that accept wrong results or refuse right ones, beside the comparison used here."""

import numpy as np
import pytest

import mfmasim
from mfmasim.verify.compare import bit_exact, within

BF16 = mfmasim.format("bf16")


def product(mean, k=4096, side=96):
    """Exact product of two matrices of normal numbers, and its rounding to BF16."""
    rng = np.random.default_rng(3)
    a, b = rng.normal(mean, 1, (2, side, k)).astype(np.float32).astype(np.float64)
    exact = a @ b.T
    return a, b, exact, BF16.encode(exact)


@pytest.mark.trap("T21b")
def test_a_threshold_with_the_sign_of_the_reference_refuses_every_negative_result():
    """|error| <= 0.01 reference: hidden by inputs with mean -1, whose products have none."""
    for mean, lowest, highest in ((0, 0.45, 0.55), (-1, 0, 0)):
        _, _, exact, codes = product(mean)
        got = BF16.decode(codes)
        refused = np.abs(got - got) > 0.01 * got
        assert (refused == (exact < 0)).all(), "right results, compared with themselves"
        assert lowest <= refused.mean() <= highest
        assert bit_exact(codes, codes, BF16).mismatches == 0


@pytest.mark.trap("T36")
def test_a_threshold_on_the_largest_element_accepts_wrong_small_ones():
    a, b, exact, codes = product(0, 256)
    magnitude = np.abs(a) @ np.abs(b).T
    wrong = codes.copy()
    small = np.abs(exact) < 0.009 * np.abs(exact).max()
    wrong[small] = 0
    error = np.abs(BF16.decode(wrong) - exact)
    assert small.sum() > 100
    assert error.max() / np.abs(exact).max() < 0.01, "accepted"
    assert not within(codes, exact, magnitude, 256, BF16).mismatches
    assert within(wrong, exact, magnitude, 256, BF16).mismatches > 0.9 * small.sum()
    # A NaN is lost where the largest error ignores it.
    wrong = codes.copy()
    wrong[3, 5] = 0x7FC0
    assert np.nanmax(np.abs(BF16.decode(wrong) - exact)) / np.abs(exact).max() < 0.01
    assert within(wrong, exact, magnitude, 256, BF16).mismatches == 1
    assert bit_exact(wrong, codes, BF16).mismatches == 1
