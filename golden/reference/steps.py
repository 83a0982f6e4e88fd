"""How CDNA1, CDNA2, RDNA3 and RDNA4 add one group of products to the running value, in Python integers.

Sources: CDNA1 and CDNA2: the published, hardware-checked algorithms (arXiv 2511.10909v2, there E-FDPA and FTZ-AddMul).
RDNA3 and RDNA4: ROCm/rocm-systems, rocjitsu (PR 12120, issue 12056), captured on W7900 (gfx1100) and R9700 (gfx1201);
that the FP8 forms of RDNA4 sum as V_DOT4_F32_FP8_FP8 does, which was captured, is assumed.

As in `golden.reference.models`, NaN is 0x7fc00000 whatever its payload.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from golden.reference.exact import add
from golden.reference.formats import FORMATS, Number, decode, encode, encode_finite
from golden.reference.terms import signed, special

if TYPE_CHECKING:
    from collections.abc import Sequence

F32 = FORMATS["f32"]
NOTHING = -1024
"""Leading bit of a zero."""
LEAST = -126
"""Leading bit of the least normal f32."""


def exact_step(terms: Sequence[Number], c: Number) -> int:
    """CDNA1: the sum is exact and rounded once; a sum of zero is +0."""
    return encode(add([*terms, c]), F32)


def pairwise_step(terms: Sequence[Number], c: int) -> int:
    """CDNA2: products, sums of neighbours and the sum with C are each rounded to f32 and flushed."""
    codes = [_flushed(_rounded(term)) for term in terms]
    while len(codes) > 1:
        codes = [_plus(codes[i], codes[i + 1]) for i in range(0, len(codes), 2)]
    return _plus(c, codes[0])


def flushed_factor(number: Number, hidden: int, *, keep_sign: bool) -> Number:
    """A factor whose subnormal values count as zero; `hidden` is the significand of the least normal value."""
    if number.kind != "finite" or number.significand >= hidden:
        return number
    return Number("finite", number.sign if keep_sign else 0, 0, number.exponent, number.place)


def _rounded(number: Number) -> int:
    """F32 code of a product; zeros keep their sign."""
    if number.kind == "finite" and not number.significand:
        return F32.sign_bit if number.sign else 0
    return encode(number, F32)


def _flushed(code: int) -> int:
    return code if code & 0x7F800000 else code & F32.sign_bit


def _plus(a: int, b: int) -> int:
    """IEEE 754 sum of two f32 codes, flushed."""
    x, y = decode(a, F32), decode(b, F32)
    total = add([x, y])
    if total.kind == "finite" and not total.significand:
        both = not x.significand and not y.significand and x.sign == y.sign == 1
        return F32.sign_bit if both else 0
    return _flushed(encode(total, F32))


def leading(number: Number) -> int:
    """Exponent of the leading bit that is set."""
    return number.exponent + number.significand.bit_length() - 1 if number.significand else NOTHING


def _cut(number: Number, grid: int) -> int:
    """The magnitude in whole units of 2**grid."""
    by = number.exponent - grid
    return number.significand << by if by >= 0 else number.significand >> -by


def _floor(value: int, unit: int, grid: int) -> int:
    return value << (unit - grid) if unit >= grid else value >> (grid - unit)


def _places(terms: Sequence[Number]) -> list[int]:
    return [term.place for term in terms if term.significand]


def dot2_step(terms: Sequence[Number], c: int) -> int:
    """RDNA3: two products and C are cut on one grid and added in the sign of C, opposite ones in ones' complement."""
    addend = decode(_flushed(c), F32)
    answer = special([*terms, addend])
    if answer is not None:
        return encode(answer, F32)
    if not addend.significand and not any(term.significand for term in terms):
        return 0
    grid = max(leading(one) for one in (addend, *terms)) - 26
    grid = max([grid, *(place - 24 for place in _places(terms))])
    total = 0
    for one in (addend, *terms):
        size = _cut(one, grid)
        total += size if one.sign == addend.sign else -size - 1
    if not total:
        return 0
    sign, size = int(total < 0) ^ addend.sign, abs(total)
    # Rounded to 24 bits as if exponents had no end; a result below the normal ones is +0 then.
    drop = max(size.bit_length() - 24, 0)
    kept, rest = size >> drop, size & ((1 << drop) - 1)
    kept += bool(drop) and (2 * rest > 1 << drop or (2 * rest == 1 << drop and bool(kept & 1)))
    if kept.bit_length() - 1 + drop + grid < LEAST:
        return 0
    return encode_finite(sign, kept, drop + grid, F32)


def dot4_step(terms: Sequence[Number], c: int, pair: int) -> int:
    """RDNA4: products are floored and added in groups of `pair`, these and C on a common grid."""
    addend = decode(c, F32)
    answer = special([*terms, addend])
    if answer is not None:
        return encode(answer, F32)
    grid = max(leading(addend), LEAST) - 26
    grid = max([grid, *(place - 24 for place in _places(terms))])
    total = 0
    for first in range(0, len(terms), pair):
        some = terms[first : first + pair]
        places = _places(some)
        if places:
            own = max(places) - 24
            total += _floor(sum(_floor(signed(term), term.exponent, own) for term in some), own, grid)
    vanishes = addend.sign and leading(addend) < grid and grid > LEAST
    total += 0 if vanishes else _floor(signed(addend), addend.exponent, grid)
    code = encode_finite(int(total < 0), abs(total), grid, F32)
    return code if code & 0x7FFFFFFF else 0  # what rounds to zero is +0: assumed, no capture has it
