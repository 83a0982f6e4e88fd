"""Sine and cosine of turns in f32, in the steps that were inferred from captures of RDNA3 and RDNA4.

The argument is reduced exactly to an eighth of a turn with 31 bits; a cubic of one of 16 intervals gives the result,
cut to 24 bits. In the second half of a quarter turn the distance from its end counts, from below: as its complement.

Steps and coefficients are those of AMD's rocjitsu (``amdgpu_trig.h``) with the staged products of bjacob/goc
(``src/trig_model.h``), both MIT; they give every captured result (tests/silicon), of which only 35 are public, and
their authors say that not every argument was compared. Fidelity: ``assumed``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.arrays import F32, F64, I64
from mfmasim.machine.numerics.function_tables import COS, SIN
from mfmasim.machine.numerics.lane_masks import every, some

CACHED = 1 << 12
"""Elements whose intermediate values stay in the caches."""
UNITS = np.array([8, 2.0**-17, 2.0**7, 2.0**-17])
TABLE = np.concatenate([np.array([*SIN, *COS]).T * UNITS[:, None], np.where(np.arange(32) < 16, 1.0, -1.0)[None]])
"""c0 and c1 t in units of 2**-29; c2 + c3 t an integer, for a cosine with t from the end of the interval; the sign of
the linear term: a cosine falls."""
TABLE[2, 16:] -= TABLE[3, 16:] * 2**24
TO_24 = np.array(2.0**53 - 2.0**24)
"""Added and subtracted: rounds to 24 bits, the last place no finer than the unit."""
PLAIN_SINE = np.array(float.fromhex("0x1.8p-12"))
"""Below it the sine is the argument times `FACTOR`, rounded once."""
FACTOR = np.array(0xC90FD5 * 2.0**-21)


def _int(number: int) -> I64:
    """An array without axes: a quicker operand than a number."""
    return np.array(number, np.int64)


def _real(number: float) -> F64:
    """The same of a float."""
    return np.array(number, np.float64)


FLAT = _int(46592)
"""Distances, in 2**-31 turns, whose cosine is 1."""
KEPT = _int(~((1 << 29) - 1))
"""Bits of a float64 that a float32 has."""
ONE, TWO, FOUR, SEVEN, EIGHT, W24, W28, W29 = (_int(n) for n in (1, 2, 4, 7, 8, 24, 28, 29))
LATER, MOST, PLACE, OFFSET, UPPER = (_int(n) for n in (16, 0xFFFFF, 0x1FFFFFFF, 0xFFFFFF, ~63))
W31, NOTHING = np.array(31, np.uint32), np.array(0, np.float32)
TURN, FINE, PRODUCT, DOUBLE, ZERO = (_real(x) for x in (2.0**31, 2.0**-5, 2.0**-29, 2.0, 0.0))
WIDE, LESS, MORE = (_real(2.0**n) for n in (47, 22, 23))


def _cut(sums: F64, unit: Any) -> F32:
    """Sums in units without what is below 24 bits."""
    out: F32 = ((sums.view(np.int64) & KEPT).view(np.float64) * unit).astype(np.float32)
    return out


def _ordinary(c0: F64, c1: F64, sign: F64, t: I64, inner: F64) -> F32:
    """A cosine, or a sine from the third interval on; t from the start of the interval."""
    linear = c1 * np.minimum(t + EIGHT >> FOUR, MOST)
    linear += TO_24
    linear -= TO_24
    linear *= sign
    linear += c0
    square = (t >> SEVEN) * FINE
    square *= square
    np.floor(square, square)
    square *= inner
    square -= np.where(square < WIDE, LESS, MORE)
    square *= PRODUCT
    np.ceil(square, square)
    np.maximum(square, ZERO, out=square)
    square *= DOUBLE
    linear -= square
    return _cut(linear, PRODUCT)


# Places of a sine in its first interval, by the width of the offset, and last those of the second interval.
WIDTHS = np.arange(27)
SPARE = np.where(WIDTHS < 26, np.maximum(24 - WIDTHS, 0) // 4 * 4, 0)
WIDER = np.where(WIDTHS < 26, np.maximum(25 - WIDTHS, 0) // 4 * 4, 0)
PLACES = np.where(WIDTHS < 26, 32 + SPARE, 30)
SQUARE = np.minimum(34, 24 + SPARE)
BY_WIDTH = np.stack([
    2.0**WIDER, 2.0 ** (PLACES - WIDER - 33), 2.0 ** (34 + SPARE - PLACES), 2.0 ** (SPARE + 5),
    2.0 ** (SPARE - SQUARE + 1), 2.0 ** (-34 - SPARE), 2.0 ** (SQUARE - 34),
])  # fmt: skip
"""Scale of the offset, of the linear product and from it to the sum, of c0, of the square; the sum's unit; what the
square is cut to."""
SECOND, NONE = _int(26), _int(0)


def _low(c0: F64, c1: F64, second: NDArray[np.bool_], t: I64, ends: I64, inner: F64) -> F32:
    """A sine in the first two intervals: more places of the products, in the first by its offset's spare bits."""
    offset = t + ends
    width = np.maximum(np.frexp(offset.astype(np.float64))[1], second * SECOND)
    wider, of_linear, to_sum, of_constant, of_square, unit, cut = BY_WIDTH.take(width, axis=1)
    full = (offset << SPARE.take(width) & MOST == NONE) & (ends == ONE)
    rounded = np.minimum(t + TWO >> TWO, t >> TWO | MOST) << TWO
    linear = np.where(second, rounded, offset * wider - full)
    linear *= c1
    linear *= of_linear
    np.floor(linear, linear)
    square = (t >> SEVEN).astype(np.float64)
    square *= square
    square *= cut
    np.floor(square, square)
    square *= inner
    square *= of_square
    linear *= to_sum
    linear += c0 * of_constant
    linear -= np.rint(square)
    return _cut(linear, unit)


def _part(s0: F32, cosine: bool) -> F32:
    numbers = np.isfinite(s0)
    all_numbers = every(numbers)
    size = np.abs(s0 if all_numbers else np.where(numbers, s0, np.float32(0))).astype(np.float64)
    phase = ((size - np.floor(size)) * TURN).astype(np.int64)
    quarter, place = phase >> W29, phase & PLACE
    ends = place >> W28
    of_cosine = quarter & ONE ^ ends
    if cosine:
        of_cosine ^= ONE
    before = np.abs(place - (ends << W29)) - ends
    row = (of_cosine << FOUR) + (before >> W24)
    t = before & OFFSET
    c0, c1, c2, inner, sign = TABLE.take(row, axis=1)
    inner *= (t ^ of_cosine * OFFSET) & UPPER
    inner += c2
    np.rint(inner, inner)
    out = _ordinary(c0, c1, sign, t, inner)
    low = row < TWO
    if some(low):
        np.copyto(out, _low(c0, c1, row != NONE, t, ends, inner), where=low)
    flat = (before < FLAT) & (row >= LATER)
    if some(flat):
        out[flat] = 1
    negative = quarter >> ONE
    negative ^= quarter & ONE if cosine else s0.view(np.uint32) >> W31
    negative *= out != NOTHING  # zeros are positive
    found = (out.view(np.uint32) ^ negative.astype(np.uint32) << W31).view(np.float32)
    if not cosine and some(small := size < PLAIN_SINE):
        found = np.where(small, np.copysign((np.minimum(size, PLAIN_SINE) * FACTOR).astype(np.float32), s0), found)
    return found if all_numbers else np.where(numbers, found, np.float32(np.nan))


def turned(s0: F32, *, cosine: bool) -> F32:
    """sin(2 pi x) or cos(2 pi x); NaN of what is no number.

    Args:
        s0: turns, float32; denormals count.
        cosine: which.
    """
    flat = np.ascontiguousarray(s0).reshape(-1)
    parts = [_part(flat[first : first + CACHED], cosine) for first in range(0, flat.size, CACHED)]
    return (parts[0] if len(parts) == 1 else np.concatenate(parts or [flat])).reshape(s0.shape)
