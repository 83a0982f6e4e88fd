"""Leading axes as a batch: broadcast without copying, chunks of bounded memory, sparse rows, order in memory."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.matrix.arithmetic.scratch import Scratch
from mfmasim.matrix.request import Operands

CHUNK = 1 << 18
"""Array elements handled at once; temporaries of eight bytes then stay within the caches of one core."""

OUTPUTS = 1 << 16
"""Outputs handled at once: a dozen float32 temporaries of this many stay in a core's cache."""


def chunks(batch: tuple[int, ...], size: int) -> Iterator[slice]:
    """Slices of the flattened batch; ``size`` is the number of array elements that one tile needs."""
    total = math.prod(batch)
    step = max(1, CHUNK // max(1, size))
    for start in range(0, total, step):
        yield slice(start, min(start + step, total))


def bands(shape: tuple[int, ...]) -> list[slice]:
    """Bands of rows of (tiles, M, N) with about `OUTPUTS` outputs each."""
    rows = max(1, OUTPUTS // max(1, shape[0] * shape[2]))
    return [slice(start, min(start + rows, shape[1])) for start in range(0, shape[1], rows)]


def take(array: NDArray[Any], batch: tuple[int, ...], part: slice) -> NDArray[Any]:
    """Tiles of the flattened batch, (n, rows, columns); broadcast operands are repeated only inside the part.

    Args:
        array: (..., rows, columns).
        batch: the leading axes, broadcast.
        part: which tiles.
    """
    tail = array.shape[-2:]
    if array.shape[:-2] == batch:
        return array.reshape(-1, *tail)[part]
    lead = (1,) * (len(batch) - array.ndim + 2) + array.shape[:-2]
    coordinates = np.unravel_index(np.arange(part.start, part.stop), batch)
    index = tuple(np.where(size == 1, 0, at) for size, at in zip(lead, coordinates, strict=True))
    taken: NDArray[Any] = array.reshape(*lead, *tail)[index]
    return taken


def merge(operands: Operands, batch: tuple[int, ...]) -> tuple[Operands, tuple[int, ...]] | None:
    """Join tiles that form one large product: A (..., X, 1, M, K) with B (..., 1, Y, K, N).

    Args:
        operands: A, B and C.
        batch: the leading axes, broadcast.

    Returns:
        A (..., X*M, K), B (..., K, Y*N), C (..., X*M, Y*N) and the shape (..., X, M, Y, N) that D splits into;
        None when the batch is not of this kind.
    """
    a, b, c = operands.a, operands.b, operands.c
    if a.ndim < 4 or b.ndim < 4 or a.shape[-3] != 1 or b.shape[-4] != 1 or a.shape[-4] == 1 or b.shape[-3] == 1:
        return None
    x, y, m, k, n = a.shape[-4], b.shape[-3], a.shape[-2], a.shape[-1], b.shape[-1]
    if batch[-2:] != (x, y):
        return None
    joined_a = a.reshape(*a.shape[:-4], x * m, k)
    joined_b = np.moveaxis(b, -2, -3).reshape(*b.shape[:-4], k, y * n)
    wide = np.broadcast_to(c, (*batch, m, n))
    joined_c = np.swapaxes(wide, -3, -2).reshape(*batch[:-2], x * m, y * n)
    return Operands(joined_a, joined_b, joined_c), (*batch[:-2], x, m, y, n)


def select(operands: Operands) -> NDArray[Any]:
    """Rows of B that the stored elements of each row of A are multiplied by.

    Args:
        operands: B (..., K, N), and the positions of the stored elements (..., M, K/2).

    Returns:
        (..., M, K/2, N): one B for every row of A.
    """
    index: Any = operands.index
    ks = np.arange(index.shape[-1]) // 2 * 4 + index
    gathered: NDArray[Any] = np.take_along_axis(operands.b[..., None, :, :], ks[..., None], axis=-2)
    return gathered


_BLOCK = 64
"""Tiles that are transposed at once: reads and writes stay in the nearest cache."""
CODES = {name: Scratch(np.uint8) for name in "abc"}
"""Memory of codes of A, B and C in another order."""


class Order:
    """Axis order of tiles: (tiles, rows, columns), or the tile index last."""

    def __init__(self, *, last: bool) -> None:
        self.last = last

    def forth(self, x: NDArray[Any], name: str) -> NDArray[Any]:
        """Codes of ``a``, ``b`` or ``c`` from natural order, into `CODES`."""
        if not self.last:
            return x
        # A whole number of cache lines for each element of a tile; the first tile, again, fills the last line.
        tiles = x.shape[0]
        filled = -(-tiles // 16) * 16
        out = CODES[name].like((x.shape[1] * x.shape[2], filled), x.dtype)
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
