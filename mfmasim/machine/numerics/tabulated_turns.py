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

from mfmasim.arrays import F32, F64, I64
from mfmasim.machine.numerics.function_tables import COS, SIN
from mfmasim.machine.numerics.lane_masks import every, some

CACHED = 1 << 12
"""Elements whose intermediate values stay in the caches."""
UNITS = np.array([8, 2.0**-17, 2.0**7, 2.0**-17])
TABLE = np.array([*SIN, *COS]).T * UNITS[:, None]
"""c0 and c1 t in units of 2**-29; c2 + c3 t an integer, for a cosine with t from the end of the interval."""
TABLE[2, 16:] -= TABLE[3, 16:] * 2**24
SIGNS = np.where(np.arange(32) < 16, 1.0, -1.0)
"""Of the linear term: a cosine falls."""
TO_24 = np.array(2.0**53 - 2.0**24)
"""Added and subtracted: rounds to 24 bits, the last place no finer than the unit."""
PLAIN_SINE = np.array(float.fromhex("0x1.8p-12"))
"""Below it the sine is the argument times `FACTOR`, rounded once."""
FACTOR = np.array(0xC90FD5 * 2.0**-21)
FLAT = 46592
"""Distances, in 2**-31 turns, whose cosine is 1."""
KEPT = np.int64(~((1 << 29) - 1))
"""Bits of a float64 that a float32 has."""


def _cut(sums: F64, unit: Any) -> F32:
    """Sums in units without what is below 24 bits."""
    out: F32 = ((sums.view(np.int64) & KEPT).view(np.float64) * unit).astype(np.float32)
    return out


def _ordinary(row: I64, t: I64, inner: F64) -> F32:
    """A cosine, or a sine from the third interval on; t from the start of the interval."""
    linear = TABLE[1].take(row)
    linear *= np.minimum(t + 8 >> 4, 0xFFFFF)
    linear += TO_24
    linear -= TO_24
    linear *= SIGNS.take(row)
    linear += TABLE[0].take(row)
    square = (t >> 7) * 2.0**-5
    square *= square
    np.floor(square, square)
    square *= inner
    square -= np.where(square < 2.0**47, 2.0**22, 2.0**23)
    square *= 2.0**-29
    np.ceil(square, square)
    linear -= 2 * np.maximum(square, 0)
    return _cut(linear, 2.0**-29)


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
BLOCK = (1 << 20) - 1


def _low(row: I64, offset: I64, ends: I64, inner: F64) -> F32:
    """A sine in the first two intervals: more places of the products, in the first by its offset's spare bits."""
    t = offset - ends
    width = np.maximum(np.frexp(offset.astype(np.float64))[1], row * 26)
    wider, of_linear, to_sum, of_constant, of_square, unit, cut = BY_WIDTH.take(width, axis=1)
    full = (offset << SPARE.take(width) & BLOCK == 0) & (ends == 1)
    rounded = np.minimum(t + 2 >> 2, t >> 2 | BLOCK) << 2
    linear = np.where(row == 0, offset * wider - full, rounded)
    linear *= TABLE[1].take(row)
    linear *= of_linear
    np.floor(linear, linear)
    square = (t >> 7).astype(np.float64)
    square *= square
    square *= cut
    np.floor(square, square)
    square *= inner
    square *= of_square
    linear *= to_sum
    linear += TABLE[0].take(row) * of_constant
    linear -= np.rint(square)
    return _cut(linear, unit)


def _part(s0: F32, cosine: bool) -> F32:
    numbers = np.isfinite(s0)
    all_numbers = every(numbers)
    size = np.abs(s0 if all_numbers else np.where(numbers, s0, np.float32(0))).astype(np.float64)
    phase = ((size - np.floor(size)) * 2.0**31).astype(np.int64)
    quarter, place = phase >> 29, phase & 0x1FFFFFFF
    ends = place >> 28
    distance = (place ^ -ends) + ends & 0x1FFFFFFF
    of_cosine = quarter & 1 ^ ends ^ int(cosine)
    before = distance - ends
    index = before >> 24
    row = (of_cosine << 4) + index
    offset = distance - (index << 24)
    t = offset - ends
    inner = TABLE[3].take(row)
    inner *= (t ^ of_cosine * 0xFFFFFF) & ~63
    inner += TABLE[2].take(row)
    np.rint(inner, inner)
    out = _ordinary(row, t, inner)
    low = row < 2
    if some(low):
        out[low] = _low(row[low], offset[low], ends[low], inner[low])
    flat = (before < FLAT) & (of_cosine == 1)
    if some(flat):
        out[flat] = 1
    negative = quarter >> 1 ^ (quarter & int(cosine))
    if not cosine:
        negative ^= s0.view(np.int32) >> 31 & 1
    found = np.where((negative == 1) & (out != 0), -out, out)
    small = size < PLAIN_SINE
    if not cosine and some(small):
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
