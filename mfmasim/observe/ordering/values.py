"""The last value of each unit of the LDS, and the waves that wrote it, to detect equal unordered writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mfmasim.arrays import I64

if TYPE_CHECKING:
    from collections.abc import Callable

    from mfmasim.machine.events import AccessEvent


NO_WAVE = np.uint32(0)
BITS = 8


KEPT = 1 << 25
"""Bytes of writes that are stored before they are followed."""


class Write(NamedTuple):
    """A write of waves; two waves of a workgroup do not write one unit."""

    wave: I64
    """The wave of each unit in its workgroup, (n,)."""
    rows: I64
    """Workgroup of each unit, (n,)."""
    units: I64
    """The units, (n,)."""
    value: NDArray[np.uint32] | None
    """Value of each unit, (n,); None if unknown."""


class Values:
    """Values by workgroup and unit.

    Only unordered accesses need values, and few launches have them: writes are stored until they are needed.
    """

    def __init__(self, groups: int, units: int, unit: int) -> None:
        """Begin with unknown values of units of 1 or 4 bytes."""
        self._kept: list[Callable[[], Write]] = []
        self._bytes = 0
        self._value: NDArray[np.uint8 | np.uint32] = np.zeros((groups, units), np.uint8 if unit == 1 else np.uint32)
        self._writers: NDArray[np.uint32] = np.zeros((groups, units), np.uint32)
        """Waves of the workgroup that have written the value, a bit for each."""

    def write(self, write: Callable[[], Write], size: int) -> None:
        """Keep a write.

        Args:
            write: returns the write.
            size: bytes that the function holds.
        """
        self._kept.append(write)
        self._bytes += size
        if self._bytes > KEPT:
            last = self._kept.pop()
            self._settle()
            self._kept.append(last)

    def _settle(self) -> NDArray[np.uint32] | None:
        """Follow the stored writes; returns the result of `_follow` for the last one."""
        equal = None
        for write in self._kept:
            equal = self._follow(write())
        self._kept, self._bytes = [], 0
        return equal

    def written(self) -> NDArray[np.uint32]:
        """The waves that had written the last write's value to each of its units, a bit for each wave, (n,)."""
        equal = self._settle()
        assert equal is not None
        return equal

    def _follow(self, write: Write) -> NDArray[np.uint32]:
        """Follow a write; returns the waves that had written the same value to each unit, a bit for each wave, (n,)."""
        at = write.rows, write.units
        if write.value is None:
            self._writers[at] = NO_WAVE
            return np.zeros(len(write.units), np.uint32)
        equal = np.where(self._value[at] == write.value, self._writers[at], NO_WAVE)
        self._value[at] = write.value
        self._writers[at] = equal | np.uint32(1) << write.wave.astype(np.uint32)
        return equal

    def own(self, wave: int, rows: I64, units: I64) -> NDArray[np.uint32]:
        """The waves that wrote the value of each unit, a bit for each; 0 if the given wave did not.

        Args:
            wave: the wave in its workgroup.
            rows: workgroup of each unit, (n,).
            units: the units, (n,).
        """
        self._settle()
        writers = self._writers[rows, units]
        return np.where(writers >> np.uint32(wave) & np.uint32(1), writers, NO_WAVE)


def words(access: AccessEvent, rows: I64, lanes: I64, unit: int) -> NDArray[np.uint32] | None:
    """Values that an access writes to the units of some lanes, lane by lane; None if unknown.

    Args:
        access: the access.
        rows: row of its arrays, (n,).
        lanes: the lanes, (n,).
        unit: bytes of a unit, 1 or 4.
    """
    if not access.data or access.size % unit:
        return None
    shape = access.waves, access.addresses.shape[-1]
    if unit > 1 and (np.broadcast_to(access.addresses, shape)[rows, lanes] % unit).any():
        return None
    data = [np.broadcast_to(word, shape)[rows, lanes] for word in access.data]
    if unit == 1:
        data = [data[at // 4] >> np.uint32(BITS * (at % 4)) & np.uint32(0xFF) for at in range(access.size)]
    return np.stack(data[: access.size // unit], axis=1).ravel()
