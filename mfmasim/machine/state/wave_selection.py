"""Selections of waves of a batch: their numbers, and access to their part of an array of all waves.

Waves of one run, or the same waves of every workgroup, are a view of the array; others are gathered by their numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Runs:
    """The waves first + i period + j, for i < runs and j < length; `runs_of` makes each once."""

    first: int
    length: int
    period: int
    runs: int

    def numbers(self) -> NDArray[np.int64]:
        """Wave numbers within the batch, ascending."""
        return self._numbers

    @cached_property
    def _numbers(self) -> NDArray[np.int64]:
        starts = self.first + self.period * np.arange(self.runs)
        found = (starts[:, None] + np.arange(self.length)).ravel()
        found.flags.writeable = False  # all callers share it
        return found

    def read(self, values: NDArray[Any]) -> NDArray[Any]:
        """The waves' part of an array (waves, ...), a copy."""
        return self._view(values).copy().reshape(-1, *values.shape[1:])

    def write(self, values: NDArray[Any], part: NDArray[Any]) -> None:
        """Write the waves' part, (1 or waves, ...), of an array in place."""
        if self.runs > 1 and len(part) > 1:
            part = part.reshape(self.runs, self.length, *part.shape[1:])
        self._view(values)[...] = part

    def _view(self, values: NDArray[Any]) -> NDArray[Any]:
        """(waves, ...) where they are one run, else (runs, length, ...)."""
        if self.runs == 1:
            return values[self.first : self.first + self.length]
        offset = self.first % self.period
        base = self.first - offset
        whole = values[base : base + self.runs * self.period].reshape(self.runs, self.period, *values.shape[1:])
        return whole[:, offset : offset + self.length]

    def apart(self, other: Selection) -> bool:
        """Whether the selections are known to be disjoint."""
        return isinstance(other, Runs) and _apart(self, other)


@dataclass(frozen=True, eq=False)
class Scattered:
    """Waves by their numbers within the batch."""

    waves: NDArray[np.int64]

    def numbers(self) -> NDArray[np.int64]:
        """Wave numbers within the batch, ascending."""
        return self.waves

    def read(self, values: NDArray[Any]) -> NDArray[Any]:
        """The waves' part of an array (waves, ...), a copy."""
        part: NDArray[Any] = values.take(self.waves, axis=0)  # less than half the time of an index
        return part

    def write(self, values: NDArray[Any], part: NDArray[Any]) -> None:
        """Write the waves' part, (1 or waves, ...), of an array in place."""
        values[self.waves] = part

    def apart(self, _: Selection) -> bool:
        """Whether the selections are known to be disjoint."""
        return False


Selection = Runs | Scattered
runs_of = lru_cache(4096)(Runs)


@lru_cache
def _apart(one: Runs, other: Runs) -> bool:
    return not len(np.intersect1d(one.numbers(), other.numbers()))


def selection(numbers: NDArray[np.int64], count: int) -> Selection:
    """The selection of waves.

    Args:
        numbers: wave numbers, ascending, at least one.
        count: waves of the batch.
    """
    first, total = int(numbers[0]), len(numbers)
    if int(numbers[-1]) - first + 1 == total:
        return runs_of(first, total, total, 1)
    length = int((np.diff(numbers) != 1).argmax()) + 1
    period, runs = int(numbers[length]) - first, total // length
    found = runs_of(first, length, period, runs)
    offset = first % period
    fits = offset + length <= period and first - offset + runs * period <= count
    return found if fits and total % length == 0 and (found.numbers() == numbers).all() else Scattered(numbers)
