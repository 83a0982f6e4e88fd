"""Every bound of the fast paths against the slow model, at the bound and past it; a bound that is moved is noticed."""

import itertools

import numpy as np
import pytest

from mfmasim.formats import FORMATS
from mfmasim.matrix.arithmetic import (
    aligned_steps,
    aligned_tiles,
    bounds,
    dispatch,
    dot_products,
    matmul_steps,
    one_grid,
    product,
    small_batches,
)
from mfmasim.matrix.arithmetic import factors as decoded
from mfmasim.matrix.models import MODELS
from tests.matrix.flat import multiply
from tests.slow import matrix as slow

MODULES = (aligned_steps, aligned_tiles, bounds, decoded, dot_products, matmul_steps, one_grid, product, small_batches)
FP8, F16, BF16 = ("cdna3_fp8", "e4m3fnuz"), ("cdna3_16bit", "f16"), ("cdna3_16bit", "bf16")
BF8 = "cdna3_fp8", "e5m2fnuz"
DOT2, DOT4 = ("rdna3_bf16", "bf16"), ("rdna4_16bit", "bf16")
UP = 1 + 2.0**-23


def wrong(monkeypatch, way, cases, **moved):
    """Cases (factors of A, of B, addend) whose D is not the slow model's, with bounds moved."""
    name, fmt = way
    row, model, found = FORMATS[fmt], MODELS[name], []
    with monkeypatch.context() as patch:
        for bound, value in moved.items():
            for module in MODULES:
                if hasattr(module, bound):
                    patch.setattr(module, bound, value)
        matmul_steps._powers.cache_clear()
        decoded._table.cache_clear()
        for left, right, addend, tiles in cases:
            k = -(-len(left) // model.group) * model.group
            a, b = np.zeros((tiles, 1, k)), np.zeros((tiles, k, 1))
            a[:, 0, : len(left)], b[:, : len(right), 0] = left, right
            codes = row.encode(a), row.encode(b), np.full((tiles, 1, 1), np.float32(addend)).view(np.uint32)
            d = multiply(model, fmt, fmt, "f32", *codes)
            want = slow.multiply(model, fmt, fmt, "f32", *(array[:1] for array in codes))
            if (d != want).any():
                found.append((left, right, addend, tiles))
    matmul_steps._powers.cache_clear()
    decoded._table.cache_clear()
    return found


def pairs(exponents, tiny, addends, tiles):
    """A large pair that cancels, at each exponent, beside a tiny product of either sign, in any place, and addends."""
    for power, sign, at, addend, many in itertools.product(exponents, (1, -1), (1, 2, 3), addends, tiles):
        left, right = [2.0 ** (power // 2), 0.0, 0.0, 0.0], [2.0 ** (power - power // 2)] * 4
        left[at], right[at] = -left[0], right[0]
        left.append(sign * tiny[0])
        right.append(tiny[1])
        yield left, right, addend, many


def products(exponents, addends, tiles):
    """One product of the largest significands at each exponent, its negative, and addends."""
    for power, sign, addend, many in itertools.product(exponents, (1, -1), addends, tiles):
        yield [sign * 1.875 * 2.0 ** (power // 2)], [1.875 * 2.0 ** (power - power // 2)], addend, many


def sums(count, factor, tiny, addends, tiles):
    """As many equal products, one tiny, and addends that leave nothing else."""
    for sign, addend, many in itertools.product((1, -1), addends, tiles):
        yield [*[factor] * count, sign * tiny[0]], [*[factor] * count, tiny[1]], addend, many


def ties(limit, grain, tiles):
    """Sums of a power of two, half a unit of f32 and a grain: a tie but for the grain. Addends are at the power."""
    half = limit * 2.0**-24
    for sign, many in itertools.product((1, -1), tiles):
        left, right = [2 * half / 2.0**-5, sign * 2.0**-10], [2.0**-5, grain / 2.0**-10]
        yield left, right, limit - half, many
        yield left, right, limit * (1 - 2.0**-23), many
        yield left, right, -limit, many


SMALL, MANY = 1, 70
TINY = 2.0**-10, 2.0**-10
NEAR = (0.0, 2.0**-20, -(2.0**-20), 1.0, -3 * 2.0**-20)
FRACTION = (0.1, -1 / 3)


def addends_in_units():
    """Addends from a quarter of the bound, 2^30 units, to four times, and their neighbours."""
    for e, power, scale, sign, many in itertools.product(
        (0, -13), (29, 30, 31, 32), (1, 1 - 2.0**-24, UP), (1, -1), (SMALL, MANY)
    ):
        yield from products((e,), (sign * 2.0 ** (power - 24 + e) * scale,), (many,))


def eight_products():
    """The largest sum that a step can have, and addends at the bound."""
    for one, other, addend, many in itertools.product((1, -1), (1, -1), (63.999, 64, 127.99, 128, 255), (SMALL, MANY)):
        yield [one * 1.999] * 8, [1.999] * 8, other * addend, many


def zero_factors():
    """Beside the largest and the smallest numbers."""
    addends = (0.0, -0.0, 2.0**-60 * 1.37, -(2.0**-60) * 1.37, 2.0**-52 * UP)
    for small, addend, many in itertools.product((0.0, 2.0**-14, 2.0**-24), addends, (SMALL, MANY)):
        yield [0.0, small], [2.0**15, 2.0**-14], addend, many


def dots():
    """Factors in and out of bounds, one of them zero or both."""
    exponents = (-90, -41, -40, 0, 30, 31, 60, 90)
    for x, y, z in itertools.product(exponents, repeat=3):
        yield [2.0**x, 0.0], [2.0**y, 2.0**z], (0.0, 2.0**-120 * 1.37, -1.37)[(x + z) % 3], 3
    for z, addend in itertools.product(exponents, (0.0, 2.0**-120 * 1.37, -(2.0**-126) * UP)):
        yield [0.0, 0.0], [0.0, 2.0**z], addend, 3


def dot_addends():
    """About 2^100, and the largest."""
    addends = [sign * 2.0**e * UP for e in (98, 99, 100, 101, 126, 127) for sign in (1, -1)]
    return products((-70, 0, 60), addends, (3,))


def chains():
    """Ties at powers of two beyond the bound, and sums of three steps."""
    for power in (10, 11, 12, 13):
        yield from ties(2.0**power, 2.0**-20, (SMALL, MANY))
    yield from sums(47, 4.0, TINY, (-736.0, -768.0, 300.0, 1023.0), (SMALL, MANY))


SMALL, MANY = 1, 70
TINY = 2.0**-10, 2.0**-10
NEAR = (0.0, 2.0**-20, -(2.0**-20), 1.0, -3 * 2.0**-20)
FRACTION = (0.1, -1 / 3)
LEAST = (2.0**-149, -(2.0**-149), 2.0**-126, -(2.0**-126))
CASES = {
    "exact grid": (FP8, lambda: pairs(range(2, 9), TINY, (*NEAR, *FRACTION), (SMALL, MANY))),
    "addend limit": (FP8, lambda: ties(2.0**11, 2.0**-20, (SMALL, MANY))),
    "addend beyond its limit": (FP8, lambda: ties(2.0**12, 2.0**-20, (SMALL, MANY))),
    "sums of 24 bits": (FP8, lambda: sums(15, 4.0, TINY, (-240.0, 240.0, *FRACTION), (SMALL, MANY))),
    "chains": (FP8, chains),
    "powers of 8": (FP8, lambda: pairs(range(-14, 15), TINY, FRACTION, (MANY,))),
    "powers of 4": (BF8, lambda: pairs(range(-30, 30), (2.0**-17, 2.0**-17), FRACTION, (SMALL, MANY))),
    "least grid": (BF16, lambda: products(range(-106, -96), (0.0, 2.0**-120, -(2.0**-126), 1e-30), (SMALL, MANY))),
    "largest grid": (BF16, lambda: products(range(120, 128), (0.0, 1.0, 3e38, -3e38), (SMALL, MANY))),
    "addend in units": (F16, addends_in_units),
    "eight products and an addend": (F16, eight_products),
    "scaled up": (F16, lambda: pairs(range(22, 30), (0.0, 0.0), LEAST, (SMALL,))),
    "zero factors": (F16, zero_factors),
    "factors of dot2": (DOT2, dots),
    "factors of dot4": (DOT4, dots),
    "addend of dot2": (DOT2, dot_addends),
    "addend of dot4": (DOT4, dot_addends),
}


@pytest.mark.parametrize("name", CASES)
def test_at_the_bound_and_past_it_the_result_is_the_models(monkeypatch, name):
    way, cases = CASES[name]
    cases = list(cases())
    assert len(cases) >= 6
    assert wrong(monkeypatch, way, cases) == []


def shifted(function, *, by):
    """A bound that is a function, so many binades further."""
    return lambda *given: function(*given) + by if function is bounds.exact_grid else function(*given) * 2.0**by


OTHER_PATHS = {"addend_limit": shifted(bounds.addend_limit, by=-40)}
"""Leaves nothing to the path of few tiles, which is tried first."""
MOVED = [
    ("exact grid", {"exact_grid": shifted(bounds.exact_grid, by=1)}),
    ("addend beyond its limit", {"addend_limit": shifted(bounds.addend_limit, by=1)}),
    ("chains", {"chain_limit": shifted(bounds.chain_limit, by=4), **OTHER_PATHS}),
    ("sums of 24 bits", {"in_float32": lambda bound, grain: bound <= 2.0 ** (grain + 29), **OTHER_PATHS}),
    ("powers of 4", {"power_width": lambda *_: 3}),
    ("least grid", {"LOWEST": -103}),
    ("largest grid", {"HIGHEST": 127}),
    ("eight products and an addend", {"ADDEND_UNITS": 2.0**31}),
    ("scaled up", {"SCALED_UP": 29}),
    ("zero factors", {"EMPTY_BELOW": {np.dtype(np.int8): -27}}),
    ("zero factors", {"EMPTY_BELOW": {np.dtype(np.int8): -34}}),
    ("factors of dot2", {"DOT_FACTORS": (-40, 90)}),
    ("factors of dot4", {"DOT_FACTORS": (-90, 30)}),
]


@pytest.mark.parametrize(("name", "moved"), MOVED, ids=[f"{name}, {' '.join(moved)}" for name, moved in MOVED])
def test_a_bound_that_is_moved_gives_wrong_results(monkeypatch, name, moved):
    """So the cases reach the bound, and the bound is not looser than it may be by more than this."""
    way, cases = CASES[name]
    assert wrong(monkeypatch, way, cases(), **moved)


@pytest.mark.parametrize(("width", "spread"), [(8, 29), (4, 60)])
def test_sums_of_powers_tell_the_largest_exponent(width, spread):
    """Of up to 2^w - 1 equal ones, from the least to the largest exponent, in float32 without overflow."""
    assert bounds.power_width(spread, 16) == {8: 3, 4: 2}[width]
    assert bounds.power_width(spread + 1, 16) == {8: 2, 4: None}[width]
    for exponent in range(spread + 1):
        power = np.ldexp(np.float32(1), width * (exponent + 1) - 127)
        for terms in (1, 2, 2 ** (width - 1), 2**width - 1):
            total = np.float32(power * terms)
            assert int(total.view(np.int32)) >> 23 + {8: 3, 4: 2}[width] == exponent + 1
            assert np.isfinite(total)


def test_every_condition_of_a_path_has_a_derivation():
    named = {name for path in (dispatch.SMALL, *dispatch.PATHS) for name in path.proof.split()}
    public = {
        name for name in vars(bounds) if not name.startswith("_") and name.split("_")[0] not in ("annotations", "TYPE")
    }
    assert named <= public
    assert public - named == {"cache", "np", "Any", "empty_below"}


def test_every_algorithm_ends_in_a_path_without_conditions():
    assert {model.algorithm for model in MODELS.values()} == set(dispatch._PATHS)
    for algorithm in dispatch._PATHS:
        rows = [path for path in dispatch.PATHS if algorithm in path.algorithms.split()]
        assert (rows[-1].proof, rows[-1].operands) in (("", "any other"), ("", "all"))
