"""Polynomials over integer symbols, one coefficient for each wave and lane: a register's value for every launch.

Symbols are exact mathematical integers, not registers: no operation here wraps. A coefficient is a Python integer if
it is equal in all lanes, else an int64 array that broadcasts to (waves, lanes). Every symbol has a smallest value, for
most symbols at least 0: a polynomial without negative coefficients is smallest at these values.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from math import gcd
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

__all__ = [
    "LARGEST", "Coefficient", "Polynomial", "Symbol", "TooLarge", "constant", "of", "rounded", "simple", "tightened",
]  # fmt: skip

Coefficient: TypeAlias = "int | NDArray[np.int64]"
LARGEST = 1 << 62
"""Coefficients in arrays stay below this number; larger ones raise `TooLarge`."""
TERMS = 200
"""Most terms of a polynomial."""
REMAINDERS = 4096
"""Symbols with a largest value below this number are remainders of sizes in the form g k - r."""

_serial = count()


class TooLarge(ArithmeticError):  # noqa: N818 - a result that is not followed
    """A coefficient or a polynomial exceeds the limits of exact arithmetic."""


@dataclass(frozen=True, eq=False)
class Symbol:
    """An unknown integer that is fixed during a launch, or within a turn of a loop."""

    name: str
    low: int = 0
    """Smallest value."""
    high: int | None = None
    """Largest value; None if there is none."""
    varies: bool = False
    """Whether every lane has a value of its own."""
    below: tuple[Polynomial, ...] = ()
    """Upper bounds of the symbol: polynomials with uniform coefficients."""
    smaller: tuple[Polynomial, Polynomial] | None = None
    """For a minimum: its two operands."""
    quotient: tuple[Polynomial, Polynomial] | None = None
    """For a quotient, rounded down: dividend and divisor (`mfmasim.prove.quotients`)."""
    serial: int = field(default_factory=lambda: next(_serial))

    def __repr__(self) -> str:
        return self.name

    def __lt__(self, other: Symbol) -> bool:
        return self.serial < other.serial


Monomial: TypeAlias = "tuple[Symbol, ...]"


def _least(value: Coefficient) -> int:
    return value if isinstance(value, int) else int(value.min())


def _largest(value: Coefficient) -> int:
    return value if isinstance(value, int) else int(value.max())


def _zero(value: Coefficient) -> bool:
    return value == 0 if isinstance(value, int) else not value.any()


def simple(value: Coefficient) -> Coefficient:
    """An integer in place of an array whose elements are equal."""
    if isinstance(value, int):
        return value
    if not value.size:
        return 0
    first = value.flat[0]
    return int(first) if (value == first).all() else value


def _bounded(value: Coefficient) -> int:
    return max(abs(_least(value)), abs(_largest(value)))


def _sum(a: Coefficient, b: Coefficient) -> Coefficient:
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    if _bounded(a) + _bounded(b) >= LARGEST:
        raise TooLarge
    return simple(np.asarray(a + b))


def _product(a: Coefficient, b: Coefficient) -> Coefficient:
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    if _bounded(a) * _bounded(b) >= LARGEST:
        raise TooLarge
    return simple(np.asarray(a * b))


class Polynomial:
    """A sum of products of symbols with coefficients; immutable."""

    __slots__ = ("_key", "_range", "terms")

    def __init__(self, terms: Mapping[Monomial, Coefficient]) -> None:
        """Keep the terms whose coefficients are not zero."""
        self.terms: dict[Monomial, Coefficient] = {m: c for m, c in terms.items() if not _zero(c)}
        if len(self.terms) > TERMS:
            raise TooLarge
        self._key: tuple[object, ...] | None = None
        self._range: tuple[int | None, int | None] | None = None

    def __repr__(self) -> str:
        return self.text()

    def text(self) -> str:
        """The polynomial as text; coefficients that differ between lanes as their range."""
        parts = []
        for monomial, value in sorted(self.terms.items(), key=lambda term: (-len(term[0]), [s.name for s in term[0]])):
            shown = str(value) if isinstance(value, int) else f"[{_least(value)}..{_largest(value)}]"
            parts.append(f"{shown}*{'*'.join(s.name for s in monomial)}" if monomial else shown)
        return " + ".join(parts) or "0"

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for equal polynomials, and only for these."""
        if self._key is None:
            self._key = tuple(
                (tuple(s.serial for s in m), c if isinstance(c, int) else (c.shape, c.tobytes()))
                for m, c in sorted(self.terms.items(), key=lambda term: [s.serial for s in term[0]])
            )
        return self._key

    def same(self, other: Polynomial) -> bool:
        """Whether both are the same polynomial in every lane."""
        return self is other or not (self - other).terms

    @property
    def constant(self) -> Coefficient:
        """The term without symbols."""
        return self.terms.get((), 0)

    @property
    def is_constant(self) -> bool:
        """Whether the polynomial has no symbols."""
        return not self.terms or (len(self.terms) == 1 and () in self.terms)

    @property
    def uniform(self) -> bool:
        """Whether all waves and lanes have the same value."""
        return all(isinstance(c, int) and not any(s.varies for s in m) for m, c in self.terms.items())

    @property
    def symbols(self) -> set[Symbol]:
        """The symbols that occur."""
        return {symbol for monomial in self.terms for symbol in monomial}

    def begins_with(self, pointer: Symbol) -> bool:
        """Whether the polynomial is `pointer` plus an offset in every lane."""
        factor = self.terms.get((pointer,))
        return isinstance(factor, int) and factor == 1

    def __add__(self, other: Polynomial | int) -> Polynomial:
        right = other if isinstance(other, Polynomial) else constant(other)
        terms = dict(self.terms)
        for monomial, value in right.terms.items():
            terms[monomial] = _sum(terms[monomial], value) if monomial in terms else value
        return Polynomial(terms)

    def __neg__(self) -> Polynomial:
        return Polynomial({m: -c for m, c in self.terms.items()})

    def __sub__(self, other: Polynomial | int) -> Polynomial:
        return self + (-other)

    def __mul__(self, other: Polynomial | int) -> Polynomial:
        right = other if isinstance(other, Polynomial) else constant(other)
        terms: dict[Monomial, Coefficient] = {}
        for m, c in self.terms.items():
            for n, d in right.terms.items():
                joined = tuple(sorted(m + n))
                value = _product(c, d)
                terms[joined] = _sum(terms[joined], value) if joined in terms else value
        return Polynomial(terms)

    def scaled(self, factor: Coefficient) -> Polynomial:
        """Times a coefficient."""
        return Polynomial({m: _product(c, factor) for m, c in self.terms.items()})

    def mapped(self, change: Callable[[NDArray[np.int64]], NDArray[np.int64]]) -> Polynomial:
        """The polynomial after `change` of every array of coefficients, such as a selection of waves."""
        if all(isinstance(c, int) for c in self.terms.values()):
            return self
        return Polynomial({m: c if isinstance(c, int) else simple(change(c)) for m, c in self.terms.items()})

    def substituted(self, values: Mapping[Symbol, Polynomial]) -> Polynomial:
        """The polynomial after replacing symbols by polynomials."""
        if not any(symbol in values for symbol in self.symbols):
            return self
        total = Polynomial({})
        for monomial, value in self.terms.items():
            part = Polynomial({(): value})
            for symbol in monomial:
                part = part * (values[symbol] if symbol in values else of(symbol))
            total = total + part
        return total

    def divisible(self, by: int) -> bool:
        """Whether every coefficient but the constant is a multiple of `by`."""
        return all(not m or not _any(c, by) for m, c in self.terms.items())

    @property
    def range(self) -> tuple[int | None, int | None]:
        """Bounds over all lanes and all values of the symbols; None if there is no bound."""
        if self._range is None:
            low: int | None = 0
            high: int | None = 0
            for monomial, value in self.terms.items():
                least, most = _product_range(monomial)
                a, b = _times(_least(value), _largest(value), least, most)
                low = None if low is None or a is None else low + a
                high = None if high is None or b is None else high + b
            self._range = low, high
        return self._range

    def negative(self) -> Iterator[Monomial]:
        """Monomials whose coefficient is negative in a lane."""
        for monomial, value in self.terms.items():
            if _least(value) < 0:
                yield monomial


def _any(value: Coefficient, by: int) -> bool:
    return bool(value % by) if isinstance(value, int) else bool((value % by).any())


def _product_range(monomial: Monomial) -> tuple[int | None, int | None]:
    low: int | None = 1
    high: int | None = 1
    for symbol in monomial:
        if symbol.low < 0 or low is None or low < 0:
            return (None, None) if len(monomial) > 1 else (symbol.low, symbol.high)
        low = low * symbol.low
        high = None if high is None or symbol.high is None else high * symbol.high
    return low, high


def _times(least: int, most: int, low: int | None, high: int | None) -> tuple[int | None, int | None]:
    """Bounds of a product of a coefficient and a monomial."""
    lows = [None if (low if least >= 0 else high) is None else least * (low if least >= 0 else high)]  # type: ignore[operator]
    if low is None or low < 0:
        ends = [c * e for c in (least, most) for e in (low, high) if e is not None]
        unbounded = low is None or high is None
        return (None, None) if unbounded else (min(ends), max(ends))
    highs = [None if (high if most >= 0 else low) is None else most * (high if most >= 0 else low)]  # type: ignore[operator]
    if least == 0 and lows[0] is None:
        lows[0] = 0
    if most == 0 and highs[0] is None:
        highs[0] = 0
    return lows[0], highs[0]


def constant(value: Coefficient) -> Polynomial:
    """A polynomial without symbols."""
    return Polynomial({(): value if isinstance(value, int) else simple(value)})


def of(symbol: Symbol) -> Polynomial:
    """A symbol."""
    return Polynomial({(symbol,): 1})


def tightened(fact: Polynomial) -> Polynomial:
    """The strongest inequality of integers that follows: ``128 K - 1 >= 0`` gives ``K - 1 >= 0``."""
    factors = [c for m, c in fact.terms.items() if m]
    if not factors or not all(isinstance(c, int) for c in factors):
        return fact
    common = gcd(*factors)
    return Polynomial({m: c // common for m, c in fact.terms.items()})


def rounded(fact: Polynomial) -> Polynomial | None:
    """The bound of multiples in a sum: ``8 g - r - 9 >= 0`` with ``r >= 0`` gives ``g >= 2``; None for other facts."""
    rest = {m[0] for m in fact.terms if len(m) == 1 and m[0].high is not None and m[0].high < REMAINDERS}
    whole = all(len(m) < 2 and isinstance(c, int) for m, c in fact.terms.items())
    if not rest or not whole or len(rest) == len(fact.symbols):
        return None
    ends = {s: constant(int(s.high or 0) if int(fact.terms[s,]) > 0 else s.low) for s in rest}
    return tightened(fact.substituted(ends))
