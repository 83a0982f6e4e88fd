"""Quotients of integers, rounded down, and the sequence with which LLVM divides 32-bit integers.

A quotient that is no polynomial is a symbol, the same symbol for the same operands, with its definition:
``0 <= value - quotient by < by``.

LLVM divides by a reciprocal (AMDGPUCodeGenPrepare, expandDivRem32): ``z = u32(rcp(f32(y)) * 0x4f7ffffe)``,
``z += mulhi(z, -y z)``, ``q = mulhi(x, z)`` is the quotient, or too small by 1 or 2; q is incremented twice if the
remainder ``x - q y`` is not below y. Words of this sequence are symbols with a stage. That the sequence gives
the quotient for all x and y is an assumption about V_RCP_F32; the tests execute it on the machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.prove.inequality import never_negative
from mfmasim.prove.masks import Condition
from mfmasim.prove.memos import Memo
from mfmasim.prove.polynomial import Polynomial, Symbol, constant, of
from mfmasim.prove.words import Word, bits, known, reduced, unsigned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.prove.state import State

    Facts = Sequence[Polynomial]

__all__ = ["defined", "divided", "estimates", "marked", "quotient", "remember", "selected", "stage_of"]

SCALE = 0x4F7FFFFE
"""2^32 - 512 as f32."""
DWORD = (1 << 32) - 1
STEPS = {
    "v_cvt_f32_u32": "float", "s_cvt_f32_u32": "float", "v_rcp_iflag_f32": "reciprocal", "v_rcp_f32": "reciprocal",
    "v_s_rcp_f32": "reciprocal", "v_mul_f32": "scaled", "s_mul_f32": "scaled", "v_cvt_u32_f32": "inverse",
    "s_cvt_u32_f32": "inverse", "v_mul_hi_u32": "high", "s_mul_hi_u32": "high",
}  # fmt: skip
"""Operations of the sequence, with the stage of their results."""
BEFORE = {"reciprocal": "float", "scaled": "reciprocal", "inverse": "scaled"}


@dataclass(frozen=True)
class Stage:
    """The meaning of a symbol of the sequence."""

    kind: str
    """``float``, ``reciprocal``, ``scaled``, ``inverse``, ``error`` or ``estimate``."""
    by: Polynomial
    value: Polynomial
    """The dividend of an estimate."""
    left: int = 0
    """Largest difference between the quotient and an estimate."""


_symbols: Memo[object, Symbol] = Memo(10_000)
_stages: Memo[Symbol, Stage] = Memo(10_000)
_quotients: Memo[object, Polynomial] = Memo(10_000)


def divided(value: Polynomial, by: int) -> Polynomial | None:
    """``value // by``, rounded down, if it is a polynomial; `by` is positive."""
    if value.divisible(by):
        return Polynomial({m: c // by for m, c in value.terms.items()})
    # The part that is not a multiple may still be smaller than `by`.
    whole = Polynomial({m: c for m, c in value.terms.items() if m and not np.any(np.asarray(c) % by)})
    low, high = (value - whole).range
    if low is not None and high is not None and low // by == high // by:
        return Polynomial({m: c // by for m, c in whole.terms.items()}) + (low // by)
    return None


def marked(value: Polynomial, mark: tuple[Symbol, ...], factor: int) -> Polynomial | None:
    """The polynomial that multiplies ``factor * mark`` in `value`; None if a coefficient is no multiple of the factor.

    Args:
        value: the polynomial.
        mark: a product of symbols.
        factor: the coefficient of the mark.
    """
    found: dict[Any, Any] = {}
    for monomial, c in value.terms.items():
        others = list(monomial)
        for symbol in mark:
            if symbol not in others:
                break
            others.remove(symbol)
        else:
            if np.any(np.asarray(c) % factor):
                return None
            found[tuple(others)] = c // factor
    return Polynomial(found)


def marks(by: Polynomial) -> list[tuple[tuple[Symbol, ...], int]]:
    """Symbols that occur once, alone, with a positive uniform coefficient; with the coefficient."""
    return [
        (m, c)
        for m, c in by.terms.items()
        if len(m) == 1 and isinstance(c, int) and c > 0 and sum(m[0] in other for other in by.terms) == 1
    ]


def quotient(value: Polynomial, by: Polynomial, facts: Facts) -> Polynomial:
    """``value // by``, for ``value >= 0`` and ``by >= 1``.

    Args:
        value: the dividend.
        by: the divisor.
        facts: polynomials that are not negative.
    """
    if by.is_constant:
        number = by.constant
        if value.is_constant:
            return constant(value.constant // number)
        found = divided(value, number) if isinstance(number, int) else None
        if found is None and isinstance(number, int):  # the part that is not a multiple may be below `by`
            whole = Polynomial({m: c for m, c in value.terms.items() if m and not np.any(np.asarray(c) % number)})
            rest = value - whole
            if whole.terms and never_negative(rest, facts) and never_negative(-rest + (number - 1), facts):
                found = Polynomial({m: c // number for m, c in whole.terms.items()})
        if found is not None:
            return found
    for mark in marks(by):
        found = marked(value, *mark)
        if found is not None:
            rest = value - found * by
            if never_negative(rest, facts) and never_negative(by - 1 - rest, facts):
                return found
    key = value.key, by.key
    if key not in _quotients:
        high, least = value.range[1], by.range[0]
        top = None if high is None else high // max(least or 1, 1)
        varies = not (value.uniform and by.uniform)
        _quotients[key] = of(Symbol(f"({value})/({by})", 0, top, varies, quotient=(value, by)))
    return _quotients[key]


def remember(value: Polynomial, by: Polynomial, found: Polynomial) -> None:
    """Set the quotient of later divisions of the same operands, by that of a contract for example.

    Args:
        value: the dividend.
        by: the divisor.
        found: the quotient.
    """
    _quotients[value.key, by.key] = found


def defined(state: State, word: Word | None, sources: Sequence[Word | None]) -> None:
    """Add to the facts the definitions of quotients that occur in a result, but not in its sources.

    Args:
        state: changed.
        word: the result.
        sources: of the operation.
    """
    if word is None or not any(symbol.quotient or symbol in _stages for symbol in word.value.symbols):
        return
    old = {symbol for source in sources if source is not None for symbol in source.value.symbols}
    for symbol in word.value.symbols - old:
        if symbol.quotient is not None:
            value, by = symbol.quotient
            rest = value - of(symbol) * by
            state.learn(rest)
            state.learn(by - 1 - rest)
            most = DWORD // by.constant if isinstance(by.constant, int) and by.is_constant else None
            loose = most is not None and (symbol.high is None or symbol.high > most)
            if most is not None and loose and never_negative(-value + DWORD, state.facts):
                state.learn(-of(symbol) + most)
            for top in _tops(value, by, state.facts):
                state.learn(top - of(symbol) - 1)
        elif symbol in _stages and _stages[symbol].kind == "estimate":
            state.learn(_stages[symbol].value - of(symbol) * _stages[symbol].by)


def _tops(value: Polynomial, by: Polynomial, facts: Facts) -> list[Polynomial]:
    """Upper bounds of a quotient: numbers t for which a fact says ``value < t * by``."""
    found = []
    for fact in facts:
        whole = fact + value + 1
        for mark in marks(by):
            top = marked(whole, *mark)
            if top is not None and top.terms and whole.same(top * by):
                found.append(top)
    return found


# The sequence.


def _stage(stage: Stage, *, varies: bool) -> Polynomial:
    key = stage.kind, stage.by.key, stage.value.key, stage.left
    if key not in _symbols:
        symbol = Symbol(f"{stage.kind}{len(_symbols)}", 0, DWORD, varies)
        _symbols[key], _stages[symbol] = symbol, stage
    return of(_symbols[key])


def _only(word: Word | None) -> tuple[Symbol, Stage] | None:
    """The stage of a word that consists of one symbol of the sequence."""
    if word is None or word.part or len(word.value.terms) != 1:
        return None
    ((monomial, factor),) = word.value.terms.items()
    symbol = monomial[0] if len(monomial) == 1 and isinstance(factor, int) and factor == 1 else None
    return None if symbol is None or symbol not in _stages else (symbol, _stages[symbol])


def stage_of(name: str, words: Sequence[Word | None], facts: Facts) -> Word | None:
    """The result of a further instruction of the sequence; None for other instructions.

    Args:
        name: mnemonic without suffix.
        words: its sources.
        facts: polynomials that are not negative.
    """
    if name in ("v_min_u32", "s_min_u32"):  # the remainder, or the remainder minus y, which wraps if it is negative
        return _smaller(words[0], words[1], facts) or _smaller(words[1], words[0], facts)
    kind = STEPS.get(name)
    if kind is None:
        return None
    none = Polynomial({})
    if kind == "float":
        by = unsigned(words[0], facts)
        if by is None or not never_negative(by - 1, facts):
            return None
        return Word(_stage(Stage(kind, by, none), varies=not by.uniform))
    for one, other in ((words[0], words[-1]), (words[-1], words[0])):
        found = _only(one)
        if kind == "high":
            result = _high(one, found, other, facts)
            if result is not None:
                return result
        elif found is not None and found[1].kind == BEFORE[kind]:
            number = known(other) if kind == "scaled" else SCALE
            if np.all(np.asarray(-1 if number is None else number) == SCALE):
                return Word(_stage(replace_kind(found[1], kind), varies=found[0].varies))
    return None


def replace_kind(stage: Stage, kind: str) -> Stage:
    """The stage with another kind."""
    return Stage(kind, stage.by, stage.value, stage.left)


def _high(one: Word | None, found: tuple[Symbol, Stage] | None, other: Word | None, facts: Facts) -> Word | None:
    """The high dword of a product: the correction of the reciprocal, or an estimate of the quotient."""
    if other is None or other.part:
        return None
    if found is not None and found[1].kind == "inverse":
        symbol, stage = found
        if other.value.same(-stage.by * of(symbol)):
            return Word(_stage(replace_kind(stage, "error"), varies=symbol.varies))
        return None
    stages = [_stages[s] for s in other.value.symbols if s in _stages]
    if {stage.kind for stage in stages} != {"inverse", "error"} or len(stages) != 2:
        return None
    by = stages[0].by
    if not by.same(stages[1].by) or not other.value.same(Polynomial({(s,): 1 for s in other.value.symbols})):
        return None
    value = unsigned(one, facts)
    if value is None:
        return None
    varies = not (value.uniform and by.uniform)
    return Word(_stage(Stage("estimate", by, value, 2), varies=varies))


def _smaller(rest: Word | None, less: Word | None, facts: Facts) -> Word | None:
    if rest is None or less is None or rest.part or less.part:
        return None
    return selected(Condition.of("ge", less.value), less, rest, facts)


def estimates(condition: Condition) -> tuple[Symbol, Stage] | None:
    """The estimate q that a condition ``x - q y - y >= 0`` tests for being too small."""
    if condition.value is None or condition.kind != "ge":
        return None
    for symbol in condition.value.symbols:
        stage = _stages.get(symbol)
        if stage is not None and stage.kind == "estimate":
            rest = stage.value - of(symbol) * stage.by
            if condition.value.same(rest - stage.by):
                return symbol, stage
    return None


def selected(condition: Condition, yes: Word | None, no: Word | None, facts: Facts) -> Word | None:
    """A selection by such a condition: the incremented estimate, or its remainder; None for other selections.

    Args:
        condition: as for `estimates`.
        yes: the result if it holds.
        no: the result if it does not hold.
        facts: polynomials that are not negative.
    """
    found = estimates(condition)
    if found is None or yes is None or no is None or yes.part or no.part:
        return None
    symbol, stage = found
    if not stage.left:
        return None
    following: Polynomial
    if stage.left > 1:
        following = _stage(Stage("estimate", stage.by, stage.value, stage.left - 1), varies=symbol.varies)
    else:
        following = quotient(stage.value, stage.by, facts)
    rest = stage.value - of(symbol) * stage.by
    if no.value.same(of(symbol)) and yes.value.same(of(symbol) + 1):
        return reduced(following) if not following.is_constant else bits(following.constant)
    if no.value.same(rest) and yes.value.same(rest - stage.by):
        return reduced(stage.value - following * stage.by)
    return None
