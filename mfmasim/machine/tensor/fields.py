"""The fields of a tensor descriptor, one row each: group, lowest bit, width, and what the number means.

Sources: CDNA5 ISA manual, 10.11.4, tables 62 to 67. The numbers of table 67 for row indices 12 and 13 (bits 111:96)
repeat those of the next row; HIP's header ``amd_gfx1250_TDM.h`` and Triton's ``TDMUtility.cpp`` place them at 79:64 and
95:80.
`count` 1 is a valid tensor and 0 none (Triton's predicate, HIP's header); `pad_interval` and `pad_amount` are coded
(Triton, ``createTDMDescriptor``: log2 of the dwords minus one, dwords minus one).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

GROUPS = (4, 8, 4, 4)
"""Dwords of each group."""
DWORDS = sum(GROUPS)


@dataclass(frozen=True)
class Field:
    """One field of the descriptor."""

    name: str
    group: int
    low: int
    """Lowest bit, counted from the group's first."""
    width: int
    about: str
    forms: tuple[str, ...] = ("dense", "iterate", "gather")
    """Forms of a descriptor in which it has this meaning."""


BOX, DENSE, ITERATE = ("dense", "iterate"), ("dense",), ("iterate",)

FIELDS: tuple[Field, ...] = (
    #     name                    group low width  meaning
    Field("count", 0, 0, 2, "1: a tensor; 0: none, and no arrival at the barrier"),
    Field("is_restore", 0, 2, 1, "0: not restored from a saved context"),
    Field("is_store", 0, 3, 1, "0: the instruction says whether it stores"),
    Field("nv", 0, 4, 1, "0: the instruction says it"),
    Field("scope", 0, 5, 2, "of a restored context"),
    Field("th", 0, 7, 3, "of a restored context"),
    Field("user_null", 0, 10, 1, "of a restored context"),
    Field("gather_index_size", 0, 30, 1, "row indices of 16 bits (0) or 32 bits (1)"),
    Field("gather_mode", 0, 31, 1, "1: rows by a list of indices"),
    Field("lds_addr", 0, 32, 32, "first byte in the LDS"),
    Field("global_addr", 0, 64, 57, "first byte of the tile in memory"),
    Field("type", 0, 126, 2, "2: image"),
    Field("workgroup_mask", 1, 0, 16, "workgroups of the cluster that request the same tile"),
    Field("data_size", 1, 16, 2, "log2 of the bytes of an element"),
    Field("atomic_barrier_enable", 1, 18, 1, "1: arrive at a barrier in the LDS when the tile has moved"),
    Field("iterate_enable", 1, 19, 1, "1: repeat the tile with other addresses"),
    Field("pad_enable", 1, 20, 1, "1: leave gaps in the LDS"),
    Field("early_timeout", 1, 21, 1, "1: do not wait for the other workgroups of the mask"),
    Field("pad_interval", 1, 22, 3, "log2 of the dwords between two gaps, minus 1"),
    Field("pad_amount", 1, 25, 7, "dwords of a gap, minus 1"),
    Field("atomic_barrier_address", 1, 32, 16, "bits 18:3 of the barrier's address in the LDS"),
    Field("tensor_dim0", 1, 48, 32, "elements of the tensor in dimension 0, from the tile's start"),
    Field("tensor_dim1", 1, 80, 32, "the same in dimension 1"),
    Field("tile_dim0", 1, 112, 16, "elements of the tile in dimension 0; 0: nothing moves"),
    Field("tile_dim1", 1, 128, 16, "rows; of a gather the number of indices; 0: no dimension 1"),
    Field("tile_dim2", 1, 144, 16, "the same in dimension 2"),
    Field("tensor_dim0_stride", 1, 160, 48, "elements from a row to the next"),
    Field("tensor_dim1_stride", 1, 208, 48, "elements from a plane to the next"),
    Field("tensor_dim2", 2, 0, 32, "elements of the tensor in dimension 2", BOX),
    Field("tensor_dim3", 2, 32, 32, "the same in dimension 3", DENSE),
    Field("tensor_dim2_stride", 2, 64, 48, "elements to the next index of dimension 3", DENSE),
    Field("tile_dim3", 2, 112, 16, "elements of the tile in dimension 3", DENSE),
    Field("lds_addr_increment", 2, 32, 32, "elements that an iteration adds to lds_addr", ITERATE),
    Field("global_addr_increment", 2, 64, 48, "elements that it adds to global_addr", ITERATE),
    Field("iterate_count", 2, 112, 16, "iterations minus 1", ITERATE),
    Field("tensor_dim3_stride", 3, 0, 48, "elements to the next index of dimension 4", DENSE),
    Field("tensor_dim4", 3, 48, 32, "elements of the tensor in dimension 4", DENSE),
    Field("tile_dim4", 3, 80, 16, "elements of the tile in dimension 4", DENSE),
)
RESERVED: tuple[tuple[int, int, int], ...] = ((0, 11, 19), (0, 121, 5), (3, 96, 32))
"""Group, lowest bit and width of what has to be 0; of a gather group 3 has indices there."""


def read(group: Sequence[int], low: int, width: int) -> int:
    """Bits of a group.

    Args:
        group: its dwords.
        low: lowest bit.
        width: number of bits.
    """
    whole = sum(int(word) << 32 * k for k, word in enumerate(group))
    return whole >> low & ((1 << width) - 1)
