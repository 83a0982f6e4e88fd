"""Certificates of inequalities: what is certified holds at drawn values; what is wrong by one is not certified."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mfmasim.prove import completion, inequality, models
from mfmasim.prove.branches import value_of
from mfmasim.prove.certificates import certified
from mfmasim.prove.completion import of_fewer
from mfmasim.prove.inequality import never_negative
from mfmasim.prove.polynomial import Polynomial, Symbol, constant, of, rounded

ROWS, COLUMNS = np.arange(128) % 16, np.arange(128) // 16


def tile(extra: int = 0) -> tuple[Polynomial, list[Polynomial]]:
    """Elements of C behind that of each lane, where row and column are guarded: M = 16 (w + b + 1) - r rows."""
    names = ("w", "b", "v", "c")
    w, b, v, c = (of(Symbol(name)) for name in names)
    r, s = of(Symbol("r", 0, 15)), of(Symbol("s", 0, 7))
    m, n = (w + b + 1).scaled(16) - r, (v + c + 1).scaled(8) - s
    row, column = w.scaled(16) + constant(ROWS), v.scaled(8) + constant(COLUMNS)
    behind = m * n - row * n - column - 1 - extra
    return behind, [m - row - 1, n - column - 1, m - 1, n - 1]


def test_coefficients_beyond_64_bits_end_no_search() -> None:
    x, y = of(Symbol("x")), of(Symbol("y"))
    lanes = constant(np.arange(64))
    assert certified(x.scaled(1 << 70) - y * lanes, [x - y])
    assert not certified(x.scaled(-1 << 70) - y * lanes, [x - y])
    assert not never_negative(x.scaled(-1 << 70) - y, [y - x * lanes])


def test_a_guarded_element_of_a_matrix_lies_within() -> None:
    behind, facts = tile()
    assert certified(behind, facts)
    assert not certified(behind, facts[1:])
    assert not certified(behind, [facts[0], *facts[2:]])


@pytest.mark.parametrize("extra", [1, 2, 100])
def test_an_element_too_many_is_not_certified(extra: int) -> None:
    behind, facts = tile(extra)
    assert not certified(behind, facts)


def test_one_lane_alone_is_not_certified() -> None:
    behind, facts = tile()
    assert not certified(behind - constant(np.where(np.arange(128) == 77, 1, 0)), facts)


def test_minima_are_replaced_by_their_bounds() -> None:
    k, r, m = of(Symbol("k")), of(Symbol("r", 0, 7)), of(Symbol("m"))
    depth = k.scaled(8) - r
    least = of(Symbol("min", 0, 256, below=(m, constant(256)), smaller=(m, constant(256))))
    facts = [depth - 1, constant(1000) - depth * m]
    assert never_negative(constant(1000) - depth * least, facts)
    assert not never_negative(constant(999) - depth * least, facts)
    assert not never_negative(depth * least - 1, facts)


def test_values_are_sought_where_quotients_follow_from_others() -> None:
    m, n = Symbol("m"), Symbol("n", 0, 15)
    size = of(m).scaled(16) - of(n)
    tiles = Symbol("tiles", 0, None, quotient=(size + 31, constant(32)))
    rest = size + 31 - of(tiles).scaled(32)
    facts = [rest, constant(31) - rest, size - 100]
    for wrong in (of(tiles) - 5, constant(1 << 20) - of(tiles), of(n) - 1):
        models._together.clear()
        assert models.negative_somewhere(wrong, facts), wrong
    for right in (of(tiles).scaled(32) - 100, of(tiles).scaled(32) - size, size + 31 - of(tiles).scaled(32)):
        assert not models.negative_somewhere(right, facts), right
        assert never_negative(right, facts), right


def test_facts_of_one_size_follow_from_those_of_several() -> None:
    g, r, n = Symbol("g"), Symbol("r", 0, 7), Symbol("n")
    fact = of(g).scaled(8) - of(r) - 9
    lower, upper = rounded(fact), rounded(constant(100) - of(g).scaled(8) + of(r))
    assert lower is not None
    assert lower.same(of(g) - 2)
    assert upper is not None
    assert upper.same(constant(13) - of(g))
    assert rounded(of(r) - 1) is None
    assert rounded(of(g) * of(g) - of(r)) is None
    rows, columns = of(g).scaled(8) - of(r), of(n).scaled(16)
    found = completion._of_one_side([constant(5000) - rows * columns], [rows, columns, constant(4)])
    points = [(x, y, z) for x in range(50) for y in range(8) for z in range(1, 330) if 8 * x > y]
    inside = [p for p in points if (8 * p[0] - p[1]) * 16 * p[2] <= 5000]
    assert len(inside) > 100
    assert len(found) == 2
    for one in found:
        most = [value_of(one, dict(zip((g, r, n), p, strict=True))) for p in inside]
        assert 0 <= min(most) < 400


def test_what_is_certified_holds_at_drawn_values() -> None:
    rng = np.random.default_rng(5)
    symbols = [Symbol(name, 0, 12) for name in "abc"]
    points = rng.integers(0, 13, (100, 3))
    ones = [of(s) for s in symbols]
    proved = more = 0
    for _ in range(40):

        def drawn(least: int) -> Polynomial:
            terms = [p.scaled(int(rng.integers(-3, 4))) for p in (*ones, ones[0] * ones[1], ones[1] * ones[2])]
            return sum(terms, constant(int(rng.integers(least, 6))))

        facts = [drawn(-6) for _ in range(3)]
        value = facts[0].scaled(2) + facts[1] * ones[int(rng.integers(3))] + drawn(-2)
        if not certified(value, facts):
            continue
        proved += 1
        assert never_negative(value, facts)
        more += inequality._search(value, facts, inequality.DEEPEST, [inequality.STEPS]) is None
        for point in points.tolist():
            at = dict(zip(symbols, point, strict=True))
            if all(value_of(fact, at) >= 0 for fact in facts):
                assert value_of(value, at) >= 0, (value, facts, point)
    assert proved >= 4
    assert more >= 1


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_bounds_of_fewer_sizes_hold_where_the_bounds_of_products_do(data: st.DataObject) -> None:
    symbols = [Symbol(name, data.draw(st.integers(0, 1)), None) for name in "abcd"]
    values = {symbol: data.draw(st.integers(symbol.low, 4)) for symbol in symbols}
    facts = []
    for _ in range(4):
        part = tuple(sorted(data.draw(st.lists(st.sampled_from(symbols), min_size=1, max_size=3, unique=True))))
        size = prod(values[symbol] for symbol in part)
        facts.append(Polynomial({(): size + data.draw(st.integers(0, 5)), part: -1}))
    found = of_fewer(facts, set(symbols[:2]))
    for fact in found:
        assert value_of(fact, values) >= 0, (facts, fact, values)
    assert found or not any(len(m) > 1 and all(s.low for s in m) for fact in facts for m in fact.terms)
