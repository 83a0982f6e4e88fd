"""Accesses to the LDS that may be in flight, and the units that they touch."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mfmasim.isa import Instruction

__all__ = ["MOST", "Record", "Touched"]

MOST = 1 << 62
"""Above the number of any unit."""


@dataclass
class Touched:
    """What one wave of each of some workgroups touched, element by element."""

    rows: NDArray[np.int64]
    """Of the shadow."""
    units: NDArray[np.int64]
    index: NDArray[np.int64]
    """Into the waves of the record."""

    @cached_property
    def span(self) -> tuple[int, int]:
        """First and last unit; a last one before the first if there are none."""
        return int(self.units.min(initial=MOST)), int(self.units.max(initial=-1))


@dataclass
class Record:
    """One executed access that may be in flight: per wave of the group that executed it."""

    number: int
    instruction: Instruction
    kind: str
    key: tuple[str, str]
    """Counter and order."""
    waves: NDArray[np.int64]
    order: NDArray[np.int32]
    """Number of the operation within its class, by wave."""
    touched: dict[int, list[Touched]]
    """By wave of the workgroup."""
