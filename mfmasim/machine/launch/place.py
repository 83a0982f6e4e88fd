"""Where in the grid a wave runs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """Where in the grid something happened."""

    workgroup: tuple[int, int, int]
    wave: int
    """Wave of the workgroup."""
    lane: int | None = None

    @property
    def order(self) -> tuple[int, ...]:
        """Sorts waves by their position in the grid, whichever ran first."""
        return *self.workgroup[::-1], self.wave
