"""The value of a register: a word of an exact integer that is a polynomial.

Bits 32 k to 32 k + 31 of a polynomial are word k. A register that holds word 0 of P holds P modulo 2^32, whatever P is;
two registers hold words 0 and 1 of a 64-bit address. Carries then need no rule: the words of a sum are the
words of the sum of the polynomials. None in place of a `Word` means that the register is unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.prove.inequality import never_negative
from mfmasim.prove.polynomial import Polynomial, constant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.prove.masks import Mask

__all__ = [
    "Word", "bits", "known", "literal", "pair", "sign_word", "signed", "signed_pair", "unsigned", "unsigned_pair",
]  # fmt: skip

WORD = 1 << 32
HUGE = 1 << 60
"""64-bit numbers are followed between -2^60 and 2^60: sums of two of them do not wrap, coefficients stay exact."""


@dataclass(frozen=True, eq=False)
class Word:
    """A register of each wave (and lane)."""

    value: Polynomial
    part: int = 0
    """Number of the word: its lowest bit is bit ``32 * part``."""
    under: Mask | None = None
    """Lanes in which the word is known; None means all lanes."""
    rest: Word | None = None
    """The word of the other lanes, if it is known."""

    def __repr__(self) -> str:
        return f"{self.value}" + (f" >> {32 * self.part}" if self.part else "")

    def same(self, other: Word | None) -> bool:
        """Whether two words are equal in every lane, for all values of the symbols."""
        return (
            other is not None and self.part == other.part and self.under == other.under and self.value.same(other.value)
        )


def literal(value: int) -> Word:
    """A constant of 32 bits."""
    return Word(constant(_wrapped(value)))


def _wrapped(value: int) -> int:
    return (value + (WORD >> 1)) % WORD - (WORD >> 1)


def known(word: Word | None) -> np.ndarray | int | None:
    """The unsigned value of a word without symbols, an integer or an int64 array; None if it has any."""
    if word is None or not word.value.is_constant:
        return None
    value = word.value.constant
    return (value >> (32 * word.part)) & 0xFFFFFFFF


def bits(value: np.ndarray | int) -> Word:
    """A word with these bits."""
    if isinstance(value, int):
        return literal(value)
    return Word(constant((value.astype(np.int64) + (WORD >> 1)) % WORD - (WORD >> 1)))


def reduced(value: Polynomial) -> Word:
    """Word 0 of a polynomial, without multiples of 2^32, and with the constant nearest to 0."""
    terms = {m: c for m, c in value.terms.items() if m and np.any(np.asarray(c) % WORD)}
    return Word(Polynomial(terms) + constant((value.constant + (WORD >> 1)) % WORD - (WORD >> 1)))


def unsigned(word: Word | None, facts: Sequence[Polynomial]) -> Polynomial | None:
    """The unsigned value of a word as a polynomial that needs no modulus; None if it may wrap."""
    return _within(word, facts, 0)


def signed(word: Word | None, facts: Sequence[Polynomial]) -> Polynomial | None:
    """The signed value of a word, as `unsigned`."""
    return _within(word, facts, -(WORD >> 1))


def _within(word: Word | None, facts: Sequence[Polynomial], least: int) -> Polynomial | None:
    if word is None:
        return None
    value = known(word)
    if value is not None:
        return constant((value - least) % WORD + least)
    if word.part:
        return None
    for shift in (0, WORD) if least == 0 else (0, -WORD):
        moved = word.value + shift
        low, high = moved.range
        if ((low is not None and low >= least) or never_negative(moved - least, facts)) and (
            (high is not None and high < least + WORD) or never_negative(-moved + (least + WORD - 1), facts)
        ):
            return moved
    return None


def pair(low: Word | None, high: Word | None, facts: Sequence[Polynomial]) -> Polynomial | None:
    """A polynomial that equals the 64 bits of two registers, modulo 2^64.

    Args:
        low: the low register.
        high: the high one.
        facts: polynomials that are not negative.
    """
    if low is None or high is None or low.part:
        return None
    if high.part == 1 and _congruent(low.value, high.value):
        return high.value
    if high.part:
        return None
    lower = unsigned(low, facts)
    if lower is None:
        return None
    upper = known(high)
    if upper is None:
        return lower + high.value.scaled(WORD)
    return lower + constant((upper + (WORD >> 1)) % WORD - (WORD >> 1)).scaled(WORD)


def _congruent(a: Polynomial, b: Polynomial) -> bool:
    """Whether two polynomials are congruent modulo 2^32."""
    return all(
        not np.any(np.asarray(c) % WORD) if not isinstance(c, int) else c % WORD == 0 for c in (a - b).terms.values()
    )


def unsigned_pair(low: Word | None, high: Word | None, facts: Sequence[Polynomial]) -> Polynomial | None:
    """The unsigned value of 64 bits as a polynomial that needs no modulus; None if it may wrap.

    Args:
        low: the low register.
        high: the high one.
        facts: polynomials that are not negative.
    """
    value = pair(low, high, facts)
    return value if value is not None and _lies(value, 0, facts) else None


def signed_pair(low: Word | None, high: Word | None, facts: Sequence[Polynomial]) -> Polynomial | None:
    """The signed value of 64 bits, as `unsigned_pair`.

    Args:
        low: the low register.
        high: the high one.
        facts: polynomials that are not negative.
    """
    value = pair(low, high, facts)
    return value if value is not None and _lies(value, -HUGE, facts) else None


def _lies(value: Polynomial, least: int, facts: Sequence[Polynomial]) -> bool:
    """Whether a value lies between `least` and `HUGE` in every lane."""
    low, high = value.range
    above = (low is not None and low >= least) or never_negative(value - least, facts)
    return above and ((high is not None and high <= HUGE) or never_negative(-value + HUGE, facts))


def sign_word(word: Word | None, facts: Sequence[Polynomial]) -> Word | None:
    """A dword that is filled with the sign of a word: word 1 of the signed value."""
    value = signed(word, facts)
    if value is None:
        return None
    return literal(0) if never_negative(value, facts) else Word(value, 1)
