"""Scratch behind a buffer resource: where software sets up its addresses, from SGPRs that the hardware fills in.

Sources: LLVM's AMDGPU usage guide, "Private Segment Buffer", "Flat Scratch Init", "Private Segment Wave Byte Offset";
CDNA1 and CDNA2 ISA manuals, 9.1.5 (swizzled addresses). The lanes' dwords lie next to each other: byte b of a lane is
at b // 4 * 4 * lanes + 4 * lane + b % 4 of its wave's part, which starts at the wave's offset.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.architectures import Arch
from mfmasim.machine.events.interface import Spaces
from mfmasim.machine.ops.spaces import Part
from mfmasim.machine.state.waves import Group

SCRATCH_BASE = 0xC000_0000_0000
"""First address of the scratch of all waves: within 48 bits, as a resource requires, and beyond all buffers."""
_SWIZZLE, _ADD_LANE = 1 << 31, 1 << 23
_STRIDES = {64: 3 << 21, 32: 2 << 21}


def resource_words(arch: Arch, lanes: int) -> tuple[int, int, int, int]:
    """The private segment buffer; LLVM builds the same upper words (getScratchRsrcWords23).

    Args:
        arch: architecture.
        lanes: lanes of a wave, whose dwords lie next to each other.
    """
    upper = _ADD_LANE | _STRIDES[lanes] | arch.buffers.scratch_word
    return SCRATCH_BASE & 0xFFFFFFFF, SCRATCH_BASE >> 32 | _SWIZZLE, 0xFFFFFFFF, upper


def wave_offsets(waves: int, lanes: int, scratch_bytes: int) -> NDArray[np.uint32]:
    """First byte of each wave's part of the scratch.

    Args:
        waves: waves of the batch.
        lanes: lanes of a wave.
        scratch_bytes: bytes of a lane.
    """
    return (np.arange(waves, dtype=np.uint64) * np.uint64(lanes * scratch_bytes)).astype(np.uint32)


def is_scratch(words: list[NDArray[np.uint32]]) -> bool:
    """Whether the base of a resource, for every wave, lies in the scratch."""
    return bool(((words[1] & np.uint32(0xFFFF)) >= SCRATCH_BASE >> 32).all())


def parts(
    machine: Spaces, g: Group, address: NDArray[np.uint64], active: NDArray[np.bool_]
) -> list[tuple[NDArray[np.bool_], Part]]:
    """A buffer access by space, with the lanes of each: scratch, where the address lies in it, or global memory.

    Args:
        machine: the launch.
        g: the waves.
        address: addresses, (waves, lanes).
        active: lanes that take part.
    """
    inside = address >= np.uint64(SCRATCH_BASE)
    if not machine.arch.scratch_resource or not inside.any():
        return [(active, Part("global", address, active))]
    mine = active & inside
    found = [(mine, Part("scratch", _own_bytes(machine, g, address), mine))]
    if not inside.all():
        others = active & ~inside
        found.append((others, Part("global", address, others)))
    return found


def _own_bytes(machine: Spaces, g: Group, address: NDArray[Any]) -> NDArray[np.int64]:
    """Bytes from the start of the lane's scratch; -1, which is outside, in that of another lane."""
    lanes = g.lanes
    offset = wave_offsets(g.waves.count, lanes, machine.launch.scratch_bytes)[g.indices()].astype(np.int64)
    relative = address.astype(np.int64) - SCRATCH_BASE - offset[:, None]
    own = (relative >= 0) & (relative // 4 % lanes == np.arange(lanes))
    return np.where(own, relative // (4 * lanes) * 4 + relative % 4, -1)
