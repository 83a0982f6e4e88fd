"""The exact evaluation against `Fraction`, and rounding once."""

import random
from fractions import Fraction

import numpy as np
import pytest

import mfmasim
from mfmasim.verify import exact
from mfmasim.verify.exact import evaluate, round_once
from mfmasim.verify.roles import A, B, C, ScaleA, ScaleB, format_of
from tests.slow import formats as slow

ARCH = mfmasim.arch("gfx950")


def fraction_of(tensor, code):
    number = slow.decode(format_of(tensor, ARCH), int(code))
    assert not isinstance(number.magnitude, str)
    return -number.magnitude if number.negative else number.magnitude


def finite(rng, tensor):
    fmt = format_of(tensor, ARCH)
    codes = rng.integers(0, 1 << fmt.bits, tensor.stored_shape, dtype=np.uint64).astype(fmt.carrier)
    return np.where(np.isfinite(fmt.decode(codes)), codes, fmt.carrier.type(1))


@pytest.mark.parametrize("name", ["f32", "f16", "bf16", "e4m3fn", "e5m2", "e2m1fn", "e3m2fn"])
def test_products_equal_fractions(name):
    rng = np.random.default_rng(len(name))
    a, b, c = A(name, (3, 9)), B(name, (9, 4)), C("f32", (3, 4))
    codes = {t.name: finite(rng, t) for t in (a, b, c)}
    value = evaluate(-1.25 * (a @ b) + 0.5 * c, codes, ARCH)
    count = 0
    for i in range(3):
        for j in range(4):
            want = Fraction(1, 2) * fraction_of(c, codes[c.name][i, j])
            for k in range(9):
                want += Fraction(-5, 4) * fraction_of(a, codes[a.name][i, k]) * fraction_of(b, codes[b.name][k, j])
            assert Fraction(int(value.integers[i, j])) * Fraction(2) ** value.exponent == want
            expected = slow.encode(mfmasim.format("f32"), slow.Number(want < 0, abs(want)), overflow="infinity_or_nan")
            assert int(round_once(value, mfmasim.format("f32"))[i, j]) == expected
            count += 1
    assert count == 12


@pytest.mark.parametrize("spread", [3, 40, 52, 60, 64, 100, 300])
def test_numbers_far_apart_are_exact_whatever_holds_them(spread):
    """The judge is `Fraction`; the bits that are needed decide between int64 and Python integers."""
    rng = np.random.default_rng(spread)
    values = np.ldexp(rng.integers(-(1 << 8), 1 << 8, (6, 7)).astype(np.float64), rng.integers(-spread, 1, (6, 7)))
    values[0, 0], values[0, 1], values[0, 2] = 0.0, 255.0, 2.0**-spread
    found = exact._from_floats(values)
    other = exact._from_floats(values[:, ::-1] * 3.0)
    assert (found.integers.dtype == object) == (spread > 52)
    total = exact._times(0.1, exact._add(found, other))
    for place in np.ndindex(values.shape):
        value = Fraction(float(values[place]))
        assert Fraction(int(found.integers[place])) * Fraction(2) ** found.exponent == value
        want = Fraction(0.1) * (value + 3 * Fraction(float(values[place[0], 6 - place[1]])))
        assert Fraction(int(total.integers[place])) * Fraction(2) ** total.exponent == want
    assert not exact._from_floats(np.zeros((2, 2))).integers.any()


def test_scales_multiply_their_own_block():
    a, b = A("e4m3fn", (2, 64)), B("e4m3fn", (64, 2))
    sa, sb = ScaleA((2, 2), bytes=4, select=2), ScaleB((2, 2), bytes=4, select=1)
    one = mfmasim.format("e4m3fn").encode(np.ones(1))[0]
    codes = {a.name: np.full((2, 64), one), b.name: np.full((64, 2), one)}
    codes[sa.name] = np.arange(2 * 2 * 4, dtype=np.uint8).reshape(2, 2, 4) + 120
    codes[sb.name] = np.arange(2 * 2 * 4, dtype=np.uint8).reshape(2, 2, 4) + 122
    value = evaluate((a * sa) @ (b * sb), codes, ARCH)
    left = 2.0 ** (codes[sa.name][..., 2].astype(float) - 127)
    right = 2.0 ** (codes[sb.name][..., 1].astype(float) - 127)
    want = 32 * left @ right
    assert (mfmasim.format("f64").decode(round_once(value, mfmasim.format("f64"))) == want).all()


def test_special_values_pass_through():
    a, b = A("f16", (1, 2)), B("f16", (2, 1))
    inf, one, nan = 0x7C00, 0x3C00, 0x7E00
    for left, right, want in (
        ((inf, one), (one, one), 0x7F800000),
        ((inf, one), (0xBC00, one), 0xFF800000),
        ((inf, one), (0, one), None),
        ((inf, 0xFC00), (one, one), None),
        ((nan, one), (one, one), None),
    ):
        codes = {a.name: np.array([left], np.uint16), b.name: np.array([[r] for r in right], np.uint16)}
        got = int(round_once(evaluate(a @ b, codes, ARCH), mfmasim.format("f32"))[0, 0])
        assert got == want if want is not None else got & 0x7FFFFFFF > 0x7F800000


def test_rounding_is_single():
    """1 + 2^-24 + 2^-60 rounds up in f32; through float64 to nearest it would be a tie and round down."""
    a, b, c = A("f32", (1, 2)), B("f32", (2, 1)), C("f32", (1, 1))
    bits = lambda x: np.float32(x).view(np.uint32)  # noqa: E731
    codes = {
        a.name: np.array([[bits(2.0**-24), bits(2.0**-30)]], np.uint32),
        b.name: np.array([[bits(1.0)], [bits(2.0**-30)]], np.uint32),
        c.name: np.array([[bits(1.0)]], np.uint32),
    }
    got = round_once(evaluate(a @ b + c, codes, ARCH), mfmasim.format("f32"))
    assert int(got[0, 0]) == 0x3F800001


@pytest.mark.parametrize("most", [24, 53, 55, 61, 62, 63, 64, 90, 123, 124, 125, 140])
def test_many_numbers_at_once_are_those_of_one_at_a_time(most):
    """The judge takes one Python integer after the other; numbers of more than 124 bits always go through it."""
    rng = random.Random(most)
    edges = [sign * ((1 << bits) + near) for bits in range(most) for near in (-1, 0, 1) for sign in (1, -1)]
    drawn = [rng.getrandbits(rng.randint(1, most)) << rng.randint(0, 3) for _ in range(500)]
    numbers = [number for number in (0, *edges, *drawn) if abs(number) < 1 << most]
    integers = np.array([*numbers, *(-number for number in drawn if number < 1 << most)], object).reshape(-1, 1)
    assert (exact._narrow(integers) is None) == (most > 62)
    assert (exact._halves(integers) is None) == (most > 124)
    for exponent in (-1200, -1074, -149, -24, 0, 7, 100, 1000):
        value = exact.Exact(integers, exponent, np.zeros(integers.shape))
        one_by_one = [exact._to_float(int(number), exponent, 32) for number in integers.reshape(-1)]
        assert exact.as_floats(value).reshape(-1).tolist() == one_by_one
        assert not np.signbit(exact.as_floats(value)[0, 0])
    for bits in (1, 8, 11, 24, 53, 70):
        for number in integers.reshape(-1)[::7].tolist():
            odd = abs(number)
            while odd and not odd % 2:
                odd //= 2
            value = exact.Exact(np.array([[number]], object), 0, np.zeros((1, 1)))
            assert exact._fits(value, bits) == (odd.bit_length() <= bits)
