"""Origins of undefined bits, packed into a dword so that the machine's own moves and stores can carry them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.machine.events import Origin

REGISTER, LANE_BITS = 1 << 20, 6
SPACES = {"lds": 1 << 30, "scratch": 2 << 30, "global": 3 << 30}
LOW = (1 << 30) - 1


def of_registers(key: int | NDArray[np.int64], lanes: int) -> NDArray[np.uint32]:
    """Origins of an initially undefined register by lane; rows for several keys (..., 1)."""
    origins: NDArray[np.uint32] = (REGISTER + (key << LANE_BITS) + np.arange(lanes)).astype(np.uint32)
    return origins


def at_address(space: str, address: NDArray[Any]) -> NDArray[np.uint32]:
    """Origins of the dwords of bytes in a space; addresses in global memory count from the arena's start."""
    value = address.astype(np.int64)
    value = value >> 2 if space == "global" else value & ~3
    return (value & LOW | SPACES[space]).astype(np.uint32)


def unpack(word: int) -> Origin:
    """The origin in a dword; an origin that was split on its way gives a register that does not exist."""
    for space, tag in SPACES.items():
        if word & ~LOW == tag:
            return Origin(space, address=(word & LOW) << (2 if space == "global" else 0))
    rest = max(word - REGISTER, 0)
    return Origin("register", rest >> LANE_BITS, rest & ((1 << LANE_BITS) - 1))
