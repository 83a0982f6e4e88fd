"""Sizes at which all facts hold: what is negative at one of them does not follow from the facts.

A search that finds no proof is the slow one. Values of symbols are tried first; of facts it is remembered at which of
them they hold. Where these do not decide, values are sought: from the smallest ones, symbols are raised until all facts
hold, and then as far as the facts admit. What is found is one of the models from then on.
"""

from __future__ import annotations

from itertools import count
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from mfmasim.prove.polynomial import Monomial, Polynomial, Symbol

__all__ = ["negative_somewhere"]

ABOVE = (0, 1, 0, 0, 2, 5, 17, 100, 1000, 40, 3, 300)
"""How far each symbol lies above its smallest value, in each of the models; numbers of turns are 0 in all but two."""
TURNING = (1, 9)
"""Models in which a loop has turned once."""
LONG = 1 << 17
"""Strides that are symbols are longer than the lines of most models."""
FOUND = 12
"""Models that were sought, the last ones."""
MODELS = len(ABOVE) + FOUND
RAISED = 24
"""Symbols that are raised until all facts hold, at most."""
REMAINDERS = 4096
"""Symbols whose largest value is below it are remainders: what a size lacks of a multiple."""
MEMOISED = 20_000
_values: dict[Symbol, NDArray[np.float64]] = {}
_holds: dict[object, NDArray[np.bool_]] = {}
_number = count()

Terms: TypeAlias = "dict[Monomial, int]"
Values: TypeAlias = "dict[Symbol, int]"


def negative_somewhere(value: Polynomial, facts: Sequence[Polynomial]) -> bool:
    """Whether a polynomial is negative, in a lane, for values of the symbols for which no fact is.

    Args:
        value: the polynomial.
        facts: polynomials that are not negative, lane by lane, as `value`.
    """
    at = _at_models(value)
    left = at < 0
    for fact in facts:
        if not left.any():
            break
        held = _holds.get(fact.key)
        if held is None:
            if len(_holds) > MEMOISED:
                _holds.clear()
            held = _holds[fact.key] = _at_models(fact) >= 0
        left = np.logical_and(*_aligned(left, held))
    return bool(left.any()) or _sought(value, facts, at)


def _at_models(polynomial: Polynomial) -> NDArray[np.float64]:
    """Values in all models: (models, coefficients' shape), rounded, which may cost a proof and never makes one."""
    total: NDArray[np.float64] = np.zeros((MODELS, 1))
    for monomial, factor in polynomial.terms.items():
        part = np.ones(MODELS)
        for symbol in monomial:
            part = part * _value(symbol)
        if isinstance(factor, int):
            added = part[:, None] * float(factor)
        else:
            added = part.reshape(-1, *[1] * factor.ndim) * factor
        total = np.add(*_aligned(total, added))
    return total


def _aligned(a: NDArray[Any], b: NDArray[Any]) -> list[NDArray[Any]]:
    """Two arrays with the axis of models first, and those of coefficients at the end."""
    axes = max(a.ndim, b.ndim)
    return [one.reshape(MODELS, *[1] * (axes - one.ndim), *one.shape[1:]) for one in (a, b)]


def _value(symbol: Symbol) -> NDArray[np.float64]:
    found = _values.get(symbol)
    if found is None:
        if len(_values) > MEMOISED:
            _values.clear()
        above = np.array(ABOVE, np.float64)
        if symbol.name[:1] == "n" and symbol.name[1:].isdigit():
            above = np.where(np.isin(np.arange(len(ABOVE)), TURNING), np.minimum(above, 1), 0)
        elif symbol.name.startswith("&"):
            above = (above + (symbol.serial % 64 << 12)) * (1 << 20)
        elif symbol.name.startswith("ld"):
            above = above + LONG
        elif not symbol.name.startswith(("wg", "behind")):
            above = np.roll(above, symbol.serial % 2)
        above = np.concatenate([above, np.zeros(FOUND)])
        if symbol.quotient is not None and all(isinstance(c, int) for p in symbol.quotient for c in p.terms.values()):
            value, by = (_at_models(p)[:, 0] for p in symbol.quotient)
            _values[symbol] = found = np.floor(value / np.maximum(by, 1))
            return found
        most = [_at_models(polynomial)[:, 0] for polynomial in symbol.below]
        if symbol.high is not None:
            most.append(np.full(MODELS, float(symbol.high)))
        found = np.minimum.reduce([*([] if symbol.below else [symbol.low + above]), *most])
        _values[symbol] = found
    return found


def _sought(value: Polynomial, facts: Sequence[Polynomial], at: NDArray[np.float64]) -> bool:
    """Seek values at which a polynomial is negative in the lane that is lowest in the models."""
    polynomials = (value, *facts)
    arrays = (c for p in polynomials for c in p.terms.values() if not isinstance(c, int))
    shape = np.broadcast_shapes((1, 1), *(c.shape for c in arrays))
    lanes = np.broadcast_to(at.reshape(MODELS, *[1] * (len(shape) + 1 - at.ndim), *at.shape[1:]), (MODELS, *shape))
    lane = np.unravel_index(int(lanes.argmin()), lanes.shape)[1:]
    own, *known = [
        {m: c if isinstance(c, int) else int(np.broadcast_to(c, shape)[lane]) for m, c in p.terms.items()}
        for p in polynomials
    ]
    symbols = {s for terms in (own, *known) for m in terms for s in m}
    if any(symbol.below or symbol.low < 0 for symbol in symbols):
        return False
    for values in _starts(symbols):
        if _raised(values, known) and (_of(own, values) < 0 or _lowered(own, known, values)):
            place = len(ABOVE) + next(_number) % FOUND
            for symbol in {*symbols, *_values}:
                _value(symbol)[place] = values.get(symbol, symbol.low)
            _holds.clear()
            return True
    return False


def _starts(symbols: set[Symbol]) -> Iterator[Values]:
    """Symbols at their smallest values; then remainders at their largest."""
    yield {symbol: symbol.low for symbol in symbols}
    yield {s: s.low if s.high is None or s.high >= REMAINDERS else s.high for s in symbols}


def _of(terms: Terms, values: Mapping[Symbol, int]) -> int:
    return sum(factor * prod(values[symbol] for symbol in monomial) for monomial, factor in terms.items())


def _slope(terms: Terms, values: Mapping[Symbol, int], symbol: Symbol) -> int:
    """By how much a sum grows with a symbol; one that is multiplied by itself is taken as it is at these values."""
    total = 0
    for monomial, factor in terms.items():
        if symbol in monomial:
            left = list(monomial)
            left.remove(symbol)
            total += factor * prod(values[other] for other in left)
    return total


def _raised(values: Values, known: Sequence[Terms]) -> bool:
    """Raise symbols until all facts hold; whether they do."""
    for _ in range(RAISED):
        lacking = next(((fact, have) for fact in known if (have := _of(fact, values)) < 0), None)
        if lacking is None:
            return True
        fact, have = lacking
        slopes = {s: _slope(fact, values, s) for m in fact for s in m}
        rising = [
            s for s, slope in slopes.items() if slope > 0 and (s.high is None or values[s] - have // slope <= s.high)
        ]
        if not rising:
            return False
        symbol = min(rising, key=lambda s: s.serial)
        values[symbol] -= have // slopes[symbol]
    return False


def _lowered(own: Terms, known: Sequence[Terms], values: Values) -> bool:
    """Raise symbols of negative terms as far as the facts admit, each of them first, until the sum is negative."""
    falling = [m for m, factor in own.items() if factor < 0 and m]
    for order in falling:
        for first in dict.fromkeys(order):
            found = dict(values)
            for symbol in order:  # the others of the product are at least 1
                if symbol is not first and not found[symbol]:
                    found[symbol] = min(1, _most(found, known, symbol))
            for symbol in (first, *(s for m in falling for s in m if s is not first)):
                if _slope(own, found, symbol) < 0:
                    found[symbol] = _most(found, known, symbol)
                    if _of(own, found) < 0:
                        values.update(found)
                        return all(_of(fact, found) >= 0 for fact in known)
    return False


def _most(values: Values, known: Sequence[Terms], symbol: Symbol) -> int:
    """The largest value of a symbol that the facts admit."""
    most = values[symbol] + (1 << 40) if symbol.high is None else symbol.high
    for fact in known:
        slope = _slope(fact, values, symbol)
        if slope < 0:
            most = min(most, values[symbol] + max(_of(fact, values), 0) // -slope)
    return most
