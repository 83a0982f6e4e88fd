"""Registers that several instructions read before they are written again, and what was computed from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import is_
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Held", "Kept"]

BYTES = 4 << 20
"""Registers that are kept at most; what matrix instructions compute from them takes up to sixteen times as much."""


@dataclass
class Held:
    """Consecutive registers as a group of waves read them."""

    rows: NDArray[np.uint32]
    """(1 or waves, registers, lanes)."""
    arrays: list[NDArray[Any]]
    """Arrays of the registers then."""
    time: int
    """Changes that there had been then."""
    memo: dict[Any, Any] = field(default_factory=dict)
    """What was computed from them."""


class Changed:
    """When the arrays of registers were last changed in place."""

    def __init__(self) -> None:
        """No changes yet."""
        self.count = 0
        self._last: dict[tuple[int, int], int] = {}

    def note(self, key: tuple[int, int]) -> None:
        """A change of the array of a register: its file and its number."""
        self.count += 1
        self._last[key] = self.count

    def since(self, time: int, file: int, registers: range) -> bool:
        """Whether registers were changed.

        Args:
            time: after so many changes.
            file: identity of the register file.
            registers: the registers.
        """
        return any(self._last.get((file, register), 0) > time for register in registers)


class Kept:
    """What a group of waves has read."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._found: dict[tuple[int, int, int], Held] = {}

    def read(
        self, file: list[NDArray[Any]], first: int, count: int, changed: Changed,
        rows: Callable[[], NDArray[np.uint32]],
    ) -> Held:  # fmt: skip
        """Consecutive registers as they are now.

        Args:
            file: the register file.
            first: number of the first register.
            count: how many.
            changed: the file's arrays that were changed in place.
            rows: reads them.
        """
        key, arrays = (id(file), first, count), file[first : first + count]
        found = self._found.get(key)
        if (
            found is not None
            and all(map(is_, found.arrays, arrays))
            and not changed.since(found.time, key[0], range(first, first + count))
        ):
            return found
        made = Held(rows(), arrays, changed.count)
        if made.rows.nbytes <= BYTES:
            self._found.pop(key, None)
            if sum(held.rows.nbytes for held in self._found.values()) + made.rows.nbytes > BYTES:
                self._found.clear()
            self._found[key] = made
        return made
