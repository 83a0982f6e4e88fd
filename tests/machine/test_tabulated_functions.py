"""RDNA's tables of functions against the slow ones in integers, and what the tables are near to."""

import numpy as np
import pytest

from mfmasim.machine.numerics import tabulated_functions
from mfmasim.machine.numerics.tabulated_functions import FUNCTIONS, tabulated
from mfmasim.machine.numerics.tabulated_turns import turned
from tests.slow.machine import tabulated as slow

EXACT = {"rcp": lambda x: 1 / x, "rsq": lambda x: 1 / np.sqrt(x), "sqrt": np.sqrt, "exp": np.exp2, "log": np.log2}
ONE = 0x3F800000


def arguments(rng, count):
    """Bits of every exponent, around 1 at all distances, and of the range of EXP."""
    near = (2.0 ** rng.uniform(0, 19, count)).astype(np.int64) * rng.choice([-1, 1], count)
    parts = [
        rng.integers(0, 1 << 32, count, dtype=np.uint64),
        ONE + near,
        np.arange(ONE - 40, ONE + 40),
        np.array([ONE - 0x40001, ONE - 0x40000, ONE - 0x20000, ONE + 0x10000, ONE + 0x20000, ONE + 0x40000]),
        (rng.choice([-1, 1], count) * 2.0 ** rng.uniform(-27, 8, count)).astype(np.float32).view(np.uint32),
    ]
    return np.concatenate([np.asarray(part).astype(np.uint32) for part in parts])


@pytest.mark.parametrize("word", FUNCTIONS)
def test_equal_to_the_slow_model(word):
    bits = arguments(np.random.default_rng(7), 1500)
    out, usual = tabulated(word, bits.view(np.float32))
    finite_normal = (bits >> 23 & 255 != 0) & (bits >> 23 & 255 != 255)
    compared = np.flatnonzero(usual & finite_normal)
    expected = [slow.FUNCTIONS[word](source) for source in bits[compared].tolist()]
    np.testing.assert_array_equal(out.view(np.uint32)[compared], np.array(expected, np.uint32))
    assert len(compared) > (4000 if word in ("rcp", "exp") else 2500)


@pytest.mark.parametrize("word", FUNCTIONS)
def test_within_one_place(word):
    x = (2.0 ** np.random.default_rng(8).uniform(-30, 6.9, 1 << 15)).astype(np.float32)
    out, usual = tabulated(word, x)
    exact = EXACT[word](x.astype(np.float64))
    assert usual.all()
    assert (np.abs(out - exact) <= np.spacing(np.abs(exact).astype(np.float32))).all()


@pytest.mark.parametrize("word", ["sin", "cos"])
def test_turns_are_those_of_the_slow_model(word):
    bits = arguments(np.random.default_rng(9), 1500)
    bits = bits[np.isfinite(bits.view(np.float32)) & (bits << 1 != 0)]
    expected = [slow.turned(source, word == "cos") for source in bits.tolist()]
    found = turned(bits.view(np.float32), cosine=word == "cos")
    np.testing.assert_array_equal(found.view(np.uint32), np.array(expected, np.uint32))
    exact = (np.cos if word == "cos" else np.sin)(2 * np.pi * np.fmod(bits.view(np.float32).astype(np.float64), 1))
    assert np.abs(found - exact).max() < 2.2 * 2.0**-24


def test_parts_of_large_arrays_are_those_of_the_whole(monkeypatch):
    x = np.linspace(0.1, 9, 5000, dtype=np.float32).reshape(10, 500)
    expected = tabulated("log", x)[0]
    monkeypatch.setattr(tabulated_functions, "CACHED", 700)
    np.testing.assert_array_equal(tabulated("log", x)[0], expected)


def test_what_is_left_to_the_caller():
    special = np.array([0, -0.0, 1e-40, np.inf, -np.inf, np.nan, -2, 2.0**126, 1.99 * 2.0**125], np.float32)
    for word in ("rcp", "rsq", "sqrt", "log"):
        of_all, rcp = word != "rcp", word == "rcp"
        assert tabulated(word, special)[1].tolist() == [False] * 6 + [rcp, of_all, True]
    assert tabulated("exp", special)[1].tolist() == [True] * 5 + [False] + [True] * 3
