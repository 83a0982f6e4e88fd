"""Whether a polynomial is never negative, given polynomials that are never negative.

A polynomial of non-negative symbols is at least its constant if no coefficient is negative. The search removes a
negative term by subtracting a known inequality, times a factor for each lane and products of symbols: the rest
is still a lower bound. The search is bounded: without a proof the inequality is unproved, not false. Inequalities that
proved a polynomial are tried first for others with the same products of symbols.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mfmasim.prove.certificates import certified
from mfmasim.prove.memos import Memo
from mfmasim.prove.models import negative_somewhere
from mfmasim.prove.polynomial import LARGEST, Polynomial, TooLarge, constant, of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mfmasim.prove.polynomial import Coefficient, Monomial, Symbol

__all__ = ["never_negative", "pinned"]

DEEPEST = 9
"""Most inequalities of one proof."""
STEPS = 150
"""Most combinations that are tried for one question."""
EARLIER = 6
"""Proofs of polynomials with the same products of symbols that are tried first."""


class Step(NamedTuple):
    """An inequality that is subtracted."""

    fact: Polynomial
    times: Monomial
    """Symbols by which the inequality is multiplied."""
    removes: Monomial
    """The monomial whose coefficient is not negative after the step."""
    bound: bool
    """Whether the inequality is the range of a symbol, and needs no fact."""


_memo: Memo[tuple[object, tuple[Polynomial, ...]], bool] = Memo(50_000)
_pins: Memo[tuple[Polynomial, ...], dict[Symbol, Polynomial]] = Memo(5_000)
_proofs: Memo[frozenset[Monomial], list[list[Step]]] = Memo(50_000)
"""Steps of proofs, by the monomials of the proved polynomials."""
_certificates: Memo[tuple[object, tuple[Polynomial, ...]], bool] = Memo(50_000)
_alike: Memo[tuple[Polynomial, ...], dict[frozenset[Monomial], list[Polynomial]]] = Memo(5_000)
"""Facts by their monomials."""


def never_negative(value: Polynomial, facts: Sequence[Polynomial]) -> bool:
    """Whether ``fact >= 0`` of all facts implies ``value >= 0`` in every lane.

    Args:
        value: the polynomial.
        facts: polynomials that are not negative; lane by lane, as `value`.
    """
    low = value.range[0]
    if low is not None and low >= 0:
        return True
    key = (value.key, tuple(facts))  # facts are the same objects along a path
    found = _memo.get(key)
    if found is None:
        try:
            found = _found(value, key[1])
        except TooLarge:
            found = False
        _memo[key] = found
    return found


def _found(value: Polynomial, facts: tuple[Polynomial, ...]) -> bool:
    kind = frozenset(value.terms)
    proofs = _proofs.get(kind, [])
    for number, proof in enumerate(proofs):
        if _repeated(value, facts, proof):
            proofs.insert(0, proofs.pop(number))
            return True
    if negative_somewhere(value, facts):
        return False
    if any(symbol.below for symbol in value.symbols) and _bounded(value, facts):
        return True
    for depth in (1, 2, 5, DEEPEST):
        steps = _search(value, facts, depth, [STEPS])
        if steps is not None:
            proofs.insert(0, steps)
            del proofs[EARLIER:]
            _proofs[kind] = proofs
            return True
    related = tuple(fact for fact in facts if fact.symbols & value.symbols)
    key = value.key, related
    if key not in _certificates:
        _certificates[key] = certified(value, related)
    return _certificates[key]


def _bounded(value: Polynomial, facts: tuple[Polynomial, ...]) -> bool:
    """Whether a sum is not negative after replacing minima, whose factors are not positive, by their upper bounds."""
    for symbol in sorted(s for s in value.symbols if s.below):
        if any(m.count(symbol) > 1 for m in value.terms):
            continue
        factor = Polynomial({tuple(s for s in m if s is not symbol): c for m, c in value.terms.items() if symbol in m})
        if never_negative(-factor, facts):
            return any(never_negative(value.substituted({symbol: most}), facts) for most in symbol.below)
    return False


def _repeated(value: Polynomial, facts: tuple[Polynomial, ...], proof: Sequence[Step]) -> bool:
    """Whether the steps of another proof prove a polynomial, with facts of the same monomials."""
    alike = _alike.get(facts)
    if alike is None:
        alike = _alike[facts] = {}
        for fact in facts:
            alike.setdefault(frozenset(fact.terms), []).append(fact)
    for step in proof:
        if step.removes and not np.any(np.asarray(value.terms.get(step.removes, 0)) < 0):
            continue
        for fact in (step.fact,) if step.bound else alike.get(frozenset(step.fact.terms), ()):
            rest = _subtracted(value, fact, step.times, step.removes)
            if rest is not None:
                break
        else:
            return False
        value = rest
        low = value.range[0]
        if low is not None and low >= 0:
            return True
    return False


def pinned(facts: Sequence[Polynomial]) -> dict[Symbol, Polynomial]:
    """Symbols that facts determine: from ``K - 2 n - 3 >= 0`` and ``2 n + 3 - K >= 0`` follows ``K = 2 n + 3``.

    Args:
        facts: polynomials that are not negative.

    Returns:
        For each symbol a polynomial without any of these symbols.
    """
    key = tuple(facts)
    if key not in _pins:
        _pins[key] = _equations(key)
    return _pins[key]


def _equations(facts: Sequence[Polynomial]) -> dict[Symbol, Polynomial]:
    found: dict[Symbol, Polynomial] = {}
    keys = {fact.key for fact in facts}
    for fact in facts:
        ends = {s.low for s in fact.symbols} if len(fact.terms) <= 2 and len(fact.symbols) == 1 else ()
        if (-fact).key not in keys and not any(fact.same(constant(end) - of(next(iter(fact.symbols)))) for end in ends):
            continue
        for monomial, factor in fact.terms.items():
            symbol = monomial[0] if len(monomial) == 1 else None
            if symbol is None or not isinstance(factor, int) or abs(factor) != 1 or symbol.varies:
                continue
            rest = fact - of(symbol).scaled(factor)
            if symbol not in rest.symbols and not (rest.symbols | {symbol}) & {*found, *_symbols(found)}:
                found[symbol] = rest.scaled(-factor)
                break
    return found


def _symbols(equations: dict[Symbol, Polynomial]) -> set[Symbol]:
    return {symbol for value in equations.values() for symbol in value.symbols}


def _search(value: Polynomial, facts: Sequence[Polynomial], depth: int, left: list[int]) -> list[Step] | None:
    """Steps that leave no negative coefficient; None if the search finds none."""
    low = value.range[0]
    if low is not None and low >= 0:
        return []
    if depth == 0:
        return None
    for monomial in sorted(value.negative(), key=lambda m: (-len(m), [s.serial for s in m])):
        if not monomial:
            continue
        rests: list[tuple[int, int, Polynomial, Step]] = []
        for step in _removing(value, monomial, facts):
            left[0] -= 1
            if left[0] < 0:
                return None
            rest = _subtracted(value, step.fact, step.times, monomial)
            if rest is not None:
                low = rest.range[0]
                if low is not None and low >= 0:
                    return [step]
                rests.append((_lacking(rest), len(rests), rest, step))
        if depth == 1:
            return None
        rests.sort(key=lambda one: one[:2])
        for *_, rest, step in rests:
            further = _search(rest, facts, depth - 1, left)
            if further is not None:
                return [step, *further]
        return None
    # Only the constant is negative: a fact whose constant is negative in these lanes may outweigh it.
    for fact in facts:
        if np.any(np.asarray(fact.constant) < 0):
            left[0] -= 1
            if left[0] < 0:
                return None
            rest = _subtracted(value, fact, (), ())
            further = None if rest is None else _search(rest, facts, depth - 1, left)
            if further is not None:
                return [Step(fact, (), (), bound=False), *further]
    return None


def _lacking(value: Polynomial) -> int:
    """Distance of a polynomial from having no negative coefficient: the number of such coefficients, and their bits."""
    return sum(1 + int(np.min(value.terms[monomial])).bit_length() for monomial in value.negative())


def _negative(value: Coefficient) -> bool:
    return value < 0 if isinstance(value, int) else bool((value < 0).all())


def _removing(value: Polynomial, monomial: Monomial, facts: Sequence[Polynomial]) -> Iterator[Step]:
    """Inequalities whose coefficient of a monomial is negative, times symbols where that is needed."""
    plain = all(symbol.low >= 0 for symbol in monomial)
    for fact in facts:
        if (
            plain
            and _negative(fact.constant)
            and any(p and tuple(sorted(p + monomial)) in value.terms for p in fact.terms)
        ):
            yield Step(fact, monomial, monomial, bound=False)
        for part, factor in fact.terms.items():
            if part and _negative(factor):
                rest = _without(monomial, part)
                if rest is not None and all(symbol.low >= 0 for symbol in rest):
                    yield Step(fact, rest, monomial, bound=False)
    if not plain:
        return
    for symbol in dict.fromkeys(monomial):
        rest = _without(monomial, (symbol,)) or ()
        for most in (*symbol.below, *([] if symbol.high is None else [constant(symbol.high)])):
            yield Step(most - of(symbol), rest, monomial, bound=True)


def _without(monomial: Monomial, part: Monomial) -> tuple[Symbol, ...] | None:
    left = list(monomial)
    for symbol in part:
        if symbol not in left:
            return None
        left.remove(symbol)
    return tuple(left)


def _subtracted(value: Polynomial, fact: Polynomial, times: Monomial, monomial: Monomial) -> Polynomial | None:
    """``value - factor * times * fact`` with the smallest factor that makes a coefficient not negative.

    Args:
        value: the polynomial.
        fact: not negative.
        times: symbols, not negative.
        monomial: the monomial of the coefficient.
    """
    product = fact
    if times:
        product = Polynomial({tuple(sorted(m + times)): c for m, c in fact.terms.items()})
    try:
        return _combined(value, product, monomial)
    except TooLarge:  # another fact may suffice
        return None


def _combined(value: Polynomial, fact: Polynomial, monomial: Monomial) -> Polynomial | None:
    have, gives = value.terms.get(monomial, 0), fact.terms.get(monomial, 0)
    if isinstance(have, int) and isinstance(gives, int):
        if gives >= 0 or have >= 0:
            return None
        return value - fact.scaled(-(have // -gives))
    if any(isinstance(c, int) and abs(c) >= LARGEST for c in (have, gives)):
        raise TooLarge
    lack = np.maximum(-np.asarray(have, np.int64), 0)
    size = -np.asarray(gives, np.int64)
    if ((size <= 0) & (lack > 0)).any():
        return None
    return value - fact.scaled(np.asarray(-(-lack // np.maximum(size, 1))))
