"""Traced integers: one run of a case's function, for all its parameters.

A `Traced` is the integer of one example, and a polynomial over the parameters. A comparison (larger, zero, a multiple)
has the example's result and is recorded: the polynomial holds for all parameters that give the same results. If a
division is not exact, the parameter is expressed as n = 256 g - r, and the function runs
again; the quotient of a product is a new symbol with recorded bounds. A list that is repeated a traced
number of times is a `Repeated`.

A `Traced` passes `isinstance` as an integer, but is none: code that makes a plain number or a text of it calls a
method, which is recorded with its place. The use of such a number is not traced.
"""

from __future__ import annotations

import numbers
import operator
import sys
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from math import lcm
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mfmasim.prove.inequality import never_negative
from mfmasim.prove.polynomial import Polynomial, Symbol, constant, of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

__all__ = ["Notes", "Question", "Repeated", "Rewrite", "Traced", "as_polynomial", "example_of", "lose", "noting"]


class Question(NamedTuple):
    """A comparison of parameters."""

    before: tuple[Polynomial, ...]
    """Facts before the comparison: polynomials that are not negative."""
    other: tuple[Polynomial, ...]
    """Facts if the comparison has the other result: polynomials that are not negative."""
    text: str
    """The comparison, with its place."""

    @property
    def key(self) -> object:
        """A key that is equal for equal questions."""
        return tuple(fact.key for fact in self.before), tuple(fact.key for fact in self.other)


class Rewrite(BaseException):
    """A parameter has to be expressed as a multiple of a number."""

    def __init__(self, symbol: Symbol, multiple: int) -> None:
        """Name the symbol and the number."""
        super().__init__(symbol.name, multiple)
        self.symbol, self.multiple = symbol, multiple


@dataclass
class Notes:
    """Records of a traced run."""

    facts: list[Polynomial] = field(default_factory=list)
    """Polynomials that are not negative."""
    answers: list[str] = field(default_factory=list)
    """Results of comparisons that no inequality can express, such as ``lda - K is not 0``."""
    questions: list[Question] = field(default_factory=list)
    """Comparisons of parameters, with the facts of their other result."""
    strict: bool = False
    """Whether every conversion to a plain number is refused: the sizes may be too large to be allocated."""
    lost: list[str] = field(default_factory=list)
    """Places where numbers were used that are not traced further, and their use."""
    quotients: dict[object, Polynomial] = field(default_factory=dict)
    """Quotients that are symbols, by dividend and divisor; runs share this dictionary."""


_notes: ContextVar[Notes | None] = ContextVar("notes", default=None)


@contextmanager
def noting(quotients: dict[object, Polynomial] | None = None, *, strict: bool = False) -> Iterator[Notes]:
    """Collect the records of the block; `quotients` are those of earlier runs, `strict` as in `Notes`."""
    notes = Notes(quotients={} if quotients is None else quotients, strict=strict)
    token = _notes.set(notes)
    try:
        yield notes
    finally:
        _notes.reset(token)


def as_polynomial(value: Any) -> Polynomial:
    """The polynomial of an integer, traced or not."""
    return value.polynomial if isinstance(value, Traced) else constant(int(value))


def example_of(value: Any) -> Any:
    """The number of the example, without a record: for properties that all sizes share."""
    return _value(value)


class Repeated:
    """A list that is repeated a traced number of times.

    It passes `isinstance` as a list. The package's own code reads the elements of one repetition; other code reads
    those of the example, which is recorded.
    """

    __slots__ = ("elements", "times")

    def __init__(self, elements: list[Any], times: Traced) -> None:
        """One repetition, and the number of repetitions."""
        self.elements, self.times = elements, times

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """The class for `isinstance`."""
        return list

    def _seen(self) -> list[Any]:
        if str(sys._getframe(2).f_globals.get("__name__")).split(".")[0] == "mfmasim":  # noqa: SLF001 - who asks
            return self.elements
        return self.elements * self.times._plain("the elements of a list")  # noqa: SLF001 - of this module

    def __len__(self) -> int:
        return len(self._seen())

    def __iter__(self) -> Iterator[Any]:
        return iter(self._seen())

    def __getitem__(self, place: Any) -> Any:
        return self._seen()[place]

    def __contains__(self, one: object) -> bool:
        return one in self._seen()

    def __eq__(self, other: object) -> bool:
        return self._seen() == other

    def __hash__(self) -> int:
        """Lists have none.

        Raises:
            TypeError: always.
        """
        raise TypeError("unhashable type: 'list'")

    def __add__(self, other: Any) -> Any:
        return self._seen() + other

    def __radd__(self, other: Any) -> Any:
        return other + self._seen()

    def __mul__(self, other: Any) -> Any:
        return self._seen() * other

    __rmul__ = __mul__

    def __getattr__(self, name: str) -> Any:
        """Any other attribute of a list: that of the example's list."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._seen(), name)


def _value(number: Any) -> Any:
    return number.value if isinstance(number, Traced) else number


def lose(what: str) -> None:
    """Record, with its place, that code reads a value that holds for the example alone."""
    _noted(f"{_place()}: {what}")


def _noted(what: str) -> None:
    notes = _notes.get()
    if notes is not None:
        notes.lost.append(what)


def _place() -> str:
    """File and line of the code that uses a number: those of the case's function, if it is the caller."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - no other way to know who asks
    first = None
    while frame is not None and frame.f_globals.get("__name__") != "mfmasim.prove.contract":
        package = str(frame.f_globals.get("__name__")).split(".")[0]
        if package not in ("mfmasim", "numpy"):
            return _line(frame)
        if first is None and frame.f_code.co_filename != __file__:
            first = frame
        frame = frame.f_back
    return "its function" if first is None else _line(first)


def _line(frame: FrameType) -> str:
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"


def _polynomial(value: object) -> Polynomial | None:
    """The polynomial of an integer of any class; None for other objects."""
    if isinstance(value, Traced):
        return value.polynomial
    whole = isinstance(value, int | np.integer | np.bool_) or (isinstance(value, float) and value.is_integer())
    return constant(int(value)) if whole else None  # type: ignore[call-overload]


class Traced:
    """An integer of an example, with its polynomial."""

    __slots__ = ("polynomial", "value")

    def __init__(self, value: int, polynomial: Polynomial) -> None:
        """An integer with its polynomial."""
        self.value, self.polynomial = value, polynomial

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """The class for `isinstance`."""
        return int

    def _plain(self, how: str) -> int:
        """The example's number; the read is recorded, as the code takes it for the number of all sizes."""
        notes = _notes.get()
        if notes is not None and not self.polynomial.is_constant:
            if notes.strict and how == "a text":  # the example's number, for the message of a refusal
                return self.value
            notes.lost.append(f"{_place()}: {how} of {self.polynomial}")
            if notes.strict:
                raise ArithmeticError(notes.lost[-1])
        return self.value

    def __int__(self) -> int:
        return self._plain("a plain number")

    __index__ = __trunc__ = __floor__ = __ceil__ = __int__

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self._plain("an element of an array"), dtype)

    def __str__(self) -> str:
        return str(self._plain("a text"))

    __repr__ = __str__

    def __format__(self, spec: str) -> str:
        return format(self._plain("a text"), spec)

    def _with(self, other: Any, how: Callable[[Any, Any], Any], *, swapped: bool = False) -> Any:
        """A sum, difference or product with an integer; with anything else a plain number."""
        right = None if isinstance(other, float) else _polynomial(other)
        if right is None:
            if isinstance(other, np.ndarray):
                return NotImplemented  # element by element
            value = self._plain("a plain number")
            return how(other, value) if swapped else how(value, other)
        sides = (self.value, int(_value(other))), (self.polynomial, right)
        values, polynomials = (side[::-1] if swapped else side for side in sides)
        return Traced(how(*values), how(*polynomials))

    def __add__(self, other: Any) -> Any:
        return self._with(other, operator.add)

    __radd__ = __add__

    def __neg__(self) -> Traced:
        return Traced(-self.value, -self.polynomial)

    def __pos__(self) -> Traced:
        return self

    def __sub__(self, other: Any) -> Any:
        return self._with(other, operator.sub)

    def __rsub__(self, other: Any) -> Any:
        return self._with(other, operator.sub, swapped=True)

    def __mul__(self, other: Any) -> Any:
        if type(other) is list:
            return Repeated(other, self)
        return self._with(other, operator.mul)

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Any:
        if isinstance(other, float) or _polynomial(other) is None:
            return self._unfollowed()
        quotient, _ = _divided(self, other)
        return Traced(self.value // int(_value(other)), quotient)

    def __mod__(self, other: Any) -> Any:
        if isinstance(other, float) or _polynomial(other) is None:
            return self._unfollowed()
        _, rest = _divided(self, other)
        return Traced(self.value % int(_value(other)), rest)

    def __rfloordiv__(self, other: Any) -> Any:
        return Traced(other, constant(other)) // self if type(other) is int else self._unfollowed()

    def __rmod__(self, other: Any) -> Any:
        return Traced(other, constant(other)) % self if type(other) is int else self._unfollowed()

    def __lshift__(self, other: object) -> Any:
        return self * (1 << other) if type(other) is int else self._unfollowed()

    def __rshift__(self, other: object) -> Any:
        return self // (1 << other) if type(other) is int else self._unfollowed()

    def _unfollowed(self, *_: Any) -> Any:
        """An operation whose result is no polynomial: the example's result would stand for all sizes.

        Raises:
            ArithmeticError: always; the operation is recorded, too, as the function may catch the exception.
        """
        self._plain("what is not followed")
        raise ArithmeticError(f"{_place()}: a case computes what is not followed: only + - * // % and << >> are")

    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __rlshift__ = __rrshift__ = _unfollowed
    __pow__ = __rpow__ = __truediv__ = __rtruediv__ = _unfollowed
    __divmod__ = __rdivmod__ = __invert__ = __abs__ = __round__ = __float__ = __complex__ = _unfollowed

    def __getattr__(self, name: str) -> Any:
        """Any other attribute of an integer, such as ``bit_length``: not followed."""
        if name.startswith("_") or not hasattr(int, name):
            raise AttributeError(name)
        return self._unfollowed()

    def __bool__(self) -> bool:
        return bool(self != 0)

    def __eq__(self, other: object) -> Any:
        return _asked(self, other, "==")

    def __ne__(self, other: object) -> Any:
        return _not(_asked(self, other, "=="))

    def __lt__(self, other: object) -> Any:
        return _not(_asked(self, other, ">="))

    def __ge__(self, other: object) -> Any:
        return _asked(self, other, ">=")

    def __gt__(self, other: object) -> Any:
        return _asked(self, other, ">")

    def __le__(self, other: object) -> Any:
        return _not(_asked(self, other, ">"))

    def __hash__(self) -> int:
        """The hash is recorded: a dict or set compares only numbers with equal hashes, not all of them."""
        return int(self._unfollowed())


def _not(answer: Any) -> Any:
    return answer if answer is NotImplemented else not answer


def _asked(left: Traced, right: Any, how: str) -> Any:
    """The comparison's result for the example; record the facts that it implies for all sizes."""
    other = _polynomial(right)
    if other is None:
        if not isinstance(right, numbers.Number):
            return NotImplemented  # the other operand makes the comparison
        left._plain("a comparison")  # noqa: SLF001 - of 1.5, say
    mine, theirs = left.value, _value(right)
    answer = mine == theirs if how == "==" else mine >= theirs if how == ">=" else mine > theirs
    notes = _notes.get()
    if other is None or notes is None:
        return bool(answer)
    difference = left.polynomial - other
    if difference.is_constant:
        return bool(answer)
    before, text = tuple(notes.facts), f"{_place()}: {left.polynomial} {how} {other}"
    if how == "==":
        if answer:
            notes.questions += [Question(before, (side - 1,), text) for side in (difference, -difference)]
            notes.facts += [difference, -difference]
        else:
            notes.questions.append(Question(before, (difference, -difference), text))
            notes.answers.append(f"{difference} is not 0")
    else:
        strict = 1 if how == ">" else 0
        yes, no = difference - strict, -difference - (1 - strict)
        notes.questions.append(Question(before, (no if answer else yes,), text))
        notes.facts.append(yes if answer else no)
    return bool(answer)


def _divided(value: Traced, divisor: int) -> tuple[Polynomial, Polynomial]:
    """Quotient and remainder of a division, as polynomials.

    Raises:
        Rewrite: a parameter has to be expressed as a multiple first.
    """
    polynomial, by = value.polynomial, int(_value(divisor))
    below = as_polynomial(divisor)
    if not below.is_constant:
        ratio = value.value // by if by else 0
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
                _noted(f"{_place()}: a quotient of {polynomial}")  # the function may catch the exception
                raise Rewrite(monomial[0], lcm(by, abs(factor)) // abs(factor))
    quotient = _quotient(polynomial, below)
    return quotient, polynomial - quotient * below


def _quotient(value: Polynomial, by: Polynomial) -> Polynomial:
    """A quotient as a new symbol; ``0 <= value - quotient * by < by`` is recorded.

    Raises:
        ArithmeticError: the sign of a number is unknown.
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
    _noted(f"{_place()}: a quotient of {value}")
    raise ArithmeticError(f"{_place()}: a case divides {value} by {by}")
