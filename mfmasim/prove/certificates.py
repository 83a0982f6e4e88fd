"""Inequalities by linear programming: a weighted sum of known inequalities that leaves no negative coefficient.

Monomials are columns of a linear problem. Its variables are factors of the known inequalities, and of each known
inequality times each symbol of the question. Factors that leave no negative coefficient prove it (Positivstellensatz
of second degree, Farkas' lemma). The problem is solved exactly, in fractions, for one lane, then for the lanes for
which these factors prove nothing. The factors are checked in all lanes, so that an error of the solver cannot prove
nothing.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from mfmasim.prove.polynomial import LARGEST, REMAINDERS, Polynomial, TooLarge, constant, of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mfmasim.prove.polynomial import Monomial

__all__ = ["certified"]

ROUNDS = 24
"""Most lanes for which the problem is solved."""
PIVOTS = 120
MOST = 160
"""Most inequalities of a problem."""

EARLIER = 4
"""Factors of earlier questions that are tried first."""
_found: dict[int, list[list[Fraction]]] = {}
"""Factors of earlier questions, by the number of known inequalities."""

Row: TypeAlias = "dict[int, Fraction]"
Terms: TypeAlias = "dict[Monomial, int]"


def certified(value: Polynomial, facts: Sequence[Polynomial]) -> bool:
    """Whether ``fact >= 0`` of all facts implies ``value >= 0`` in every lane; False: no proof was found.

    Args:
        value: the polynomial.
        facts: polynomials that are not negative; lane by lane, as `value`.
    """
    if any(symbol.low < 0 for symbol in value.symbols):
        return False
    return any(_certified(value, _products(value, facts, remainders=some)) for some in (False, True))


def _certified(value: Polynomial, known: Sequence[Polynomial]) -> bool:
    lanes = max((c.size for p in (value, *known) for c in p.terms.values() if not isinstance(c, int)), default=1)
    left, group = np.ones(lanes, np.bool_), list[int]()
    earlier = _found.setdefault(len(known), [])
    for old in earlier[::-1]:
        left &= _left(value, known, old, lanes) < 0
        if not left.any():
            return True
    lane = int(left.argmax())
    for _ in range(ROUNDS):
        group.append(lane)
        factors = _solved([(_at(value, one), [_at(p, one) for p in known]) for one in group])
        if factors is None:
            if len(group) == 1:
                return False
            group = []  # no factors prove all lanes together: factors for this lane
            continue
        worst = _left(value, known, factors, lanes)
        left &= worst < 0
        earlier[:] = [*earlier[1 - EARLIER :], factors]
        if not left.any():
            return True
        lane = int(np.where(left, worst, 0).argmin())
        if lane in group:
            return False
    return False


def _products(value: Polynomial, facts: Sequence[Polynomial], *, remainders: bool) -> list[Polynomial]:
    """Facts of the value's symbols, and their products with symbols, and for `remainders` with ``high - symbol``."""
    symbols = sorted(value.symbols)
    own = [f for f in facts if f.symbols & value.symbols and all(s.low >= 0 for s in f.symbols)]
    own += [constant(s.high) - of(s) for s in symbols if s.high is not None]
    own += [of(s) - s.low for s in symbols if s.low]
    found = list(own)
    times = [of(s) for s in symbols]
    if remainders:
        times += [constant(s.high) - of(s) for s in symbols if s.high is not None and s.high < REMAINDERS]
    wanted = {m for m in value.terms if len(m) > 1}
    for fact in own:
        for factor in times:
            try:
                product = fact * factor
            except TooLarge:
                continue
            if wanted & product.terms.keys():
                found.append(product)
    return found[:MOST]


def _at(value: Polynomial, lane: int) -> Terms:
    """Coefficients of one lane."""
    return {m: c if isinstance(c, int) else int(c.flat[lane if c.size > 1 else 0]) for m, c in value.terms.items()}


def _solved(lanes: Sequence[tuple[Terms, Sequence[Terms]]]) -> list[Fraction] | None:
    """Non-negative factors: ``value - sum of factor * known`` has no negative coefficient in the given lanes.

    The dual simplex method: all factors 0 are the start; a row whose right side is negative leaves the basis.

    Args:
        lanes: the value and the known inequalities of each lane.

    Returns:
        The factors; None where there are none.
    """
    count = len(lanes[0][1])
    rows: list[Row] = []
    right: list[Fraction] = []
    for value, known in lanes:
        for m in {**value, **{m: 0 for p in known for m in p}}:
            rows.append({j: Fraction(p[m]) for j, p in enumerate(known) if p.get(m)} | {count + len(rows): Fraction(1)})
            right.append(Fraction(value.get(m, 0)))
    basis = [count + i for i in range(len(rows))]
    cost: Row = {j: Fraction(1) for j in range(count)}
    for _ in range(PIVOTS):
        leaving = min(range(len(rows)), key=lambda i: (right[i], basis[i]))
        if right[leaving] >= 0:
            factors = [Fraction(0)] * count
            for i, column in enumerate(basis):
                if column < count:
                    factors[column] = right[i]
            return factors
        row = rows[leaving]
        options = [(cost.get(j, Fraction(0)) / -c, j) for j, c in row.items() if c < 0]
        if not options:
            return None
        _, entering = min(options)
        by = row[entering]
        row = rows[leaving] = {j: c / by for j, c in row.items()}
        right[leaving] /= by
        for i, other in enumerate(rows):
            if i != leaving and (factor := other.get(entering)):
                right[i] -= factor * right[leaving]
                _subtract(other, row, factor)
        if factor := cost.get(entering):
            _subtract(cost, row, factor)
        basis[leaving] = entering
    return None


def _subtract(row: Row, other: Row, factor: Fraction) -> None:
    for j, c in other.items():
        value = row.get(j, Fraction(0)) - factor * c
        if value:
            row[j] = value
        else:
            row.pop(j, None)


def _left(value: Polynomial, known: Sequence[Polynomial], factors: Sequence[Fraction], lanes: int) -> NDArray[np.int64]:
    """The smallest coefficient of ``value - sum of factor * known``, for each lane."""
    whole = lcm(*(factor.denominator for factor in factors))
    worst = np.zeros(lanes, np.int64)
    try:
        rest = value.scaled(whole)
        for fact, factor in zip(known, factors, strict=True):
            if factor:
                rest = rest - fact.scaled(int(factor * whole))
    except TooLarge:
        return worst - 1
    for c in rest.terms.values():
        least = max(min(c, 0), -LARGEST) if isinstance(c, int) else np.minimum(c.reshape(-1), 0)
        worst = np.minimum(worst, least)
    return worst
