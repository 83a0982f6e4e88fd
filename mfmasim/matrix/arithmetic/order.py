"""The order in which a batch of tiles lies in memory, and parts of a batch."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.matrix.arithmetic.arrays import scratch
from mfmasim.matrix.arithmetic.operands import Codes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.matrix.arithmetic.chains import Options

__all__ = ["NATURAL", "TILES_LAST", "Order", "pick"]

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


def pick(
    a: Codes, b: Codes, c: NDArray[Any], options: Options, tiles: Any
) -> tuple[Codes, Codes, NDArray[Any], Options]:
    """Some tiles of a batch, with their scales.

    Args:
        a: codes (tiles, M, K).
        b: codes (tiles, K, N).
        c: raw bits (tiles, M, N).
        options: the scales of the same tiles.
        tiles: an index of the first axis.
    """
    scale_a = None if options.scale_a is None else options.scale_a[tiles]
    scale_b = None if options.scale_b is None else options.scale_b[tiles]
    p, q = (Codes(x.array[tiles], x.read) for x in (a, b))
    return p, q, c[tiles], replace(options, scale_a=scale_a, scale_b=scale_b)
