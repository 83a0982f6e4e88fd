"""Elementary functions in float64: close to the exact value, and of the same bits on every platform."""

import hashlib

import mpmath
import numpy as np
import pytest

from mfmasim.machine.numerics import elementary

EXACT = {"exp2": lambda x: mpmath.mpf(2) ** x, "log2": lambda x: mpmath.log(x, 2), "sin": mpmath.sin, "cos": mpmath.cos}
# SHA-256 of the results at `points`; NumPy's exp2 has other bits with AVX-512 than without.
DIGESTS = {"exp2": "d7b5346251be60b9", "log2": "72d4446b1d39a283", "sin": "ed880354d6f3f7cb", "cos": "06142ded7e50c674"}


def points(name, count):
    """Arguments from a generator of integers, whose stream does not depend on the platform either."""
    state, found = 12345, []
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        found.append((state >> 11) / 2**53)
    part = np.array(found)
    if name == "exp2":
        return part * 254 - 126
    if name == "log2":
        near_one = 1 + (part - 0.5) * np.ldexp(1.0, -(np.arange(count) % 50))
        return np.where(np.arange(count) % 2, near_one, np.ldexp(part + 0.5, np.arange(count) % 277 - 149))
    return (part - 0.5) * (np.pi / 2)


@pytest.mark.parametrize("name", EXACT)
def test_within_three_units_of_the_exact_value(name):
    x = points(name, 3000)
    found = getattr(elementary, name)(x)
    with mpmath.workprec(150):
        wrong = [abs(mpmath.mpf(float(y)) - EXACT[name](mpmath.mpf(float(v)))) for y, v in zip(found, x, strict=True)]
    units = np.array([float(w) for w in wrong]) / np.spacing(np.abs(found))
    assert units.shape == (3000,)
    assert units.max() < 3


@pytest.mark.parametrize("name", DIGESTS)
def test_the_same_bits_on_every_platform(name):
    found = getattr(elementary, name)(points(name, 20_000))
    assert hashlib.sha256(found.astype("<f8").tobytes()).hexdigest()[:16] == DIGESTS[name]


def test_powers_of_two_are_exact():
    whole = np.arange(-1074, 1024)
    powers = np.ldexp(1.0, whole)
    assert np.array_equal(elementary.exp2(whole.astype(np.float64)), powers)
    assert np.array_equal(elementary.log2(powers), whole)


def test_ends_of_the_range():
    with np.errstate(over="ignore"):
        found = elementary.exp2(np.array([np.inf, -np.inf, np.nan, 1e300, -1e300, 1024, -1080, -0.0]))
    np.testing.assert_array_equal(found, [np.inf, 0, np.nan, np.inf, 0, np.inf, 0, 1])
    found = elementary.log2(np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, -1.0, 1.0]))
    np.testing.assert_array_equal(found, [np.inf, np.nan, np.nan, -np.inf, -np.inf, np.nan, 0])
