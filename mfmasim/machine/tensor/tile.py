"""The elements that a descriptor moves: their places in memory and in the LDS, and whether they lie in the tensor.

Source: CDNA5 ISA manual, 10.11.2, 10.11.3 and 10.11.6. Assumed, as the manual leaves it open: every iteration compares
with the same tensor dimensions and counts the bytes between gaps anew, and a gather compares each index alone
(the manual promises that only for indices that do not decrease).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.machine.tensor.descriptor import Descriptor

I64 = np.int64


@dataclass(frozen=True)
class Moves:
    """Pieces of a tile in the order in which the mover takes them, each of `size` bytes."""

    size: int
    memory: NDArray[np.int64]
    """Byte of each piece from `global_addr` on."""
    lds: NDArray[np.int64]
    """Byte of each piece from `lds_addr` on."""
    inside: NDArray[np.bool_]
    """Whether the tensor has it: a load gives 0 for the others, a store leaves them out."""


def _extents(d: Descriptor) -> list[tuple[int, int, int]]:
    """Elements of the tile, elements of the tensor and stride of dimensions 1 and up; a tile of 0 has no dimension."""
    dims = [(d.tile_dim1, d.tensor_dim1, d.tensor_dim0_stride), (d.tile_dim2, d.tensor_dim2, d.tensor_dim1_stride)]
    if d.form == "dense":
        dims += [(d.tile_dim3, d.tensor_dim3, d.tensor_dim2_stride), (d.tile_dim4, d.tensor_dim4, d.tensor_dim3_stride)]
    return dims


def _rows(d: Descriptor) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Element at which each row of the tile begins, in order, and whether the tensor has the row."""
    if d.form == "gather":
        numbers = np.array(d.rows[: d.tile_dim1], I64)
        return numbers * d.tensor_dim0_stride, numbers < d.tensor_dim1
    start, inside = np.zeros(1, I64), np.ones(1, np.bool_)
    for tile, tensor, stride in _extents(d):
        if tile:
            index = np.arange(tile, dtype=I64)
            start = (index[:, None] * stride + start).reshape(-1)
            inside = ((index < tensor)[:, None] & inside).reshape(-1)
    return start, inside


def _piece(d: Descriptor) -> int:
    """Bytes that move together: an element, or a dword of smaller ones where rows, bounds and LDS address allow it."""
    size = d.element_bytes
    have = min(d.tile_dim0, d.tensor_dim0)
    lds = [d.lds_addr, d.lds_addr_increment * size if d.form == "iterate" else 0]
    whole = all(value % 4 == 0 for value in (d.tile_dim0 * size, have * size, *lds))
    return max(size, 4) if whole else size


def moves(descriptor: Descriptor, *, store: bool = False, most: int = 8) -> Moves:
    """The pieces that a descriptor moves.

    Args:
        descriptor: the descriptor.
        store: whether from the LDS to memory, which ignores padding.
        most: bytes of a piece at most, a power of two.

    >>> from mfmasim.machine.tensor import Descriptor
    >>> tile = Descriptor(data_size=2, tensor_dim0=3, tensor_dim1=2, tile_dim0=4, tile_dim1=2, tensor_dim0_stride=100)
    >>> found = moves(tile)
    >>> found.memory.tolist(), found.lds.tolist()
    ([0, 4, 8, 12, 400, 404, 408, 412], [0, 4, 8, 12, 16, 20, 24, 28])
    >>> found.inside.astype(int).tolist()
    [1, 1, 1, 0, 1, 1, 1, 0]
    """
    d, size = descriptor, min(_piece(descriptor), most)
    if d.empty:
        nothing = np.zeros(0, I64)
        return Moves(size, nothing, nothing, np.zeros(0, np.bool_))
    columns = np.arange(0, d.tile_dim0 * d.element_bytes, size, dtype=I64)
    start, has = _rows(d)
    memory = (start[:, None] * d.element_bytes + columns).reshape(-1)
    inside = (has[:, None] & (columns < d.tensor_dim0 * d.element_bytes)).reshape(-1)
    lds = np.arange(len(memory), dtype=I64) * size
    if d.pad_enable and not store:
        interval, amount = d.pad_bytes
        lds = lds + lds // interval * amount
    if d.iterations > 1:
        turn = np.arange(d.iterations, dtype=I64)[:, None]
        memory = (memory + turn * (d.global_addr_increment * d.element_bytes)).reshape(-1)
        lds = (lds + turn * (d.lds_addr_increment * d.element_bytes)).reshape(-1)
        inside = np.tile(inside, d.iterations)
    return Moves(size, memory, lds, inside)
