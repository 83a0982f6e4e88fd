"""Sizes at which a comparison in a case's function has another result than in the traced run.

A traced run records each comparison of parameters as a question, with the facts before it. Values of the symbols at
which a question has the other answer are searched: a branch that no sample takes begins at one of these questions.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Protocol

from mfmasim.prove.inequality import never_negative
from mfmasim.prove.integers import Traced
from mfmasim.prove.models import sought
from mfmasim.prove.narrowing import admitted
from mfmasim.prove.polynomial import Polynomial, Symbol, constant, of
from mfmasim.verify.contract import broken

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from mfmasim.prove.integers import Notes, Question
    from mfmasim.verify import Case

__all__ = ["chosen", "questioned", "value_of"]

TRIED = 4
"""Values of the symbols that are tried for a question."""
QUESTIONS = 200
"""Most questions of a case's function whose other answers are searched."""

LARGEST = (1 << 31) - 1
"""Largest integer argument (assumed): launches with larger sizes are not proved."""


def value_of(polynomial: Polynomial, values: Mapping[Symbol, int]) -> int:
    """The value of a polynomial whose coefficients are equal in all lanes, at values of its symbols."""
    total = 0
    for monomial, factor in polynomial.terms.items():
        part = int(factor)
        for symbol in monomial:
            part *= values[symbol]
        total += part
    return total


def chosen(symbols: Sequence[Symbol], facts: Sequence[Polynomial], offset: Sequence[int]) -> dict[Symbol, int] | None:
    """Values of all symbols: each is the smallest value that the facts and the earlier symbols admit, plus its offset.

    Args:
        symbols: in the order in which they are chosen.
        facts: polynomials that are not negative.
        offset: the number that is added to the smallest value, by symbol.

    Returns:
        A value for each; None where a fact is negative.
    """
    values: dict[Symbol, int] = {}
    for k, symbol in enumerate(symbols):
        low, high = symbol.low, symbol.high
        for fact in facts:
            with_it = {m: c for m, c in fact.terms.items() if symbol in m}
            if not with_it or any(len(m) > 1 for m in with_it):
                continue
            factor = int(with_it[symbol,])
            most = (fact - of(symbol).scaled(factor)).range[1]
            if most is not None and factor > 0:
                low = max(low, -(most // factor))
            elif most is not None:
                high = most // -factor if high is None else min(high, most // -factor)
        value = low + (offset[k] if k < len(offset) else 0)
        values[symbol] = value if high is None else min(value, max(low, high))
        facts = [fact.substituted({symbol: constant(values[symbol])}) for fact in facts]
        if any(fact.range[1] is not None and fact.range[1] < 0 for fact in facts):
            return None
    return values


class Run(Protocol):
    """A traced run of a case's function."""

    given: dict[str, Traced]
    notes: Notes
    fills: bool


def questioned(
    case: Case,
    runs: Sequence[Run],
    strides: Collection[str],
    left: set[str],
    refuses: Callable[[Mapping[str, Traced]], bool],
) -> Iterator[dict[str, int]]:
    """Sizes at which a question of a case's function has the other answer.

    Args:
        case: the case.
        runs: of its function; runs and questions that are added during the search are searched as well.
        strides: parameters that the search does not change.
        left: receives the questions for which the search is not conclusive.
        refuses: whether the function refuses sizes whose arrays are too large to be allocated.
    """
    seen: set[object] = set()
    drawn: set[object] = set()
    while True:
        every = ((run, one, (n, one.key)) for n, run in enumerate(runs) for one in run.notes.questions)
        found = next((each for each in every if each[2] not in seen), None)
        if found is None:
            return
        run, question, key = found
        if len(seen) == QUESTIONS:
            left.add(f"{question.text} is one of more than {QUESTIONS} comparisons")
            return
        seen.add(key)
        given = {n: t.polynomial for n, t in run.given.items()}
        if not _open(question, given, strides):
            continue
        base = {n: int(t) for n, t in run.given.items() if n not in strides}
        tried = False
        for sizes in _answered_otherwise(question, given):
            # Strides longer than any line: the value 0 selects a default.
            parameters = sizes | dict.fromkeys(strides, 64 * (2 + sum(sizes[name] for name in base) // 64))
            if max(parameters.values()) > LARGEST:
                continue
            if tuple(parameters.values()) in drawn:
                tried = True
                break
            if admitted(case, base, parameters, fills=run.fills):
                drawn.add(tuple(parameters.values()))
                tried = True
                yield parameters
                break
            if run.fills and not (case.needs and broken(case.needs, {**case.parameters, **parameters})):
                tried = refuses({name: Traced(value, given[name]) for name, value in parameters.items()})
            if tried:
                break
        if not tried:
            left.add(question.text)


def _open(question: Question, given: Mapping[str, Polynomial], but: Collection[str]) -> bool:
    """Whether the other answer is possible: the earlier questions and `LARGEST` do not exclude it."""
    kept = {symbol for name in but for symbol in given[name].symbols}
    if any(fact.symbols & kept for fact in question.other):
        return False
    before = [*question.before, *(-polynomial + LARGEST for polynomial in given.values())]
    raised = _raised([*before, *question.other])
    facts = [fact.substituted(raised) for fact in before]
    others = [fact.substituted(raised) for fact in question.other]
    return not any(
        (fact.range[1] is not None and fact.range[1] < 0)
        or never_negative(_flipped(-fact - 1), [*facts, *others[:number], *others[number + 1 :]])
        for number, fact in enumerate(others)
    )


def _flipped(value: Polynomial) -> Polynomial:
    """A polynomial whose remainders with negative coefficients are replaced by their largest value minus a symbol."""
    ends = {}
    for symbol in value.symbols:
        factors = [c for m, c in value.terms.items() if symbol in m]
        if symbol.high is not None and all(isinstance(c, int) and c < 0 for c in factors):
            ends[symbol] = constant(symbol.high) - of(Symbol(symbol.name, 0, symbol.high - symbol.low))
    return value.substituted(ends)


def _raised(facts: Sequence[Polynomial]) -> dict[Symbol, Polynomial]:
    """Symbols as a new symbol plus the least value that one fact admits: ``128 g - r - 1 >= 0`` requires g >= 1."""
    found = {}
    for symbol in sorted({symbol for fact in facts for symbol in fact.symbols}, key=lambda s: s.serial):
        low = symbol.low
        for fact in facts:
            factor = fact.terms.get((symbol,))
            if isinstance(factor, int) and factor > 0 and sum(symbol in m for m in fact.terms) == 1:
                most = (fact - of(symbol).scaled(factor)).range[1]
                low = low if most is None else max(low, -(most // factor))
        if low > symbol.low and (symbol.high is None or symbol.high >= low):
            high = None if symbol.high is None else symbol.high - low
            found[symbol] = of(Symbol(symbol.name, 0, high)) + low
    return found


def _answered_otherwise(question: Question, given: Mapping[str, Polynomial]) -> Iterator[dict[str, int]]:
    """Parameters at which a question has the other answer."""
    facts = [*question.before, *question.other]
    symbols = sorted({s for p in (*given.values(), *facts) for s in p.symbols}, key=lambda s: s.serial)
    # Symbols of the question last: the other symbols restrict them. Then first: they restrict the other symbols.
    for last in (True, False):
        symbols.sort(key=lambda s: any(s in fact.symbols for fact in question.other) == last)
        for offset in sorted(product(range(2), repeat=min(len(symbols), 6)), key=sum)[:TRIED]:
            values = chosen(symbols, facts, offset)
            if values is not None and all(value_of(fact, values) >= 0 for fact in facts):
                yield {name: value_of(polynomial, values) for name, polynomial in given.items()}
    for values in sought(facts):
        whole = {s: s.low for p in given.values() for s in p.symbols} | values
        yield {name: value_of(polynomial, whole) for name, polynomial in given.items()}
