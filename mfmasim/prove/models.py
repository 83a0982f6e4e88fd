"""Sizes at which all facts hold: what is negative at one of them does not follow from the facts.

A search that finds no proof is the slow one. Values of symbols are tried first; of facts it is remembered at which of
them they hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mfmasim.prove.polynomial import Polynomial, Symbol

__all__ = ["negative_somewhere"]

ABOVE = (0, 1, 0, 0, 2, 5, 17, 100, 1000, 40, 3, 300)
"""How far each symbol lies above its smallest value, in each of the models; numbers of turns are 0 in all but two."""
TURNING = (1, 9)
"""Models in which a loop has turned once."""
LONG = 1 << 17
"""Strides that are symbols are longer than the lines of most models."""
MEMOISED = 20_000
_values: dict[Symbol, NDArray[np.float64]] = {}
_holds: dict[object, NDArray[np.bool_]] = {}


def negative_somewhere(value: Polynomial, facts: Sequence[Polynomial]) -> bool:
    """Whether a polynomial is negative, in a lane, for values of the symbols for which no fact is.

    Args:
        value: the polynomial.
        facts: polynomials that are not negative, lane by lane, as `value`.
    """
    left = _at_models(value) < 0
    for fact in facts:
        if not left.any():
            return False
        held = _holds.get(fact.key)
        if held is None:
            if len(_holds) > MEMOISED:
                _holds.clear()
            held = _holds[fact.key] = _at_models(fact) >= 0
        left = np.logical_and(*_aligned(left, held))
    return bool(left.any())


def _at_models(polynomial: Polynomial) -> NDArray[np.float64]:
    """Values in all models: (models, coefficients' shape), rounded, which may cost a proof and never makes one."""
    total: NDArray[np.float64] = np.zeros((len(ABOVE), 1))
    for monomial, factor in polynomial.terms.items():
        part = np.ones(len(ABOVE))
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
    return [one.reshape(len(ABOVE), *[1] * (axes - one.ndim), *one.shape[1:]) for one in (a, b)]


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
        most = [_at_models(polynomial)[:, 0] for polynomial in symbol.below]
        if symbol.high is not None:
            most.append(np.full(len(ABOVE), float(symbol.high)))
        found = np.minimum.reduce([*([] if symbol.below else [symbol.low + above]), *most])
        _values[symbol] = found
    return found
