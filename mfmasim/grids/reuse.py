"""Reuse of strips of A and B by workgroups that run at the same time: the cache model with caches of one step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mfmasim.errors import MfmasimError, unknown
from mfmasim.grids.caches import Caches, Reuse, Work, traffic
from mfmasim.grids.maps import Grid, remap_xcd
from mfmasim.grids.proof import Layout, grid_map, layout
from mfmasim.grids.works import stream


def reuse(found: Layout, *, units: int = 32) -> Reuse:
    """Count the reuse of a map, in strips that a step of K takes, summed over all rounds of workgroups.

    A workgroup reads one strip of A, that of its row of tiles, and one of B, that of its column. Workgroups of a round
    are assumed to be at the same step of K, and caches to hold the strips of a step and no more (``assumed``: the time
    at which workgroups start, and what remains of earlier rounds, are not modelled).

    Args:
        found: from `layout`.
        units: workgroups that an XCD runs at the same time, one on each compute unit (32 on MI355X).

    Raises:
        MfmasimError: `units` is not positive.
    """
    if units < 1:
        raise MfmasimError(f"units={units}: at least one workgroup at a time is expected")
    ids = np.arange(len(found.tiles))
    strips = found.tiles + np.arange(2) * (1 + found.tiles.max())  # rows, and behind them columns
    twice, size = np.repeat(ids, 2), np.ones(int(strips.max()) + 1, np.int64)
    work = Work(
        ("tile",), (len(ids),), twice, np.zeros_like(twice), strips.reshape(-1), size, np.zeros(2 * len(ids), bool)
    )
    return traffic(work, ids, Caches(int(found.grid.xcds), units, 0, 0))


def stream_reuse(rows: int, cols: int, depth: int, workgroups: int, *, xcds: int = 8, chunk: int = 1) -> Reuse:
    """Count the reuse of stream-K, whose workgroups all run at the same time, from their last tile to their first.

    A strip is that of one step of K here: workgroups that are at different steps of a tile share nothing.

    Args:
        rows: tiles along M.
        cols: tiles along N.
        depth: steps of K of a tile.
        workgroups: how many share the steps.
        xcds: dies that receive workgroups round-robin.
        chunk: parts that follow each other and go to one XCD, as `remap_xcd` deals them; 1 is the hardware's order. A
            kernel that waits for lower numbers alone needs all its workgroups to be resident then.

    Raises:
        MfmasimError: a number below 1.
    """
    for name, value in (("xcds", xcds), ("chunk", chunk)):
        if value < 1:
            raise MfmasimError(f"{name} {value} of a stream: 1 or more is expected")
    work = stream(rows, cols, depth, workgroups=workgroups, tile=1, step=1, sums=False)
    order = remap_xcd(np.arange(workgroups), Grid(1, workgroups, xcds, 1, chunk))
    return traffic(work, order, Caches(xcds, workgroups, 0, 0))


def best_maps(
    rows: int,
    cols: int,
    *,
    xcds: int = 8,
    units: int = 32,
    names: Sequence[str] = ("row", "grouped", "xcd", "xcd_grouped"),
    sizes: Sequence[int] = (1, 2, 4, 8, 16, 32, 64),
) -> list[tuple[Layout, Reuse]]:
    """Maps of a grid with windows and chunks of every size, those first whose L2s and last-level cache read least.

    Args:
        rows: tiles along M.
        cols: tiles along N.
        xcds: dies that receive workgroups round-robin.
        units: as for `reuse`.
        names: maps, each of which must be right on every grid.
        sizes: windows and chunks to try.

    Returns:
        Each map with its reuse; of maps that place every workgroup alike the first one.

    Raises:
        MfmasimError: a map that is not right on every grid, or a number that is not positive.
    """
    for name in names:
        if not grid_map(name).right:
            raise unknown("right map", name, ("row", "column", "snake", "grouped", "chunked", "xcd", "xcd_grouped"))
    different: dict[bytes, Layout] = {}
    for name in names:
        for window in sizes:
            for chunk in sizes:
                found = layout(name, rows, cols, xcds=xcds, window=window, chunk=chunk)
                different.setdefault(found.tiles.tobytes(), found)
    counted = [(found, reuse(found, units=units)) for found in different.values()]
    return sorted(counted, key=lambda pair: (pair[1].from_llc, pair[1].from_memory))
