"""What a tensor instruction moves, byte by byte, from the fields of a descriptor (CDNA5 ISA manual, 10.11)."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from mfmasim.machine.tensor import Descriptor

BYTES = 4096
PATTERN = 0xC3


def _lines(d: Descriptor) -> Iterator[tuple[int, bool]]:
    """First element of each line of the tile, and whether the tensor has the line."""
    if d.gather_mode:
        yield from ((row * d.tensor_dim0_stride, row < d.tensor_dim1) for row in d.rows[: d.tile_dim1])
        return
    tiles = [d.tile_dim4, d.tile_dim3, d.tile_dim2, d.tile_dim1]
    limits = [d.tensor_dim4, d.tensor_dim3, d.tensor_dim2, d.tensor_dim1]
    strides = [d.tensor_dim3_stride, d.tensor_dim2_stride, d.tensor_dim1_stride, d.tensor_dim0_stride]
    for place in product(*(range(max(tile, 1)) for tile in tiles)):
        has = all(not tile or at < limit for at, tile, limit in zip(place, tiles, limits, strict=True))
        yield sum(at * stride for at, stride in zip(place, strides, strict=True)), has


def places(d: Descriptor, *, padded: bool) -> Iterator[tuple[int, int, bool]]:
    """Byte in the LDS, byte in memory, and whether the tensor has it."""
    size = d.element_bytes
    for turn in range(d.iterations if d.count else 0):
        lds, moved = d.lds_addr + turn * d.lds_addr_increment * size, 0
        first = d.global_addr + turn * d.global_addr_increment * size
        for line, has in _lines(d):
            for x in range(d.tile_dim0):
                for byte in range(size):
                    yield lds + byte, first + (line + x) * size + byte, has and x < d.tensor_dim0
                lds += size
                moved += size
                if padded and moved == 8 << d.pad_interval:
                    lds, moved = lds + 4 * (d.pad_amount + 1), 0


def loaded(d: Descriptor, source: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The LDS after a load."""
    memory, lds = source.view(np.uint8), np.full(BYTES, PATTERN, np.uint8)
    for to, start, has in places(d, padded=bool(d.pad_enable)):
        lds[to] = memory[start] if has else 0
    return lds.view(np.uint32)


def stored(d: Descriptor, source: NDArray[np.uint32], out: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Memory after a store."""
    memory, lds = out.copy().view(np.uint8), source.view(np.uint8)
    for start, to, has in places(d, padded=False):
        if has:
            memory[to] = lds[start]
    return memory.view(np.uint32)
