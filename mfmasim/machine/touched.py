"""Which bytes of global memory a part of a launch read and wrote: this shows whether parts are independent.

Recorded only on request, as one flag per byte of the arena.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from mfmasim.machine.memory import Outside

__all__ = ["Runs", "Touched"]

DWORD = np.uint32(0x01010101)
WIDTHS = [(width, np.ones(width, np.uint8).view(kind)[0]) for width, kind in ((16, "c16"), (4, "u4"), (1, "u1"))]
"""Flags of so many bytes as one number."""


@dataclass(frozen=True)
class Runs:
    """Bytes of the arena as runs: first byte and one past the last, int64 each."""

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, flags: NDArray[Any]) -> Runs:
        """The runs of bytes whose flag, 0 or 1 in uint8, is set; where dwords are alike, dword by dword."""
        width = 4 if flags.size % 4 == 0 else 1
        words = flags.view(np.uint32) if width == 4 else flags
        if width == 4 and not ((words == 0) | (words == DWORD)).all():
            words, width = flags, 1
        steps = (np.flatnonzero(words[1:] != words[:-1]) + 1).tolist()
        first, last = [0] * bool(words[:1].any()), [len(words)] * bool(words[-1:].any())
        edges = np.array([*first, *steps, *last], np.int64) * width
        return cls(edges[::2], edges[1::2])

    @property
    def total(self) -> int:
        """Bytes in all runs."""
        return int((self.ends - self.starts).sum())

    def take(self, data: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """The bytes of all runs, one after the other."""
        return np.concatenate([data[:0], *(data[start:end] for start, end in self._pairs())])

    def put(self, data: NDArray[np.uint8], values: NDArray[np.uint8]) -> None:
        """Write what `take` gave."""
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


class Touched:
    """Flags of what was read and written."""

    def __init__(self, size: int) -> None:
        """For an arena of `size` bytes, a multiple of 4."""
        self.read, self.written = np.zeros(size, np.uint8), np.zeros(size, np.uint8)

    def note(
        self, offsets: NDArray[np.int64], size: int, mask: NDArray[Any] | None, outside: Outside | None, *, write: bool
    ) -> None:
        """Flag `size` bytes from each offset on, except for lanes that are masked off or outside every buffer.

        Args:
            offsets: of the first byte of each lane.
            size: bytes per lane.
            mask: lanes that take part; None is all.
            outside: lanes that hit no buffer.
            write: whether the access writes.
        """
        if mask is not None:
            offsets = offsets[np.broadcast_to(mask, offsets.shape) if outside is None else mask & ~outside.mask]
        elif outside is not None:
            offsets = offsets[~outside.mask]
        flags = self.written if write else self.read
        for width, units in WIDTHS:
            if size % width == 0 and flags.size % width == 0 and not (offsets & (width - 1)).any():
                wide, index = flags.view(units.dtype), offsets // width
                for k in range(size // width):
                    wide[index + k] = units
                return
