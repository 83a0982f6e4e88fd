"""Arrays of work-items as lanes of waves and back, for the references: the view of a kernel's source on its wave."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Waves:
    """Work-items of a one-dimensional launch, sorted into waves.

    Args:
        count: work-items of the launch.
        block: work-items of a workgroup.
        wave: lanes of a wave, 32 or 64. The last one of a workgroup may be partial: `active` marks its work-items.
    """

    def __init__(self, count: int, block: int, wave: int) -> None:
        self.wave = wave
        self.per_block = -(-block // wave)
        item = np.arange(count)
        self.row = item // block * self.per_block + item % block // wave
        self.lane = item % block % wave
        self.active = np.zeros((count // block * self.per_block, wave), bool)
        self.active[self.row, self.lane] = True

    def split(self, values: NDArray[Any], fill: int = 0) -> NDArray[Any]:
        """(count,) -> (waves, lanes), with `fill` in missing lanes."""
        values = np.asarray(values)
        out = np.full(self.active.shape, fill, values.dtype)
        out[self.row, self.lane] = values
        return out

    def join(self, lanes: NDArray[Any]) -> NDArray[Any]:
        """(waves, lanes) -> (count,)."""
        return np.broadcast_to(lanes, self.active.shape)[self.row, self.lane]

    def fetch(
        self, values: NDArray[Any], source: Any, active: NDArray[Any] | None = None, fill: Any = 0
    ) -> NDArray[Any]:
        """Value of lane `source` for every lane; `fill` where that lane is outside the wave or not active.

        Args:
            values: (waves, lanes).
            source: lane numbers, broadcast to (waves, lanes).
            active: which lanes may be read; without it those with a work-item.
            fill: as above, broadcast.
        """
        active = self.active if active is None else active
        source = np.broadcast_to(source, values.shape)
        inside = (source >= 0) & (source < self.wave)
        at = np.where(inside, source, 0)
        valid = inside & np.take_along_axis(active, at, 1)
        return np.where(valid, np.take_along_axis(values, at, 1), fill).astype(values.dtype)
