"""Fast ``aligned`` sums: inputs that need no wide arithmetic, whole arrays at a time.

Two ways to a step's sum S on the grid 2^(e_dot - 24):

* *matmul* (8-bit and smaller factors, see `mfmasim.matrix.arithmetic.matmul_steps`): truncation to the grid seldom
  removes a bit. Then S is the exact sum, and a float64 matrix product gives it.
* *products* (16-bit factors): each product is exact in float32, scaled so that the grid is 1, and truncated by the
  conversion to int32.

The addend then joins in float32: x = c * 2^(24 - e_dot) and floor(x) are exact. While |x| < 2^30, sums stay below
2^31 grid units: e_c <= e_dot + 5, the other grids of the definition (e_max - 32, lead - 31) are finer than the sums,
and the conversion to f32 is the only rounding. The elements outside these bounds are computed by
`mfmasim.matrix.arithmetic.complete_steps`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.matrix.arithmetic import complete_steps
from mfmasim.matrix.arithmetic.buffers import scratch
from mfmasim.matrix.arithmetic.factors import empty_below

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.matrix.arithmetic.factors import Factors
    from mfmasim.matrix.models import Model

# s = 2^(24 - e) and 1/s are normal float32 numbers, and so is any result, for e in these bounds.
LOWEST, HIGHEST = -100, 124


@dataclass
class Sum:
    """Sum of a step: ``value`` exact in float32 or float64 or, as int32, in grid units.

    ``e`` is int32; ``empty`` where no term is.
    """

    value: NDArray[Any]
    e: NDArray[Any]
    empty: NDArray[np.bool_] | None
    scale: NDArray[np.float32] | None = None
    """`grid_scale` of e, if it has been computed."""
    limit: float = 0.0
    """Addends below this are free of rounding by the finer grids, however small e is."""
    bounded: bool = True
    """Whether e is known to lie in the bounds of this file."""


@cache
def usable(model: Model) -> bool:
    """Whether this file's shortcuts are proved for the model's parameters."""
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


def grid_scale(e: NDArray[Any], name: str = "scale") -> NDArray[np.float32]:
    """2^(24 - e) for int32 e within the bounds, in scratch of that name."""
    bits = np.subtract(151, e, out=scratch(name, e.shape, np.int32))
    np.left_shift(bits, 23, out=bits)
    scale: NDArray[np.float32] = bits.view(np.float32)
    return scale


def inverse(scale: NDArray[np.float32]) -> NDArray[np.float32]:
    """1 / scale of normal powers of two, in scratch."""
    bits = np.subtract(0x7F000000, scale.view(np.int32), out=scratch("inverse", scale.shape, np.int32))
    reciprocal: NDArray[np.float32] = bits.view(np.float32)
    return reciprocal


def product_sum(model: Model, a: Factors, b: Factors, part: slice) -> Sum:
    """Sum of one step by products.

    Args:
        model: a `usable` row.
        a: factors, k first, that broadcast against those of b; float32 values.
        b: the same.
        part: the step's k.
    """
    sums = []
    for half in range(part.start, min(part.start + model.partial_sums, part.stop)):
        ks = range(half, part.stop, model.partial_sums)
        shape = np.broadcast_shapes(a.value.shape[1:], b.value.shape[1:])
        e, term = (scratch(name, shape, a.exponent.dtype) for name in ("exponent", "exponent term"))
        np.add(a.exponent[half], b.exponent[half], out=e)
        for k in ks[1:]:
            np.add(a.exponent[k], b.exponent[k], out=term)
            np.maximum(e, term, out=e)
        wide, total = (scratch(f"{name} {half % 2}", shape, np.int32) for name in ("e", "total"))
        product, units = scratch("product", shape, np.float32), scratch("units", shape, np.int32)
        nothing = e < empty_below(e) if int(e.min()) < empty_below(e) else None
        np.copyto(wide, e)
        if e.dtype != np.int8:  # int8 exponents are all within bounds
            np.maximum(wide, LOWEST, out=wide)
        s = grid_scale(wide, f"scale {half % 2}")
        np.multiply(a.value[half], b.value[half], out=product)
        np.multiply(product, s, out=product)
        np.copyto(total, product, casting="unsafe")
        for k in ks[1:]:
            np.multiply(a.value[k], b.value[k], out=product)
            np.multiply(product, s, out=product)
            np.copyto(units, product, casting="unsafe")
            np.add(total, units, out=total)
        sums.append(Sum(total, wide, nothing, scale=s))
    return sums[0] if len(sums) == 1 else _joined(sums)


def _joined(sums: list[Sum]) -> Sum:
    """Partial sums on the coarsest of their grids."""
    first, second = sums
    e = np.maximum(first.e, second.e)
    total = (first.value >> np.minimum(e - first.e, 31)) + (second.value >> np.minimum(e - second.e, 31))
    return Sum(total, e, None if first.empty is None or second.empty is None else first.empty & second.empty)


def scaled(total: Sum, exponent: NDArray[Any]) -> Sum:
    """A step's sum times 2^exponent, by element."""
    value = total.value
    if value.dtype != np.int32:
        value = np.ldexp(value, exponent, dtype=np.float64)
    return Sum(value, total.e + exponent, total.empty, bounded=False)


def add(model: Model, total: Sum, c: NDArray[np.float32], turn: int) -> NDArray[np.float32]:
    """Add the addend to a step's sum and round.

    Args:
        model: a `usable` row.
        total: the step's sum.
        c: the addend; it may hold anything, NaN and infinity included.
        turn: number of the step. The result is scratch, and c of the next but one turn overwrites it.
    """
    s = total.scale
    if s is None:
        s = grid_scale(total.e if total.bounded else np.clip(total.e, LOWEST, HIGHEST))
    unit = inverse(s)
    x, d = scratch("x", c.shape, np.float32), scratch(f"d {turn % 2}", c.shape, np.float32)
    try:
        with np.errstate(under="raise"):
            np.multiply(c, s, out=x)
    except FloatingPointError:
        # An addend so small that its scaled value is no float32: only its sign survives the floor.
        x = (c * s.astype(np.float64)).astype(np.float32)
        x = np.where((x == 0) & (c != 0), np.copysign(np.float32(2.0**-126), c), x)
    if model.drop_addend_below is not None:
        # Negative and closer to 0 than 2^(24 - drop): as integers, the bits of such floats are one interval.
        bound = np.array(-(2.0 ** (24 - model.drop_addend_below)), np.float32).view(np.int32)
        if np.minimum.reduce(x.view(np.int32), axis=None, initial=0) < bound:
            np.copyto(x, np.float32(0), where=x.view(np.int32) < bound)
    np.floor(x, out=x)
    if total.limit:
        in_bounds = bool(total.bounded and c.max() < total.limit and c.min() > -total.limit)
    else:
        in_bounds = bool(total.bounded and x.max() < 2.0**30 and x.min() > -(2.0**30))
    near = None if in_bounds else np.abs(x) < np.float32(2.0**30)
    if total.value.dtype == np.int32:
        units = scratch("units", c.shape, np.int32)
        np.copyto(units, x, casting="unsafe")
        np.add(units, total.value, out=units)
        np.copyto(d, units, casting="unsafe")
        np.multiply(d, unit, out=d)
    else:
        np.multiply(x, unit, out=x)
        # In float32 too the sum is rounded once: both terms are exact.
        if total.value.dtype == np.float32:
            np.add(total.value, x, out=d)
        else:
            wide = scratch("sum", c.shape, np.float64)
            np.copyto(wide, x)
            np.add(wide, total.value, out=wide)
            np.copyto(d, wide, casting="same_kind")
    if total.empty is not None:
        # No product: c itself, and +0 for either zero.
        np.copyto(d, c + np.float32(0), where=total.empty)
    if near is not None:
        if not total.bounded:
            near &= (total.e >= LOWEST) & (total.e <= HIGHEST)
        if total.empty is not None:
            near |= total.empty
        places = np.flatnonzero(np.logical_not(near, out=near))
        if total.limit:
            places = places[~(np.abs(c.reshape(-1)[places]) < np.float32(total.limit))]
        if places.size:
            _add_rest(model, total, c, d, places)
    return d


def _add_rest(
    model: Model, total: Sum, c: NDArray[np.float32], d: NDArray[np.float32], places: NDArray[np.intp]
) -> None:
    """The elements whose addend is far above the products, or not finite; flat indices."""
    addend, e = c.reshape(-1)[places], total.e.reshape(-1)[places]
    # So far above that a negative sum only moves c by one unit of a grid that rounding to f32 does not see.
    alone = ~(np.abs(addend) < np.ldexp(1.0, e + (model.sum_bits + 8)))
    d.reshape(-1)[places] = addend
    places, addend, e = places[~alone], addend[~alone], e[~alone]
    value = total.value.reshape(-1)[places].astype(np.float64)
    if total.value.dtype == np.int32:
        value = np.ldexp(value, e - model.product_bits)
    d.reshape(-1)[places] = complete_steps.add_aligned(model, value, e, np.zeros(e.shape, np.bool_), addend)
