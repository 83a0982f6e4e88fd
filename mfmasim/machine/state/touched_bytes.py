"""Bytes of global memory that a part of a launch read and wrote: they show whether parts are independent.

Recorded only on request, as flags of the largest units that an access consists of.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

WIDEST = 16
"""Bytes of the largest unit."""


@dataclass(frozen=True)
class Runs:
    """Bytes of the arena as runs: first byte and one past the last, int64 each; none touches the next."""

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, flags: NDArray[np.uint8], unit: int) -> Runs:
        """The runs of units of `unit` bytes whose flag, 0 or 1, is set."""
        steps = (np.flatnonzero(flags[1:] != flags[:-1]) + 1).tolist()
        first, last = [0] * bool(flags[:1].any()), [len(flags)] * bool(flags[-1:].any())
        edges = np.array([*first, *steps, *last], np.int64) * unit
        return cls(edges[::2], edges[1::2])

    @classmethod
    def together(cls, several: Sequence[Runs]) -> Runs:
        """The bytes that any of them has."""
        none = np.empty(0, np.int64)
        starts, ends = (
            np.concatenate([none, *each]) for each in ([r.starts for r in several], [r.ends for r in several])
        )
        order = np.argsort(starts, kind="stable")
        starts, ends = starts[order], np.maximum.accumulate(ends[order])
        alone = starts[1:] > ends[:-1]
        return cls(starts[np.append(True, alone)[: len(starts)]], ends[np.append(alone, True)[: len(ends)]])

    @property
    def total(self) -> int:
        """Bytes in all runs."""
        return int((self.ends - self.starts).sum())

    def within(self, first: int, end: int) -> int:
        """Bytes in all runs from a first byte up to an end."""
        return int(np.maximum(np.minimum(self.ends, end) - np.maximum(self.starts, first), 0).sum())

    def take(self, data: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """The bytes of all runs, one after the other."""
        return np.concatenate([data[:0], *(data[start:end] for start, end in self._pairs())])

    def put(self, data: NDArray[np.uint8], values: NDArray[np.uint8]) -> None:
        """Write the result of `take`."""
        place = 0
        for start, end in self._pairs():
            data[start:end] = values[place : place + end - start]
            place += end - start

    def _pairs(self) -> Iterator[tuple[int, int]]:
        return zip(self.starts.tolist(), self.ends.tolist(), strict=True)

    def common(self, other: Runs) -> int | None:
        """The first byte that both have, if any."""
        if not len(other.starts):
            return None
        nearest = np.searchsorted(other.ends, self.starts, side="right")
        begins = np.append(other.starts, np.iinfo(np.int64).max)[nearest]
        both = np.flatnonzero(begins < self.ends)
        return int(max(begins[both[0]], self.starts[both[0]])) if len(both) else None


@dataclass(frozen=True)
class Outside:
    """Lanes of one access that hit no buffer: boolean mask and addresses, in the shape of the access."""

    mask: NDArray[np.bool_]
    addresses: NDArray[np.uint64]


class Touched:
    """Flags of read and written units of 1, 2, 4, 8 or 16 bytes."""

    def __init__(self, size: int) -> None:
        """For an arena of `size` bytes."""
        self._size = size
        self._flags: dict[tuple[str, int], NDArray[np.uint8]] = {}
        """Of each unit, once some access is made of such; by kind of access, and the bytes of a unit."""

    @property
    def read(self) -> Runs:
        """The bytes that were read."""
        return self._runs("read")

    @property
    def written(self) -> Runs:
        """The bytes that were written, by stores or atomic operations."""
        return self._runs("stored", "atomic")

    @property
    def stored(self) -> Runs:
        """The bytes that stores wrote."""
        return self._runs("stored")

    @property
    def atomic(self) -> Runs:
        """The bytes on which atomic operations acted."""
        return self._runs("atomic")

    def _runs(self, *kinds: str) -> Runs:
        return Runs.together([Runs.of(flags, unit) for (kind, unit), flags in self._flags.items() if kind in kinds])

    def note(
        self, offsets: NDArray[np.int64], size: int, mask: NDArray[Any] | None, outside: Outside | None, kind: str
    ) -> None:
        """Flag `size` bytes from each offset on, except for lanes that are masked off or outside every buffer.

        Args:
            offsets: of the first byte of each lane.
            size: bytes per lane.
            mask: lanes that take part; None is all.
            outside: lanes that hit no buffer.
            kind: ``read``, ``stored`` or ``atomic``.
        """
        if mask is not None:
            offsets = offsets[np.broadcast_to(mask, offsets.shape) if outside is None else mask & ~outside.mask]
        elif outside is not None:
            offsets = offsets[~outside.mask]
        common = int(np.bitwise_or.reduce(offsets, axis=None)) | size | WIDEST
        unit = common & -common
        flags = self._flags.get((kind, unit))
        if flags is None:
            flags = self._flags[kind, unit] = np.zeros(-(-self._size // unit), np.uint8)
        index = offsets >> (unit.bit_length() - 1)
        for k in range(size // unit):
            flags[index + k] = 1
