"""A launch as Triton makes it, and the same with its memory laid out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.kernels import Kernel
    from mfmasim.machine.launch.launch import Launch
    from mfmasim.triton.storages import Storage


@dataclass(frozen=True)
class Call:
    """One launch as Triton makes it."""

    kernel: Kernel
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    lds: int
    """Dynamic LDS in bytes."""
    arguments: tuple[tuple[str, Any], ...]
    """Type and value of each, pointers as addresses of this process."""
    storages: tuple[Storage, ...]
    """Memory that the pointers lead to."""
    cooperative: bool = False
    """Whether all workgroups have to be in flight together."""
    cluster: tuple[int, int, int] | None = None
    """Workgroups of a cluster; None takes those that the kernel was compiled for."""


@dataclass(frozen=True)
class Translated:
    """Words of a buffer that hold addresses."""

    words: NDArray[np.uint64]
    """The buffer."""
    places: NDArray[np.int64]
    own: NDArray[np.uint64]
    """What the program has there."""
    seen: NDArray[np.uint64]
    """What the kernel sees there."""

    def restore(self) -> None:
        """Put the program's addresses back where the kernel did not write."""
        now = self.words[self.places]
        self.words[self.places] = np.where(now == self.seen, self.own, now)


@dataclass
class Placed:
    """A launch with its memory, and what brings the results back."""

    launch: Launch
    translated: list[Translated] = field(default_factory=list)

    def collect(self) -> None:
        """Write back what the kernel changed."""
        for one in self.translated:
            one.restore()
        for region, array in self.launch.buffers:
            now = self.launch.memory.view(region)
            if not np.array_equal(now, array):
                array[:] = now
