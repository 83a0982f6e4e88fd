"""Tags of the dwords of the LDS, scratch and global memory, see `mfmasim.observe.origins`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.arrays import Flags
    from mfmasim.machine.launch.launch import Launch

    Tags = NDArray[np.int64]


class TagMemory:
    """Tags of one launch; arrays are made when the first tag is stored."""

    def __init__(self, launch: Launch) -> None:
        """No tags."""
        self._launch = launch
        self._lds: dict[int, Tags] = {}
        """Tags by workgroup."""
        self.memory: Tags | None = None
        """Tags of the arena."""
        self._scratch: dict[int, Tags] = {}
        """Tags by dword of a lane's scratch, (waves of the launch, lanes)."""

    def load(self, space: str, waves: NDArray[np.int64], where: NDArray[np.int64], active: Flags) -> Tags:
        """Tags of a dword of each lane, (waves, lanes).

        Args:
            space: ``global``, ``lds`` or ``scratch``.
            waves: numbers in the launch.
            where: addresses as in an access, (waves, lanes).
            active: lanes that take part.
        """
        tags = np.zeros(where.shape, np.int64)
        if space == "global":
            if self.memory is not None:
                index = (where - self._launch.memory.base) >> 2
                fits = active & (index >= 0) & (index < len(self.memory))
                tags[fits] = self.memory[index[fits]]
        elif space == "lds":
            for row, group in enumerate((waves // self._launch.waves_per_workgroup).tolist()):
                held = self._lds.get(group)
                if held is not None:
                    fits = active[row] & (where[row] >= 0) & (where[row] >> 2 < len(held))
                    tags[row, fits] = held[where[row, fits] >> 2]
        else:
            for dword in np.unique(where[active] >> 2).tolist():
                held = self._scratch.get(dword)
                if held is not None:
                    tags = np.where(active & (where >> 2 == dword), held[waves], tags)
        return tags

    def store(
        self, space: str, waves: NDArray[np.int64], where: NDArray[np.int64], active: Flags, tags: Tags, *, clear: bool
    ) -> None:
        """Change the tags of a dword of each lane.

        Args:
            space: ``global``, ``lds`` or ``scratch``.
            waves: numbers in the launch.
            where: addresses as in an access, (waves, lanes).
            active: lanes that take part.
            tags: (waves, lanes).
            clear: whether a tag of 0 replaces the old tag.
        """
        if not clear:
            active = active & (tags != 0)
        some = bool(tags[active].any())
        if space == "global":
            if self.memory is None and some:
                self.memory = np.zeros(self._launch.memory.size // 4 + 1, np.int64)
            if self.memory is not None:
                index = (where - self._launch.memory.base) >> 2
                fits = active & (index >= 0) & (index < len(self.memory))
                self.memory[index[fits]] = tags[fits]
        elif space == "lds":
            for row, group in enumerate((waves // self._launch.waves_per_workgroup).tolist()):
                held = self._lds.get(group)
                if held is None and tags[row].any():
                    held = self._lds[group] = np.zeros(self._launch.lds_bytes // 4 + 1, np.int64)
                if held is not None:
                    fits = active[row] & (where[row] >= 0) & (where[row] >> 2 < len(held))
                    held[where[row, fits] >> 2] = tags[row, fits]
        else:
            for dword in np.unique(where[active] >> 2).tolist():
                here = active & (where >> 2 == dword)
                held = self._scratch.get(dword)
                if held is None and tags[here].any():
                    held = self._scratch[dword] = np.zeros(
                        (self._launch.waves_per_workgroup * self._launch.workgroups, where.shape[1]), np.int64
                    )
                if held is not None:
                    held[waves] = np.where(here, tags, held[waves])
