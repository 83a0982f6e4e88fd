"""Which bytes of global memory a part of a launch read and wrote: this shows whether parts are independent.

Recorded only on request, as one flag per byte of the arena.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.machine.memory import Outside

__all__ = ["Runs", "Touched"]

DWORD = np.uint32(0x01010101)


@dataclass(frozen=True)
class Runs:
    """Bytes of the arena as runs: first byte and one past the last, int64 each."""

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, flags: NDArray[Any]) -> Runs:
        """The runs of bytes whose flag is set."""
        steps = np.flatnonzero(np.diff(flags.astype(np.bool_), prepend=False, append=False))
        return cls(steps[::2], steps[1::2])

    def flags(self, size: int) -> NDArray[np.bool_]:
        """The flags again, booleans (size,)."""
        steps = np.zeros(size + 1, np.int8)
        steps[self.starts] = 1
        steps[self.ends] -= 1
        return np.cumsum(steps[:size], dtype=np.int8).astype(np.bool_)


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
        if size % 4 == 0 and not (offsets & 3).any():
            dwords, index = flags.view(np.uint32), offsets >> 2
            for k in range(size // 4):
                dwords[index + k] = DWORD
        else:
            for k in range(size):
                flags[offsets + k] = 1
