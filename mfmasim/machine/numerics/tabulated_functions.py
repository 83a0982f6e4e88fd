"""Reciprocals, roots, exponentials and logarithms in f32, bit for bit as RDNA3 and RDNA4 compute them.

The top bits of the significand choose an interval, the others are the offset t in it, and the significand of the result
is c0 + c1 t + (c2 + c3 t) t**2 with signs that belong to the function, from these steps:

- c1 t is rounded to 24 bits, its last place no finer than `Cubic.grid`, and added to c0 without what is below the unit;
- c2 + c3 t is rounded to an integer of 24 bits;
- t**2, of the upper bits of t, is cut to 24 bits;
- their product is rounded to 24 bits, its last place no finer than `Cubic.fine`, and added;
- the sum is rounded to the 24 bits of f32.

All roundings are to nearest even, whatever MODE says. The logarithm keeps all of c1 t, adds the exponent and rounds the
sum down; near 1 it is computed from the distance to 1, with more places, and rounded away from 0.

The coefficients, the form of the logarithm near 1 and the steps of EXP, SQRT and LOG are those of AMD's rocjitsu (see
`function_tables`). RCP and RSQ are corrected there by tables of 2,761 and 2,484 results; with the steps above they need
none. Every number is exact in float64, except where integers are used. Fidelity: what tests/silicon compares.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.machine.numerics import function_tables as rows
from mfmasim.machine.numerics.lane_masks import some

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mfmasim.arrays import F32, F64, U32

    Found = tuple[U32, NDArray[np.bool_]]

WORD = np.uint32
CACHED = 1 << 12
"""Elements whose intermediate values stay in the caches."""


def _word(bits: int) -> U32:
    """An array without axes: a quicker operand than a scalar."""
    return np.array(bits & 0xFFFFFFFF, WORD)


FIELD = _word(0x7F800000)
SIGN = _word(0x80000000)
MAGNITUDE = _word(0x7FFFFFFF)
NORMAL = _word(0x00800000)
NORMALS = FIELD - NORMAL
BELOW = np.array((1 << 29) - 1, np.int64)
"""Bits of a float64 that a float32 does not have."""


def _rounding(grid: float) -> F64:
    """What to add and to subtract again to round a positive float64 to 24 bits, the last place no finer than the grid.

    Below 2**24 times the grid the sum is below 2**53 times the grid, where the places of float64 are as wide as the
    grid; above they are twice as wide.
    """
    return np.array((2.0**53 - 2.0**24) * grid)


@dataclass(frozen=True)
class Cubic:
    """The intervals of a function, and the places at which their evaluation rounds."""

    rows: F64
    """c0, c1, c2, c3 on the first axis: c0 and c1 t in units, c2 + c3 t an integer of at most 24 bits."""
    grid: F64 | None
    """`_rounding` of c1 t; None keeps all."""
    fine: F64
    """`_rounding` of the quadratic term."""
    scale: F64
    """The unit of the product of two integers that is the quadratic term."""
    kept: U32
    """Bits of the offset that are squared."""
    step: F64
    """Times them: a number whose square is cut to an integer of 24 bits."""
    linear: np.ufunc
    """Addition or subtraction of the linear term."""
    quadratic: np.ufunc
    """The same of the quadratic one."""
    short: bool
    """c3 has for its factor the number that is squared, not the offset."""

    def at(self, interval: NDArray[Any], offset: U32) -> F64:
        """The sum in units, before it is rounded to f32.

        Args:
            interval: index of the row.
            offset: of the argument in its interval.
        """
        c0, c1, c2, c3 = self.rows.take(interval, axis=1)
        t = offset.astype(np.float64)
        square = (offset & self.kept) * self.step
        c1 *= t
        if self.grid is not None:
            c1 += self.grid
            c1 -= self.grid
        self.linear(c0, c1, c0)
        np.floor(c0, c0)
        c3 *= square if self.short else t
        c2 += c3
        np.rint(c2, c2)
        square *= square
        np.floor(square, square)
        c2 *= square
        c2 *= self.scale
        c2 += self.fine
        c2 -= self.fine
        total: F64 = self.quadratic(c0, c2, c0)
        return total


def _cubic(
    table: Sequence[tuple[int, ...]],
    units: tuple[float, float, float, float],
    grid: float,
    fine: float,
    kept: int,
    step: float,
    signs: str,
    half: float = 0.0,
    first: int = 0,
) -> Cubic:
    """A function's intervals.

    Args:
        table: its rows in `function_tables`.
        units: of their columns; the last one with its sign.
        grid: finest place of the linear term; 0 keeps all.
        fine: finest place of the quadratic one.
        kept: bits of the offset that are squared.
        step: their unit.
        signs: of the linear and the quadratic term.
        half: what a unit of c3 adds to c2: the offset counts from within its last place. 0 where c3 has another factor.
        first: row that comes first.
    """
    columns = np.array(table, np.float64).T
    rows = columns * np.array(units)[:, None]
    rows[2] += half * columns[3]
    linear, quadratic = (np.add if sign == "+" else np.subtract for sign in signs)
    return Cubic(
        np.roll(rows, first, axis=1),
        _rounding(grid) if grid else None,
        _rounding(fine),
        np.array(fine * 2.0**-23),
        _word(kept),
        np.array(step),
        linear,
        quadratic,
        not half,
    )


# The lowest bit of the exponent is part of a root's index; 127, the exponent of 1, is odd.
RCP = _cubic(rows.RCP, (8, 2**-15, 2**8, -(2**-10)), 2**-1, 2**-6, 0x3FFFE, 2**-6, "-+", -(2**-12))
RSQ = _cubic(rows.RSQ, (8, 2**-15, 2**9, -(2**-9)), 2**-2, 2**-7, 0x3FFFE, 2**-6, "-+", -(2**-11), first=32)
SQRT = _cubic(rows.SQRT, (8, 2**-17, 2**8, -(2**-10)), 2**-1, 2**-7, 0x7FFFC, 2**-7, "+-", -(2**-11), first=16)
EXP = _cubic(rows.EXP, (1, 2**-24, 1, 2**-1), 2**-1, 2**-8, 0xFFFFC0, 2**-12, "++")
# Half intervals, because the two halves of one have different rows.
HALVES = [row for row in rows.LOG for _ in range(2)]
HALVES[3] = rows.LOG_SECOND
LOG = _cubic(HALVES, (1, 2**-16, 1, -(2**-21)), 0, 2**-5, 0x3FFFF, 2**-6, "+-", -(2**-22))


W1, W18, W19, W23 = (_word(n) for n in (1, 18, 19, 23))
INTERVALS, BOTH = _word(31), _word(63)
OFFSET, LONG_OFFSET = _word(0x3FFFF), _word(0x7FFFF)


def _bits(sums: F64) -> U32:
    """Sums as float32."""
    return sums.astype(np.float32).view(WORD)


def _half_exponent(bits: U32) -> U32:
    """The exponent field of (e + 1) // 2."""
    return (bits + NORMAL) >> W1 & FIELD


def _positive_normal(bits: U32) -> NDArray[np.bool_]:
    return bits - NORMAL < NORMALS


RCP_EXPONENT, RCP_LIMIT = _word(98 << 23), _word(0x7E800000) - NORMAL


def _rcp(s0: F32) -> Found:
    bits = s0.view(WORD)
    out = _bits(RCP.at(bits >> W18 & INTERVALS, bits & OFFSET))
    out -= bits & FIELD
    out += RCP_EXPONENT
    out |= bits & SIGN
    # From 2**126 on the result may be denormal.
    return out, (bits & MAGNITUDE) - NORMAL < RCP_LIMIT


RSQ_EXPONENT, SQRT_EXPONENT = _word(35 << 23), _word(-92 << 23)


def _rsq(s0: F32) -> Found:
    bits = s0.view(WORD)
    out = _bits(RSQ.at(bits >> W18 & BOTH, bits & OFFSET))
    out -= _half_exponent(bits)
    out += RSQ_EXPONENT
    return out, _positive_normal(bits)


def _sqrt(s0: F32) -> Found:
    bits = s0.view(WORD)
    out = _bits(SQRT.at(bits >> W19 & INTERVALS, bits & LONG_OFFSET))
    out += _half_exponent(bits)
    out += SQRT_EXPONENT
    return out, _positive_normal(bits)


LEAST, LARGEST, TINY, ZERO = (np.array(x, np.float32) for x in (-128, 128, 2**-24, 0))
PLACES = np.array(2.0**29)


def _exp(s0: F32) -> Found:
    """Of a negative argument the fraction is the complement of the magnitude's; below 2**-24 the result is 1."""
    usual = ~np.isnan(s0)
    # Not (below), so that NaN becomes 0 too.
    x = np.where(np.abs(s0) >= TINY, np.clip(s0, LEAST, LARGEST), ZERO)
    fixed = (x * PLACES).astype(np.int64)
    fixed += x.view(np.int32) >> 31
    offset = (fixed & 0xFFFFFF).astype(WORD)
    fixed >>= 24
    out = _bits(EXP.at(fixed & 31, offset)).view(np.int32)
    fixed >>= 5
    fixed -= 28
    out += (fixed << 23).astype(np.int32)
    return np.where(out < 0x00800000, 0, out).view(WORD), usual


def _truncated(sums: F64, add: NDArray[np.int64] | np.int64) -> F32:
    """To the 24 bits of float32, toward zero, after adding to the bits that are cut."""
    bits = sums.view(np.int64) + add
    bits &= ~BELOW
    return bits.view(np.float64).astype(np.float32)


BIAS, LOG_UNIT, LOG_SCALE = np.array(127.0), np.array(2.0**30), np.array(2.0**-30, np.float32)
NEAR, NEAR_SIZE, ONE = _word(0x3F7C0000), _word(0x80000), 0x3F800000
W17 = _word(17)


def _log(s0: F32) -> Found:
    bits = s0.view(WORD)
    sums = LOG.at(bits >> W17 & BOTH, bits & OFFSET)
    exponents = (bits >> W23).astype(np.float64)
    exponents -= BIAS
    exponents *= LOG_UNIT
    sums += exponents
    out = (_truncated(sums, sums.view(np.int64) >> 63 & BELOW) * LOG_SCALE).view(WORD)
    near = bits - NEAR < NEAR_SIZE
    if some(near):
        distances = bits[near].astype(np.int64) - ONE
        below = distances < 0
        found = np.empty(len(distances), np.float32)
        found[below] = _below_one(-distances[below])
        found[~below] = _above_one(distances[~below])
        out[near] = found.view(WORD)
    return out, _positive_normal(bits)


# Distances from 1 have more places the shorter they are, in steps of four bits; by their width, 0 to 19 bits.
SPARE = np.array([(18 - min(max(width, 1), 18)) // 4 * 4 for width in range(20)])
FINER, COARSER = 2.0**SPARE, 2.0**-SPARE
CUT, CUT_SQUARE = 2.0 ** np.maximum(14 - SPARE, 0), 2.0 ** np.maximum(12 - SPARE, 0)
ROWS = np.array([0, 1, 2, 2])
"""Rows of LOG_ABOVE by the distance's bits above 2**16."""
ABOVE = np.array(rows.LOG_ABOVE).T * np.array([[2**-2], [2**-13], [1], [-(2**-21)]])
ABOVE[2] += ABOVE[3] / 2
BELOW_ONE = np.array(rows.LOG_BELOW).T * np.array([[2.0**16], [2], [1], [2**-22]])
BELOW_ONE[2] -= BELOW_ONE[3]
QUARTER = _rounding(2**-2)


def _above_one(d: NDArray[np.int64]) -> F32:
    """log2(1 + d 2**-23) for d in 0 to 2**18, in units of 2**-33, of shorter distances finer."""
    c0, c1, c2, c3 = ABOVE.take(ROWS.take(d >> 16), axis=1)
    x = d.astype(np.float64)
    width = np.frexp(x)[1]
    scaled = x * FINER.take(width)
    square = np.floor(scaled * x * 2.0**-12)
    product = np.rint(c2 + c3 * x) * square * 2.0**-25
    sums = c0 + np.floor(c1 * scaled) - (product + QUARTER - QUARTER)
    # A place more than the truncated value, also where that is exact; of 1 itself the logarithm is 0.
    found = _truncated(sums, BELOW + 1) * (COARSER.take(width) * 2.0**-33)
    return np.where(d == 0, 0, found).astype(np.float32)


def _below_one(d: NDArray[np.int64]) -> F32:
    """log2(1 - d 2**-24) for d in 1 to 2**18, in units of 2**-50, rounded away from 0."""
    c0, c1, c2, c3 = BELOW_ONE.take(d >> 17 != 0, axis=1)
    x = d.astype(np.float64)
    width = np.frexp(x)[1]
    cut = CUT.take(width)
    linear = np.floor(c1 * x / cut) * cut
    cut = CUT_SQUARE.take(width)
    product = np.rint(c2 + c3 * x) * np.floor(x * x / cut)
    place = COARSER.take(width)
    sums = 4 * linear + np.ceil(product * cut / place * 2.0**-38) * (place * 2.0**16) - c0
    return (_truncated(sums, BELOW) * -(2.0**-50)).astype(np.float32)


FUNCTIONS: dict[str, Callable[[F32], Found]] = {"rcp": _rcp, "rsq": _rsq, "sqrt": _sqrt, "exp": _exp, "log": _log}
"""By the word of the mnemonic: bits of the results, and for which elements they hold."""


def tabulated(word: str, s0: F32) -> tuple[F32, NDArray[np.bool_]]:
    """Results of a function, and a mask of the elements for which they hold.

    The caller handles zeros, denormals, NaN, infinities and arguments whose result is denormal or no number; EXP
    is valid for all numbers.

    Args:
        word: one of `FUNCTIONS`.
        s0: the arguments, float32.
    """
    function = FUNCTIONS[word]
    flat = np.ascontiguousarray(s0).reshape(-1)
    if flat.size <= CACHED:
        out, usual = function(flat)
    else:
        parts = [function(flat[first : first + CACHED]) for first in range(0, flat.size, CACHED)]
        out, usual = (np.concatenate(column) for column in zip(*parts, strict=True))
    return out.view(np.float32).reshape(s0.shape), usual.reshape(s0.shape)
