"""Integers that remember how they were computed: a case's function run once, for all its parameters.

A `Traced` is the integer of one example, and a polynomial over the parameters. What is asked of it (is it larger, is it
zero, is it a multiple) is answered for the example and noted: the polynomial holds for all parameters that give the
same answers. Divisions that are not exact change how a parameter is written, n = 256 g - r, and the function runs
again; the quotient of a product is a symbol of its own, of which its bounds are noted. A list that is repeated a traced
number of times is a `Repeated`.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from math import lcm
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from mfmasim.prove.inequality import never_negative
from mfmasim.prove.polynomial import Polynomial, Symbol, constant, of

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Notes", "Question", "Repeated", "Rewrite", "Traced", "as_polynomial", "noting"]


Question: TypeAlias = "tuple[tuple[Polynomial, ...], tuple[Polynomial, ...]]"
"""A comparison: what held before it, and what holds where it has another answer; both not negative."""


class Rewrite(BaseException):
    """A parameter has to be written as a multiple of a number."""

    def __init__(self, symbol: Symbol, multiple: int) -> None:
        """Name the symbol and the number."""
        super().__init__(symbol.name, multiple)
        self.symbol, self.multiple = symbol, multiple


@dataclass
class Notes:
    """What a traced run noted."""

    facts: list[Polynomial] = field(default_factory=list)
    """Polynomials that are not negative."""
    answers: list[str] = field(default_factory=list)
    """Answers that no inequality can express, such as ``lda - K is not 0``."""
    questions: list[Question] = field(default_factory=list)
    """Comparisons of parameters, with the answers that they did not have."""
    quotients: dict[object, Polynomial] = field(default_factory=dict)
    """Quotients that are symbols of their own, by dividend and divisor: the same ones in all runs that share them."""


_notes: ContextVar[Notes | None] = ContextVar("notes", default=None)


@contextmanager
def noting(quotients: dict[object, Polynomial] | None = None) -> Iterator[Notes]:
    """Collect the notes of what runs within; `quotients` are those of runs before it."""
    notes = Notes(quotients={} if quotients is None else quotients)
    token = _notes.set(notes)
    try:
        yield notes
    finally:
        _notes.reset(token)


def as_polynomial(value: Any) -> Polynomial:
    """The polynomial of an integer, traced or not."""
    return value.polynomial if isinstance(value, Traced) else constant(int(value))


class Repeated(list[Any]):
    """A list that is repeated a traced number of times; it has the elements of one repetition."""

    times: Traced


def _polynomial(value: object) -> Polynomial | None:
    if isinstance(value, Traced):
        return value.polynomial
    return constant(int(value)) if isinstance(value, int) else None


class Traced(int):
    """An integer of an example, with its polynomial."""

    polynomial: Polynomial

    def __new__(cls, value: int, polynomial: Polynomial) -> Self:
        """An integer with its polynomial."""
        made = super().__new__(cls, value)
        made.polynomial = polynomial
        return made

    def __add__(self, other: Any) -> Any:
        right = _polynomial(other)
        return int(self) + other if right is None else Traced(int(self) + int(other), self.polynomial + right)

    __radd__ = __add__

    def __neg__(self) -> Traced:
        return Traced(-int(self), -self.polynomial)

    def __pos__(self) -> Traced:
        return self

    def __sub__(self, other: Any) -> Any:
        right = _polynomial(other)
        return int(self) - other if right is None else Traced(int(self) - int(other), self.polynomial - right)

    def __rsub__(self, other: Any) -> Any:
        left = _polynomial(other)
        return other - int(self) if left is None else Traced(int(other) - int(self), left - self.polynomial)

    def __mul__(self, other: Any) -> Any:
        if type(other) is list:
            repeated = Repeated(other)
            repeated.times = self
            return repeated
        right = _polynomial(other)
        return int(self) * other if right is None else Traced(int(self) * int(other), self.polynomial * right)

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Any:
        if not isinstance(other, int):
            return int(self) // other
        quotient, _ = _divided(self, other)
        return Traced(int(self) // int(other), quotient)

    def __mod__(self, other: Any) -> Any:
        if not isinstance(other, int):
            return int(self) % other
        _, rest = _divided(self, other)
        return Traced(int(self) % int(other), rest)

    def __rfloordiv__(self, other: Any) -> Any:
        return Traced(other, constant(other)) // self if type(other) is int else self._unfollowed()

    def __rmod__(self, other: Any) -> Any:
        return Traced(other, constant(other)) % self if type(other) is int else self._unfollowed()

    def __lshift__(self, other: object) -> Any:
        return self * (1 << other) if type(other) is int else self._unfollowed()

    def __rshift__(self, other: object) -> Any:
        return self // (1 << other) if type(other) is int else self._unfollowed()

    def _unfollowed(self, *_: Any) -> Any:
        """What gives a number that is no polynomial: the example's would pass for that of all sizes."""
        raise ArithmeticError("a case computes of its parameters what is not followed: only + - * // % and << >> are")

    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __rlshift__ = __rrshift__ = _unfollowed
    __pow__ = __rpow__ = __truediv__ = __rtruediv__ = _unfollowed
    __divmod__ = __rdivmod__ = __invert__ = __abs__ = __round__ = __float__ = bit_length = _unfollowed

    def __bool__(self) -> bool:
        return bool(self != 0)

    def __eq__(self, other: object) -> bool:
        return _asked(self, other, "==")

    def __ne__(self, other: object) -> bool:
        return not _asked(self, other, "==")

    def __lt__(self, other: object) -> bool:
        return not _asked(self, other, ">=")

    def __ge__(self, other: object) -> bool:
        return _asked(self, other, ">=")

    def __gt__(self, other: object) -> bool:
        return _asked(self, other, ">")

    def __le__(self, other: object) -> bool:
        return not _asked(self, other, ">")

    def __hash__(self) -> int:
        """A dict or set compares numbers of one hash alone: a size that is looked up is not asked for others."""
        return int(self._unfollowed())


def _asked(left: Traced, right: Any, how: str) -> bool:
    """Answer for the example, and note what the answer says of all others."""
    other = _polynomial(right)
    mine, theirs = int(left), int(right) if isinstance(right, int) else right
    answer = mine == theirs if how == "==" else mine >= theirs if how == ">=" else mine > theirs
    notes = _notes.get()
    if other is None or notes is None:
        return bool(answer)
    difference = left.polynomial - other
    if difference.is_constant:
        return bool(answer)
    before = tuple(notes.facts)
    if how == "==":
        if answer:
            notes.questions += [(before, (difference - 1,)), (before, (-difference - 1,))]
            notes.facts += [difference, -difference]
        else:
            notes.questions.append((before, (difference, -difference)))
            notes.answers.append(f"{difference} is not 0")
    else:
        strict = 1 if how == ">" else 0
        yes, no = difference - strict, -difference - (1 - strict)
        notes.questions.append((before, (no if answer else yes,)))
        notes.facts.append(yes if answer else no)
    return bool(answer)


def _divided(value: Traced, divisor: int) -> tuple[Polynomial, Polynomial]:
    """Quotient and remainder of a division, as polynomials.

    Raises:
        Rewrite: a parameter has to be written in multiples first.
    """
    polynomial, by = value.polynomial, int(divisor)
    below = as_polynomial(divisor)
    if not below.is_constant:
        ratio = int(value) // by if by else 0
        if by and polynomial.same(below.scaled(ratio)):
            return constant(ratio), constant(0)
    elif by > 0:
        exact = Polynomial({m: c for m, c in polynomial.terms.items() if isinstance(c, int) and c % by == 0})
        rest = polynomial - exact
        low, high = rest.range
        if low is not None and high is not None and low // by == high // by:
            quotient = Polynomial({m: c // by for m, c in exact.terms.items()}) + low // by
            return quotient, rest - (low // by) * by
        for monomial, factor in rest.terms.items():
            if len(monomial) == 1 and isinstance(factor, int) and monomial[0].high is None:
                raise Rewrite(monomial[0], lcm(by, abs(factor)) // abs(factor))
    quotient = _quotient(polynomial, below)
    return quotient, polynomial - quotient * below


def _quotient(value: Polynomial, by: Polynomial) -> Polynomial:
    """A quotient as a new symbol, for which ``0 <= value - quotient by < by`` is noted.

    Raises:
        ArithmeticError: the signs of both numbers are not known.
    """
    notes = _notes.get()
    if notes is not None and never_negative(by - 1, notes.facts):
        key = value.key, by.key
        found = notes.quotients.get(key)
        if found is None and never_negative(value, notes.facts):
            found = of(Symbol(f"({value})/({by})", quotient=(value, by)))
        elif found is None and never_negative(-value, notes.facts):
            found = -of(Symbol(f"up(({-value})/({by}))", quotient=(-value + by - 1, by)))
        if found is not None:
            notes.quotients[key] = found
            rest = value - found * by
            notes.facts += [rest, by - 1 - rest]
            return found
    raise ArithmeticError(f"a case divides {value} by {by}")
