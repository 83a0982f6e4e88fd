"""Sums with carries, and instructions on 64 bits, scalar and vector."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfmasim.prove.inequality import never_negative
from mfmasim.prove.operations import WIDE, WORDS
from mfmasim.prove.polynomial import Polynomial, constant
from mfmasim.prove.quotients import defined, quotient
from mfmasim.prove.state import Carry
from mfmasim.prove.words import Word, bits, known, pair, reduced, signed, unsigned, unsigned_pair

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.isa import Instruction, Operand
    from mfmasim.prove.state import State

__all__ = ["carry_in", "carry_of", "execute_wide", "high_sum"]


def carry_of(sources: list[Word | None]) -> Carry | None:
    """The carry of a sum of two dwords; None if it is unknown."""
    values = []
    for word in sources[:2]:
        number = known(word)
        if number is not None:
            values.append(constant(number))
        elif word is not None and not word.part:
            values.append(word.value)
    return Carry(values[0], values[1]) if len(values) == 2 else None


def carry_in(state: State, ins: Instruction) -> None:
    """S_ADDC_U32 after S_ADD_U32 of the low words: word 1 of the sum."""
    carry = state.scc
    words = [state.operand(o) for o in ins.src[:2]]
    state.scc = None
    result = high_sum(carry, words, state)
    state.write(ins.dst[0], [result])


def high_sum(carry: object, highs: list[Word | None], state: State) -> Word | None:
    """The high dword of a sum of 64 bits.

    Args:
        carry: of the sum of the low dwords, a `Carry` if it is known.
        highs: the high dwords.
        state: of the waves, for its facts.
    """
    if not isinstance(carry, Carry):
        return None
    for lows in ((carry.a, carry.b), (carry.b, carry.a)):  # the sum does not depend on the order of the high words
        values = [pair(reduced(low), high, state.facts) for low, high in zip(lows, highs, strict=True)]
        if values[0] is not None and values[1] is not None:
            return _upper(values[0] + values[1], state)
    return None


def _upper(value: Polynomial, state: State) -> Word:
    """Word 1 of a polynomial, as a constant if it is one."""
    if value.is_constant:
        number = value.constant
        return bits(number >> 32 & 0xFFFFFFFF)
    if never_negative(value, state.facts) and never_negative(-value + 0xFFFFFFFF, state.facts):
        return bits(0)
    return Word(value, 1)


def execute_wide(state: State, ins: Instruction) -> None:
    """Operations with a result of 64 bits."""
    how, src = WIDE[ins.name], ins.src
    if how == "move":
        words = [state.operand(src[0], k) for k in range(2)]
        state.write(ins.dst[0], words)
        return
    if how.startswith("mad"):
        take = unsigned if how.endswith("unsigned") else signed
        factors = [take(state.operand(o), state.facts) for o in src[:2]]
        rest = pair(state.operand(src[2]), state.operand(src[2], 1), state.facts)
        value = None if factors[0] is None or factors[1] is None or rest is None else factors[0] * factors[1] + rest
    else:
        values = [
            None if o.count == 1 and o.kind != "const" else pair(state.operand(o), state.operand(o, 1), state.facts)
            for o in src
        ]
        amounts = [known(state.operand(o)) for o in src]
        value = _wide_right(state, how, src) if how.startswith("right") else _wide_value(how, values, amounts)
    low, high = (None, None) if value is None else (reduced(value), _upper(value, state))
    if how in ("right", "right reversed") and (dwords := _shifted_dwords(state, how, src)) is not None:
        low, high = dwords
        for word in dwords:
            defined(state, word, [state.operand(o, k) for o in src for k in range(2)])
    if value is None and how.startswith("mad"):  # the low word depends on the low words alone
        product = WORDS["v_mul_lo_u32"]([state.operand(o) for o in src[:2]], state.facts)
        added = state.operand(src[2])
        if product is not None:
            number = known(product)
            nothing = number is not None and not np.any(number)
            low = added if nothing else WORDS["v_add_u32"]((product, added), state.facts)
    state.write(ins.dst[0], [low, high])
    for operand in ins.dst[1:]:  # the carry of a multiply-add
        if operand.kind == "s":
            state.write(operand, [])


def _wide_value(how: str, values: list[Polynomial | None], amounts: Sequence[object]) -> Polynomial | None:
    def times(value: Polynomial | None, amount: object) -> Polynomial | None:
        return None if value is None or not isinstance(amount, int) else value.scaled(1 << (amount & 63))

    if how == "shift add":
        amount = amounts[1]
        if not isinstance(amount, int) or amount > 4:  # results of larger shifts are not followed
            return None
        first, rest = times(values[0], amount), values[2]
        return None if first is None or rest is None else first + rest
    if how == "shift":
        return times(values[0], amounts[1])
    if how == "shift reversed":
        return times(values[1], amounts[0])
    a, b = values[:2]
    if a is None or b is None:
        return None
    return a + b if how == "add" else a - b if how == "subtract" else a * b


def _shifted_dwords(state: State, how: str, src: Sequence[Operand]) -> tuple[Word, Word] | None:
    """A right shift by less than 32 of a dword pair whose dwords are separate numbers."""
    operand, by = reversed(src) if how.endswith("reversed") else src
    amount = known(state.operand(by))
    low, high = (unsigned(state.operand(operand, k), state.facts) for k in range(2))
    if low is None or high is None or not isinstance(amount, int) or not 0 < amount & 63 < 32:
        return None
    places = amount & 63
    below, above = (quotient(one, constant(1 << places), state.facts) for one in (low, high))
    return reduced(below + high.scaled(1 << 32 - places)), reduced(above)


def _wide_right(state: State, how: str, src: Sequence[Operand]) -> Polynomial | None:
    """A right shift of a 64-bit number that is not negative."""
    operand, by = reversed(src) if how.endswith("reversed") else src
    amount = known(state.operand(by))
    exact = unsigned_pair(state.operand(operand), state.operand(operand, 1), state.facts)
    if "signed" in how and exact is not None and not never_negative(-exact + ((1 << 63) - 1), state.facts):
        exact = None
    if exact is None or not isinstance(amount, int):
        return None
    places = amount & 63
    # 64-bit numbers are followed up to 2^60, and 2^63 is no int64.
    return quotient(exact, constant(1 << places), state.facts) if places <= 60 else constant(0)
