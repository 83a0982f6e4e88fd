"""Places of waves in the grid."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """A place in the grid."""

    workgroup: tuple[int, int, int]
    wave: int
    """Wave of the workgroup."""
    lane: int | None = None

    @property
    def order(self) -> tuple[int, ...]:
        """Sort key: the position in the grid, independent of the order of execution."""
        return *self.workgroup[::-1], self.wave
