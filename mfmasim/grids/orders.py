"""Orders of workgroups: which work the hardware's i-th workgroup does. Each is a permutation, whatever the shape.

An order numbers the work (`numberings`: axes from slowest to fastest, or bands) and gives the numbers to XCDs
(`deals`):

* ``in turn``: the hardware's own, number i on XCD i % xcds;
* ``chunks``: `chunk` consecutive numbers for each XCD (`mfmasim.grids.remap_xcd`); what no whole block of chunks has
  stays in turn. Numbers of a chunk keep their order, so that a workgroup may wait for lower numbers of its chunk;
* ``shares``: one share of consecutive numbers for each XCD (`mfmasim.grids.shares`). All shares begin at once: a
  workgroup may wait for a lower number of another share only if all workgroups are resident.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from mfmasim.arrays import I64
from mfmasim.grids.caches import Caches, Reuse, Work, traffic
from mfmasim.grids.maps import Grid, banded, remap_xcd, shares


@dataclass(frozen=True, eq=False)
class Order:
    """One order of the workgroups of a launch."""

    numbering: str
    deal: str
    workgroups: I64
    """(workgroups,): the work of each workgroup of the hardware."""

    @property
    def hardware(self) -> bool:
        """Whether each workgroup does the work of its own number."""
        return bool((self.workgroups == np.arange(len(self.workgroups))).all())


@dataclass(frozen=True)
class Found:
    """An order, and what caches read in it."""

    order: Order
    reuse: Reuse


def numberings(work: Work) -> Iterator[tuple[str, I64, list[int]]]:
    """Number the work of a launch in all ways that are tried.

    Yields:
        Name, permutation (workgroup of each number), and lengths of runs that a chunk may hold whole.
    """
    ids = np.arange(work.workgroups).reshape(work.shape)
    long = [axis for axis, size in enumerate(work.shape) if size > 1]
    unit = [axis for axis in range(len(work.shape)) if axis not in long]
    for chosen in permutations(long):
        runs = np.cumprod([work.shape[axis] for axis in chosen[::-1]]).tolist()[:-1]
        name = ", ".join(work.axes[axis] for axis in chosen) or work.axes[0]
        yield name, ids.transpose(*unit, *chosen).reshape(-1), runs
    if len(set(work.lengths.tolist())) > 1 and work.axes[-1] == "block":
        # Of a causal mask the last queries see most keys: they begin first.
        for chosen in permutations(long):
            runs = np.cumprod([work.shape[axis] for axis in chosen[::-1]]).tolist()[:-1]
            name = ", ".join(work.axes[axis] + " from the last" * (work.axes[axis] == "block") for axis in chosen)
            yield name, ids[..., ::-1].transpose(*unit, *chosen).reshape(-1), runs
    if work.axes[-1] != "column":
        return
    rows, cols = work.shape[-2:]
    parts = ids.reshape(-1, rows, cols)
    windows = [window for window in (2, 4, 8, 16, 32) if window < rows]
    bands = [
        ([min(window, rows - first) for first in range(0, rows, window)], f"bands of {window}") for window in windows
    ]
    for heights, name in [*bands, (list(work.bands), "experts")] if work.bands else bands:
        row, col = banded(np.arange(rows * cols), heights, cols)
        numbers = sorted({high * parts[:, 0].size for high in heights if high})
        yield f"{name}, column by column", parts[:, row, col].T.reshape(-1), numbers[-2:]


def deals(count: int, xcds: int, runs: Sequence[int]) -> Iterator[tuple[str, I64]]:
    """Give numbers to XCDs in all ways that are tried.

    Args:
        count: how many numbers there are.
        xcds: dies that receive workgroups in turn.
        runs: chunks to try beside powers of two.

    Yields:
        Name, and the number of each workgroup of the hardware.
    """
    ids = np.arange(count)
    yield "in turn", ids
    if xcds == 1:
        return
    for chunk in sorted({*(1 << n for n in range(1, 8)), *runs}):
        if chunk * xcds <= count:
            yield f"chunks of {chunk}", remap_xcd(ids, Grid(1, count, xcds, 1, chunk))
    yield "shares", shares(ids, count, xcds)


def orders(work: Work, xcds: int) -> Iterator[Order]:
    """All orders that `search` tries, each once."""
    seen: set[bytes] = set()
    for numbering, workgroups, runs in numberings(work):
        for deal, numbers in deals(work.workgroups, xcds, runs):
            found = workgroups[numbers]
            if found.tobytes() not in seen:
                seen.add(found.tobytes())
                yield Order(numbering, deal, found)


def search(work: Work, caches: Caches) -> list[Found]:
    """Rank the orders of a launch.

    Args:
        work: what its workgroups access.
        caches: sizes.

    Returns:
        All orders: those first that read least from memory, then from the last-level cache, then those that end first.
    """
    found = [Found(order, traffic(work, order.workgroups, caches)) for order in orders(work, caches.xcds)]
    return sorted(found, key=lambda one: (one.reuse.from_memory, one.reuse.from_llc, one.reuse.steps))
