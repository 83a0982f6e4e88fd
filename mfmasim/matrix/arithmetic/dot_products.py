"""``dot2`` and ``dot4`` with sums in f32 at speed: whole arrays of float32 and int32, the tile index innermost.

A product of two 16-bit factors is exact in float32, and so is its multiple by the power of two that makes the grid 1;
the conversion to int32 truncates it. No term reaches 2^28 grid units, so that int32 holds the sum, and its conversion
to float32 is the rounding to 24 bits.

*The grid.* h = 127 - g, the exponent field of 2^-g, is the smallest of 151 - ea - eb over the products and 280 minus
the exponent field of c. Fields are kept where float32 has them, from bit 23 up, in uint32: 9 bits, 0 to 511. A zero
factor has an exponent so low that its products' fields stand above all of c's.

*Signs of dot2.* In the sign frame of c a term x counts as trunc|x|, or as -trunc|x| - 1 when its sign is not c's. Taken
back to absolute signs these ones are, with P and Q the sign bits of the products and C that of c, 2 C - P - Q.

**Only c.* Where all products are zero, the result is c, and +0 for either zero. Only there can the grid be
finer than 2^-126; elsewhere every sum except 0 is a normal number, so that no result is flushed.

Tiles with NaN, Inf, or outside `DOT_FACTORS` and `DOT_ADDEND` of `mfmasim.matrix.arithmetic.bounds` are computed by
`complete.dot`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.matrix.arithmetic import bounds, complete
from mfmasim.matrix.arithmetic.batches import TILES_LAST
from mfmasim.matrix.arithmetic.bounds import DOT_ADDEND, DOT_EMPTY, DOT_FACTORS, DOT_FINEST, EMPTY
from mfmasim.matrix.arithmetic.scratch import Scratch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.matrix.arithmetic.factors import Factors
    from mfmasim.matrix.arithmetic.product import Product, Rest
    from mfmasim.matrix.models import Model
    from mfmasim.matrix.request import Operands

_ONE = 23
_TOP = np.uint32(DOT_FINEST << _ONE)
_LARGE = np.float32(DOT_ADDEND).view(np.uint32)
_OUTPUTS = 1 << 15
"""Outputs at once: a dozen temporaries of four bytes stay in a core's second cache."""

_GRID, _FIELD, _ADDEND_FIELD, _SHIFT = (Scratch(np.uint32) for _ in range(4))
_UNITS, _TOTAL = Scratch(np.int32), Scratch(np.int32)
_PRODUCT = Scratch(np.float32)
_RESULTS = Scratch(np.float32), Scratch(np.float32)
"""Of even and of odd steps."""
_PAIRS = tuple((Scratch(np.uint32), Scratch(np.int32)) for _ in range(4))
"""Field and sum of each pair of ``dot4``."""


def usable(product: Product) -> bool:
    """Whether the shortcuts are proved for these parameters."""
    proved = bounds.dot_parameters(product.model) and product.formats.d == "f32" and not product.clamp
    return proved and product.k % product.model.group == 0


def dot(product: Product, operands: Operands, rest: Rest) -> NDArray[Any] | None:
    """The same as `mfmasim.matrix.arithmetic.complete.dot`, with shortcuts.

    Args:
        product: its model is a ``dot2`` or ``dot4`` row.
        operands: codes (tiles, rows, columns).
        rest: D of tiles that are within the bounds, by this path again.

    Returns:
        Raw bits (tiles, M, N).
    """
    if not usable(product) or operands.a.shape[2] % product.k:
        return None
    c = operands.c
    a = product.factors("a", TILES_LAST.forth(operands.a, "a"))
    b = product.factors("b", TILES_LAST.forth(operands.b, "b"))
    outside = (c & np.uint32(0x7FFFFFFF)).reshape(len(c), -1).max(axis=1) >= _LARGE
    for factors in (a, b):
        outside |= _out_of_bounds(factors)[: len(c)]
    if outside.any():
        d = np.empty_like(c)
        for some, run in ((outside, complete.dot), (~outside, rest)):
            if some.any():
                d[some] = run(product, operands.tiles(some))
        return d
    return _tiles_last(product.model, a, b, c)


def _zero(factors: Factors) -> NDArray[np.bool_]:
    """Factors that are zero, by the exponent that decoding gives them."""
    zero: NDArray[np.bool_] = factors.exponent <= EMPTY[factors.exponent.dtype]
    return zero


def _out_of_bounds(factors: Factors) -> NDArray[np.bool_]:
    """Tiles, the last axis, that do not fit the fields."""
    exponent = factors.exponent
    bad: NDArray[np.bool_] = np.zeros(exponent.shape[2], np.bool_)
    for special in (factors.nan, factors.inf):
        if special is not None:
            bad |= special.any(axis=(0, 1))
    if exponent.dtype != np.int8:  # formats of five exponent bits and fewer are within bounds
        bad |= (((exponent < DOT_FACTORS[0]) & ~_zero(factors)) | (exponent > DOT_FACTORS[1])).any(axis=(0, 1))
    return bad


def _fields(factors: Factors, bias: int) -> tuple[NDArray[np.uint32], bool]:
    """(bias - exponent) as a field, modulo 2^9, and whether a factor is zero."""
    zero = _zero(factors)
    some = bool(zero.any())
    exponent = factors.exponent.astype(np.int32)
    if some:
        exponent[zero] = DOT_EMPTY
    return ((bias - exponent) << _ONE).view(np.uint32), some


def _tiles_last(model: Model, a: Factors, b: Factors, c: NDArray[Any]) -> NDArray[Any]:
    """Factors (M, K, tiles) and (K, N, tiles), c (tiles, M, N)."""
    fields_a, zero_a = _fields(a, 151)
    fields_b, zero_b = _fields(b, 0)
    rows, columns = (
        (value.transpose(1, 0, 2)[:, :, None, :], other[:, None, :, :])
        for value, other in ((a.value, b.value), (fields_a, fields_b))
    )
    d = TILES_LAST.forth(c, "c")
    if model.flush_addend:
        tiny = d & np.uint32(0x7FFFFFFF) < np.uint32(1 << _ONE)
        if tiny.any():
            d[tiny] &= np.uint32(1 << 31)
    step = {"dot2": _dot2, "dot4": _dot4}[model.algorithm]
    high = max(1, _OUTPUTS // (d.shape[1] * d.shape[2]))
    for top in range(0, d.shape[0], high):
        band = slice(top, top + high)
        value = d[band].view(np.float32)
        for turn, first in enumerate(range(0, a.value.shape[1], model.group)):
            part = slice(first, first + model.group)
            operands = rows[0][part, band], rows[1][part], columns[0][part, band], columns[1][part]
            out = _RESULTS[turn % 2](value.shape)
            value = step(model, operands, value, out, zeros=zero_a or zero_b)
        d[band] = value.view(np.uint32)
    return TILES_LAST.back(d, len(c))


_Operands = tuple["NDArray[Any]", "NDArray[Any]", "NDArray[Any]", "NDArray[Any]"]
"""Values of A and B of a step, and their fields; k first."""


def _with_addend(field: NDArray[np.uint32], c: NDArray[np.float32]) -> None:
    """Make the products' field that of the step's grid."""
    other = _ADDEND_FIELD(c.shape)
    np.bitwise_and(c.view(np.uint32), np.uint32(0x7F800000), out=other)
    np.subtract(np.uint32(280 << _ONE), other, out=other)
    np.minimum(field, other, out=field)


def _smallest(a: NDArray[Any], b: NDArray[Any], out: Scratch[np.uint32], shape: tuple[int, ...]) -> NDArray[np.uint32]:
    """Smallest field of some products."""
    field, other = out(shape), _FIELD(shape)
    np.add(a[0], b[0], out=field)
    for k in range(1, len(a)):
        np.add(a[k], b[k], out=other)
        np.minimum(field, other, out=field)
    return field


def _rounded(
    total: NDArray[np.int32],
    field: NDArray[np.uint32],
    c: NDArray[np.float32],
    alone: NDArray[np.bool_] | None,
    d: NDArray[np.float32],
) -> NDArray[np.float32]:
    """The sum as f32, and c where all products are zero; overwrites the field."""
    np.copyto(d, total, casting="unsafe")
    np.subtract(np.uint32(0x7F000000), field, out=field)
    np.multiply(d, field.view(np.float32), out=d)
    if alone is not None:
        np.copyto(d, c + np.float32(0), where=alone)
    return d


def _bounded(field: NDArray[np.uint32], *, zeros: bool) -> NDArray[np.bool_] | None:
    """Where the grid is finer than any that float32 has a power for, and there bring it in bounds."""
    if not zeros:
        return None
    alone: NDArray[np.bool_] = field > _TOP
    if not alone.any():
        return None
    np.minimum(field, _TOP, out=field)
    return alone


def _dot2(
    _: Model, operands: _Operands, c: NDArray[np.float32], d: NDArray[np.float32], *, zeros: bool
) -> NDArray[np.float32]:
    a, b, fields_a, fields_b = operands
    field = _smallest(fields_a, fields_b, _GRID, c.shape)
    _with_addend(field, c)
    alone = _bounded(field, zeros=zeros)
    scale = field.view(np.float32)
    product, units, total = _PRODUCT(c.shape), _UNITS(c.shape), _TOTAL(c.shape)
    np.multiply(c, scale, out=product)
    np.copyto(total, product, casting="unsafe")
    np.right_shift(c.view(np.int32), 31, out=units)
    np.add(units, units, out=units)
    np.subtract(total, units, out=total)
    for k in range(len(a)):
        np.multiply(a[k], b[k], out=product)
        np.right_shift(product.view(np.int32), 31, out=units)
        np.add(total, units, out=total)
        np.multiply(product, scale, out=product)
        np.copyto(units, product, casting="unsafe")
        np.add(total, units, out=total)
    return _rounded(total, field, c, alone, d)


def _dot4(
    model: Model, operands: _Operands, c: NDArray[np.float32], d: NDArray[np.float32], *, zeros: bool
) -> NDArray[np.float32]:
    a, b, fields_a, fields_b = operands
    product, units = _PRODUCT(c.shape), _UNITS(c.shape)
    pairs = []
    for first, owners in zip(range(0, len(a), model.pair), _PAIRS, strict=False):
        ks = slice(first, first + model.pair)
        field = _smallest(fields_a[ks], fields_b[ks], owners[0], c.shape)
        if zeros:
            np.minimum(field, _TOP, out=field)  # a sum of zeros, on any grid
        pair = owners[1](c.shape)
        for k in range(first, first + model.pair):
            np.multiply(a[k], b[k], out=product)
            np.multiply(product, field.view(np.float32), out=product)
            np.floor(product, out=product)
            np.copyto(pair if k == first else units, product, casting="unsafe")
            if k > first:
                np.add(pair, units, out=pair)
        pairs.append((field, pair))
    # The fields of zeros are kept separate for the grid, which then depends on c alone.
    field = _smallest(fields_a, fields_b, _GRID, c.shape)
    _with_addend(field, c)
    alone = _bounded(field, zeros=zeros)
    np.multiply(c, field.view(np.float32), out=product)
    # Negative and closer to 0 than one unit: as integers, the bits of such floats are one interval.
    np.copyto(product, np.float32(0), where=product.view(np.int32) < np.int32(-0x40800000))
    np.floor(product, out=product)
    total, shift = _TOTAL(c.shape), _SHIFT(c.shape)
    np.copyto(total, product, casting="unsafe")
    for own, pair in pairs:
        np.subtract(own, field, out=shift)
        np.right_shift(shift, _ONE, out=shift)
        np.minimum(shift, np.uint32(31), out=shift)
        np.right_shift(pair, shift.view(np.int32), out=pair)
        np.add(total, pair, out=total)
    return _rounded(total, field, c, alone, d)
