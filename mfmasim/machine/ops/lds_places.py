"""Dwords of the LDS that lanes address, kept by the register that holds the addresses.

Compilers address a tile through one register and many immediates: where the register's addresses lead is worked out
once. Only for the usual access: all lanes, whole aligned dwords, none out of range.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.isa import Operand
    from mfmasim.machine.events.interface import Spaces
    from mfmasim.machine.state.wave_selection import Selection
    from mfmasim.machine.state.waves import Group

NOWHERE = np.zeros((0, 0), np.int64)
KEPT = 16
"""Registers, as groups of waves read them, whose places are kept."""


@dataclass(frozen=True)
class Places:
    """Where the addresses of a register lead."""

    register: NDArray[np.uint32]
    """Of all waves."""
    selection: Selection
    """The waves of the group."""
    time: int
    """Changes of registers in place that there had been then (`Waves.changed`)."""
    stride: int
    """Bytes of a workgroup's row of the LDS."""
    base: NDArray[np.uint32]
    """The addresses of the group's lanes."""
    left: int
    """Bytes from the highest one to the end of the allocation; 0 where one is not a multiple of 4."""
    index: NDArray[np.int64]
    """Dword in the LDS of all workgroups, (waves, lanes)."""


def _made(machine: Spaces, g: Group, register: NDArray[np.uint32], stride: int) -> Places:
    base = g.take(register)
    left = machine.launch.lds_bytes - int(base.max())
    if left <= 0 or int(np.bitwise_or.reduce(base, axis=None)) & 3:
        left, index = 0, NOWHERE
    else:
        index = g.workgroup[:, None] * (stride // 4) + (base >> np.uint32(2))
    return Places(register, g.selection, g.waves.changed.count, stride, base, left, index)


def usual(machine: Spaces, g: Group, operand: Operand, offset: int, size: int) -> Places | None:
    """Where lanes lead before the offset is added; None where the access is not the usual one.

    Args:
        machine: the spaces.
        g: the waves.
        operand: the register that holds the addresses.
        offset: bytes that are added to them.
        size: bytes per lane.
    """
    if g.mask is not None or (offset | size) & 3 or operand.kind not in ("v", "a"):
        return None
    file = g.vgprs if operand.kind == "v" else g.agprs
    register, name = file[operand.index], (id(file), operand.index)
    kept, stride = g.waves.places, machine.lds.shape[1]
    found: Places | None = kept.get(key := (id(g.selection), *name))
    if (
        found is None
        or found.register is not register
        or found.selection is not g.selection
        or found.stride != stride
        # Only groups of some waves change an array in place, and none that a group of all waves has read.
        or (not g.all and g.waves.changed.since(found.time, (name,), g.selection))
    ):
        if len(kept) >= KEPT:
            kept.clear()
        found = kept[key] = _made(machine, g, register, stride)
    return found if offset + size <= found.left else None


def read(lds: NDArray[np.uint8], places: Places, offset: int, size: int) -> list[NDArray[np.uint32]]:
    """Read dwords at an offset from `usual` places.

    Args:
        lds: the LDS, (workgroups, bytes).
        places: what `usual` gave.
        offset: bytes.
        size: bytes per lane.
    """
    flat, first, index = lds.reshape(-1).view(np.uint32), offset // 4, places.index
    # All are in range; this mode does not look again.
    return [flat[dword:].take(index, mode="wrap") for dword in range(first, first + size // 4)]


def write(lds: NDArray[np.uint8], places: Places, offset: int, words: list[NDArray[np.uint32]]) -> None:
    """Write dwords at an offset from `usual` places; of two lanes at one place the last one wins.

    Args:
        lds: the LDS, (workgroups, bytes).
        places: what `usual` gave.
        offset: bytes.
        words: one array per dword.
    """
    flat = lds.reshape(-1).view(np.uint32)
    for dword, word in enumerate(words, offset // 4):
        flat[dword:][places.index] = word
