"""Whether a polynomial is never negative, given others that are not.

A polynomial whose symbols are not negative is at least its constant where no coefficient is negative. A negative term
is removed by subtracting a known inequality, times a factor of each lane and products of symbols, which keeps what is
left a lower bound. The search is bounded; what it does not find is not false, but not proved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfmasim.prove.polynomial import Polynomial, TooLarge, constant, of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.prove.polynomial import Coefficient, Monomial, Symbol

__all__ = ["never_negative"]

DEEPEST = 5
"""Inequalities that are subtracted one after the other."""
STEPS = 150
"""Combinations that one question may try."""
MEMOISED = 50_000
"""Questions whose answers are kept."""
_memo: dict[tuple[object, tuple[Polynomial, ...]], bool] = {}


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
            found = any(_search(value, key[1], depth, [STEPS]) for depth in (1, 2, DEEPEST))
        except TooLarge:
            found = False
        if len(_memo) > MEMOISED:
            _memo.clear()
        _memo[key] = found
    return found


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
        for fact in _removing(monomial, facts):
            left[0] -= 1
            if left[0] < 0:
                return False
            rest = _subtracted(value, fact, monomial)
            if rest is not None:
                low = rest.range[0]
                if low is not None and low >= 0:
                    return True
                rests.append(rest)
        rests.sort(key=lambda rest: sum(1 for _ in rest.negative()))
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


def _negative(value: Coefficient) -> bool:
    return value < 0 if isinstance(value, int) else bool((value < 0).all())


def _removing(monomial: Monomial, facts: Sequence[Polynomial]) -> list[Polynomial]:
    """Inequalities whose coefficient of a monomial is negative, times symbols where that is needed."""
    found: list[Polynomial] = []
    for fact in facts:
        for part, value in fact.terms.items():
            if part and _negative(value):
                rest = _without(monomial, part)
                if rest is not None and all(symbol.low >= 0 for symbol in rest):
                    product = fact
                    for symbol in rest:
                        product = product * of(symbol)
                    found.append(product)
    for symbol in dict.fromkeys(monomial):
        if symbol.high is not None and all(s.low >= 0 for s in monomial):
            rest = _without(monomial, (symbol,)) or ()
            product = constant(symbol.high) - of(symbol)
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
    have, gives = value.terms.get(monomial, 0), fact.terms.get(monomial, 0)
    if isinstance(have, int) and isinstance(gives, int):
        if gives >= 0 or have >= 0:
            return None
        return value - fact.scaled(-(have // -gives))
    lack = np.maximum(-np.asarray(have, np.int64), 0)
    size = -np.asarray(gives, np.int64)
    if (size <= 0).any():
        return None
    return value - fact.scaled(np.asarray(-(-lack // size)))
