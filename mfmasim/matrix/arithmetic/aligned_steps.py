"""Fast ``aligned`` sums: inputs that need no wide arithmetic, whole arrays at a time.

Two ways to a step's sum S on the grid 2^(e_dot - 24):

* *matmul* (8-bit and smaller factors, see `mfmasim.matrix.arithmetic.matmul_steps`): truncation to the grid seldom
  removes a bit. Then S is the exact sum, and a float64 matrix product gives it.
* *products* (16-bit factors): each product is exact in float32, scaled so that the grid is 1, and truncated by the
  conversion to int32.

The addend then joins in float32: x = c * 2^(24 - e_dot) and floor(x) are exact, and the conversion to f32 is the only
rounding within `LOWEST`, `HIGHEST` and `ADDEND_UNITS` of `mfmasim.matrix.arithmetic.bounds`. The elements outside are
computed by `mfmasim.matrix.arithmetic.complete`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.matrix.arithmetic import compiled, complete
from mfmasim.matrix.arithmetic.bounds import ADDEND_UNITS, HIGHEST, LOWEST, empty_below
from mfmasim.matrix.arithmetic.scratch import Scratch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.matrix.arithmetic.factors import Factors
    from mfmasim.matrix.models import Model

_SCALE, _INVERSE, _UNITS = (Scratch(np.int32) for _ in range(3))
_EXPONENT, _TERM = Scratch(np.int16), Scratch(np.int16)
_SCALES, _GRIDS, _TOTALS = ((Scratch(np.int32), Scratch(np.int32)) for _ in range(3))
"""Of the sums over even and over odd k."""
_PRODUCT, _ADDEND = Scratch(np.float32), Scratch(np.float32)
_RESULTS = Scratch(np.float32), Scratch(np.float32)
"""Of even and of odd steps."""
_WIDE = Scratch(np.float64)


@dataclass
class Sum:
    """Sum of a step: ``value`` exact in float32 or float64 or, as int32, in grid units.

    ``e`` is int32; ``empty`` marks elements without a term.
    """

    value: NDArray[Any]
    e: NDArray[Any]
    empty: NDArray[np.bool_] | None
    scale: NDArray[np.float32] | None = None
    """`grid_scale` of e, if it has been computed."""
    limit: float = 0.0
    """Addends below this are free of rounding by the finer grids, however small e is."""
    bounded: bool = True
    """Whether e is known to lie within [`LOWEST`, `HIGHEST`]."""


def grid_scale(e: NDArray[Any], out: Scratch[np.int32] = _SCALE) -> NDArray[np.float32]:
    """2^(24 - e) for int32 e within the bounds, in scratch."""
    bits = np.subtract(151, e, out=out(e.shape))
    np.left_shift(bits, 23, out=bits)
    scale: NDArray[np.float32] = bits.view(np.float32)
    return scale


def inverse(scale: NDArray[np.float32]) -> NDArray[np.float32]:
    """1 / scale of normal powers of two, in scratch."""
    bits = np.subtract(0x7F000000, scale.view(np.int32), out=_INVERSE(scale.shape))
    reciprocal: NDArray[np.float32] = bits.view(np.float32)
    return reciprocal


def product_sum(model: Model, a: Factors, b: Factors, part: slice) -> Sum:
    """Sum of one step by products.

    Args:
        model: a row with `mfmasim.matrix.arithmetic.bounds.aligned_parameters`.
        a: factors, k first, that broadcast against those of b; float32 values.
        b: the same.
        part: the step's k.
    """
    sums = []
    for half in range(part.start, min(part.start + model.partial_sums, part.stop)):
        ks = range(half, part.stop, model.partial_sums)
        shape = np.broadcast_shapes(a.value.shape[1:], b.value.shape[1:])
        wide, total, scales = (own[half % 2](shape) for own in (_GRIDS, _TOTALS, _SCALES))
        done, nothing = compiled.products(a, b, ks, total, wide, scales)
        if done:
            sums.append(Sum(total, wide, nothing, scale=scales.view(np.float32)))
            continue
        e, term = _EXPONENT.like(shape, a.exponent.dtype), _TERM.like(shape, a.exponent.dtype)
        np.add(a.exponent[half], b.exponent[half], out=e)
        for k in ks[1:]:
            np.add(a.exponent[k], b.exponent[k], out=term)
            np.maximum(e, term, out=e)
        product, units = _PRODUCT(shape), _UNITS(shape)
        nothing = e < empty_below(e) if int(e.min()) < empty_below(e) else None
        np.copyto(wide, e)
        if e.dtype != np.int8:  # int8 exponents are all within bounds
            np.maximum(wide, LOWEST, out=wide)
        s = grid_scale(wide, _SCALES[half % 2])
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
        model: a row with `mfmasim.matrix.arithmetic.bounds.aligned_parameters`.
        total: the step's sum.
        c: the addend, NaN and infinity included.
        turn: number of the step. The result is scratch, and c of the next but one turn overwrites it.
    """
    s = total.scale
    if s is None:
        s = grid_scale(total.e if total.bounded else np.clip(total.e, LOWEST, HIGHEST))
    x, d = _ADDEND(c.shape), _RESULTS[turn % 2](c.shape)
    if total.bounded and not total.limit:
        rest = compiled.add(c, total.value, s, total.empty, model.drop_addend_below, d)
        if rest is not None:
            if rest.size:
                _add_rest(model, total, c, d, rest)
            return d
    unit = inverse(s)
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
        in_bounds = bool(total.bounded and x.max() < ADDEND_UNITS and x.min() > -ADDEND_UNITS)
    near = None if in_bounds else np.abs(x) < np.float32(ADDEND_UNITS)
    if total.value.dtype == np.int32:
        units = _UNITS(c.shape)
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
            wide = _WIDE(c.shape)
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
        indices = np.flatnonzero(np.logical_not(near, out=near))
        if total.limit:
            indices = indices[~(np.abs(c.reshape(-1)[indices]) < np.float32(total.limit))]
        if indices.size:
            _add_rest(model, total, c, d, indices)
    return d


def _add_rest(
    model: Model, total: Sum, c: NDArray[np.float32], d: NDArray[np.float32], indices: NDArray[np.intp]
) -> None:
    """The elements whose addend is far above the products, or not finite; flat indices."""
    addend, e = c.reshape(-1)[indices], total.e.reshape(-1)[indices]
    # So far above that a negative sum only moves c by one unit of a grid that rounding to f32 does not see.
    alone = ~(np.abs(addend) < np.ldexp(1.0, e + (model.sum_bits + 8)))
    d.reshape(-1)[indices] = addend
    indices, addend, e = indices[~alone], addend[~alone], e[~alone]
    value = total.value.reshape(-1)[indices].astype(np.float64)
    if total.value.dtype == np.int32:
        value = np.ldexp(value, e - model.product_bits)
    d.reshape(-1)[indices] = complete.add_aligned(model, value, e, np.zeros(e.shape, np.bool_), addend)
