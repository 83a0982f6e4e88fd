"""Abstract operations hold what the machine computes: polynomials are drawn, evaluated, executed, and compared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mfmasim.machine.opcodes.registry import OPERATIONS
from mfmasim.prove.constants import PLAIN, computed
from mfmasim.prove.inequality import never_negative
from mfmasim.prove.operations import WORDS
from mfmasim.prove.polynomial import Polynomial, Symbol, TooLarge, constant, of
from mfmasim.prove.words import Word, pair, reduced, signed, unsigned

LANES = 4
WORD = 1 << 32
DIRECT = {"v_mov_b32", "v_accvgpr_read_b32", "v_accvgpr_write_b32", "v_accvgpr_mov_b32"}
"""Moves that bind themselves: the rule is the identity."""


def value_in(polynomial: Polynomial, values: dict[Symbol, Any], lanes: int = LANES) -> np.ndarray:
    """A polynomial in each lane, as exact integers."""
    total = np.zeros((1, lanes), object)
    for monomial, factor in polynomial.terms.items():
        part = np.broadcast_to(np.asarray(factor, object), (1, lanes))
        for symbol in monomial:
            part = part * values[symbol]
        total = total + part
    return total


@st.composite
def words(draw: st.DrawFn, values: dict[Symbol, int]) -> Word:
    """A register: constants of each lane, or a polynomial of a few symbols with small or multiple coefficients."""
    kind = draw(st.sampled_from(("constant", "lanes", "affine", "affine", "affine", "product", "high")))
    small = st.one_of(
        st.integers(-9, 64), st.sampled_from((0, 1, 16, 0xFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF))
    )
    if kind == "constant":
        return reduced(constant(draw(small)))
    lanes = np.array([[draw(small) for _ in range(LANES)]], np.int64)
    if kind == "lanes":
        return reduced(constant(lanes))
    total = constant(lanes if draw(st.booleans()) else draw(small))
    for _ in range(draw(st.integers(1, 2))):
        high = draw(st.sampled_from((1, 7, 255, 1 << 20, (1 << 31) - 1)))
        symbol = Symbol("s", 0, high)
        values[symbol] = draw(st.one_of(st.integers(0, high), st.sampled_from((0, high))))
        factor = draw(st.sampled_from((1, 2, 4, 16, 128, 1024, -1, 3)))
        term = of(symbol).scaled(factor)
        if kind in ("product", "high"):
            other = Symbol("t", 0, 1 << 16)
            values[other] = draw(st.integers(0, 1 << 16))
            term = term * of(other)
        total = total + term
    return Word(total, 1) if kind == "high" else reduced(total)


def registers(word: Word, values: dict[Symbol, Any]) -> np.ndarray:
    """What the register of each lane holds; quotients are those of their definitions."""
    for symbol in sorted(word.value.symbols):
        if symbol not in values and symbol.quotient is not None:
            value, by = (value_in(polynomial, values) for polynomial in symbol.quotient)
            assert symbol.varies or len({*(value // by).ravel().tolist()}) == 1
            values[symbol] = value // by
    return ((value_in(word.value, values) >> (32 * word.part)) % WORD).astype(np.uint32)


def test_every_rule_has_a_machine_operation() -> None:
    plain = [name for name in WORDS if name in OPERATIONS and OPERATIONS[name].unit != "direct"]
    assert len(plain) >= 60
    unknown = {n for n in WORDS if n not in OPERATIONS}
    assert not unknown, f"rules for operations that the machine has not: {sorted(unknown)}"
    assert {n for n in WORDS if OPERATIONS[n].unit == "direct"} <= DIRECT


@pytest.mark.parametrize("name", sorted(n for n in WORDS if n not in DIRECT))
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_rules_hold_what_the_machine_computes(name: str, data: st.DataObject) -> None:
    operation = OPERATIONS[name]
    kinds = [kind for kind in operation.sources if kind in PLAIN]
    values: dict[Symbol, int] = {}
    sources = [data.draw(words(values)) for _ in kinds]
    # Facts that hold for the drawn values: an upper bound of each source, in all lanes.
    facts = []
    for word in sources:
        if not word.part and data.draw(st.booleans()):
            most = int(value_in(word.value, values).max())
            facts.append(-word.value + most)
    try:
        found = WORDS[name](sources, facts)
    except TooLarge:  # not followed, as None
        found = None
    held = [registers(word, values) for word in sources]
    results = operation.body(*(h.view(PLAIN[k]) for h, k in zip(held, kinds, strict=True)))
    exact = np.broadcast_to(np.asarray(results[0] if isinstance(results, tuple) else results), (1, LANES)).astype(
        np.uint32
    )
    if all(word.value.is_constant for word in sources):
        own = computed(name, sources)
        if own is not None:
            assert (registers(own[0], values) == exact).all()
    if found is None:
        return
    fresh = [s for s in found.value.symbols if s not in values and s.quotient is None]
    if not fresh:
        assert (registers(found, values) == exact).all(), (sources, found)
        return
    # In some lanes a symbol, of which only the range is known, and perhaps what is added to it.
    plain = Polynomial({m: c for m, c in found.value.terms.items() if not set(m) & set(fresh)})
    left = (exact.astype(np.int64) - registers(Word(plain, found.part), values)) % WORD
    counted = np.zeros((1, LANES), np.int64)
    for symbol in fresh:
        factor = np.broadcast_to(np.asarray(found.value.terms[symbol,]) >> 32 * found.part, (1, LANES))
        some, counted = factor == 1, counted + factor
        number = np.where(left >= WORD >> 1, left - WORD, left) if symbol.low < 0 else left
        assert ((number >= symbol.low) | ~some).all()
        assert symbol.high is None or ((number <= symbol.high) | ~some).all()
        assert symbol.varies or len(set(number[some].tolist())) == 1
    assert (counted == 1)[left != 0].all()
    assert (counted <= 1).all()
    assert sum(len(m) > 1 for m in found.value.terms if set(m) & set(fresh)) == 0


@given(data=st.data())
@settings(max_examples=300, deadline=None)
def test_exact_values_and_pairs_are_those_of_the_registers(data: st.DataObject) -> None:
    values: dict[Symbol, int] = {}
    low, high = data.draw(words(values)), data.draw(words(values))
    if data.draw(st.booleans()):
        high = Word(low.value, 1)
    held = [registers(word, values) for word in (low, high)]
    number = unsigned(low, ())
    assert number is None or (value_in(number, values) == held[0].astype(object)).all()
    number = signed(low, ())
    assert number is None or (value_in(number, values) == held[0].view(np.int32).astype(object)).all()
    try:
        both = pair(low, high, ())
    except TooLarge:
        both = None
    if both is not None:
        wanted = held[0].astype(object) + held[1].astype(object) * WORD
        assert (value_in(both, values) % (1 << 64) == wanted).all()


@given(data=st.data())
@settings(max_examples=400, deadline=None)
def test_what_is_proved_not_negative_is_not_negative(data: st.DataObject) -> None:
    number = st.integers(-6, 12)
    symbols = [Symbol(n, data.draw(st.integers(0, 2)), data.draw(st.sampled_from((None, 3, 20)))) for n in "abc"]
    values = {s: data.draw(st.integers(s.low, 30 if s.high is None else s.high)) for s in symbols}
    definitions = []
    if data.draw(st.booleans()):
        both = tuple(of(data.draw(st.sampled_from(symbols))).scaled(data.draw(st.integers(1, 3))) + 1 for _ in "xy")
        smaller = Symbol("min", 0, None, below=both, smaller=both)
        values[smaller] = min(int(value_in(one, values)[0, 0]) for one in both)
        by = data.draw(st.integers(2, 5))
        over = of(smaller) + of(symbols[0])
        whole = Symbol("whole", 0, None, quotient=(over, constant(by)))
        values[whole] = int(value_in(over, values)[0, 0]) // by
        rest = over - of(whole).scaled(by)
        symbols, definitions = [*symbols, smaller, whole], [rest, -rest + by - 1]

    def drawn() -> Polynomial:
        total = constant(data.draw(st.one_of(number, st.just(np.array([[1, -2, 5, 9]], np.int64)))))
        for _ in range(data.draw(st.integers(1, 3))):
            part = of(data.draw(st.sampled_from(symbols)))
            if data.draw(st.booleans()):
                part = part * of(data.draw(st.sampled_from(symbols)))
            lanes = np.array([[data.draw(number) for _ in range(LANES)]], np.int64)
            total = total + part.scaled(data.draw(st.one_of(number, st.just(lanes))))
        return total

    facts = [fact for fact in (drawn() for _ in range(3)) if (value_in(fact, values) >= 0).all()]
    question = drawn()
    if data.draw(st.booleans()) and facts:
        question = question + facts[0] * of(data.draw(st.sampled_from(symbols)))
    facts += definitions
    if never_negative(question, facts):
        assert (value_in(question, values) >= 0).all(), (question, facts, values)
