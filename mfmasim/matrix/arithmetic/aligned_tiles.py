"""``aligned`` chains over a batch of tiles: the path to a step's sum, and tiles that need the complete path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.matrix.arithmetic import aligned_steps, bounds, complete, matmul_steps
from mfmasim.matrix.arithmetic.batches import NATURAL, OUTPUTS, TILES_LAST, Order, bands
from mfmasim.matrix.arithmetic.byte_factors import byte_factors
from mfmasim.matrix.arithmetic.one_grid import on_one_grid
from mfmasim.matrix.arithmetic.scales import block_scales

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.matrix.arithmetic.byte_factors import ByteFactors
    from mfmasim.matrix.arithmetic.factors import Factors
    from mfmasim.matrix.arithmetic.product import Product, Rest
    from mfmasim.matrix.models import Model
    from mfmasim.matrix.request import Memo, Operands

# From this many tiles on, the tile index is put innermost, so that inner loops are long.
_MANY = 48
# With the tile index innermost, so many tiles at once: B of all of them stays in the cache while bands of A pass.
_TILES = 1024


def few_bits(product: Product) -> bool:
    """Whether the factors are so narrow that large matrix products pay."""
    return product.fraction_bits <= bounds.FRACTION_BITS and product.model.algorithm != "integer"


def shortcuts(product: Product) -> bool:
    """Whether the shortcuts of ``aligned`` hold for a product."""
    return bounds.aligned_parameters(product.model) and not product.clamp and product.formats.powers_of_two


def by_bytes(product: Product, operands: Operands, _: Rest) -> NDArray[Any] | None:
    """Factors of 8 bits and fewer by matrix products: `one_grid`, else `matmul_steps`; None where neither is proved.

    Args:
        product: its model is an ``aligned`` row.
        operands: codes (tiles, rows, columns), and the scales of the same tiles.
        _: not needed.

    Returns:
        Raw f32 bits (tiles, M, N).
    """
    if not (shortcuts(product) and few_bits(product)):
        return None
    memos = operands.memos or (None, None)
    x, y = (
        byte_factors(product, name, codes, memo)
        for name, codes, memo in zip("ab", (operands.a, operands.b), memos, strict=True)
    )
    found = None if operands.scaled else on_one_grid(product, x, y, operands.c)
    if found is None and x.inf is None and y.inf is None:
        found = _by_matmul(product, x, y, operands)
    return found


def by_products(product: Product, operands: Operands, rest: Rest) -> NDArray[Any] | None:
    """One product after the other by `aligned_steps`; tiles that it does not cover by the complete path.

    Args:
        product: its model is an ``aligned`` row.
        operands: codes (tiles, rows, columns), and the scales of the same tiles.
        rest: D of the tiles that are within the bounds.

    Returns:
        Raw f32 bits (tiles, M, N); None where no shortcut is proved for the product.
    """
    if not shortcuts(product):
        return None
    c, memos = operands.c, operands.memos or (None, None)
    last = c.shape[0] >= _MANY
    order = TILES_LAST if last else NATURAL
    a = _factors(product, "a", order, operands.a, memos[0])
    b = _factors(product, "b", order, operands.b, memos[1])
    outside = _outside(a, b, axis=2 if last else 0)
    if outside is not None:
        d = np.empty_like(c)
        outside = outside[: len(c)]
        d[outside] = complete_tiles(product, operands.tiles(outside))
        if not outside.all():
            d[~outside] = rest(product, operands.tiles(~outside))
        return d
    if last:
        return _tiles_last(product, a, b, c)
    return _natural(product, a, b, operands)


def _factors(product: Product, name: str, order: Order, codes: NDArray[Any], memo: Memo | None) -> Factors:
    """Factors of ``a`` or ``b``, which a memo may have already.

    Args:
        product: formats, model and modes.
        name: the operand.
        order: of the tiles.
        codes: in natural order.
        memo: of the operand, if any.
    """
    if memo is None:
        return product.factors(name, order.forth(codes, name))
    key = "factors", product.model.name, product.flush_inputs, order.last, codes.shape
    found: Factors | None = memo.get(key)
    if found is None:
        found = memo[key] = product.factors(name, order.forth(codes, name), lasting=True)
    return found


def _any(flags: NDArray[np.bool_], axis: int | tuple[int, ...]) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = np.asarray(flags.any(axis=axis))
    return found


def _outside(a: Factors, b: Factors, axis: int) -> NDArray[np.bool_] | None:
    """Tiles that the shortcuts do not cover: infinite factors, products or grids out of bounds; None for none."""
    others = tuple(i for i in range(3) if i != axis)
    outside: NDArray[np.bool_] | None = None
    for x in (a, b):
        if x.inf is not None:
            found = _any(x.inf, others)
            outside = found if outside is None else outside | found
    if a.exponent.dtype != np.int8:  # that of b is the same: no instruction mixes exponents of 5 and of 8 bits
        highest: Any = 0
        lowest: Any = 0
        for x in (a, b):
            highest = highest + x.exponent.max(axis=others).astype(np.int32)
            empty = bounds.EMPTY[x.exponent.dtype]
            lowest = lowest + x.exponent.min(axis=others, initial=-empty, where=x.exponent > empty).astype(np.int32)
        found = np.asarray(lowest < bounds.LOWEST) | (highest > bounds.HIGHEST)
        if found.any():
            outside = found if outside is None else outside | found
    return outside


def complete_tiles(product: Product, operands: Operands) -> NDArray[Any]:
    """The complete path, a few tiles or a few rows at a time."""
    d = np.empty_like(operands.c)
    size = max(1, OUTPUTS // (d.shape[1] * d.shape[2]))
    for start in range(0, len(d), size):
        tiles = slice(start, start + size)
        part = operands.tiles(tiles)
        for band in bands(part.c.shape):
            d[tiles, band] = complete.aligned(product, part.rows(band))
    return d


def _by_matmul(product: Product, a: ByteFactors, b: ByteFactors, operands: Operands) -> NDArray[Any] | None:
    """Tiles by matrix products; None where exponents are spread too widely."""
    prepared = matmul_steps.prepare(product, a, b)
    if prepared is None:
        return None

    def step_sum(tiles: slice, band: slice, part: slice, shape: tuple[int, ...]) -> aligned_steps.Sum:
        return prepared.step_sum(tiles, band, part, shape)

    return _with_nans(product.model, a, b, operands, _stepwise(product, operands, step_sum))


def _natural(product: Product, a: Factors, b: Factors, operands: Operands) -> NDArray[Any]:
    """Tiles in natural order, by products."""
    rows = a.map(lambda v: np.moveaxis(v, 2, 0)[..., None])
    columns = b.map(lambda v: np.moveaxis(v, 1, 0)[:, :, None, :])

    def step_sum(tiles: slice, band: slice, part: slice, _: tuple[int, ...]) -> aligned_steps.Sum:
        x, y = rows.map(lambda v: v[:, tiles, band]), columns.map(lambda v: v[:, tiles])
        return aligned_steps.product_sum(product.model, x, y, part)

    return _with_nans(product.model, a, b, operands, _stepwise(product, operands, step_sum))


def _stepwise(
    product: Product, operands: Operands, step_sum: Callable[[slice, slice, slice, tuple[int, ...]], aligned_steps.Sum]
) -> NDArray[np.uint32]:
    """Step after step for parts of the tiles.

    Args:
        product: formats, model and modes.
        operands: codes (tiles, rows, columns), and the scales of the same tiles.
        step_sum: sum of a step for tiles, rows of A and k of a shape.
    """
    model, shape = product.model, operands.c.shape
    d = np.empty(shape, np.uint32)
    parts = list(product.steps(operands.a.shape[2]))
    size = max(1, OUTPUTS // (shape[1] * shape[2]))
    for start in range(0, shape[0], size):
        tiles = slice(start, start + size)
        some = operands.tiles(tiles)
        for band in bands(some.c.shape):
            own = some.rows(band)
            # + 0: where a step adds nothing, either zero gives +0.
            value = own.c.view(np.float32) + np.float32(0)
            for turn, part in enumerate(parts):
                total = step_sum(tiles, band, part, value.shape)
                scale = block_scales(product, own, part.start)
                value = aligned_steps.add(
                    model, total if scale is None else aligned_steps.scaled(total, scale.exponent), value, turn
                )
            d[tiles, band] = _bits(model, value)
    return d


def _with_nans(
    model: Model, a: Factors | ByteFactors, b: Factors | ByteFactors, operands: Operands, d: NDArray[np.uint32]
) -> NDArray[np.uint32]:
    """Rows and columns of NaN factors and NaN scales; overwrites d."""
    nan = np.uint32(model.nan_invalid)
    # There are no infinite factors here: a NaN factor makes its whole row or column NaN.
    scale_a, scale_b = (None if x is None else x == 255 for x in (operands.scale_a, operands.scale_b))
    for rows in (a.nan, scale_a):
        if rows is not None:
            np.copyto(d, nan, where=_any(rows, 2)[:, :, None])
    for columns, axis in ((b.nan, 1), (scale_b, 2)):
        if columns is not None:
            np.copyto(d, nan, where=_any(columns, axis)[:, None, :])
    return d


def _bits(model: Model, value: NDArray[np.float32]) -> NDArray[np.uint32]:
    """Raw bits with the model's NaN for every NaN."""
    bits = value.view(np.uint32)
    if np.isnan(value.max(initial=0)):
        return np.where(np.isnan(value), np.uint32(model.nan_invalid), bits)
    return bits


def _tiles_last(product: Product, a: Factors, b: Factors, c: NDArray[Any]) -> NDArray[Any]:
    """Many tiles by products: factors (M, K, tiles) and (K, N, tiles)."""
    model = product.model
    rows, columns = a.map(lambda v: v.transpose(1, 0, 2)[:, :, None, :]), b.map(lambda v: v[:, None, :, :])
    d = TILES_LAST.forth(c, "c")
    parts = list(product.steps(a.value.shape[1]))
    for start in range(0, d.shape[2], _TILES):
        tiles = slice(start, start + _TILES)
        others = columns.map(lambda v, tiles=tiles: v[..., tiles])
        for band in bands((min(_TILES, c.shape[0]), c.shape[1], c.shape[2])):
            value = d[band, :, tiles].view(np.float32)
            some = rows.map(lambda v, band=band, tiles=tiles: v[:, band, :, tiles])
            for turn, part in enumerate(parts):
                # No scales: formats that have them have at most 8 bits.
                value = aligned_steps.add(model, aligned_steps.product_sum(model, some, others, part), value, turn)
            d[band, :, tiles] = _bits(model, value)
    nan = np.uint32(model.nan_invalid)
    if a.nan is not None:
        np.copyto(d, nan, where=_any(a.nan, 1)[:, None, :])
    if b.nan is not None:
        np.copyto(d, nan, where=_any(b.nan, 0)[None, :, :])
    return TILES_LAST.back(d, len(c))
