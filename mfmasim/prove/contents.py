"""Contents of the bytes of registers and of the LDS, for all sizes at once.

The content of a byte is a polynomial per lane. A byte of memory has the address that it was loaded from, a constant
byte its value. A sum of products, and a result computed from one, is a formal polynomial
``RESULT + ROW row + COLUMN column + DEPTH k + REST set + MADE expression + byte``: row and column of the operands
that were multiplied, ``[0, k)`` and a set of further k that were summed, and the expression of the sum.
Two bytes are equal if their polynomials are equal. An element of C that the kernel loads has OWN in place of RESULT.

A register that held 0 before a guarded load has ``PAD pointer + ROW row + COLUMN column + byte``: an element of a
matrix that is padded with zeros beyond its edges. A sum of products of such elements, of A and of B, has PAD as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.prove.memos import Memo
from mfmasim.prove.polynomial import Polynomial, Symbol, TooLarge, constant, of, simple
from mfmasim.prove.words import Word, known

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from numpy.typing import NDArray

    from mfmasim.isa import Operand
    from mfmasim.prove.state import State

__all__ = [
    "COLUMN",
    "DEPTH",
    "LDS",
    "LOST",
    "MADE",
    "OWN",
    "PAD",
    "REST",
    "RESULT",
    "ROW",
    "Byte",
    "changed",
    "common_part",
    "dword",
    "either",
    "factor_of",
    "gathered",
    "grown",
    "held",
    "interned",
    "interned_value",
    "loaded",
    "scattered",
    "set_dword",
    "without",
]  # fmt: skip

RESULT, OWN, PAD, ROW, COLUMN, DEPTH, REST, MADE, LOST = (
    Symbol(name) for name in ("RESULT", "OWN", "PAD", "ROW", "COLUMN", "DEPTH", "REST", "MADE", "LOST")
)
LDS = ("lds", 0, 0)
"""Key of the LDS: a polynomial whose coefficients have one value for each byte."""

Byte = Polynomial | None
"""Content of a byte of each lane; None where it is not known."""

_numbers: Memo[Hashable, int] = Memo()
_values: Memo[int, Hashable] = Memo()


def interned(value: Hashable) -> int:
    """A number from 1 on that stands for a value; equal for equal values."""
    if value not in _numbers:
        number = len(_values) + 1
        _values[number], _numbers[value] = value, number
    return _numbers[value]


def interned_value(number: int) -> Any:
    """The value of a number."""
    return _values[number]


def held(state: State, key: tuple[str, int, int]) -> Byte:
    """A content that is known in all active lanes, else None."""
    word = state.c.get(key)
    return word.value if word is not None and (word.under is None or state.exec.within(word.under)) else None


def dword(state: State, operand: Operand, k: int = 0) -> tuple[Byte, ...]:
    """Contents of the four bytes of a dword, constants included.

    Args:
        state: registers.
        operand: a source.
        k: number of the dword.
    """
    if operand.kind in ("v", "a"):
        found = tuple(held(state, (operand.kind, operand.index + k, byte)) for byte in range(4))
        if any(byte is not None for byte in found):
            return found
    value = known(state.operand(operand, k))
    if value is None:
        return (None,) * 4
    return tuple(constant((value >> 8 * byte) & 0xFF) for byte in range(4))


def set_dword(state: State, file: str, number: int, new: Sequence[Byte]) -> None:
    """Write the bytes of a vector register in the lanes of EXEC.

    Args:
        state: changed.
        file: ``v`` or ``a``.
        number: which register.
        new: its bytes, None where they are unknown.
    """
    for byte, value in enumerate(new):
        key = (file, number, byte)
        old = state.c.pop(key, None)
        word = None if value is None else Word(value)
        if state.exec.literals or (not state.exec.on.all() and (old is None or old.under is not None)):
            word = None if value is None else Word(value, under=state.exec)
        elif not state.exec.on.all() and value is not None and old is not None:
            merged = either(state.exec.on, value, old.value)
            word = None if merged is None else Word(merged)
        if word is not None:
            state.c[key] = word


def either(on: NDArray[np.bool_], a: Polynomial, b: Polynomial) -> Byte:
    """A selection by lanes; None if it has too many terms.

    Args:
        on: lanes (waves, lanes).
        a: in these lanes.
        b: in the others.
    """
    from mfmasim.prove.state import _either

    try:
        return _either(on, a, b)
    except TooLarge:
        return None


def loaded(address: Polynomial, size: int) -> list[Byte]:
    """Bytes of consecutive addresses."""
    return [address + k for k in range(size)]


def scattered(state: State, total: int, address: Polynomial, data: Sequence[Byte]) -> None:
    """Write bytes of every lane of EXEC to the LDS.

    Args:
        state: changed.
        total: bytes of the LDS.
        address: constant address of each lane.
        data: the bytes of each lane.
    """
    on = state.exec.on
    place = np.broadcast_to(np.asarray(address.constant, np.int64), on.shape)
    if (place[on] < 0).any() or (place[on] + len(data) > total).any():
        state.c.pop(LDS, None)
        return
    held = state.c.get(LDS)
    old = of(LOST) if held is None else held.value
    index = np.concatenate([place[on] + k for k in range(len(data))])
    new = [of(LOST) if byte is None or state.exec.literals else byte for byte in data]
    terms: dict[Any, Any] = {}
    for monomial in {m for p in (old, *new) for m in p.terms}:
        whole = np.broadcast_to(np.asarray(old.terms.get(monomial, 0), np.int64), (total,)).copy()
        parts = [np.broadcast_to(np.asarray(p.terms.get(monomial, 0), np.int64), on.shape)[on] for p in new]
        whole[index] = np.concatenate(parts)
        terms[monomial] = whole
    order, counts = np.unique(index, return_counts=True)
    twice = order[counts > 1]
    if twice.size:  # two lanes write the byte: the order of the lanes is not followed
        for whole in terms.values():
            whole[twice] = 0
        lost = terms.setdefault((LOST,), np.zeros(total, np.int64))
        lost[twice] = 1
    state.c[LDS] = Word(Polynomial(terms))


def gathered(state: State, total: int, address: Polynomial, size: int) -> list[Byte]:
    """Bytes of the LDS.

    Args:
        state: its LDS, and the lanes that read.
        total: bytes of the LDS.
        address: constant address of each lane.
        size: bytes of each lane.
    """
    held = state.c.get(LDS)
    if held is None:
        return [None] * size
    on = state.exec.on
    place = np.broadcast_to(np.asarray(address.constant, np.int64), on.shape)
    place = np.where(on, place, 0)
    if place.min() < 0 or place.max() + size > total:
        return [None] * size
    found: list[Byte] = []
    for k in range(size):
        terms = {
            m: c if isinstance(c, int) else np.broadcast_to(c, (total,))[place + k] for m, c in held.value.terms.items()
        }
        lost = terms.pop((LOST,), 0)
        one = Polynomial({m: simple(c) for m, c in terms.items()})
        found.append(None if np.any(np.where(on, lost, 0)) else one)
    return found


def factor_of(value: Polynomial, symbol: Symbol) -> Polynomial:
    """The coefficient of a formal symbol, as a polynomial."""
    return Polynomial({tuple(s for s in m if s is not symbol): c for m, c in value.terms.items() if symbol in m})


def common_part(values: Iterable[Polynomial]) -> Polynomial | None:
    """The element that formal polynomials share, without expression and byte; None if their elements differ.

    An element of C and the sum of the same row and column are the same element; the sum stands for both.
    """
    part: Polynomial | None = None
    for value in values:
        if LOST in value.symbols or not {RESULT, OWN} & value.symbols:
            return None
        one = Polynomial({m: c for m, c in value.terms.items() if m and MADE not in m})
        if part is None:
            part = one
        elif not part.same(one):
            if not _place(part).same(_place(one)):
                return None
            ours, theirs = (RESULT in p.symbols for p in (part, one))
            if ours and theirs:
                return None
            part = part if ours else one
    return part


def _place(value: Polynomial) -> Polynomial:
    return Polynomial({m: c for m, c in value.terms.items() if ROW in m or COLUMN in m})


def grown(now: Word, before: Word | None) -> Polynomial:
    """Difference of a content from the start to the end of a turn; 0 where the content was unknown before."""
    try:
        return now.value - before.value if before is not None else Polynomial({})
    except TooLarge:
        return Polynomial({})


def changed(before: Word, after: Word, step: Polynomial) -> NDArray[np.bool_]:
    """Bytes of the LDS that are known before a turn of a loop, and that do not change by `step` in it.

    Args:
        before: contents before the turn.
        after: contents after it.
        step: the assumed difference.
    """
    wrong: NDArray[np.bool_] = np.zeros(1, np.bool_)
    for c in (after.value - before.value - step).terms.values():
        wrong = wrong | (np.asarray(c) != 0)
    return np.asarray(wrong & (np.asarray(before.value.terms.get((LOST,), 0)) == 0))


def without(some: NDArray[np.bool_], held: Word, step: Polynomial) -> tuple[Word, Polynomial]:
    """Contents of the LDS, and their differences in a turn, without some of the bytes.

    Args:
        some: the bytes.
        held: contents.
        step: their differences in a turn.
    """
    terms, steps = ({m: np.where(some, 0, c) for m, c in p.terms.items()} for p in (held.value, step))
    terms[LOST,] = np.where(some, 1, held.value.terms.get((LOST,), 0))
    return Word(Polynomial(terms)), Polynomial(steps)
