"""Properties of maps: whether every tile is computed once, the XCD of each tile, and whether chunks are rectangles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mfmasim.arrays import I64
from mfmasim.errors import MfmasimError, unknown
from mfmasim.grids.maps import MAPS, Grid, Map, remap_xcd

MOST_TILES = 1 << 24
"""Tiles of a grid: a C of 262,144 x 262,144 in tiles of 64 x 64."""


def grid_map(name: str) -> Map:
    """Find a map by name.

    Raises:
        MfmasimError: there is no such map; the text has the nearest name.
    """
    if name not in MAPS:
        raise unknown("grid map", name, MAPS)
    return MAPS[name]


@dataclass(frozen=True, eq=False)
class Layout:
    """A map applied to a grid."""

    name: str
    grid: Grid
    tiles: I64
    """(workgroups, 2): row and column of each workgroup's tile."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of tiles."""
        return int(self.grid.rows), int(self.grid.cols)

    @property
    def times(self) -> I64:
        """How often each tile is computed, (rows, cols)."""
        times = np.zeros(self.shape, np.int64)
        np.add.at(times, (self.tiles[:, 0], self.tiles[:, 1]), 1)
        return times

    @property
    def covered(self) -> int:
        """Tiles computed by at least one workgroup."""
        return int((self.times > 0).sum())

    @property
    def permutation(self) -> bool:
        """Whether every tile is computed by exactly one workgroup."""
        return bool((self.times == 1).all())

    @property
    def workgroups(self) -> I64:
        """The (last) workgroup that computes each tile, (rows, cols); -1 where none does."""
        owner = np.full(self.shape, -1)
        owner[self.tiles[:, 0], self.tiles[:, 1]] = np.arange(len(self.tiles))
        return owner

    @property
    def xcds(self) -> I64:
        """XCD of each tile, (rows, cols); -1 for tiles without workgroup. Workgroups go to XCDs round-robin."""
        return np.where(self.workgroups < 0, -1, self.workgroups % self.grid.xcds)

    @property
    def panels(self) -> int:
        """Rows of A and columns of B that XCDs read, summed over XCDs: less is more reuse of their L2."""
        of = np.arange(len(self.tiles)) % self.grid.xcds
        return sum(len(set(zip(of.tolist(), line.tolist(), strict=True))) for line in self.tiles.T)


def layout(name: str, rows: int, cols: int, *, xcds: int = 8, window: int = 4, chunk: int = 8) -> Layout:
    """Apply a map to a grid of tiles.

    Args:
        name: one of `MAPS`.
        rows: tiles along M.
        cols: tiles along N.
        xcds: dies that receive workgroups round-robin.
        window: height of a band, or side of a square, in tiles.
        chunk: consecutive tiles of one XCD.

    Raises:
        MfmasimError: an unknown map, or a number that is not positive.
    """
    found = grid_map(name)
    grid = _checked(rows, cols, xcds, window, chunk)
    return Layout(name, grid, np.stack(found.place(np.arange(rows * cols), grid), axis=1))


def refuted(name: str, most: int, *, xcds: int = 8, window: int = 4, chunk: int = 8) -> list[tuple[int, int]]:
    """Find the grids of 1 to `most` rows and columns on which a map is not a permutation; an empty list is a proof.

    All workgroups of all grids are placed at once, and the workgroups of each tile are counted (`Layout`: one grid).

    Args:
        name: one of `MAPS`.
        most: rows and columns of the largest grid, up to 64.
        xcds: as for `layout`.
        window: as for `layout`.
        chunk: as for `layout`.

    Returns:
        (rows, cols) of each.

    Raises:
        MfmasimError: an unknown map, or a number that is not positive or too large.
    """
    if not 1 <= most <= 64:
        raise MfmasimError(f"grids up to {most} x {most}: expected 1 to 64")
    found = grid_map(name)
    _checked(most, most, xcds, window, chunk)
    rows, cols = (side.reshape(-1) for side in np.mgrid[1 : most + 1, 1 : most + 1])
    sizes = rows * cols
    first = np.cumsum(sizes) - sizes
    row_of, col_of, start = (np.repeat(line, sizes) for line in (rows, cols, first))
    row, col = found.place(np.arange(sizes.sum()) - start, Grid(row_of, col_of, xcds, window, chunk))
    inside = (row >= 0) & (row < row_of) & (col >= 0) & (col < col_of)
    times = np.bincount((start + row * col_of + col)[inside], minlength=len(start))
    bad = np.logical_or.reduceat(times != 1, first)
    return list(zip(rows[bad].tolist(), cols[bad].tolist(), strict=True))


def _checked(rows: int, cols: int, xcds: int, window: int, chunk: int) -> Grid:
    named = {"rows": rows, "cols": cols, "xcds": xcds, "window": window, "chunk": chunk}
    for name, value in named.items():
        if not 1 <= value <= 1 << 15:
            raise MfmasimError(f"{name}={value} of a grid of tiles: expected 1 to {1 << 15}")
    if rows * cols > MOST_TILES:
        raise MfmasimError(f"a grid of {rows} x {cols} tiles: expected at most {MOST_TILES:,} tiles")
    return Grid(**named)


@dataclass(frozen=True)
class Rectangles:
    """How many chunks of ``xcd_grouped`` in whole blocks are rectangles of `window` rows."""

    kept: int
    chunks: int

    @property
    def claim(self) -> bool:
        """Whether there are chunks and all are such rectangles."""
        return 0 < self.kept == self.chunks


def rectangles(rows: int, cols: int, *, xcds: int = 8, window: int = 4, chunk: int = 8) -> Rectangles:
    """Count the chunks of ``xcd_grouped`` that are rectangles of `window` x `chunk` / `window` tiles of one XCD.

    Args:
        rows: tiles along M.
        cols: tiles along N.
        xcds: dies that receive workgroups round-robin.
        window: height of a band in tiles.
        chunk: consecutive tiles of one XCD.
    """
    grouped = layout("xcd_grouped", rows, cols, xcds=xcds, window=window, chunk=chunk)
    number = remap_xcd(np.arange(rows * cols), grouped.grid)
    total = rows * cols // (xcds * chunk) * xcds
    kept = 0
    for k in range(total):
        members = number // chunk == k
        tiles, owners = grouped.tiles[members], np.flatnonzero(members) % xcds
        height, width = (tiles.max(axis=0) - tiles.min(axis=0) + 1).tolist()
        kept += height == window and height * width == chunk and len(set(owners.tolist())) == 1
    return Rectangles(kept, total)


def rectangle_claim(rows: int, cols: int, *, xcds: int = 8, window: int = 4, chunk: int = 8) -> bool:
    """Whether every XCD gets rectangles of `window` x `chunk` / `window` tiles from ``xcd_grouped``.

    AMD's post claims it for every grid. It holds if a chunk consists of whole columns of the window, no chunk spans two
    bands, none lies in a last band of fewer rows, and the grid has at least one whole block of chunks.

    Args:
        rows: tiles along M.
        cols: tiles along N.
        xcds: dies that receive workgroups round-robin.
        window: height of a band in tiles.
        chunk: consecutive tiles of one XCD.
    """
    _checked(rows, cols, xcds, window, chunk)
    chunked = rows * cols // (xcds * chunk) * xcds * chunk
    band = window * cols
    across = chunked > band and band % chunk != 0
    return chunked > 0 and chunk % window == 0 and not across and chunked <= rows // window * band
