"""Sizes at which a case's function answers a comparison otherwise than it did.

What a traced run asks of its parameters is noted with what held before. Values of the symbols at which the other answer
holds are looked for: a way that no sample takes begins at one of these questions.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Protocol

from mfmasim.prove.narrowing import admitted
from mfmasim.prove.polynomial import Polynomial, constant, of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from mfmasim.prove.integers import Notes, Question, Traced
    from mfmasim.prove.polynomial import Symbol
    from mfmasim.verify import Case

__all__ = ["chosen", "questioned", "value_of"]

TRIED = 4
"""Values of the symbols that are tried for a question."""
QUESTIONS = 80
"""Questions of a case's function whose other answers are looked for."""

LARGEST = (1 << 31) - 1
"""Assumed of integer arguments: sizes above it are no launches that are proved."""


def value_of(polynomial: Polynomial, values: Mapping[Symbol, int]) -> int:
    """A polynomial whose coefficients all lanes share, for values of its symbols."""
    total = 0
    for monomial, factor in polynomial.terms.items():
        part = int(factor)
        for symbol in monomial:
            part *= values[symbol]
        total += part
    return total


def chosen(symbols: Sequence[Symbol], facts: Sequence[Polynomial], offset: Sequence[int]) -> dict[Symbol, int] | None:
    """Values of all symbols, each so far above the smallest one that the facts and those before it admit.

    Args:
        symbols: in the order in which they are chosen.
        facts: polynomials that are not negative.
        offset: how far above, by symbol.

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


def questioned(case: Case, runs: Sequence[Run], strides: Collection[str]) -> Iterator[dict[str, int]]:
    """Sizes at which a question of a case's function has another answer.

    Args:
        case: the case.
        runs: of its function; runs and questions that are added meanwhile are looked at as well.
        strides: parameters of which no other answers are looked for.
    """
    seen: set[object] = set()
    drawn: set[object] = set()
    while len(seen) < QUESTIONS:
        left = [(n, run, one) for n, run in enumerate(runs) for one in run.notes.questions if _open(one)]
        keys = [(n, *(tuple(fact.key for fact in some) for some in one)) for n, _, one in left]
        found = next(((key, *one) for key, one in zip(keys, left, strict=True) if key not in seen), None)
        if found is None:
            return
        key, _, run, question = found
        seen.add(key)
        parameters = _answered_otherwise(question, {n: t.polynomial for n, t in run.given.items()}, strides)
        base = {n: int(t) for n, t in run.given.items() if n not in strides}
        if parameters:  # strides longer than any line: 0 stands for a default
            longer = 64 * (2 + sum(parameters[name] for name in base) // 64)
            parameters |= dict.fromkeys(strides, longer)
        if not parameters or max(parameters.values()) > LARGEST or tuple(parameters.values()) in drawn:
            continue
        drawn.add(tuple(parameters.values()))
        if admitted(case, base, parameters, fills=run.fills):
            yield parameters


def _open(question: Question) -> bool:
    """Whether the ranges of the symbols admit another answer."""
    most = [fact.range[1] for fact in question[1]]
    return not any(one is not None and one < 0 for one in most)


def _answered_otherwise(
    question: Question, given: Mapping[str, Polynomial], but: Collection[str]
) -> dict[str, int] | None:
    """Parameters at which a question has the other answer, `but` some; None where none are found."""
    before, other = question
    kept = {symbol for name in but for symbol in given[name].symbols}
    if any(fact.symbols & kept for fact in other):
        return None
    facts = [*before, *other]
    symbols = sorted({s for p in (*given.values(), *facts) for s in p.symbols}, key=lambda s: s.serial)
    # Symbols of the question last: what the others leave decides them.
    symbols.sort(key=lambda s: any(s in fact.symbols for fact in other))
    for offset in sorted(product(range(2), repeat=min(len(symbols), 6)), key=sum)[:TRIED]:
        values = chosen(symbols, facts, offset)
        if values is not None and all(value_of(fact, values) >= 0 for fact in facts):
            return {name: value_of(polynomial, values) for name, polynomial in given.items()}
    return None
