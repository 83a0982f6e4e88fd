"""Numbers of instructions that each wave of a batch has executed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class Executed:
    """The counts, as an array only when they are read: blocks that all waves execute add to one number."""

    def __init__(self) -> None:
        """Nothing is executed yet."""
        self._executed = np.zeros(1, np.int64)
        self._most = self._further = 0

    @property
    def executed(self) -> NDArray[np.int64]:
        """Instructions that each wave has executed, (1 or waves,)."""
        if self._further:
            self.executed = self._executed + self._further
        return self._executed

    @executed.setter
    def executed(self, counts: NDArray[np.int64]) -> None:
        self._executed, self._most, self._further = counts, int(counts.max()), 0

    def count_executed(self, instructions: int) -> int:
        """Count instructions that all waves have executed; returns the largest number that a wave has executed."""
        self._further += instructions
        return self._most + self._further
