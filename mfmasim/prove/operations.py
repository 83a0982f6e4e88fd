"""Integer operations on words of polynomials.

If all sources are constants in each lane, the machine's own function computes the result. The functions here compute
all other results; each is right for all values of the symbols, or returns None. `tests/prove/test_operations.py` draws
polynomials and values, and compares with the machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.prove.inequality import never_negative
from mfmasim.prove.memos import Memo
from mfmasim.prove.polynomial import Polynomial, Symbol, constant, of
from mfmasim.prove.quotients import divided, quotient
from mfmasim.prove.words import Word, bits, known, reduced, sign_word, signed, unsigned

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Facts = Sequence[Polynomial]
    Words = Sequence["Word | None"]
    Rule = Callable[[Words, Facts], "Word | None"]

__all__ = ["WIDE", "WORDS", "low_bits"]

MASK = 0xFFFFFFFF
_minima: Memo[object, Symbol] = Memo(10_000)
"""Symbols of minima, and of results of bitwise operations, by operands: equal operands have the same symbol."""


def low_bits(value: Polynomial, count: int) -> Polynomial | None:
    """The lowest bits of a polynomial, if they are constants in each lane."""
    return constant(_mod(value.constant, 1 << count)) if value.divisible(1 << count) else None


def _mod(value: Any, by: int) -> Any:
    return value % by


def _zeros(value: Polynomial) -> int:
    """Low bits that are 0 in every lane, at most 32."""
    count = 0
    while count < 32 and not np.any(np.asarray(value.constant) % (2 << count)) and value.divisible(2 << count):
        count += 1
    return count


def _values(words: Words) -> list[Polynomial] | None:
    """Polynomials whose word 0 is the source, for each source."""
    if any(word is None or (word.part and known(word) is None) for word in words):
        return None
    return [constant(known(w)) if known(w) is not None else w.value for w in words]  # type: ignore[union-attr, arg-type]


def _exact(words: Words, facts: Facts, how: Callable[..., Polynomial | None] = unsigned) -> list[Polynomial] | None:
    found = [how(word, facts) for word in words]
    return None if any(value is None for value in found) else found  # type: ignore[return-value]


def _small(word: Word | None) -> Word | None:
    """A constant as the congruent number nearest to 0."""
    value = known(word)
    return word if value is None else bits(value)


def _linear(function: Callable[..., Polynomial]) -> Rule:
    """An operation that is right modulo 2^32 even if it wraps."""

    def rule(words: Words, _facts: Facts) -> Word | None:
        values = _values([_small(word) for word in words])
        if values is None:
            return None
        small = [v if not v.is_constant else bits(known(Word(v))).value for v in values]  # type: ignore[arg-type]
        return reduced(function(*small))

    return rule


def _amount(word: Word | None) -> int | None:
    value = known(word)
    if isinstance(value, np.ndarray):
        return int(value.flat[0]) & 31 if (value == value.flat[0]).all() else None
    return None if value is None else value & 31


def _left(value: Word | None, by: Word | None, _facts: Facts) -> Word | None:
    values, amount = _values([value]), known(by)
    if values is None or amount is None:
        return None
    return reduced(values[0].scaled(1 << (amount & 31) if isinstance(amount, int) else np.left_shift(1, amount & 31)))


def _right(value: Word | None, by: Word | None, facts: Facts) -> Word | None:
    amount, exact = _amount(by), unsigned(value, facts)
    if amount is None or exact is None:
        return None
    if amount == 0:
        return value
    if never_negative(-exact + ((1 << amount) - 1), facts):
        return bits(0)
    return reduced(quotient(exact, constant(1 << amount), facts))


def _right_signed(value: Word | None, by: Word | None, facts: Facts) -> Word | None:
    amount, exact = _amount(by), signed(value, facts)
    if amount is None or exact is None:
        return None
    if amount == 31:
        return sign_word(value, facts)
    if amount == 0:
        return value
    found = divided(exact, 1 << amount)
    if found is not None:
        return reduced(found)
    return reduced(quotient(exact, constant(1 << amount), facts)) if never_negative(exact, facts) else None


def _and(a: Word | None, b: Word | None, facts: Facts) -> Word | None:
    for value, mask in ((a, b), (b, a)):
        number = known(mask)
        if isinstance(number, np.ndarray) and (number == number.flat[0]).all():
            number = int(number.flat[0])
        if isinstance(number, int) and value is not None:
            constants = known(value)
            return _masked(value, number, facts) if constants is None else bits(constants & number)
    return None


def _masked(value: Word, mask: int, facts: Facts) -> Word | None:
    """AND of a word and a constant of contiguous ones."""
    if mask == 0:
        return bits(0)
    if mask == MASK:
        return value
    low = (mask & -mask).bit_length() - 1
    high = mask.bit_length()
    if value.part == 1 and mask == (1 << high) - 1 and high >= 16:  # of an address below 2^48
        small = never_negative(value.value, facts) and never_negative(-value.value + ((1 << 48) - 1), facts)
        return value if small else None
    if mask != (1 << high) - (1 << low) or (value.part and known(value) is None):
        return None
    polynomial = value.value
    cut = low_bits(polynomial, low)
    if cut is None:
        return None
    rest = polynomial - cut  # bits `low` and up of the word
    if high == 32:
        return reduced(rest)
    below = low_bits(polynomial, high)
    if below is not None:
        return reduced(below - cut)
    exact = unsigned(value, facts)
    if exact is not None and never_negative(-exact + ((1 << high) - 1), facts):
        return reduced(exact - cut)
    if exact is None:
        unknown = Symbol(f"({polynomial})&{mask:#x}", 0, mask, varies=not polynomial.uniform)
        return None if low else Word(of(unknown))
    by = constant(1 << high)
    return reduced(exact - quotient(exact, by, facts).scaled(1 << high) - cut)


def _disjoint(a: Word | None, b: Word | None, facts: Facts) -> bool:
    """Whether two words have no common bit."""
    for low, high in ((a, b), (b, a)):
        values = _values([high])
        exact = unsigned(low, facts)
        if values is not None and exact is not None:
            zeros = _zeros(values[0])
            if zeros and never_negative(-exact + ((1 << zeros) - 1), facts):
                return True
    return False


def _bitwise(how: Callable[[Any, Any], Any]) -> Callable[[Any, Any, Facts], Word | None]:
    """OR and XOR: the sum of words without a common bit, or a constant that changes only constant low bits."""

    def rule(a: Word | None, b: Word | None, facts: Facts) -> Word | None:
        for value, other in ((a, b), (b, a)):
            number = known(other)
            if (
                isinstance(number, int)
                and number % (1 << 16) == 0
                and value is not None
                and value.part == 1
                and (never_negative(value.value, facts) and never_negative(-value.value + ((1 << 48) - 1), facts))
            ):  # bits above those of an address
                return Word(value.value + ((number + (1 << 31)) % (1 << 32) - (1 << 31) << 32), 1)
            if number is None or value is None or (value.part and known(value) is None):
                continue
            if isinstance(number, int) and number == 0:
                return value
            top = int(np.max(number)).bit_length()
            cut = low_bits(value.value, top)
            if cut is not None:
                return reduced(value.value - cut + constant(how(_number(cut), number)))
        if _disjoint(a, b, facts):
            values = _values([a, b])
            return None if values is None else reduced(values[0] + values[1])
        return _disjoint_in_some(a, b, facts, how(1, 1))

    return rule


def _disjoint_in_some(a: Word | None, b: Word | None, facts: Facts, common: int) -> Word | None:
    """OR and XOR where only some lanes have common bits: the sum in lanes without, a symbol in the other lanes."""
    exact = _exact([a, b], facts)
    if exact is None:
        return None
    for low, high in (exact, exact[::-1]):
        small = np.asarray(low.constant) < 1 << _zeros(high)
        if not low.is_constant or not small.any():
            continue
        most = MASK >> 1 if all(never_negative(-value + (MASK >> 1), facts) for value in exact) else MASK
        key = ("bits", common, most, exact[0].key, exact[1].key)
        if key not in _minima:
            _minima[key] = Symbol(f"({low}){'^|'[common]}({high})", 0, most, varies=True)
        chosen = Polynomial({m: np.where(small, c, 0) for m, c in (low + high).terms.items()})
        return Word(chosen + of(_minima[key]).scaled(np.where(small, 0, 1)))
    return None


def _number(value: Polynomial) -> Any:
    return value.constant


_or, _xor = _bitwise(lambda x, y: x | y), _bitwise(lambda x, y: x ^ y)


def _field(value: Word | None, first: Word | None, width: Word | None, facts: Facts) -> Word | None:
    """V_BFE_U32."""
    start, count = _amount(first), _amount(width)
    if start is None or count is None:
        return None
    shifted = _right(value, bits(start), facts)
    return shifted if shifted is None else _masked(shifted, (1 << count) - 1, facts)


def _scalar_field(value: Word | None, field: Word | None, facts: Facts) -> Word | None:
    """S_BFE_U32: offset in bits 4:0, width in bits 22:16 of the second source."""
    number = known(field)
    if not isinstance(number, int):
        return None
    width = number >> 16 & 0x7F
    shifted = _right(value, bits(number & 31), facts)
    return shifted if shifted is None or width >= 32 else _masked(shifted, (1 << width) - 1, facts)


def _chosen(how: Callable[..., Polynomial | None], *, larger: bool) -> Rule:
    """Minimum or maximum, if it is known which source is the result."""

    def rule(words: Words, facts: Facts) -> Word | None:
        values = _exact(words, facts, how)
        if values is None:
            return None
        for one, other, word in ((values[0], values[1], words[0]), (values[1], values[0], words[1])):
            if never_negative(one - other if larger else other - one, facts):
                return word
        return None if larger else _least(values, MASK if how is unsigned else MASK >> 1)

    return rule


def _least(values: Sequence[Polynomial], most: int) -> Word | None:
    """The minimum of two numbers as a symbol."""
    lows, highs = zip(*(value.range for value in values), strict=True)
    if any(low is None for low in lows):
        return None
    key = (most, *(value.key for value in values))
    if key not in _minima:
        high = min([most, *(one for one in highs if one is not None)])
        varies = not all(value.uniform for value in values)
        common = tuple(value for value in values if all(isinstance(c, int) for c in value.terms.values()))
        both = values[0], values[1]
        _minima[key] = Symbol(f"min({both[0]}, {both[1]})", min(lows), high, varies, common, smaller=both)
    return Word(of(_minima[key]))


def _product24(words: Words, facts: Facts) -> Polynomial | None:
    values = _exact(words, facts)
    if values is None or not all(never_negative(-v + 0xFFFFFF, facts) for v in values):
        return None
    return values[0] * values[1]


def _high(how: Callable[..., Polynomial | None]) -> Rule:
    def rule(words: Words, facts: Facts) -> Word | None:
        values = _exact(words, facts, how)
        if values is None:
            return None
        product = values[0] * values[1]
        if never_negative(product, facts) and never_negative(-product + MASK, facts):
            return bits(0)
        return Word(product, 1)

    return rule


def _with_high(rule: Rule, sign: int) -> Rule:
    """A sum or difference; with one high dword as an operand the result is a high dword, too."""

    def added(words: Words, facts: Facts) -> Word | None:
        found = rule(words, facts)
        if found is not None:
            return found
        for high, other in ((words[0], words[1]), (words[1], words[0])):
            values = _values([_small(other)])
            if high is not None and high.part == 1 and values is not None and (sign > 0 or high is words[0]):
                return Word(high.value + values[0].scaled(sign << 32), 1)
        return None

    return added


_add: Rule = _with_high(_linear(lambda a, b: a + b), 1)
_multiply: Rule = _linear(lambda a, b: a * b)


def _then(first: Callable[..., Word | None], second: Callable[..., Word | None]) -> Rule:
    """``second(first(S0, S1), S2)``."""

    def rule(words: Words, facts: Facts) -> Word | None:
        inner = first(words[0], words[1], facts)
        return None if inner is None else second(inner, words[2], facts)

    return rule


def _three(function: Callable[..., Word | None]) -> Rule:
    return lambda words, facts: function(*words, facts)


def _two(rule: Rule) -> Callable[..., Word | None]:
    return lambda a, b, facts: rule((a, b), facts)


def _swapped(function: Callable[..., Word | None]) -> Rule:
    """The amount of the shift is the first source."""
    return lambda words, facts: function(words[1], words[0], facts)


def _mad24(words: Words, facts: Facts) -> Word | None:
    product = _product24(words[:2], facts)
    rest = _values([_small(words[2])])
    return None if product is None or rest is None else reduced(product + rest[0])


def _mul24(words: Words, facts: Facts) -> Word | None:
    product = _product24(words, facts)
    return None if product is None else reduced(product)


def _is(words: Words, _facts: Facts) -> Word | None:
    return words[0]


_SUBTRACT: Rule = _with_high(_linear(lambda a, b: a - b), -1)
_RULES: tuple[tuple[str, Rule], ...] = (
    ("v_mov_b32 s_mov_b32 v_accvgpr_read_b32 v_accvgpr_write_b32 v_accvgpr_mov_b32 s_movk_i32", _is),
    (("v_add_u32 v_add_nc_u32 s_add_u32 s_add_i32 s_add_co_u32 s_add_co_i32 v_add_co_u32 v_add_i32 v_add_nc_i32 "
     "s_addk_i32 s_addk_co_i32"), _add),
    ("v_sub_u32 v_sub_nc_u32 s_sub_u32 s_sub_i32 s_sub_co_u32 s_sub_co_i32 v_sub_co_u32 v_sub_i32 v_sub_nc_i32",
     _SUBTRACT),
    ("v_subrev_u32 v_subrev_nc_u32 v_subrev_co_u32", lambda words, facts: _SUBTRACT((words[1], words[0]), facts)),
    ("v_mul_lo_u32 s_mul_i32 s_mulk_i32", _multiply),
    ("v_mul_hi_u32 s_mul_hi_u32", _high(unsigned)),
    ("v_mul_hi_i32 s_mul_hi_i32", _high(signed)),
    ("v_mul_u32_u24", _mul24),
    ("v_mad_u32_u24", _mad24),
    ("v_lshlrev_b32", _swapped(_left)),
    ("s_lshl_b32", _three(_left)),
    ("v_lshrrev_b32", _swapped(_right)),
    ("s_lshr_b32", _three(_right)),
    ("v_ashrrev_i32", _swapped(_right_signed)),
    ("s_ashr_i32", _three(_right_signed)),
    ("v_and_b32 s_and_b32", _three(_and)),
    ("v_or_b32 s_or_b32", _three(_or)),
    ("v_xor_b32 s_xor_b32", _three(_xor)),
    ("v_mad_u32", _then(_two(_multiply), _two(_add))),
    ("v_lshl_add_u32", _then(_left, _two(_add))),
    ("v_add_lshl_u32", _then(_two(_add), _left)),
    ("v_lshl_or_b32", _then(_left, _or)),
    ("v_and_or_b32", _then(_and, _or)),
    ("v_or3_b32", _then(_or, _or)),
    ("v_xad_u32", _then(_xor, _two(_add))),
    ("s_bitset1_b32", lambda w, f: None if (n := _amount(w[0])) is None else _or(w[1], bits(1 << n), f)),
    ("v_add3_u32", _then(_two(_add), _two(_add))),
    ("v_bfe_u32", _three(_field)),
    ("s_bfe_u32", _three(_scalar_field)),
    ("v_min_u32 s_min_u32", _chosen(unsigned, larger=False)),
    ("v_max_u32 s_max_u32", _chosen(unsigned, larger=True)),
    ("v_min_i32 s_min_i32", _chosen(signed, larger=False)),
    ("v_max_i32 s_max_i32", _chosen(signed, larger=True)),
    ("s_lshl1_add_u32", lambda w, f: _add((_left(w[0], bits(1), f), w[1]), f)),
    ("s_lshl2_add_u32", lambda w, f: _add((_left(w[0], bits(2), f), w[1]), f)),
    ("s_lshl3_add_u32", lambda w, f: _add((_left(w[0], bits(3), f), w[1]), f)),
    ("s_lshl4_add_u32", lambda w, f: _add((_left(w[0], bits(4), f), w[1]), f)),
)  # fmt: skip
WORDS: dict[str, Rule] = {name: rule for names, rule in _RULES for name in names.split()}
"""Operations with one dword as their result."""


WIDE: dict[str, str] = {
    "v_mad_u64_u32": "mad unsigned", "v_mad_co_u64_u32": "mad unsigned", "v_mad_nc_u64_u32": "mad unsigned",
    "v_mad_i64_i32": "mad signed", "v_mad_co_i64_i32": "mad signed", "v_mad_nc_i64_i32": "mad signed",
    "v_lshl_add_u64": "shift add", "v_lshlrev_b64": "shift reversed", "s_lshl_b64": "shift",
    "v_lshrrev_b64": "right reversed", "s_lshr_b64": "right",
    "v_ashrrev_i64": "right signed reversed", "s_ashr_i64": "right signed",
    "s_mov_b64": "move", "v_mov_b64": "move", "s_add_u64": "add", "s_add_nc_u64": "add", "v_add_nc_u64": "add",
    "s_sub_u64": "subtract", "s_sub_nc_u64": "subtract", "s_mul_u64": "multiply",
    "v_mul_u64": "multiply",
}  # fmt: skip
"""Operations with a result of two dwords, by kind."""
