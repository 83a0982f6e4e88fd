"""Fused multiply-add of float16 and float32 against integers: where rounding twice goes wrong, and beside it."""

import itertools

import numpy as np
import pytest

from mfmasim.architectures import arch
from mfmasim.machine.numerics import exact, ieee
from mfmasim.machine.numerics.float_formats import F16, F32
from mfmasim.machine.numerics.float_mode import float_mode

PLAIN = float_mode(0xF0, arch("gfx942").floats)
LANES = 64


def near_one(form):
    """Factors whose product is 1, slightly less, slightly more, and more by a digit."""
    unit, root = 2.0**-form.fraction, 2.0 ** -((form.fraction + 1) // 2)
    return [(1, 1), (1 + unit, 1 - unit), (1 + root, 1 - root + root**2), (1 + unit, 1)]


def middles(form, rng, count):
    """Sums just below, at or above the middle between two numbers, with errors far below a float64's last place."""
    real, digits = form.real, form.fraction
    unit = 2.0**-digits
    c = (1 + unit * rng.integers(0, 1 << digits, count)) * rng.choice([-1, 1], count)
    a, b = np.array(near_one(form))[rng.integers(0, 4, count)].T
    a = a * rng.choice([-1, 1], count) * unit / 2
    power = 2.0 ** rng.integers(-form.bias - digits + 12, form.bias - 2, count)
    return [(x.astype(np.float64)).astype(real) for x in (a, b * power, c * power)]


def edges(form, rng, count):
    """Results that are zero, denormal, the smallest normal number or beside it, and what is no number."""
    least, normal = 2.0 ** (1 - form.bias - form.fraction), 2.0 ** (1 - form.bias)
    sizes = [0, least, normal - least, normal, normal + least, 1, 0.5, 1 - 2.0**-form.fraction, 1 + 2.0**-form.fraction]
    sizes += [np.inf, np.nan, float(np.finfo(form.real).max)]
    return [(rng.choice(sizes, count) * rng.choice([-1, 1], count)).astype(form.real) for _ in range(3)]


def random_bits(form, rng, count):
    return [rng.integers(0, 1 << form.width, count, form.word).view(form.real) for _ in range(3)]


def expected(form, a, b, c):
    """Bits of one result."""
    quiet, infinite = int(form.quiet), int(form.infinity)
    for bits in (a, b, c):
        if bits & (int(form.sign) - 1) > infinite:
            return bits | quiet
    if all(bits & infinite != infinite for bits in (a, b, c)):
        return exact.fma(a, b, c, form, 0)
    values = [float(np.array(bits, form.word).view(form.real)) for bits in (a, b, c)]
    with np.errstate(all="ignore"):
        out = np.float64(values[0]) * values[1] + values[2]
    return infinite | quiet if np.isnan(out) else int(np.array(out, form.real).view(form.word))


def shapes(sources):
    """The same lanes as registers, and with operands alike in all lanes, in all waves, or both."""
    full = [source.reshape(-1, LANES) for source in sources]
    forms = [(source, source[:1], source[:, :1], np.array(source[0, 0])) for source in full]
    return [chosen for chosen in itertools.product(*forms) if any(source.ndim for source in chosen)]


@pytest.mark.parametrize("form", [F16, F32])
@pytest.mark.parametrize("drawn", [middles, edges, random_bits])
@pytest.mark.parametrize("cached", [2 * LANES, ieee.CACHED])
def test_bits(form, drawn, cached, monkeypatch):
    """All shapes of operands, whole or in parts; no operand is changed."""
    monkeypatch.setattr(ieee, "CACHED", cached)
    rng = np.random.default_rng(5)
    tried = shapes(drawn(form, rng, 3 * LANES))
    assert len(tried) == 63
    for sources in tried:
        before = [source.copy() for source in sources]
        with np.errstate(all="ignore"):
            out = ieee.fused(*sources, PLAIN)
        full = [np.broadcast_to(source, (3, LANES)) for source in sources]
        bits = [np.array(source).view(form.word).ravel().tolist() for source in full]
        wanted = [expected(form, *row) for row in zip(*bits, strict=True)]
        found = np.array(np.broadcast_to(out, (3, LANES))).view(form.word).ravel().tolist()
        assert found == wanted
        assert all(one.tobytes() == other.tobytes() for one, other in zip(before, sources, strict=True))


@pytest.mark.parametrize("row", [0, 1])
def test_one_doubtful_sum_leaves_the_others(row, monkeypatch):
    """A middle, a denormal or a NaN among usual results, in either part of an array."""
    monkeypatch.setattr(ieee, "CACHED", LANES)
    rng = np.random.default_rng(6)
    usual = [rng.uniform(1, 2, (2, LANES)).astype(np.float32) for _ in range(3)]
    unit = np.float32(2.0**-23)
    odd = [
        (unit / 2 * (1 + unit), 1 - unit, 1 + unit),
        (2.0**-100, 2.0**-40, 2.0**-130),
        (2.0**-75, 2.0**-75, 2.0**-126),
        (np.nan, 1, 1),
        (np.inf, 0, np.nan),
        (np.inf, 0, 1),
        (0, 1, 0),
        (1, 1, -1),
        (-(2.0**-75), 2.0**-75, 2.0**-126),
    ]
    below, above = near_one(F32)[1:3]
    for c, (x, y) in ((1 + unit, below), (1, above), (2.0**-126, above), (-(2.0**-126), below)):
        size = unit / 2 if abs(c) >= 1 else -(2.0**-75)
        odd.append((x * size, y if abs(c) >= 1 else y * 2.0**-75, c))
    with np.errstate(all="ignore"):
        plain = ieee.fused(*usual, PLAIN)
        for place, values in enumerate(odd):
            sources = [source.copy() for source in usual]
            for source, value in zip(sources, values, strict=True):
                source[row, place] = value
            out = ieee.fused(*sources, PLAIN).view(np.uint32)
            changed = np.argwhere(out != plain.view(np.uint32))
            assert changed.tolist() == [[row, place]]
            assert out[row, place] == expected(F32, *[int(source[row, place].view(np.uint32)) for source in sources])
