"""The order in which a batch of tiles lies in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.matrix.arithmetic.buffers import scratch

# Tiles of this many outputs are transposed at once: reads and writes stay in the nearest cache.
_BLOCK = 64


class Order:
    """Axis order of tiles: (tiles, rows, columns), or the tile index last."""

    def __init__(self, *, last: bool) -> None:
        self.last = last

    def forth(self, x: NDArray[Any], name: str) -> NDArray[Any]:
        """From natural order, into scratch of that name."""
        if not self.last:
            return x
        # A whole number of cache lines for each place of a tile; the first tile, again, fills the last line.
        tiles = x.shape[0]
        filled = -(-tiles // 16) * 16
        out = scratch(name, (x.shape[1] * x.shape[2], filled), x.dtype)
        flat = x.reshape(tiles, -1)
        for start in range(0, tiles, _BLOCK):
            out[:, start : min(start + _BLOCK, tiles)] = flat[start : start + _BLOCK].T
        out[:, tiles:] = flat[0, :, None]
        return out.reshape(*x.shape[1:], filled)

    def back(self, x: NDArray[Any], tiles: int) -> NDArray[Any]:
        """To natural order, so many tiles."""
        out = np.empty((tiles, x.shape[0] * x.shape[1]), x.dtype)
        flat = x.reshape(-1, x.shape[2])[:, :tiles]
        for start in range(0, tiles, _BLOCK):
            out[start : start + _BLOCK] = flat[:, start : start + _BLOCK].T
        return out.reshape(tiles, *x.shape[:2])


NATURAL, TILES_LAST = Order(last=False), Order(last=True)
