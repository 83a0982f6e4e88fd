"""Maps from a workgroup's number to its tile: NumPy twins of the device functions in hipkernels/grid_maps/maps.h.

Sources: the appendix of AMD's post on the 4-wave interleave FP8 GEMM (``xcd``, ``grouped``); HipKittens and hipgemm
(``xcd_divided``); wmma_ops (``hilbert``, ``column``, ``snake`` and the clamped maps). Workgroup i runs on XCD i % xcds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mfmasim.arrays import I64

    Tiles = tuple[I64, I64]


@dataclass(frozen=True)
class Grid:
    """A grid of output tiles and the parameters of maps: integers, or arrays that broadcast with the workgroup ids."""

    rows: int | I64
    cols: int | I64
    xcds: int = 8
    window: int = 4
    """Height of a band, or side of a square, in tiles."""
    chunk: int = 8
    """Consecutive tiles of one XCD."""


@dataclass(frozen=True)
class Map:
    """One map."""

    name: str
    place: Callable[[I64, Grid], Tiles]
    """Rows and columns of the tiles of some workgroups."""
    right: bool
    """Whether it is a permutation on every grid: each tile has exactly one workgroup."""
    about: str


def _row(ids: I64, g: Grid) -> Tiles:
    return ids // g.cols, ids % g.cols


def _column(ids: I64, g: Grid) -> Tiles:
    return ids % g.rows, ids // g.rows


def _snake(ids: I64, g: Grid) -> Tiles:
    row, col = _row(ids, g)
    return row, np.where(row % 2 == 1, g.cols - 1 - col, col)


def banded(ids: I64, heights: Sequence[int] | I64, cols: int) -> Tiles:
    """Bands of any heights, each column by column: those of the experts of a grouped GEMM.

    Workgroup i is in the band of row i // cols: band b has `cols` * heights[b] consecutive numbers.

    Args:
        ids: workgroups.
        heights: rows of each band; 0 for an expert without rows.
        cols: tiles along N.
    """
    high: I64 = np.asarray(heights, np.int64)
    band = np.repeat(np.arange(len(high)), high)[ids // cols]
    first: I64 = (np.cumsum(high) - high)[band]
    place = ids - first * cols
    return first + place % high[band], place // high[band]


def _grouped(ids: I64, g: Grid) -> Tiles:
    first = ids // (g.window * g.cols) * g.window
    place, high = ids % (g.window * g.cols), np.minimum(g.rows - first, g.window)
    return first + place % high, place // high


def _chunked(ids: I64, g: Grid) -> Tiles:
    left = ids // (g.window * g.rows) * g.window
    place, wide = ids % (g.window * g.rows), np.minimum(g.cols - left, g.window)
    top = place // (g.window * wide) * g.window
    high, inside = np.minimum(g.rows - top, g.window), place - top * wide
    return top + inside % high, left + inside // high


def remap_xcd(ids: I64, g: Grid) -> I64:
    """Ids permuted so that each XCD gets `chunk` consecutive numbers; a partial last block is unchanged."""
    block = g.xcds * g.chunk
    limit = g.rows * g.cols // block * block
    local = ids // g.xcds
    return np.where(ids >= limit, ids, local // g.chunk * block + ids % g.xcds * g.chunk + local % g.chunk)


def shares(ids: I64, count: int | I64, xcds: int) -> I64:
    """Ids permuted so that each XCD gets one share of consecutive numbers, the first `count` % `xcds` shares one more.

    With count = xcds q + r, XCD x has the ids x + xcds a for a < q + (x < r), and its share begins at x q + min(x, r),
    where that of XCD x - 1 ends: different ids get different numbers below `count`, whatever the count.

    Args:
        ids: workgroups of the hardware, below `count`.
        count: workgroups of the launch.
        xcds: dies that receive workgroups in turn.
    """
    xcd = ids % xcds
    return xcd * (count // xcds) + np.minimum(xcd, count % xcds) + ids // xcds


def _xcd(ids: I64, g: Grid) -> Tiles:
    return _row(remap_xcd(ids, g), g)


def _xcd_grouped(ids: I64, g: Grid) -> Tiles:
    return _grouped(remap_xcd(ids, g), g)


def _shares(ids: I64, g: Grid) -> Tiles:
    return _row(shares(ids, g.rows * g.cols, g.xcds), g)


def _shares_grouped(ids: I64, g: Grid) -> Tiles:
    return _grouped(shares(ids, g.rows * g.cols, g.xcds), g)


def _curve(ids: I64, side: I64) -> Tiles:
    """Places on the Hilbert curve through squares, built up from the smallest quarter."""
    row, col = np.zeros_like(ids), np.zeros_like(ids)
    half, quarter = 1, ids % 4
    while (half < side).any():
        inside = half < side
        choice = [inside & (quarter == q) for q in range(4)]
        row, col = (
            np.select(choice, [col, row + half, row + half, half - 1 - col], row),
            np.select(choice, [row, col, col + half, 2 * half - 1 - row], col),
        )
        half *= 2
        quarter = ids // half**2 % 4
    return row, col


def _hilbert(ids: I64, g: Grid) -> Tiles:
    least = np.minimum(g.rows, g.cols)
    side = np.broadcast_to(1 << np.frexp(least)[1].astype(np.int64) - 1, ids.shape)
    wide = g.cols - side
    right, below = ids - side**2, ids - side * g.cols
    width = np.maximum(wide, 1)
    row, col = _curve(ids, side)
    return (
        np.select([right < 0, below < 0], [row, right // width], side + below // g.cols),
        np.select([right < 0, below < 0], [col, side + right % width], below % g.cols),
    )


def _xcd_divided(ids: I64, g: Grid) -> Tiles:
    return _row(ids % g.xcds * (g.rows * g.cols // g.xcds) + ids // g.xcds, g)


def _clamped(row: I64, col: I64, g: Grid) -> Tiles:
    return np.minimum(row, g.rows - 1), np.minimum(col, g.cols - 1)


def _chunked_clamped(ids: I64, g: Grid) -> Tiles:
    square, inside = np.divmod(ids, g.window**2)
    across = -(-g.cols // g.window)
    row = square // across * g.window + inside % g.window
    return _clamped(row, square % across * g.window + inside // g.window, g)


def _super_clamped(ids: I64, g: Grid) -> Tiles:
    square, inside = np.divmod(ids, g.window**2)
    down = -(-g.rows // g.window)
    row = square % down * g.window + inside % g.window
    return _clamped(row, square // down * g.window + inside // g.window, g)


def _xcd_forgotten(ids: I64, g: Grid) -> Tiles:
    share = -(-g.rows * g.cols // g.xcds)
    local = (ids // (g.chunk * g.xcds) * g.chunk + ids % g.chunk) % share if g.xcds > 1 else ids
    band, place = np.divmod(local, g.window * g.cols)
    return _clamped(band * g.window + place % g.window, place // g.window, g)


_ROWS = (
    Map("row", _row, True, "row by row"),
    Map("column", _column, True, "column by column"),
    Map("snake", _snake, True, "row by row, alternate rows reversed"),
    Map("grouped", _grouped, True, "bands of `window` rows, each column by column"),
    Map("chunked", _chunked, True, "squares of `window` tiles, clipped at the edges, along strips of columns"),
    Map("xcd", _xcd, True, "`chunk` consecutive tiles per XCD, row by row"),
    Map("xcd_grouped", _xcd_grouped, True, "`chunk` consecutive tiles per XCD, in bands of `window` rows"),
    Map("shares", _shares, True, "one share of consecutive tiles per XCD, row by row"),
    Map("shares_grouped", _shares_grouped, True, "one share of consecutive tiles per XCD, in bands of `window` rows"),
    Map("hilbert", _hilbert, True, "Hilbert curve through the largest square of 2^n tiles, then the rest"),
    Map("xcd_divided", _xcd_divided, False, "one share per XCD; a permutation only if xcds divides the tiles"),
    Map(
        "chunked_clamped", _chunked_clamped, False, "whole squares shifted to the edge; a permutation only if they fit"
    ),
    Map("super_clamped", _super_clamped, False, "the same along the columns"),
    Map("xcd_forgotten", _xcd_forgotten, False, "numbers counted within each XCD without adding the XCD"),
)
MAPS = {row.name: row for row in _ROWS}
"""Maps by name."""
