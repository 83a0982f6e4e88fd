"""Sizes at which all facts hold: a polynomial that is negative at one of them does not follow from the facts.

The search for a proof is slow when it fails. So values of symbols are tried first; for each fact the models at which it
holds are memoised. If the models do not decide, values are searched: from the smallest values, symbols are raised until
all facts hold, and then as far as the facts admit. The values that are found become a further model.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import count
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from mfmasim.prove.memos import Memo
from mfmasim.prove.polynomial import REMAINDERS

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from mfmasim.prove.polynomial import Monomial, Polynomial, Symbol

__all__ = ["negative_somewhere"]

ABOVE = (0, 1, 0, 0, 2, 5, 17, 100, 1000, 40, 3, 300)
"""How far each symbol lies above its smallest value, in each of the models; numbers of turns are 0 in all but two."""
TURNING = (1, 9)
"""Models in which each loop has one turn."""
LONG = 1 << 17
"""Value of strides that are symbols: they are longer than the lines of most models."""
FOUND = 12
"""Number of the last searched models that are kept."""
MODELS = len(ABOVE) + FOUND
RAISED = 24
"""Most symbols that are raised until all facts hold."""
_values: Memo[Symbol, NDArray[np.float64]] = Memo(20_000)
_holds: Memo[object, NDArray[np.bool_]] = Memo(20_000)
_together: Memo[tuple[Polynomial, ...], tuple[NDArray[np.bool_], list[NDArray[np.bool_]]]] = Memo(2_000)
"""Memo of `_held` for all facts of a path."""
_number = count()

Terms: TypeAlias = "dict[Monomial, int]"
Values: TypeAlias = "dict[Symbol, int]"


def negative_somewhere(value: Polynomial, facts: Sequence[Polynomial]) -> bool:
    """Whether a polynomial is negative in a lane at values of the symbols at which no fact is negative.

    Args:
        value: the polynomial.
        facts: polynomials that are not negative, lane by lane, as `value`.
    """
    at = _at_models(value)
    common, others = _held(tuple(facts))
    left = (at < 0) & common.reshape(-1, *[1] * (at.ndim - 1))
    for held in others:
        if not left.any():
            break
        left = np.logical_and(*_aligned(left, held))
    return bool(left.any()) or _sought(value, facts, at)


def _held(facts: tuple[Polynomial, ...]) -> tuple[NDArray[np.bool_], list[NDArray[np.bool_]]]:
    """The models in which all uniform facts hold, and the other facts by model."""
    found = _together.get(facts)
    if found is None:
        common, others = np.ones(MODELS, np.bool_), []
        for fact in facts:
            held = _holds.get(fact.key)
            if held is None:
                held = _holds[fact.key] = _at_models(fact) >= 0
            if held.size == MODELS:
                common &= held.reshape(-1)
            else:
                others.append(held)
        found = _together[facts] = common, others
    return found


def _at_models(polynomial: Polynomial) -> NDArray[np.float64]:
    """Values in all models, (models, coefficients' shape), as floats: rounding may lose a proof, but never adds one."""
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
    """Search for values at which a polynomial is negative, in the lane with the lowest value in the models."""
    polynomials = (value, *facts)
    arrays = (c for p in polynomials for c in p.terms.values() if not isinstance(c, int))
    shape = np.broadcast_shapes((1, 1), *(c.shape for c in arrays))
    lanes = np.broadcast_to(at.reshape(MODELS, *[1] * (len(shape) + 1 - at.ndim), *at.shape[1:]), (MODELS, *shape))
    lane = np.unravel_index(int(lanes.argmin()), lanes.shape)[1:]
    own, *known = [
        {m: c if isinstance(c, int) else int(np.broadcast_to(c, shape)[lane]) for m, c in p.terms.items()}
        for p in polynomials
    ]
    negated = {m: -factor for m, factor in own.items()} | {(): -own.get((), 0) - 1}
    sizes = Sizes({s for terms in (own, *known) for m in terms for s in m})
    if any(symbol.below or symbol.low < 0 for symbol in sizes.free):
        return False
    for values in _starts(sizes.free):
        sizes.settle(values)
        other = dict(values)
        if (_raised(values, known, sizes) and (_of(own, values) < 0 or _lowered(own, known, values, sizes))) or (
            _raised(other, [*known, negated], sizes) and not values.update(other)
        ):
            place = len(ABOVE) + next(_number) % FOUND
            every = Sizes({*values, *_values})
            whole = {symbol: symbol.low for symbol in every.free} | values
            every.settle(whole, {*values})
            for symbol, number in whole.items():
                _value(symbol)[place] = number
            _holds.clear()
            _together.clear()
            return True
    return False


def sought(facts: Sequence[Polynomial]) -> Iterator[dict[Symbol, int]]:
    """Values of symbols at which uniform facts hold; the facts may have products and quotients.

    Args:
        facts: polynomials that have to be non-negative.
    """
    terms: list[Terms] = [{m: int(c) for m, c in fact.terms.items()} for fact in facts]
    sizes = Sizes({s for fact in facts for s in fact.symbols})
    for values in _starts(sizes.free):
        sizes.settle(values)
        if _raised(values, terms, sizes):
            yield values


class Sizes:
    """Free symbols, and symbols that follow from them: quotients and minima."""

    def __init__(self, symbols: Iterable[Symbol]) -> None:
        """Sort the symbols, with the symbols of their quotients and minima."""
        self.free: set[Symbol] = set()
        self.defined: dict[Symbol, tuple[Terms, Terms]] = {}
        waiting = list(symbols)
        while waiting:
            symbol = waiting.pop()
            if symbol in self.free or symbol in self.defined:
                continue
            parts = symbol.quotient or symbol.smaller
            if parts is not None and all(isinstance(c, int) for p in parts for c in p.terms.values()):
                self.defined[symbol] = (dict(parts[0].terms), dict(parts[1].terms))  # type: ignore[arg-type]
                waiting += [s for p in parts for s in p.symbols]
            else:
                self.free.add(symbol)
        self.order = sorted(self.defined)

    def settle(self, values: Values, known: Container[Symbol] = ()) -> None:
        """Compute the dependent symbols, except those in `known`, from the free ones."""
        for symbol in self.order:
            if symbol not in known:
                one, other = (_of(terms, values) for terms in self.defined[symbol])
                values[symbol] = min(one, other) if symbol.quotient is None else one // max(other, 1)

    def slope(self, terms: Terms, values: Values, symbol: Symbol) -> int | Fraction:
        """The slope of a sum in a free symbol at the given values.

        Args:
            terms: of the sum.
            values: of all symbols.
            symbol: the free one.
        """
        total: int | Fraction = 0
        for monomial, factor in terms.items():
            for number, one in enumerate(monomial):
                if one is symbol or one in self.defined:
                    grows: int | Fraction = 1
                    if one is not symbol:
                        first, second = self.defined[one]
                        if one.quotient is not None:
                            grows = Fraction(self.slope(first, values, symbol), max(_of(second, values), 1))
                        else:
                            smaller = first if _of(first, values) <= _of(second, values) else second
                            grows = self.slope(smaller, values, symbol)
                    others = monomial[:number] + monomial[number + 1 :]
                    if grows and (one is not symbol or symbol not in monomial[:number]):
                        total += factor * grows * prod(values[other] for other in others)
        return total

    def bases(self, terms: Terms) -> list[Symbol]:
        """The free symbols that a sum depends on."""
        found: dict[Symbol, None] = {}
        for monomial in terms:
            for symbol in monomial:
                parts = self.defined.get(symbol)
                found.update(dict.fromkeys([symbol] if parts is None else [s for p in parts for s in self.bases(p)]))
        return list(found)


def _starts(symbols: set[Symbol]) -> Iterator[Values]:
    """Symbols at their smallest values; then remainders at their largest."""
    yield {symbol: symbol.low for symbol in symbols}
    yield {s: s.low if s.high is None or s.high >= REMAINDERS else s.high for s in symbols}


def _of(terms: Terms, values: Mapping[Symbol, int]) -> int:
    return sum(factor * prod(values[symbol] for symbol in monomial) for monomial, factor in terms.items())


def _raised(values: Values, known: Sequence[Terms], sizes: Sizes) -> bool:
    """Raise symbols until all facts hold, or lower them if that violates a fact; returns whether all facts hold."""
    seen = [0] * len(known)
    for _ in range(RAISED):
        lacking = next(((n, have) for n, fact in enumerate(known) if (have := _of(fact, values)) < 0), None)
        if lacking is None:
            return True
        number, have = lacking
        moved = []
        for symbol in sorted(sizes.bases(known[number])):
            slope = sizes.slope(known[number], values, symbol)
            if slope:
                to = values[symbol] + (-(have // slope) if slope > 0 else have // -slope)
                if to >= symbol.low and (symbol.high is None or to <= symbol.high):
                    moved.append((slope < 0, symbol, to))
        if not moved:
            return False
        moved.sort(key=lambda one: one[0])
        _, symbol, values[symbol] = moved[seen[number] % len(moved)]
        seen[number] += 1
        sizes.settle(values)
    return False


def _lowered(own: Terms, known: Sequence[Terms], values: Values, sizes: Sizes) -> bool:
    """Raise symbols of negative terms as far as the facts admit, each of them first, until the sum is negative."""
    falling = [sizes.bases({m: factor}) for m, factor in own.items() if factor < 0 and m]
    for order in falling:
        for first in order:
            found = dict(values)
            for symbol in order:  # the other factors of the product are at least 1
                if symbol is not first and not found[symbol]:
                    found[symbol] = min(1, _most(found, known, symbol, sizes))
                    sizes.settle(found)
            for symbol in (first, *(s for m in falling for s in m if s is not first)):
                if sizes.slope(own, found, symbol) < 0:
                    found[symbol] = _most(found, known, symbol, sizes)
                    sizes.settle(found)
                    if _of(own, found) < 0:
                        values.update(found)
                        return all(_of(fact, found) >= 0 for fact in known)
    return False


def _most(values: Values, known: Sequence[Terms], symbol: Symbol, sizes: Sizes) -> int:
    """The largest value of a symbol that the facts admit."""
    most = values[symbol] + (1 << 40) if symbol.high is None else symbol.high
    for fact in known:
        slope = sizes.slope(fact, values, symbol)
        if slope < 0:
            most = min(most, values[symbol] + max(_of(fact, values), 0) // -slope)
    return most
