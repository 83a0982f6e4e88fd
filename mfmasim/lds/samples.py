"""The worst accesses of an LDS instruction, as examples, and to evaluate swizzles: whatever the order of execution."""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SAMPLES = 32
"""Distinct accesses stored of each instruction, the worst ones."""
_FEW = 8
"""Rows that are looked at one by one."""


@dataclass(frozen=True, eq=False)
class Sample:
    """One executed wave access: byte addresses (lanes,), lanes that took part, degrees of its phases."""

    addresses: NDArray[np.int64]
    active: NDArray[np.bool_]
    part: int
    degrees: NDArray[np.int16]
    worst: int = 0
    """Largest degree."""
    base: int = 0
    """Lowest dword of the access: those with the same distances between lanes differ in nothing else."""


class Alike(NamedTuple):
    """Distinct rows: the first of each, which of them each row equals, and how many do."""

    first: NDArray[np.intp]
    which: NDArray[np.intp]
    times: NDArray[np.int64]


@lru_cache
def _multipliers(lanes: int) -> NDArray[np.int64]:
    """Odd numbers by which rows that differ get different sums, as a rule."""
    return np.random.default_rng(0).integers(-1 << 63, 1 << 63, lanes, np.int64) | 1


def alike_of(quiet: NDArray[np.int64], active: NDArray[np.bool_] | None) -> Alike:
    """Find the distinct rows of addresses (rows, lanes) and masks.

    Args:
        quiet: addresses less the lowest dword of their row, 0 of lanes that take no part.
        active: lanes that take part; None is all.
    """
    marked = quiet if active is None else np.where(active, quiet, -1)
    if len(marked) == 1:
        only = np.zeros(1, np.intp)
        return Alike(only, only, np.ones(1, np.int64))
    sums = (marked * _multipliers(quiet.shape[1])).sum(axis=1)
    _, first, which, times = np.unique(sums, return_index=True, return_inverse=True, return_counts=True)
    if (marked[first[which]] != marked).any():
        _, first, which, times = np.unique(marked, axis=0, return_index=True, return_inverse=True, return_counts=True)
    return Alike(first, which.reshape(-1), times)


def _bytes_of(quiet: NDArray[np.int64], active: NDArray[np.bool_] | None) -> NDArray[np.bytes_]:
    """Rows of addresses (rows, lanes) and masks as strings, which NumPy compares as Python does those of one length."""
    masks = np.packbits(np.ones_like(quiet[:1], np.bool_) if active is None else active, axis=1)
    octets = np.concatenate([quiet.view(np.uint8), np.broadcast_to(masks, (len(quiet), masks.shape[1]))], axis=1)
    return octets.view(f"S{octets.shape[1]}")[:, 0]


class Samples:
    """The `SAMPLES` accesses with the largest degrees, each at its lowest and its highest address."""

    def __init__(self, lanes: int) -> None:
        """None yet, of waves of so many lanes."""
        self.lanes = lanes
        self._ends: dict[bytes, list[Sample]] = {}
        """By pattern, the part before its row: at the lowest and at the highest address."""
        self._order: list[tuple[int, bytes]] = []
        """The patterns, the worst ones first: largest degree as a negative number, and pattern."""

    @property
    def limit(self) -> tuple[int, bytes] | None:
        """The last of the patterns: nothing behind it is a sample; None while there are fewer."""
        return self._order[-1] if len(self._order) >= SAMPLES else None

    def worst_first(self) -> list[Sample]:
        """The samples."""
        found = [sample for _, key in self._order for sample in dict.fromkeys(self._ends[key])]
        return found[:SAMPLES]

    def keep(
        self,
        quiet: NDArray[np.int64],
        active: NDArray[np.bool_] | None,
        part: int,
        degrees: NDArray[np.int16],
        alike: Alike,
        lowest: NDArray[np.int64],
        highest: NDArray[np.int64],
    ) -> None:
        """Look at accesses of single waves.

        Args:
            quiet: addresses less the lowest dword of their row, (rows, lanes).
            active: lanes that take part, likewise; None is all.
            part: which of two accesses.
            degrees: of the distinct rows, (distinct rows, phases).
            alike: the distinct rows.
            lowest: lowest dword of each row where it was lowest, (rows, 1).
            highest: the same where it was highest.
        """
        low, high = np.full(len(alike.first), 1 << 62), np.full(len(alike.first), -1 << 62)
        np.minimum.at(low, alike.which, lowest[:, 0])
        np.maximum.at(high, alike.which, highest[:, 0])
        worst = degrees.max(axis=1, initial=0)
        for row, text in self._near(quiet, active, part, worst, alike):
            key, at = bytes([part]) + text, alike.first[row]
            known = self._ends.get(key)
            starts = {int(low[row]), int(high[row])}
            if known is not None and known[0].base <= min(starts) and max(starts) <= known[1].base:
                continue
            mask = np.ones(self.lanes, np.bool_) if active is None else active[at]
            for start in starts:
                addresses = np.where(mask, quiet[at] + start, 0)
                self._remember(key, Sample(addresses, mask, part, degrees[row], int(worst[row]), start))

    def _near(
        self,
        quiet: NDArray[np.int64],
        active: NDArray[np.bool_] | None,
        part: int,
        worst: NDArray[np.int16],
        alike: Alike,
    ) -> list[tuple[int, bytes]]:
        """Of distinct rows those that may be among the samples, with the bytes of each."""
        limit = self.limit
        rows = np.arange(len(worst)) if limit is None else np.flatnonzero(worst >= -limit[0])
        text = _bytes_of(quiet[alike.first[rows]], None if active is None else active[alike.first[rows]])
        if len(rows) > _FEW:
            if limit is not None:  # of equal degrees the order of parts and bytes decides
                near = (worst[rows] > -limit[0]) | (part < limit[1][0])
                near |= (part == limit[1][0]) & (text <= np.array(limit[1][1:], text.dtype))
                rows, text = rows[near], text[near]
            chosen = np.lexsort((text, -worst[rows]))[:SAMPLES]
            rows, text = rows[chosen], text[chosen]
        whole = text.dtype.itemsize
        return [(row, one.ljust(whole, b"\0")) for row, one in zip(rows.tolist(), text.tolist(), strict=True)]

    def _remember(self, key: bytes, sample: Sample) -> None:
        """Store a pattern at its lowest and its highest address, if it is one of the worst."""
        known = self._ends.get(key)
        if known is not None:
            if sample.base < known[0].base:
                known[0] = sample
            if sample.base > known[1].base:
                known[1] = sample
            return
        limit = self.limit
        if limit is not None and (-sample.worst, key) > limit:
            return
        self._ends[key] = [sample, sample]
        insort(self._order, (-sample.worst, key))
        if len(self._order) > SAMPLES:
            del self._ends[self._order.pop()[1]]

    def merge(self, other: Samples) -> None:
        """Add those of another part of the same launch."""
        for key, ends in other._ends.items():
            for sample in ends:
                self._remember(key, sample)
