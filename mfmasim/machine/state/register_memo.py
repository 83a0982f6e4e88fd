"""Memo of registers that several instructions read before the next write, and of values computed from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from operator import is_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.machine.state.wave_selection import Scattered, Selection

SELECTIONS = 8
"""Selections of waves whose changes are kept separately; those of others count for all waves."""
_ANY = Scattered(np.empty(0, np.int64))
BYTES = 8 << 20
"""Registers that are kept at most; what matrix instructions compute from them takes up to sixteen times as much."""


@dataclass
class Held:
    """Registers as a group of waves reads them."""

    rows: NDArray[np.uint32]
    """(1 or waves, registers, lanes)."""
    arrays: list[NDArray[Any]]
    """Arrays of the registers then."""
    time: int
    """Changes that there had been then."""
    memo: dict[Any, Any] = field(default_factory=dict)
    """What was computed from them."""


class Changed:
    """Times and waves of the last changes in place of the registers' arrays."""

    def __init__(self) -> None:
        """No changes yet."""
        self.count = 0
        self._last: dict[Selection, dict[tuple[int, int], int]] = {}

    def note(self, key: tuple[int, int], waves: Selection) -> None:
        """A change of the array of a register: its file and its number, and the waves that were written."""
        self.count += 1
        if waves not in self._last and len(self._last) >= SELECTIONS:
            waves = _ANY
        self._last.setdefault(waves, {})[key] = self.count

    def since(self, time: int, registers: Iterable[tuple[int, int]], waves: Selection) -> bool:
        """Whether registers were changed.

        Args:
            time: after so many changes.
            registers: file and number of each.
            waves: in some of these.
        """
        return any(
            last.get(register, 0) > time
            for written, last in self._last.items()
            if not waves.apart(written)
            for register in registers
        )


class Kept:
    """Memoised reads of groups of waves."""

    def __init__(self, changed: Changed) -> None:
        """Nothing yet; `changed` knows the arrays that are changed in place."""
        self._changed = changed
        self._found: dict[tuple[Selection, tuple[tuple[int, int], ...]], Held] = {}

    def read(
        self,
        registers: tuple[tuple[int, int], ...],
        arrays: list[NDArray[Any]],
        waves: Selection,
        rows: Callable[[], NDArray[np.uint32]],
    ) -> Held:
        """Registers as they are now.

        Args:
            registers: file and number of each.
            arrays: their arrays.
            waves: those of the group.
            rows: reads them.
        """
        key, changed = (waves, registers), self._changed
        found = self._found.get(key)
        if (
            found is not None
            and all(map(is_, found.arrays, arrays))
            and not changed.since(found.time, registers, waves)
        ):
            return found
        made = Held(rows(), arrays, changed.count)
        if made.rows.nbytes <= BYTES:
            self._found.pop(key, None)
            if sum(held.rows.nbytes for held in self._found.values()) + made.rows.nbytes > BYTES:
                self._found.clear()
            self._found[key] = made
        return made
