"""Every algorithm for every parameter and input, following the definitions in `mfmasim.matrix.models` literally.

Faster paths fall back to these. Steps take the products of one step with k on axis 0, in float64, where every quantity
is a small integer times a power of two. Paths take codes in natural order, A (tiles, M, K) and B (tiles, K, N), and raw
bits c (tiles, M, N), and return raw bits d.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.formats import FORMATS
from mfmasim.matrix.arithmetic import exact_sums
from mfmasim.matrix.arithmetic.bounds import empty_below
from mfmasim.matrix.arithmetic.product import RESULTS
from mfmasim.matrix.arithmetic.scales import block_scales
from mfmasim.matrix.arithmetic.special_values import NAN, classify, resolve

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.matrix.arithmetic.factors import Factors
    from mfmasim.matrix.arithmetic.product import Product
    from mfmasim.matrix.models import Model
    from mfmasim.matrix.request import Operands

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


def dot_result(product: Product, t: NDArray[Any], grid: NDArray[Any]) -> NDArray[Any]:
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


def _decoded(product: Product, operands: Operands) -> tuple[Model, Factors, Factors, NDArray[Any]]:
    """The model, decoded A and B, and c."""
    return product.model, product.factors("a", operands.a), product.factors("b", operands.b), operands.c


def _outer(a: Factors, b: Factors, part: slice) -> tuple[Factors, Factors, NDArray[Any], NDArray[Any]]:
    """Factors, exact products and exponents of a step, k first: (k, n, M, 1), (k, n, 1, N), (k, n, M, N) twice."""
    rows = a.map(lambda x: np.moveaxis(x[:, :, part], 2, 0)[..., None])
    columns = b.map(lambda x: np.moveaxis(x[:, part, :], 1, 0)[:, :, None, :])
    products = np.multiply(rows.value, columns.value, dtype=np.float64)
    return rows, columns, products, rows.exponent + columns.exponent


def flushed(c: NDArray[Any], d_format: str, how: str) -> NDArray[Any]:
    """Raw bits with subnormals flushed, to +0 (as is -0 then) or to a zero of their sign.

    Args:
        c: raw bits.
        d_format: their format.
        how: ``""`` (no flushing), ``positive`` or ``signed``.
    """
    if not how:
        return c
    form = RESULTS[d_format]
    dtype = np.dtype(form.dtype).type
    smallest = (form.inf & -form.inf) if d_format != "f16" else 0  # a widened f16 has no subnormals
    tiny = c & dtype(form.sign - 1) < dtype(smallest)
    return np.where(tiny, c & dtype(form.sign) if how == "signed" else dtype(0), c)


def aligned(product: Product, operands: Operands) -> NDArray[Any]:
    """``aligned`` with every parameter, special values and scales included."""
    model, a, b, c = _decoded(product, operands)
    for part in product.steps(a.value.shape[2]):
        if part.start % product.k == 0:
            c = flushed(c, product.formats.d, model.flush_addend)
        rows, columns, products, exponents = _outer(a, b, part)
        flags = classify(rows, columns, products, overflow=model.product_overflow)
        total, e_dot, empty = aligned_sum(model, products, exponents)
        scale = block_scales(product, operands, part.start)
        if scale is not None:
            total, e_dot = scale.times(total), e_dot + scale.exponent
            empty = empty if scale.zero is None else empty | scale.zero
            if scale.nan.any():
                nan = np.broadcast_to(scale.nan, c.shape) * np.uint8(NAN)
                flags = nan if flags is None else flags | nan
        value = np.where(c & np.uint32(0x7F800000) == np.uint32(0x7F800000), np.uint32(0), c).view(np.float32)
        d = flushed(add_aligned(model, total, e_dot, empty, value).view(np.uint32), "f32", model.flush_output)
        c = resolve(product, flags, c, d)
    return c


def _widened(c: NDArray[Any], d_format: str) -> NDArray[Any]:
    """Finite raw bits of c as float64 (0 for NaN and Inf)."""
    form = RESULTS[d_format]
    dtype = np.dtype(form.dtype).type
    finite = np.where(c & dtype(form.inf) == dtype(form.inf), dtype(0), c)
    if d_format == "bf16":
        return (finite.astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)
    wide: NDArray[Any] = finite.view({"f16": np.float16, "f32": np.float32}[d_format]).astype(np.float64)
    return wide


def dot(product: Product, operands: Operands) -> NDArray[Any]:
    """``dot2`` and ``dot4``: steps of RDNA's dot product unit, narrowed after every step."""
    model, a, b, c = _decoded(product, operands)
    step = {"dot2": dot2_step, "dot4": dot4_step}[model.algorithm]
    for part in product.steps(a.value.shape[2]):
        rows, columns, products, exponents = _outer(a, b, part)
        flags = classify(rows, columns, products, overflow=model.product_overflow)
        addend = flushed(c, product.formats.d, model.flush_addend)
        t, grid = step(model, products, exponents, _widened(addend, product.formats.d))
        d = dot_result(product, t, grid)
        c = resolve(product, flags, c, d)
    return c


def exact(product: Product, operands: Operands) -> NDArray[Any]:
    """``exact``: each step's sum of products and c, rounded once."""
    model, a, b, c = _decoded(product, operands)
    for part in product.steps(a.value.shape[2]):
        rows, columns, products, _ = _outer(a, b, part)
        flags = classify(rows, columns, products, overflow=model.product_overflow)
        addend = _widened(c, "f32")
        with np.errstate(over="ignore", under="ignore"):
            if products.shape[0] <= 2 or product.fraction_bits == F16_FRACTIONS:
                high, low = _exact_pair(products)
                total = exact_sums.sum3_to_odd(high, low, addend)
            else:
                total = exact_sums.sum_to_odd([*products, addend])
            d = (total + 0.0).astype(np.float32).view(np.uint32)
        c = resolve(product, flags, c, d)
    return c


F16_FRACTIONS = 20
"""Fraction bits of two f16 factors together."""


def _exact_pair(products: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Two float64 arrays whose sum is exactly that of the products (k first)."""
    if products.shape[0] == 1:
        return products[0], np.zeros(products.shape[1:])
    if products.shape[0] == 2:
        return products[0], products[1]
    # f16 products are multiples of 2^-48 below 2^33: two limbs of 40 bits hold any sum of a few exactly.
    high = np.floor(products * 2.0**8)
    low = products - high * 2.0**-8
    return high.sum(axis=0) * 2.0**-8, low.sum(axis=0)


def _flush_f32(value: NDArray[np.float32], how: str) -> NDArray[np.float32]:
    if not how:
        return value
    zero = np.copysign(np.float32(0), value) if how == "signed" else np.float32(0)
    return np.where(np.abs(value) < np.float32(2.0**-126), zero, value)


def flush_pairwise(product: Product, operands: Operands) -> NDArray[Any]:
    """``flush_pairwise``: products and sums in f32, each rounded to nearest even and flushed."""
    model, a, b, c = _decoded(product, operands)
    how = model.flush_output
    a32 = _with_specials(a)
    b32 = _with_specials(b)
    value = c.view(np.float32)
    with np.errstate(all="ignore"):
        for part in product.steps(a.value.shape[2]):
            if part.start % product.k == 0:
                value = _flush_f32(value, model.flush_addend)
            rows, columns = np.moveaxis(a32[:, :, part], 2, 0)[..., None], np.moveaxis(b32[:, part], 1, 0)[:, :, None]
            terms = list(_flush_f32(rows * columns, how))
            while len(terms) > 1:
                pairs = [_flush_f32(x + y, how) for x, y in zip(terms[::2], terms[1::2], strict=False)]
                terms = pairs + terms[len(terms) & ~1 :]
            value = _flush_f32(value + terms[0], how)
    d = np.ascontiguousarray(value).view(np.uint32)
    return np.where(np.isnan(value), np.uint32(model.nan_invalid), d)


def _with_specials(factors: Factors) -> NDArray[np.float32]:
    """Values as IEEE numbers again, NaN and Inf included, for arithmetic that the host does itself."""
    value: NDArray[np.float32] = factors.value.astype(np.float32)
    if factors.inf is not None:
        value = np.where(factors.inf, np.copysign(np.float32(np.inf), value), value)
    if factors.nan is not None:
        value = np.where(factors.nan, np.float32(np.nan), value)
    return value


def fma(product: Product, operands: Operands) -> NDArray[Any]:
    """``fma``: a chain of fused multiply-adds in the format of d."""
    model, name = product.model, product.formats.d
    float_type: Any = {"f32": np.float32, "f64": np.float64}[name]
    once = {"f32": exact_sums.fma_f32, "f64": exact_sums.fma_f64}[name]
    form = RESULTS[name]
    a, b = (flushed(codes, name, product.flush_inputs).view(float_type) for codes in (operands.a, operands.b))
    value: NDArray[Any] = operands.c.view(float_type)
    for k in range(a.shape[2]):
        if k % product.k == 0:
            value = flushed(value.view(form.dtype), name, model.flush_addend).view(float_type)
        with np.errstate(invalid="ignore"):  # signalling NaNs
            x, y = a[:, :, k, None].astype(np.float64), b[:, None, k, :].astype(np.float64)
            new: NDArray[Any] = np.asarray(once(x, y, value.astype(np.float64)))
        if product.clamp:
            overflow = np.isinf(new) & np.isfinite(x) & np.isfinite(y) & np.isfinite(value)
            new = np.where(overflow, np.copysign(np.finfo(float_type).max, new), new)
        value = flushed(new.view(form.dtype), name, model.flush_output).view(float_type)
    bits = np.ascontiguousarray(value).view(form.dtype)
    return np.where(np.isnan(value), np.dtype(form.dtype).type(model.nan_invalid), bits)


def integer(product: Product, operands: Operands) -> NDArray[np.uint32]:
    """``integer``: products of integers, accumulated exactly.

    float64 holds every sum: 2^53 is far above K * 2^16 + 2^31 for any K that fits in memory.

    Args:
        product: an ``integer`` model.
        operands: codes (tiles, rows, columns).

    Returns:
        The bits of the 32-bit sums (tiles, M, N).
    """
    modes, model = product.modes, product.model
    saturate = modes.clamp or (modes.fp16_ovfl and model.clamp == "saturate")
    a, b = _integers(product.formats.a, operands.a), _integers(product.formats.b, operands.b)
    value = operands.c.view(np.int32).astype(np.float64)
    step = product.k // 2 if saturate and model.clamp == "saturate_halves" else product.k
    for start in range(0, a.shape[2], step):
        value = value + np.matmul(a[:, :, start : start + step], b[:, start : start + step])
        if saturate:
            value = np.clip(value, -(2.0**31), 2.0**31 - 1)
    return value.astype(np.int64).astype(np.uint32)


def _integers(name: str, codes: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Integers by their codes; the sign bit, where there is one, counts negative."""
    sign = FORMATS[name].sign_bit
    value: NDArray[np.float64] = (codes ^ np.uint8(sign)).astype(np.float64) - sign
    return value
