"""Loads and stores of the data shares: the LDS, or with the modifier `gds` the GDS."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mfmasim.isa import Instruction
from mfmasim.machine.events.interface import Spaces
from mfmasim.machine.ops import spaces
from mfmasim.machine.ops.gds import in_gds
from mfmasim.machine.ops.spaces import Part
from mfmasim.machine.state.waves import Group


def load(machine: Spaces, g: Group, instruction: Instruction, part: Part, size: int) -> list[NDArray[np.uint32]]:
    """Read `size` bytes per lane; 0 where they are out of range.

    Args:
        machine: the spaces.
        g: the waves.
        instruction: what loads.
        part: lanes and addresses.
        size: bytes per lane.
    """
    if not instruction.in_gds:
        return spaces.load(machine, g, instruction, part, size)
    place, _, outside = in_gds(machine, g, instruction, part, size, "read")
    words = spaces.load(machine, g, instruction, place, size)
    return [np.where(outside, np.uint32(0), word) for word in words]


def store(
    machine: Spaces, g: Group, instruction: Instruction, part: Part, words: list[NDArray[np.uint32]], size: int
) -> None:
    """Write `size` bytes per lane; nothing where they are out of range.

    Args:
        machine: the spaces.
        g: the waves.
        instruction: what stores.
        part: lanes and addresses.
        words: the data, dword by dword.
        size: bytes per lane.
    """
    if instruction.in_gds:
        part, _, _ = in_gds(machine, g, instruction, part, size, "write")
    spaces.store(machine, g, instruction, part, words, size)
