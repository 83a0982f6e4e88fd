"""Fast ``aligned`` chains over a batch of tiles: which way to a step's sum, and what needs the plain path."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.matrix.arithmetic import bymatmul, chains, fast
from mfmasim.matrix.arithmetic.order import NATURAL, TILES_LAST, pick

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.matrix.arithmetic.operands import Codes, Factors
    from mfmasim.matrix.models import Model

__all__ = ["MERGED_FRACTION_BITS", "aligned"]

MERGED_FRACTION_BITS = bymatmul.FRACTION_BITS
"""Formats with at most this many fraction bits together gain from large products."""

# From this many tiles on, the tile index is put innermost, so that inner loops are long.
_MANY = 48
# Outputs handled at once: a dozen float32 temporaries of this many stay in a core's cache.
_OUTPUTS = 1 << 16
# With the tile index innermost, so many tiles at once: B of all of them stays in the cache while bands of A pass.
_TILES = 1024
# Up to this many products, all steps are summed at once.
_SMALL = 1 << 14


def aligned(model: Model, a: Codes, b: Codes, c: NDArray[Any], options: chains.Options) -> NDArray[Any]:
    """``aligned`` for a batch of tiles, like `mfmasim.matrix.arithmetic.chains.aligned` but fast where it can be.

    Args:
        model: an ``aligned`` row.
        a: codes (tiles, M, K).
        b: codes (tiles, K, N).
        c: raw f32 bits (tiles, M, N).
        options: modifiers, and scales of the same tiles.

    Returns:
        Raw f32 bits (tiles, M, N).
    """
    if not fast.usable(model) or options.clamp:
        return _plain(model, a, b, c, options)
    narrow = options.fraction_bits <= bymatmul.FRACTION_BITS
    last = not narrow and c.shape[0] >= _MANY
    order = TILES_LAST if last else NATURAL
    x, y = (codes.read(order.forth(codes.array, name)) for codes, name in ((a, "a codes"), (b, "b codes")))
    plain = _plain_tiles(x, y, axis=2 if last else 0)
    if plain is not None:
        d = np.empty_like(c)
        plain = plain[: len(c)]
        d[plain] = _plain(model, *pick(a, b, c, options, plain))
        if not plain.all():
            d[~plain] = aligned(model, *pick(a, b, c, options, ~plain))
        return d
    if last:
        return _tiles_last(model, x, y, c, options)
    if c.size * x.value.shape[2] <= _SMALL and options.k % model.group == 0 == x.value.shape[2] % options.k:
        return _small(model, x, y, c, options)
    return _natural(model, x, y, c, options, narrow=narrow)


def _any(flags: NDArray[np.bool_], axis: int | tuple[int, ...]) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = np.asarray(flags.any(axis=axis))
    return found


def _plain_tiles(a: Factors, b: Factors, axis: int) -> NDArray[np.bool_] | None:
    """Tiles that the shortcuts do not cover: infinite factors, products or grids out of bounds; None for none."""
    others = tuple(i for i in range(3) if i != axis)
    plain: NDArray[np.bool_] | None = None
    for x in (a, b):
        if x.inf is not None:
            found = _any(x.inf, others)
            plain = found if plain is None else plain | found
    if a.exponent.dtype != np.int8 or b.exponent.dtype != np.int8:
        highest: Any = 0
        lowest: Any = 0
        for x in (a, b):
            highest = highest + x.exponent.max(axis=others).astype(np.int32)
            lowest = lowest + x.exponent.min(axis=others, initial=400, where=x.exponent > -400).astype(np.int32)
        found = np.asarray(lowest < fast.LOWEST) | (highest > fast.HIGHEST)
        if found.any():
            plain = found if plain is None else plain | found
    return plain


def _plain(model: Model, a: Codes, b: Codes, c: NDArray[Any], options: chains.Options) -> NDArray[Any]:
    """The complete path, a few tiles or a few rows at a time."""
    size = max(1, _OUTPUTS // (c.shape[1] * c.shape[2]))
    d = np.empty_like(c)
    for start in range(0, c.shape[0], size):
        p, q, addend, tile_options = pick(a, b, c, options, slice(start, start + size))
        x, y = p.factors(), q.factors()
        for band in _bands(addend.shape):
            scale_a = None if tile_options.scale_a is None else tile_options.scale_a[:, band]
            band_options = replace(tile_options, scale_a=scale_a)
            rows = x.map(lambda v, band=band: v[:, band])
            d[start : start + size, band] = chains.aligned(model, rows, y, addend[:, band], band_options)
    return d


def _bands(shape: tuple[int, ...]) -> list[slice]:
    """Bands of rows of (tiles, M, N) with about `_OUTPUTS` outputs each."""
    rows = max(1, _OUTPUTS // max(1, shape[0] * shape[2]))
    return [slice(start, min(start + rows, shape[1])) for start in range(0, shape[1], rows)]


def _natural(
    model: Model, a: Factors, b: Factors, c: NDArray[Any], options: chains.Options, *, narrow: bool
) -> NDArray[Any]:
    """Tiles in natural order, by matrix products where the factors are narrow."""
    d = np.empty(c.shape, np.uint32)
    parts = list(chains.step_slices(a.value.shape[2], options.k, model.group))
    scaled = options.scale_a is not None or options.scale_b is not None
    size = max(1, _OUTPUTS // (c.shape[1] * c.shape[2]))
    for start in range(0, c.shape[0], size):
        tiles = slice(start, start + size)
        p, q = (x.map(lambda v, tiles=tiles: v[tiles]) for x in (a, b))
        prepared = bymatmul.prepare(model, p, q, options.fraction_bits) if narrow else None
        if prepared is None:
            rows = p.map(lambda v: np.moveaxis(v, 2, 0)[..., None])
            columns = q.map(lambda v: np.moveaxis(v, 1, 0)[:, :, None, :])
        for band in _bands(c[tiles].shape):
            # + 0: where a step adds nothing, either zero gives +0.
            value = c[tiles, band].view(np.float32) + np.float32(0)
            exact = prepared is not None and not scaled and prepared.exact(value)
            for turn, part in enumerate(parts):
                new = prepared.exact_step(band, part, value, turn) if exact and prepared is not None else None
                if new is None:
                    exact = False
                    if prepared is None:
                        total = fast.product_sum(model, rows.map(lambda v, band=band: v[:, :, band]), columns, part)
                    else:
                        total = prepared.step_sum(band, part, value.shape)
                    scale = options.scale(part.start // 32, band, tiles) if scaled else None
                    new = fast.add(model, total if scale is None else fast.scaled(total, scale[0]), value, turn)
                value = new
            d[tiles, band] = _bits(model, value)
    return _with_nans(model, a, b, options, d)


def _small(model: Model, a: Factors, b: Factors, c: NDArray[Any], options: chains.Options) -> NDArray[Any]:
    """Few tiles in natural order: products of all steps at once."""
    parts = model.partial_sums
    shape = (-1, model.group // parts, parts)
    rows = a.map(lambda v: v.transpose(2, 0, 1).reshape(*shape, *v.shape[:2], 1))
    columns = b.map(lambda v: v.transpose(1, 0, 2).reshape(*shape, v.shape[0], 1, v.shape[2]))
    value = c.view(np.float32)
    for step, total in enumerate(fast.product_sums(model, rows, columns)):
        scale = options.scale(step * model.group // 32)
        value = fast.add(model, total if scale is None else fast.scaled(total, scale[0]), value, step)
    return _with_nans(model, a, b, options, _bits(model, value))


def _with_nans(
    model: Model, a: Factors, b: Factors, options: chains.Options, d: NDArray[np.uint32]
) -> NDArray[np.uint32]:
    """Rows and columns of NaN factors and NaN scales; overwrites d."""
    nan = np.uint32(model.nan_invalid)
    # There are no infinite factors here: a NaN factor makes its row or column NaN, whatever else happens.
    if a.nan is not None:
        np.copyto(d, nan, where=_any(a.nan, 2)[:, :, None])
    if b.nan is not None:
        np.copyto(d, nan, where=_any(b.nan, 1)[:, None, :])
    if options.scale_a is not None:
        np.copyto(d, nan, where=_any(options.scale_a == 255, 2)[:, :, None])
    if options.scale_b is not None:
        np.copyto(d, nan, where=_any(options.scale_b == 255, 1)[:, None, :])
    return d


def _bits(model: Model, value: NDArray[np.float32]) -> NDArray[np.uint32]:
    """Raw bits with the model's NaN for every NaN."""
    bits = value.view(np.uint32)
    if np.isnan(value.max(initial=0)):
        return np.where(np.isnan(value), np.uint32(model.nan_invalid), bits)
    return bits


def _tiles_last(model: Model, a: Factors, b: Factors, c: NDArray[Any], options: chains.Options) -> NDArray[Any]:
    """Many tiles by products: factors (M, K, tiles) and (K, N, tiles)."""
    rows, columns = a.map(lambda v: v.transpose(1, 0, 2)[:, :, None, :]), b.map(lambda v: v[:, None, :, :])
    d = TILES_LAST.forth(c, "c codes")
    parts = list(chains.step_slices(a.value.shape[1], options.k, model.group))
    for start in range(0, d.shape[2], _TILES):
        tiles = slice(start, start + _TILES)
        others = columns.map(lambda v, tiles=tiles: v[..., tiles])
        for band in _bands((min(_TILES, c.shape[0]), c.shape[1], c.shape[2])):
            value = d[band, :, tiles].view(np.float32)
            some = rows.map(lambda v, band=band, tiles=tiles: v[:, band, :, tiles])
            for turn, part in enumerate(parts):
                # No scales: formats that have them are narrow.
                value = fast.add(model, fast.product_sum(model, some, others, part), value, turn)
            d[band, :, tiles] = _bits(model, value)
    nan = np.uint32(model.nan_invalid)
    if a.nan is not None:
        np.copyto(d, nan, where=_any(a.nan, 1)[:, None, :])
    if b.nan is not None:
        np.copyto(d, nan, where=_any(b.nan, 0)[None, :, :])
    return TILES_LAST.back(d, len(c))
