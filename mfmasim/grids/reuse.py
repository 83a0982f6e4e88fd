"""How often workgroups that run at the same time read what another one of their XCD, or of any XCD, reads too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mfmasim.errors import MfmasimError, unknown
from mfmasim.grids.maps import Grid, remap_xcd
from mfmasim.grids.proof import Layout, grid_map, layout
from mfmasim.grids.streams import segments


@dataclass(frozen=True)
class Reuse:
    """Strips of A and B that a step of K takes, summed over all rounds of workgroups.

    A workgroup reads one strip of A, that of its row of tiles, and one of B, that of its column. Workgroups of a round
    are assumed to be at the same step of K, and caches to hold the strips of a step and no more (``assumed``: the time
    at which workgroups start, and what remains of earlier rounds, are not modelled).
    """

    reads: int
    """By workgroups, from the L2 of their XCD."""
    from_llc: int
    """By the XCDs' L2, from the last-level cache: different strips of each XCD."""
    from_memory: int
    """By the last-level cache: different strips of each round."""

    @property
    def l2(self) -> float:
        """Share of the reads that hit in an L2."""
        return 1 - self.from_llc / self.reads

    @property
    def llc(self) -> float:
        """Share of the reads that miss in an L2 and hit in the last-level cache."""
        return 1 - self.from_memory / self.from_llc


def reuse(found: Layout, *, units: int = 32) -> Reuse:
    """Count the reuse of a map.

    Args:
        found: from `layout`.
        units: workgroups that an XCD runs at the same time, one on each compute unit (32 on MI355X).

    Raises:
        MfmasimError: `units` is not positive.
    """
    if units < 1:
        raise MfmasimError(f"units={units}: at least one workgroup at a time is expected")
    xcds = int(found.grid.xcds)
    ids = np.arange(len(found.tiles))
    rounds = ids // (xcds * units)
    both = np.arange(2) * (1 + found.tiles.max())  # rows, and behind them columns
    strips = found.tiles + both
    many = int(strips.max()) + 1
    shared = (rounds * xcds + ids % xcds)[:, None] * many + strips
    return Reuse(2 * len(ids), len(np.unique(shared)), len(np.unique(rounds[:, None] * many + strips)))


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
    ids = np.arange(workgroups)
    die = np.empty_like(ids)
    die[remap_xcd(ids, Grid(1, workgroups, xcds, 1, chunk))] = ids % xcds
    times = np.zeros(workgroups, np.int64)
    found = []
    for part in reversed(segments(rows * cols, depth, workgroups)):
        row, col = divmod(part.tile, cols)
        steps = np.arange(part.first, part.last)
        when = times[part.workgroup] + np.arange(len(steps))
        times[part.workgroup] += len(steps)
        on = np.full_like(when, die[part.workgroup])
        found += [np.stack([when, on, strip * depth + steps]) for strip in (row, rows + col)]
    read = np.concatenate(found, axis=1)
    return Reuse(read.shape[1], np.unique(read, axis=1).shape[1], np.unique(read[::2], axis=1).shape[1])


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
