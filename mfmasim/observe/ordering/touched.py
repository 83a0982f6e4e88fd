"""The units of the LDS that accesses touch, memoised for repeated accesses, as in loops."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mfmasim.arrays import I64
from mfmasim.kernels import PerKernel

if TYPE_CHECKING:
    from mfmasim.kernels import Kernel

NO_UNIT = 1 << 62
"""Above the number of any unit."""
HELD = 1 << 25
"""Most bytes of memoised patterns."""
RECENT = 2
"""Number of kernels whose patterns are kept for further launches."""


@dataclass(frozen=True, eq=False)
class Touched:
    """Units that waves of some workgroups access, element by element: in each workgroup wave after wave."""

    rows: I64
    """Rows of the shadow."""
    units: I64
    index: I64
    """Index into the waves that execute the access."""
    wave: I64
    """Wave in its workgroup."""
    places: I64
    """The units, of all rows in one array."""
    before_others: I64
    """Elements whose unit a later wave of the same workgroup accesses, too."""

    def spans(self, waves: I64, total: int) -> tuple[I64, I64]:
        """First and last unit that each wave of a batch accesses; the last lies before the first if there are none.

        Args:
            waves: the waves that execute the access, by their numbers in the batch.
            total: waves of the batch.
        """
        low, high = np.full(total, NO_UNIT, np.int64), np.full(total, -NO_UNIT, np.int64)
        starts = np.flatnonzero(np.append(True, self.index[1:] != self.index[:-1]))
        if len(self.index):
            of = waves[self.index[starts]]
            low[of] = np.minimum.reduceat(self.units, starts)
            high[of] = np.maximum.reduceat(self.units, starts)
        return low, high

    def widened(self, groups: int, units: int, waves: int) -> list[Touched]:
        """The units in each workgroup of a batch, from those of the first workgroup.

        Args:
            groups: workgroups of the batch.
            units: of the LDS of each.
            waves: waves that execute the access in each workgroup.
        """
        return [
            replace(self, rows=self.rows + g, index=self.index + g * waves, places=self.places + g * units)
            for g in range(groups)
        ]


class Last(NamedTuple):
    """Units of accesses of one kind, each once, with their last access. Marks are relative to the stretch's first."""

    places: I64
    """Places in the shadow, (n,)."""
    wave: I64
    """The last wave, in its workgroup."""
    mark: I64
    other: I64
    """Mark of the last access by another wave; -1 for none."""


class Lockstep:
    """Whether all workgroups of a batch execute in lockstep."""

    def __init__(self, groups: int, per: int) -> None:
        """Prepare for `groups` workgroups of `per` waves."""
        self.groups, self.per = groups, per
        self._asked: tuple[I64 | None, bool] = None, False
        """Waves of an access, and whether they have the same numbers in each workgroup."""

    def holds(self, waves: I64, *values: NDArray[Any]) -> bool:
        """Whether the waves have the same numbers and values in each workgroup.

        Args:
            waves: their numbers in the batch; accesses of one block share the array.
            values: arrays of values of the lanes, (waves, lanes).
        """
        if waves is not self._asked[0]:
            self._asked = waves, self._same_waves(waves)
        return self._asked[1] and all(self._same_rows(array) for array in values)

    def _same_waves(self, waves: I64) -> bool:
        each = len(waves) // self.groups
        if each * self.groups != len(waves):
            return False
        grid = waves.reshape(self.groups, each)
        return bool((grid - grid[:, :1] // self.per * self.per == grid[0]).all())

    def _same_rows(self, values: NDArray[Any]) -> bool:
        if not values.strides[0]:  # one row for all
            return True
        grid = values.reshape(self.groups, -1, values.shape[1])
        return bool((grid == grid[0]).all())


Pattern = tuple[Touched, I64, I64]
"""The units of an access; first and last unit by wave of the batch."""


class Patterns:
    """The units of accesses, memoised by everything on which they depend."""

    def __init__(self, lds_bytes: int, unit: int, per: int) -> None:
        """Begin empty.

        Args:
            lds_bytes: of a workgroup.
            unit: bytes of a unit, 1 or 4.
            per: waves of a workgroup.
        """
        self.lds_bytes, self.unit, self.per = lds_bytes, unit, per
        self._known: dict[tuple[object, ...], Pattern] = {}
        self.together: dict[tuple[object, ...], Any] = {}
        """Combined units of several accesses, by everything on which they depend."""
        self._held = 0

    def __reduce__(self) -> tuple[type[Patterns], tuple[int, int, int]]:
        """A copy for another process, which is empty."""
        return Patterns, (self.lds_bytes, self.unit, self.per)

    def of(self, waves: I64, addresses: I64, active: NDArray[np.bool_], size: int, rows: int, total: int) -> Pattern:
        """The units that waves access, and the first and last unit of each wave.

        Args:
            waves: their numbers in the batch.
            addresses: of each lane, (waves, lanes).
            active: active lanes, (waves, lanes).
            size: bytes a lane.
            rows: of the shadow; one stands for all workgroups.
            total: waves of the batch.
        """
        first = int(addresses.min()) // self.unit if addresses.size else 0
        # An access that lies within the allocation as a whole is computed once for all of its start addresses.
        inside = first >= 0 and addresses.size and int(addresses.max()) + size <= self.lds_bytes
        first = first if inside else 0
        near = addresses - first * self.unit
        key = size, rows, total, waves.tobytes(), near.tobytes(), active.tobytes()
        found = self._known.get(key)
        if found is None:
            found = self._made(waves, near, active, size, rows, total)
            self._more(8 * (addresses.size + 6 * found[0].units.size + 2 * total))
            self._known[key] = found
        if not first:
            return found
        at, low, high = found
        units, places = at.units + first, at.places + first
        return Touched(at.rows, units, at.index, at.wave, places, at.before_others), low + first, high + first

    def hold(self, key: tuple[object, ...], found: Any, size: int) -> None:
        """Store a value in `together`.

        Args:
            key: everything on which the value depends.
            found: the value.
            size: bytes of key and value.
        """
        self._more(size)
        self.together[key] = found

    def _more(self, size: int) -> None:
        if self._held + size > HELD:
            self.clear()
        self._held += size

    def clear(self) -> None:
        """Remove all entries."""
        self._known.clear()
        self.together.clear()
        self._held = 0

    def _made(self, waves: I64, addresses: I64, active: NDArray[np.bool_], size: int, rows: int, total: int) -> Pattern:
        """`of` without the memo."""
        row, _, touched = self.units(addresses, active, size)
        index, units = np.repeat(row, touched.shape[1]), touched.ravel()
        of = waves[index]
        group = of // self.per if rows > 1 else np.zeros(len(index), np.int64)
        places = units + group * -(-self.lds_bytes // self.unit) if rows > 1 else units
        last = np.empty(int(places.max(initial=-1)) + 1, np.int64)
        last[places] = index  # the last of several waves stays
        everything = Touched(group, units, index, of % self.per, places, np.flatnonzero(last[places] != index))
        return everything, *everything.spans(waves, total)

    def units(self, addresses: I64, active: NDArray[np.bool_], size: int) -> tuple[I64, I64, I64]:
        """Row of `addresses` and lane of every access inside the allocation, (n,), and its units, (n, m).

        Args:
            addresses: of each lane, (waves, lanes).
            active: active lanes, (waves, lanes).
            size: bytes a lane.
        """
        inside = active & (addresses >= 0) & (addresses <= self.lds_bytes - size)
        row, lane = np.nonzero(inside)
        chosen, shift = addresses[inside], self.unit.bit_length() - 1  # units are 1 or 4 bytes
        first, last = chosen >> shift, (chosen + (size - 1)) >> shift
        most = int((last - first).max(initial=0)) + 1
        return row, lane, np.minimum(first[:, None] + np.arange(most), last[:, None])


PATTERNS: PerKernel[dict[tuple[int, int, int], Patterns]] = PerKernel(lambda _: {})
"""Patterns by bytes of the LDS, bytes of a unit and waves of a workgroup."""
_recent: deque[Patterns] = deque()


def patterns_of(kernel: Kernel, lds_bytes: int, unit: int, per: int) -> Patterns:
    """The patterns of a kernel, from earlier launches if it is one of the last `RECENT` kernels.

    Args:
        kernel: the kernel.
        lds_bytes: of a workgroup.
        unit: bytes of a unit, 1 or 4.
        per: waves of a workgroup.
    """
    known, key = PATTERNS.of(kernel), (lds_bytes, unit, per)
    found = known.setdefault(key, Patterns(*key))
    if found in _recent:
        _recent.remove(found)
    elif len(_recent) == RECENT:
        _recent.popleft().clear()
    _recent.append(found)
    return found
