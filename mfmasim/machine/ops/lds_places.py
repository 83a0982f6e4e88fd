"""Dwords of the LDS that lanes address, kept by the register that holds the addresses.

Compilers address a tile through one register and many immediates: where the register's addresses lead is worked out
once. Only for the usual access: all lanes of all waves, whole aligned dwords, none out of range.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.machine.interface import Spaces
    from mfmasim.machine.state import Group

__all__ = ["Places", "read", "usual", "write"]

KEPT = 8
"""Registers whose places are kept."""


@dataclass(frozen=True)
class Places:
    """Where the addresses of a register lead."""

    base: NDArray[np.uint32]
    """The register, which groups of all waves never change in place."""
    stride: int
    """Bytes of a workgroup's row of the LDS."""
    highest: int
    """The highest address."""
    index: NDArray[np.int64] | None
    """Dword in the LDS of all workgroups, (waves, lanes); None where an address is not a multiple of 4."""


def _made(machine: Spaces, g: Group, base: NDArray[np.uint32], stride: int) -> Places:
    highest = int(base.max())
    if int(np.bitwise_or.reduce(base, axis=None)) & 3 or highest >= machine.launch.lds_bytes:
        return Places(base, stride, highest, None)
    return Places(base, stride, highest, g.workgroup[:, None] * (stride // 4) + (base >> np.uint32(2)))


def usual(
    machine: Spaces, g: Group, base: NDArray[np.uint32], offset: int, size: int
) -> NDArray[np.int64] | None:  # fmt: skip
    """The dwords that lanes address before the offset is added; None where the access is not the usual one.

    Args:
        machine: the spaces.
        g: the waves.
        base: the register that holds the addresses.
        offset: bytes that are added to them.
        size: bytes per lane.
    """
    if not g.all or g.mask is not None or (offset | size) & 3:
        return None
    kept, stride = g.waves.places, machine.lds.shape[1]
    found: Places | None = kept.get(id(base))
    if found is None or found.base is not base or found.stride != stride:
        if len(kept) >= KEPT:
            kept.clear()
        found = kept[id(base)] = _made(machine, g, base, stride)
    return found.index if found.highest + offset + size <= machine.launch.lds_bytes else None


def read(lds: NDArray[np.uint8], index: NDArray[np.int64], offset: int, size: int) -> list[NDArray[np.uint32]]:
    """Read dwords at an offset from `usual` places.

    Args:
        lds: the LDS, (workgroups, bytes).
        index: what `usual` gave.
        offset: bytes.
        size: bytes per lane.
    """
    flat, first = lds.reshape(-1).view(np.uint32), offset // 4
    # All are in range; this mode does not look again.
    return [flat[dword:].take(index, mode="wrap") for dword in range(first, first + size // 4)]


def write(lds: NDArray[np.uint8], index: NDArray[np.int64], offset: int, words: list[NDArray[np.uint32]]) -> None:
    """Write dwords at an offset from `usual` places; of two lanes at one place the last one wins.

    Args:
        lds: the LDS, (workgroups, bytes).
        index: what `usual` gave.
        offset: bytes.
        words: one array per dword.
    """
    flat = lds.reshape(-1).view(np.uint32)
    for dword, word in enumerate(words, offset // 4):
        flat[dword:][index] = word
