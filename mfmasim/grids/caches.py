"""The cache model: what the L2 of each XCD and the last-level cache read while the workgroups of a launch run.

Workgroup i of the hardware runs on XCD i % xcds, which runs `slots` of them at a time, in order. A workgroup reads the
tiles of a step in one unit of time, wherever they come from. Caches hold whole tiles and replace those that were used
longest ago. All of this is ``assumed``: times, replacement, associativity, and that stored tiles outlast an acquire of
the device's scope.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from heapq import heapify, heapreplace

import numpy as np

from mfmasim.arrays import I64, Flags
from mfmasim.errors import MfmasimError

ASSUMED = "workgroups keep step, caches replace what was used longest ago, and stored tiles outlast an acquire"
MOST = 1 << 22
"""Most accesses of a launch: some seconds an order, and half a gigabyte."""


@dataclass(frozen=True)
class Caches:
    """What XCDs share."""

    xcds: int = 8
    slots: int = 32
    """Workgroups that an XCD runs at a time; 32 compute units on MI355X."""
    l2_bytes: int = 4 << 20
    """Of each XCD; 0: tiles of a unit of time and no more."""
    llc_bytes: int = 256 << 20
    """Of the last-level cache, likewise."""

    def __post_init__(self) -> None:
        """Refuse what is no size."""
        for name, least in (("xcds", 1), ("slots", 1), ("l2_bytes", 0), ("llc_bytes", 0)):
            if getattr(self, name) < least:
                raise MfmasimError(f"{name} {getattr(self, name)} of caches: {least} or more is expected")


@dataclass(frozen=True, eq=False)
class Work:
    """Tiles that the workgroups of a launch access: one entry of each array per access."""

    axes: tuple[str, ...]
    shape: tuple[int, ...]
    """Workgroups along each axis; the last axis varies fastest in a workgroup's number."""
    workgroup: I64
    step: I64
    """Step of its workgroup, from 0."""
    tile: I64
    size: I64
    """Bytes of each tile, by its number."""
    stores: Flags
    """A store: caches hold the tile then, and read nothing for it."""
    bands: tuple[int, ...] = ()
    """Rows of the first axis that belong together: blocks of one expert."""

    @property
    def workgroups(self) -> int:
        """Workgroups of the launch."""
        return int(np.prod(self.shape))

    @property
    def lengths(self) -> I64:
        """Steps of each workgroup."""
        lengths = np.zeros(self.workgroups, np.int64)
        np.maximum.at(lengths, self.workgroup, self.step + 1)
        return lengths


@dataclass(frozen=True)
class Reuse:
    """Bytes that a launch reads, or tiles if each counts as one."""

    reads: int
    """By workgroups, from the L2 of their XCD."""
    from_llc: int
    """By the XCDs' L2, from the last-level cache."""
    from_memory: int
    """By the last-level cache."""
    steps: int = field(default=0, compare=False)
    """Units of time until the last workgroup ends."""

    @property
    def l2(self) -> float:
        """Share of the reads that hit in an L2."""
        return 1 - self.from_llc / max(1, self.reads)

    @property
    def llc(self) -> float:
        """Share of the reads that miss in an L2 and hit in the last-level cache."""
        return 1 - self.from_memory / max(1, self.from_llc)


def traffic(work: Work, order: I64, caches: Caches) -> Reuse:
    """Run the workgroups of a launch in an order, and count what its caches read.

    Args:
        work: what they access.
        order: (workgroups,), a permutation: the workgroup that the hardware's i-th one does the work of.
        caches: sizes.

    Raises:
        MfmasimError: `order` is no permutation.
    """
    if len(order) != work.workgroups or not np.array_equal(np.sort(order), np.arange(len(order))):
        raise MfmasimError(f"an order of {len(order)} numbers is no permutation of {work.workgroups} workgroups")
    lengths = work.lengths[order]
    begins = _begins(lengths, caches)
    number = np.argsort(order)[work.workgroup]
    time, xcd = begins[number] + work.step, number % caches.xcds
    # Workgroups of an XCD that access a tile at the same time access it once.
    keys = ((time * caches.xcds + xcd) * len(work.size) + work.tile) * 2 + ~work.stores
    keys = np.unique(keys)
    rest, loads = np.divmod(keys, 2)
    rest, tile = np.divmod(rest, len(work.size))
    time, xcd = np.divmod(rest, caches.xcds)
    missed = np.zeros(len(tile), bool)
    for one in range(caches.xcds):
        mine = xcd == one
        missed[mine] = _missed(tile[mine], work.size, loads[mine] == 0, caches.l2_bytes)
    from_llc = int(work.size[tile[missed]].sum())
    passed = missed | (loads == 0)  # a store leaves the L2 when it is released
    keys = np.unique((time[passed] * len(work.size) + tile[passed]) * 2 + loads[passed])
    rest, loads = np.divmod(keys, 2)
    tile = rest % len(work.size)
    missed = _missed(tile, work.size, loads == 0, caches.llc_bytes)
    reads = int(work.size[work.tile[~work.stores]].sum())
    return Reuse(reads, from_llc, int(work.size[tile[missed]].sum()), int((begins + lengths).max(initial=0)))


def _begins(lengths: I64, caches: Caches) -> I64:
    """Time at which each workgroup of the hardware begins: in turn, when one of its XCD ends."""
    begins = np.zeros(len(lengths), np.int64)
    for xcd in range(caches.xcds):
        mine = lengths[xcd :: caches.xcds].tolist()
        ends, starts = mine[: caches.slots], [0] * min(len(mine), caches.slots)
        heapify(ends)
        for length in mine[caches.slots :]:
            starts.append(ends[0])
            heapreplace(ends, ends[0] + length)
        begins[xcd :: caches.xcds] = starts
    return begins


def _missed(tiles: I64, sizes: I64, stores: Flags, capacity: int) -> Flags:
    """Which of the accesses, in order, a cache has to read."""
    if not capacity:
        return ~stores
    different, first = np.unique(tiles, return_index=True)
    missed = np.zeros(len(tiles), bool)
    if sizes[different].sum() <= capacity:
        missed[first] = True
        return missed & ~stores
    held: OrderedDict[int, int] = OrderedDict()
    free = capacity
    for number, (tile, size) in enumerate(zip(tiles.tolist(), sizes[tiles].tolist(), strict=True)):
        if tile in held:
            held.move_to_end(tile)
            continue
        missed[number] = True
        held[tile] = size
        free -= size
        while free < 0:
            free += held.popitem(last=False)[1]
    return missed & ~stores
