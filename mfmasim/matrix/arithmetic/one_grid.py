"""Factors of 8 bits and fewer whose sums are exact before the rounding to f32: plain matrix products.

Let 2^grain divide all products and addends. Within `exact_grid` and `chain_limit` of `mfmasim.matrix.arithmetic.bounds`
no grid of a step is coarser than 2^grain: truncation removes nothing, and a step is one rounding of the exact c + sum
to f32, which is a multiple of 2^grain again.

By Cauchy and Schwarz, the sum of any products of a step is at most |row of A| |column of B|. Where this is at most
2^24 grains, float32 holds every partial sum of the matrix product, in whatever order it is added, and one addition in
float32 is the rounding; else float64 holds them. Where it bounds the sum of all steps and the addend too, nothing is
rounded at all, and they are one product.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.matrix.arithmetic.batches import OUTPUTS, bands
from mfmasim.matrix.arithmetic.bounds import chain_limit, exact_grid, in_float32
from mfmasim.matrix.arithmetic.scratch import Scratch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.matrix.arithmetic.byte_factors import ByteFactors
    from mfmasim.matrix.arithmetic.product import Product

_TOTAL, _UNITS = Scratch(np.float64), Scratch(np.float32)


def on_one_grid(
    product: Product, a: ByteFactors, b: ByteFactors, addend: NDArray[np.uint32]
) -> NDArray[np.uint32] | None:
    """D of a batch of tiles without scales, or None where some sum may not be exact.

    Args:
        product: of formats of 8 bits and fewer and D in f32, by a model with
            `mfmasim.matrix.arithmetic.bounds.aligned_parameters`.
        a: A, (tiles, ..., M, K); its leading axes broadcast against C's, as many.
        b: B, (tiles, ..., K, N), likewise.
        addend: bits of C in f32, (tiles, ..., M, N).

    Returns:
        Raw f32 bits (tiles, ..., M, N).
    """
    model, k, c = product.model, a.codes.shape[-1], addend.view(np.float32)
    if a.special or b.special or k % product.k or product.k % model.group or not k or not c.size:
        return None
    grain = a.exponents[0] + b.exponents[0] - product.fraction_bits
    # Addends that are not on the grid usually show it in their first row.
    if a.exponents[1] + b.exponents[1] > exact_grid(grain, model.product_bits) or not _on_grid(
        c[:1, ..., :1, :], grain
    ):
        return None
    step, largest = a.norm * b.norm, float(np.maximum(c.max(), -c.min()))
    if not (largest < chain_limit(grain) and _on_grid(c, grain)):
        return None
    size = k if in_float32(largest + k // model.group * step, grain) else model.group
    d, tiles = np.empty(c.shape, np.float32), max(1, OUTPUTS // math.prod(c.shape[1:]))
    for first in range(0, len(c), tiles):
        some = slice(first, first + tiles)
        x, y = (values[some] if len(values) > 1 else values for values in (a.value, b.value))
        for band in bands((math.prod(c[some].shape[:-2]), *c.shape[-2:])):
            out = d[some, ..., band, :]
            # + 0: where a step adds nothing, either zero gives +0.
            np.add(c[some, ..., band, :], np.float32(0), out=out)
            if not _add_steps(out, (x[..., band, :], y), size, grain, (largest, step)):
                return None
    return d.view(np.uint32)


def _add_steps(
    value: NDArray[np.float32],
    factors: tuple[NDArray[Any], NDArray[Any]],
    size: int,
    grain: int,
    bounds: tuple[float, float],
) -> bool:
    """Add the products of all steps to the addend, in place; False where a sum may become too large.

    Args:
        value: the addend, (tiles, ..., rows, N).
        factors: A (tiles, ..., rows, K) and B (tiles, ..., K, N), in float32.
        size: terms of a step.
        grain: exponent of the grid.
        bounds: of the addend, and of the sum of a step of the model.
    """
    a, b = factors
    largest, step = bounds
    kind = np.float32 if in_float32(step, grain) else np.float64
    if kind == np.float64:
        a, b = a.astype(kind), b.astype(kind)
    total = _TOTAL.like(value.shape, np.dtype(kind))
    for first in range(0, a.shape[-1], size):
        if largest >= chain_limit(grain):
            largest = float(np.maximum(value.max(), -value.min()))
            if not largest < chain_limit(grain):
                return False
        part = slice(first, first + size)
        np.matmul(a[..., part], b[..., part, :], out=total)
        if kind == np.float32:
            np.add(total, value, out=value)
        else:
            np.add(total, value, out=total)
            np.copyto(value, total, casting="same_kind")
        largest += step * (1 + 2.0**-20)
    return True


def _on_grid(c: NDArray[np.float32], grain: int) -> bool:
    """Whether every element is a multiple of 2^grain, or not finite."""
    units = np.multiply(c, np.float32(2.0**-grain), out=_UNITS(c.shape))
    return bool((np.rint(units) == units).all())
