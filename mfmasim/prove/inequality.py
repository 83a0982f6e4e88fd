"""Whether a polynomial is never negative, given others that are not.

A polynomial whose symbols are not negative is at least its constant where no coefficient is negative. A negative term
is removed by subtracting a known inequality, times a factor of each lane and products of symbols, which keeps what is
left a lower bound. The search is bounded; what it does not find is not false, but not proved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfmasim.prove.models import negative_somewhere
from mfmasim.prove.polynomial import LARGEST, Polynomial, TooLarge, constant, of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.prove.polynomial import Coefficient, Monomial, Symbol

__all__ = ["never_negative", "pinned"]

DEEPEST = 5
"""Inequalities that are subtracted one after the other."""
STEPS = 150
"""Combinations that one question may try."""
MEMOISED = 50_000
"""Questions whose answers are kept."""
_memo: dict[tuple[object, tuple[Polynomial, ...]], bool] = {}
_pins: dict[tuple[Polynomial, ...], dict[Symbol, Polynomial]] = {}


def never_negative(value: Polynomial, facts: Sequence[Polynomial]) -> bool:
    """Whether ``value >= 0`` in every lane follows from ``fact >= 0`` of all facts.

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
            depths = () if negative_somewhere(value, key[1]) else (1, 2, DEEPEST)
            found = any(_search(value, key[1], depth, [STEPS]) for depth in depths)
        except TooLarge:
            found = False
        if len(_memo) > MEMOISED:
            _memo.clear()
        _memo[key] = found
    return found


def pinned(facts: Sequence[Polynomial]) -> dict[Symbol, Polynomial]:
    """Symbols that facts determine: ``K - 2 n - 3 >= 0`` and ``2 n + 3 - K >= 0`` make K ``2 n + 3``.

    Args:
        facts: polynomials that are not negative.

    Returns:
        By symbol a polynomial without any of these symbols.
    """
    key = tuple(facts)
    if key not in _pins:
        if len(_pins) > MEMOISED:
            _pins.clear()
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


def _search(value: Polynomial, facts: Sequence[Polynomial], depth: int, left: list[int]) -> bool:
    low = value.range[0]
    if low is not None and low >= 0:
        return True
    if depth == 0:
        return False
    negative = sorted(value.negative(), key=lambda m: (-len(m), [s.serial for s in m]))
    for monomial in negative:
        if not monomial:
            continue
        rests = []
        for fact in _removing(value, monomial, facts):
            left[0] -= 1
            if left[0] < 0:
                return False
            rest = _subtracted(value, fact, monomial)
            if rest is not None:
                low = rest.range[0]
                if low is not None and low >= 0:
                    return True
                rests.append(rest)
        rests.sort(key=_lacking)
        return depth > 1 and any(_search(rest, facts, depth - 1, left) for rest in rests)
    # Only the constant is negative: a fact with a negative constant may outweigh it.
    for fact in facts:
        if _negative(fact.constant):
            left[0] -= 1
            if left[0] < 0:
                return False
            rest = _subtracted(value, fact, ())
            if rest is not None and _search(rest, facts, depth - 1, left):
                return True
    return False


def _lacking(value: Polynomial) -> int:
    """How far a polynomial is from having no negative coefficient: how many there are, and their bits."""
    return sum(1 + int(np.min(value.terms[monomial])).bit_length() for monomial in value.negative())


def _negative(value: Coefficient) -> bool:
    return value < 0 if isinstance(value, int) else bool((value < 0).all())


def _removing(value: Polynomial, monomial: Monomial, facts: Sequence[Polynomial]) -> list[Polynomial]:
    """Inequalities whose coefficient of a monomial is negative, times symbols where that is needed."""
    found: list[Polynomial] = []
    plain = all(symbol.low >= 0 for symbol in monomial)
    for fact in facts:
        if (
            plain
            and _negative(fact.constant)
            and any(p and tuple(sorted(p + monomial)) in value.terms for p in fact.terms)
        ):
            found.append(fact * Polynomial({monomial: 1}))
        for part, factor in fact.terms.items():
            if part and _negative(factor):
                rest = _without(monomial, part)
                if rest is not None and all(symbol.low >= 0 for symbol in rest):
                    product = fact
                    for symbol in rest:
                        product = product * of(symbol)
                    found.append(product)
    if not plain:
        return found
    for symbol in dict.fromkeys(monomial):
        rest = _without(monomial, (symbol,)) or ()
        for most in (*symbol.below, *([] if symbol.high is None else [constant(symbol.high)])):
            product = most - of(symbol)
            for other in rest:
                product = product * of(other)
            found.append(product)
    return found


def _without(monomial: Monomial, part: Monomial) -> tuple[Symbol, ...] | None:
    left = list(monomial)
    for symbol in part:
        if symbol not in left:
            return None
        left.remove(symbol)
    return tuple(left)


def _subtracted(value: Polynomial, fact: Polynomial, monomial: Monomial) -> Polynomial | None:
    """``value - factor * fact`` with the smallest factor that makes the coefficient of a monomial not negative."""
    try:
        return _combined(value, fact, monomial)
    except TooLarge:  # another fact may do
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
    if (size <= 0).any():
        return None
    return value - fact.scaled(np.asarray(-(-lack // size)))
