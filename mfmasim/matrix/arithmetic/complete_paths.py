"""One tile batch through one instruction, for each algorithm: the complete paths, without shortcuts.

Every function takes codes in natural order, A (tiles, M, K) and B (tiles, K, N), raw bits c (tiles, M, N), and returns
raw bits d.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.matrix.arithmetic import complete_steps, exact_sums
from mfmasim.matrix.arithmetic.scales import block_scales
from mfmasim.matrix.arithmetic.special_values import NAN, RESULTS, classify, resolve

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.matrix.arithmetic.factors import Factors
    from mfmasim.matrix.arithmetic.product import Product
    from mfmasim.matrix.models import Model
    from mfmasim.matrix.request import Operands


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
        total, e_dot, empty = complete_steps.aligned_sum(model, products, exponents)
        scale = block_scales(product, operands, part.start)
        if scale is not None:
            total, e_dot = scale.times(total), e_dot + scale.exponent
            empty = empty if scale.zero is None else empty | scale.zero
            if scale.nan.any():
                nan = np.broadcast_to(scale.nan, c.shape) * np.uint8(NAN)
                flags = nan if flags is None else flags | nan
        value = np.where(c & np.uint32(0x7F800000) == np.uint32(0x7F800000), np.uint32(0), c).view(np.float32)
        d = flushed(
            complete_steps.add_aligned(model, total, e_dot, empty, value).view(np.uint32), "f32", model.flush_output
        )
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
    step = {"dot2": complete_steps.dot2_step, "dot4": complete_steps.dot4_step}[model.algorithm]
    for part in product.steps(a.value.shape[2]):
        rows, columns, products, exponents = _outer(a, b, part)
        flags = classify(rows, columns, products, overflow=model.product_overflow)
        addend = flushed(c, product.formats.d, model.flush_addend)
        t, grid = step(model, products, exponents, _widened(addend, product.formats.d))
        d = complete_steps.narrow(product, t, grid)
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
