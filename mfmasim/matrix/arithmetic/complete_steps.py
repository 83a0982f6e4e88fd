"""Steps of the fused algorithms on whole arrays, in float64: every quantity is a small integer times a power of two.

All functions take the products of one step with k on axis 0 and return the running value after it. They follow the
definitions in `mfmasim.matrix.models` literally and hold for every parameter and every input; faster
paths fall back to them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.matrix.arithmetic.factors import empty_below

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.matrix.arithmetic.product import Product
    from mfmasim.matrix.models import Model

ROUNDINGS: dict[str, Callable[..., NDArray[Any]]] = {"floor": np.floor, "truncate": np.trunc, "nearest_even": np.rint}


def lead(value: NDArray[Any]) -> NDArray[Any]:
    """floor(log2 |value|) of float64 values (meaningless for 0)."""
    exponent: NDArray[Any] = np.frexp(value)[1]
    return exponent - 1


def aligned_sum(
    model: Model, products: NDArray[Any], exponents: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]:
    """Sum of a step's products (rules 1 and 2 of ``aligned``).

    Args:
        model: the row.
        products: exact float64 products, (k, ...).
        exponents: ea+eb of each, same shape.

    Returns:
        The sum as an exact float64, e_dot (int32), and where all products are zero.
    """
    parts = []
    for part in range(model.partial_sums):
        # An instruction of K = 1 leaves the odd half empty.
        if part < products.shape[0]:
            e = exponents[part :: model.partial_sums].max(axis=0).astype(np.int32)
            unit = e - model.product_bits
            scaled = np.ldexp(products[part :: model.partial_sums], -unit)
            parts.append((np.ldexp(ROUNDINGS[model.product_rounding](scaled).sum(axis=0), unit), e))
    total, e_dot = parts[0]
    if model.partial_sums > 1:
        for _, e in parts[1:]:
            e_dot = np.maximum(e_dot, e)
        unit = e_dot - model.partial_bits
        halves = [ROUNDINGS[model.partial_rounding](np.ldexp(half, -unit)) for half, _ in parts]
        total = np.ldexp(sum(halves[1:], halves[0]), unit)
    return total, e_dot, e_dot < empty_below(exponents)


def add_aligned(
    model: Model, total: NDArray[Any], e_dot: NDArray[Any], empty: NDArray[np.bool_], c: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Add a finite addend to a step's sum and round to f32 (rules 4 to 7 of ``aligned``).

    Args:
        model: an ``aligned`` row.
        total: sums of the step's products, float64.
        e_dot: exponents of their grids.
        empty: where all products are zero.
        c: the addend, finite.
    """
    bits = c.view(np.uint32)
    e_c = np.maximum((bits >> np.uint32(23)).astype(np.int32) & 255, 1) - 127
    e_max = np.where(empty, e_c, np.maximum(e_dot, e_c))
    wide = c.astype(np.float64)
    s = ROUNDINGS[model.sum_rounding](np.ldexp(total, model.sum_bits - e_max))
    addend = ROUNDINGS[model.addend_rounding](np.ldexp(wide, model.addend_bits - e_max))
    if model.drop_addend_below is not None:
        addend = np.where(e_c < e_max - model.drop_addend_below, 0.0, addend)
    fine = max(model.sum_bits, model.addend_bits)
    t = s * 2.0 ** (fine - model.sum_bits) + addend * 2.0 ** (fine - model.addend_bits)
    unit = e_max - fine
    if model.final_bits is not None:
        coarse = np.maximum(lead(t) + unit, -126) - model.final_bits
        t, unit = ROUNDINGS[model.final_rounding](np.ldexp(t, unit - coarse)), coarse
    with np.errstate(over="ignore", under="ignore"):
        # + 0.0: a sum of zero is +0, whatever the addend's sign.
        value: NDArray[np.float32] = (np.ldexp(t, unit) + 0.0).astype(np.float32)
    return value


def _grid(model: Model, exponents: NDArray[Any], c: NDArray[Any]) -> NDArray[Any]:
    """Power of two of the grid on which a DOT step adds; c in float64."""
    e = exponents.max(axis=0).astype(np.int32)
    product_grid = np.where(e < empty_below(exponents), -4096, e - model.product_bits)
    c_lead = np.where(c == 0, -1024, lead(c))
    grid: NDArray[Any] = np.maximum(product_grid, np.maximum(c_lead, model.addend_lead_floor) - model.addend_bits)
    return grid


def narrow(product: Product, t: NDArray[Any], grid: NDArray[Any]) -> NDArray[Any]:
    """Round t * 2^grid as a DOT step does.

    Args:
        product: its format of D, its model and MODE.FP16_OVFL say how.
        t: units, float64.
        grid: power of two of a unit.

    Returns:
        Raw bits, +0 for every zero.
    """
    d_format = product.formats.d
    with np.errstate(over="ignore", under="ignore"):
        if d_format == "f16":
            half: NDArray[np.float16] = np.ldexp(t, grid).astype(np.float16)
            bits: NDArray[Any] = half.view(np.uint16)
            if product.modes.fp16_ovfl:
                bits = np.where(np.isinf(half), bits - np.uint16(1), bits)
            return np.where(half == 0, np.uint16(0), bits)
        if product.model.flush_output == "positive":
            # Rounded to 24 bits first, and only then compared with the smallest normal number.
            rounded = np.ldexp(t.astype(np.float32).astype(np.float64), grid)
            value = np.where(np.abs(rounded) < 2.0**-126, 0.0, rounded).astype(np.float32)
        else:
            value = np.ldexp(t, grid).astype(np.float32)
        bits32 = np.where(value == 0, np.uint32(0), value.view(np.uint32))
    result: NDArray[Any] = bits32 if d_format == "f32" else (bits32 >> np.uint32(16)).astype(np.uint16)
    return result


def dot2_step(
    model: Model, products: NDArray[Any], exponents: NDArray[Any], c: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """gfx11 DOT2: units and grid of the step's sum. c in float64, its subnormals already flushed.

    Args:
        model: a ``dot2`` row.
        products: exact products in float64, k first.
        exponents: their exponents, before normalisation.
        c: the addend.
    """
    grid = _grid(model, exponents, c)
    negative = np.signbit(c)

    def contribution(x: NDArray[Any]) -> NDArray[Any]:
        m: NDArray[Any] = np.floor(np.ldexp(np.abs(x), -grid))
        return np.where(np.signbit(x) == negative, m, -m - 1)

    t = contribution(c)
    for product in products:
        t = t + contribution(product)
    all_zero = (c == 0) & (products == 0).all(axis=0)
    return np.where(all_zero, 0.0, np.where(negative, -t, t)), grid


def dot4_step(
    model: Model, products: NDArray[Any], exponents: NDArray[Any], c: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """gfx12 DOT4: units and grid of the step's sum. c in float64.

    Args:
        model: a ``dot4`` row.
        products: exact products in float64, k first.
        exponents: their exponents, before normalisation.
        c: the addend.
    """
    grid = _grid(model, exponents, c)
    units = np.floor(np.ldexp(c, -grid))
    t = np.where((units == -1) & (c > -np.ldexp(1.0, grid)) & (grid > model.addend_lead_floor), 0.0, units)
    for start in range(0, products.shape[0], model.pair):
        pair = slice(start, start + model.pair)
        pair_grid = exponents[pair].max(axis=0).astype(np.int32) - model.product_bits
        pair_sum = np.floor(np.ldexp(products[pair], -pair_grid)).sum(axis=0)
        t = t + np.floor(np.ldexp(pair_sum, pair_grid - grid))
    return t, grid
