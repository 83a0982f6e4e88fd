"""The last value of each unit of the LDS, and the waves that wrote it: to see that unordered writes are equal."""

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
"""Bytes of writes that are kept before they are followed."""


class Write(NamedTuple):
    """A write of some waves, of which no two in a workgroup touch one unit."""

    wave: I64
    """The wave of each unit in its workgroup, (n,)."""
    rows: I64
    """Workgroup of each unit, (n,)."""
    units: I64
    """The units, (n,)."""
    value: NDArray[np.uint32] | None
    """Of each, (n,); None is not known."""


class Values:
    """Values by workgroup and unit.

    Few launches have accesses without an order, and nothing else asks for values: writes are kept until then.
    """

    def __init__(self, groups: int, units: int, unit: int) -> None:
        """Begin with no value known of units of 1 or 4 bytes."""
        self._kept: list[Callable[[], Write]] = []
        self._bytes = 0
        self._value: NDArray[np.uint8 | np.uint32] = np.zeros((groups, units), np.uint8 if unit == 1 else np.uint32)
        self._writers: NDArray[np.uint32] = np.zeros((groups, units), np.uint32)
        """Waves of the workgroup that have written the value, a bit for each."""

    def write(self, write: Callable[[], Write], size: int) -> None:
        """Keep a write.

        Args:
            write: gives it.
            size: bytes that it keeps.
        """
        self._kept.append(write)
        self._bytes += size
        if self._bytes > KEPT:
            last = self._kept.pop()
            self._settle()
            self._kept.append(last)

    def _settle(self) -> NDArray[np.uint32] | None:
        """Follow the writes that are kept; returns what `_follow` does of the last one."""
        alike = None
        for write in self._kept:
            alike = self._follow(write())
        self._kept, self._bytes = [], 0
        return alike

    def written(self) -> NDArray[np.uint32]:
        """The waves that wrote what the last write writes to each of its units before, a bit for each, (n,)."""
        alike = self._settle()
        assert alike is not None
        return alike

    def _follow(self, write: Write) -> NDArray[np.uint32]:
        """Follow a write; gives the waves that wrote the same value to each unit before, a bit for each, (n,)."""
        at = write.rows, write.units
        if write.value is None:
            self._writers[at] = NO_WAVE
            return np.zeros(len(write.units), np.uint32)
        alike = np.where(self._value[at] == write.value, self._writers[at], NO_WAVE)
        self._value[at] = write.value
        self._writers[at] = alike | np.uint32(1) << write.wave.astype(np.uint32)
        return alike

    def own(self, wave: int, rows: I64, units: I64) -> NDArray[np.uint32]:
        """The waves that wrote the value of each unit, a bit for each; none where the given one is not among them.

        Args:
            wave: the wave in its workgroup.
            rows: workgroup of each unit, (n,).
            units: the units, (n,).
        """
        self._settle()
        writers = self._writers[rows, units]
        return np.where(writers >> np.uint32(wave) & np.uint32(1), writers, NO_WAVE)


def words(access: AccessEvent, rows: I64, lanes: I64, unit: int) -> NDArray[np.uint32] | None:
    """What an access writes to each unit that some lanes touch, lane by lane; None is not known.

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
