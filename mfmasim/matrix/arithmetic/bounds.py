"""Bounds within which the paths of `dispatch` are exact: every one, with its derivation.

The definitions are in `mfmasim.matrix.models`. Words: E = ea + eb is the exponent of a product, e_dot the largest of a
step, e_c that of the addend; a *unit* is 2^(e_dot - 24), the grid of the products of ``aligned``. A significand is
below 2, so that a product is below 2^(E + 2), which is 2^26 units; a step has at most 16 products: their sum is below
2^30 units. The *grain* is the power of two that divides every product of a batch: the least E less the fraction bits of
both formats.

`tests/matrix/test_arithmetic_bounds.py` holds each bound to the slow model, at the bound and one past it.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.matrix.models import Model

# Zero factors

EMPTY = {np.dtype(np.int8): -48, np.dtype(np.int16): -400}
"""Exponent that decoding gives a zero factor, by the type of the exponents (int8: formats of 5 exponent bits and
fewer).

So low that its sum with any exponent is below the sum of the two least: a maximum over products sees zero products
last. Twice -48 still fits int8, and twice -400 int16."""
EMPTY_BELOW = {np.dtype(np.int8): -32, np.dtype(np.int16): -254}
"""A sum of exponents below this is that of a product with a zero factor.

int8: sums of others are at least 2 * -15 (E5M2FNUZ), sums with a zero at most -48 + 15 = -33. int16: sums of others are
at least 2 * -126 (bfloat16, xf32; subnormals are not normalised), sums with a zero at most -400 + 127 = -273."""


def empty_below(exponents: NDArray[Any]) -> int:
    """`EMPTY_BELOW` for the type of sums of exponents."""
    return EMPTY_BELOW[exponents.dtype]


# Sums of ``aligned`` in units, as float32 and int32

FACTOR_FRACTION_BITS = 11
"""Most fraction bits of a factor: the product of two significands of 12 bits has 24, which float32 holds."""
LOWEST, HIGHEST = -100, 124
"""Bounds of e_dot.

s = 2^(24 - e_dot) and 1/s are normal float32 numbers: 2^124 and 2^-124 at the one end, 2^-100 and 2^100 at the other. A
product below 2^126 is finite. A product below 2^-126, which float32 rounds, is below a unit of at least 2^-124:
truncated to 0 either way. A sum that is not 0 is a unit or more, normal: multiplying its rounding to 24 bits by 1/s is
exact, or overflows to the infinity that the definition gives."""
ADDEND_UNITS = 2.0**30
"""Addends below this many units, in magnitude.

With the products, |x| + |S| < 2^31 units: int32 holds the sum. And e_c <= e_dot + 5, so that the finer grids of the
definition, e_max - `sum_bits` and lead - `final_bits`, of 31 bits at least, are at most half a unit, and S and the
addend's floor are multiples of a unit: the conversion to f32 is the only rounding. An e_c above e_dot has the grid
e_c - 24, of which c is a multiple, as it is of the unit."""
SCALED_UP = 24
"""e_dot up to which an addend is multiplied by 2^0 or more on its way to units: no float32 number becomes subnormal."""


@cache
def aligned_parameters(model: Model) -> bool:
    """Whether the derivations of this file hold for the parameters of an ``aligned`` model."""
    return (
        model.algorithm == "aligned"
        and (model.product_bits, model.product_rounding) == (24, "truncate")
        and (model.partial_sums == 1 or (model.partial_sums == 2 and model.group % 2 == 0))
        and (model.partial_sums == 1 or (model.partial_bits, model.partial_rounding) == (24, "floor"))
        and (model.addend_bits, model.addend_rounding) == (24, "floor")
        and (model.drop_addend_below is None or model.drop_addend_below >= 24)
        and (model.sum_bits >= 31 and model.sum_rounding == "floor")
        and (model.final_bits is None or (model.final_bits >= 31 and model.final_rounding == "floor"))
        and model.group <= 16
        and not (model.flush_addend or model.flush_output)
    )


# Sums of ``aligned`` by matrix products, of factors of 8 bits and fewer

FRACTION_BITS = 6
"""Most fraction bits of A's and B's formats together for which matrix products pay.

A product is a multiple of 2^(E - 6): truncation to units removes bits of those alone with E < e_dot - 18, 2^16 times
smaller than the largest."""


def exact_grid(grain: int, product_bits: int) -> int:
    """Largest e_dot at which no product loses a bit: the unit 2^(e_dot - `product_bits`) is then at most 2^grain.

    The sum of a step is below 2^30 units and a multiple of 2^grain: any order of additions in float64 is exact.
    """
    return grain + product_bits


def addend_limit(grain: int) -> float:
    """Addends whose magnitude is below this leave the sum of a step, a multiple of 2^grain, whole.

    |c| < 2^(grain + 31) is e_c <= grain + 30: the grid e_c - `sum_bits`, with `sum_bits` >= 31, is finer than 2^grain.
    The sum of both is below 2^(grain + 32): nor is lead - `final_bits`, with `final_bits` >= 31, above the grain. With
    addends of twice the size it would be.
    """
    return 2.0 ** (grain + 31)


def chain_limit(grain: int) -> float:
    """Running values of a chain of steps on one grid are below this before each step.

    Both they and the sum of a step, below 2^30 units of at most 2^grain, are multiples of 2^grain: together they are
    below 2^(grain + 31), so that no grid of the next step is coarser than 2^grain, as `addend_limit` says.
    """
    return 2.0 ** (grain + 30)


def in_float32(bound: float, grain: int) -> bool:
    """Whether float32 holds every sum of multiples of 2^grain whose magnitude is within a bound: 24 bits."""
    return bound <= 2.0 ** (grain + 24)


def power_width(spread: int, group: int) -> int | None:
    """log2 w of the powers 2^(w E) in float32 whose sums determine e_dot; None if no width does.

    The sum of L <= 2^w powers lies between 2^(w e_dot) and 2^(w e_dot + w), so that its exponent divided by w is e_dot.
    The sums have exponent fields from w to w (spread + 2), which are those of normal float32 numbers up to 254: up to a
    spread of 29 for w = 8 (8 * 31 = 248), of 60 for w = 4 (4 * 62 = 248). Steps of 16 terms are summed in two halves
    for w = 4, each of fewer than 2^4 powers.

    Args:
        spread: largest less least E of two formats.
        group: terms of a step.
    """
    return 3 if spread <= 29 else 2 if spread <= 60 and group <= 16 else None


SMALLEST_POWER = 128
"""w = 8 in float64: eighth of the exponent field of the least sum of powers.

From there, field 1024, to the largest finite, 2046, are 127 multiples of 8, and E spreads over 60 at most."""

# Sums of ``dot2`` and ``dot4``

DOT_FACTORS = (-40, 30)
"""Bounds of the exponents of factors that are not zero.

Fields 151 - ea - eb are then within [91, 231], inside the 9 bits of the fields, below those of zero products
(151 + 180 - 30 = 301 at least) and above 0 after 280 less the field of any c below `DOT_ADDEND`: 280 - 226 = 54."""
DOT_EMPTY = -180
"""Exponent of a zero factor in the fields: 151 + 180 + 180 = 511, the largest field, at most."""
DOT_ADDEND = 2.0**100
"""Addends are below this in magnitude: grids are at most 2^(99 - 26), and no sum of 2^28 units overflows."""
DOT_FINEST = 253
"""Field of the finest grid, 2^-126: this power and its inverse 2^126 are normal float32 numbers."""


@cache
def dot_parameters(model: Model) -> bool:
    """Whether the derivations of this file hold for the parameters of a ``dot2`` or ``dot4`` model."""
    group = {"dot2": 2, "dot4": 4}.get(model.algorithm)
    flushes = {"dot2": (("", "signed"), "positive", -1024), "dot4": (("",), "", -126)}.get(model.algorithm)
    return (
        flushes is not None
        and (model.product_bits, model.addend_bits) == (24, 26)
        and (model.group, model.group % model.pair) == (group, 0)
        and model.flush_addend in flushes[0]
        and (model.flush_output, model.addend_lead_floor) == flushes[1:]
    )
