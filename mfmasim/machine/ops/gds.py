"""The global data share (GDS): where an access of an LDS instruction with the modifier `gds` goes.

Sources: CDNA1 and RDNA3 ISA manuals, chapters 2.2.2, 1.2.2.2, 12.6 and 13.4. M0 holds {base[31:16], size[15:0]} in
bytes; an address, which counts from the base, is out of range from the size on, or beyond the memory: a read gives 0, a
write is dropped. The bytes are a buffer of the launch, so that workgroups share them as they share memory.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mfmasim.isa import Instruction
from mfmasim.machine.events.interface import Spaces
from mfmasim.machine.ops.spaces import Part, rows_of, within
from mfmasim.machine.state.touched_bytes import Outside
from mfmasim.machine.state.waves import Group


def in_gds(
    machine: Spaces, g: Group, instruction: Instruction, part: Part, size: int, kind: str
) -> tuple[Part, NDArray[np.bool_], NDArray[np.bool_]]:
    """An access to the GDS as one to memory, its lanes, and those that are out of range, which are reported.

    Args:
        machine: where its bytes are.
        g: the waves.
        instruction: what accesses it.
        part: lanes, and addresses that count from the base.
        size: bytes per lane.
        kind: ``read`` or ``write``.
    """
    region = machine.launch.gds
    assert region is not None  # `shared` has looked
    m0 = g.s(machine.arch.m0).astype(np.int64)[:, None]
    base, limit = m0 >> 16, m0 & 0xFFFF
    shape = (g.count, g.lanes)
    address = np.broadcast_to(part.address, shape)
    fits = (address + size <= limit) & (address + base + size <= region.size)
    active = np.broadcast_to(g.active if part.mask is None else part.mask, shape)
    outside = active & ~fits
    if outside.any():
        machine.notify.fault(instruction, g, "gds", kind, size, Outside(outside, address.astype(np.uint64)))
    start = region.address + np.where(fits, base + address, 0)
    return Part("global", start.astype(np.uint64), active & fits, part.number), active & fits, outside


def dwords(
    machine: Spaces, g: Group, instruction: Instruction, part: Part, size: int, kind: str
) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.bool_]]:
    """Dwords of the LDS or the GDS, the first of each lane, and the lanes inside; the access is reported.

    Args:
        machine: where the bytes are.
        g: the waves.
        instruction: what accesses them.
        part: lanes and addresses.
        size: bytes per lane.
        kind: ``read`` or ``atomic``.
    """
    shape, way = (g.count, g.lanes), "read" if kind == "read" else "write"
    if instruction.in_gds:
        part, inside, _ = in_gds(machine, g, instruction, part, size, way)
    if machine.notify.accesses:
        machine.notify.access(instruction, g, part, kind, size)
    if instruction.in_gds:
        offsets, _ = machine.memory.locate(part.address, size, part.mask, write=kind != "read")
        return machine.memory.dwords, offsets >> 2, inside
    rows, row, limit = rows_of(machine, g, "lds")
    lanes, _ = within(machine, g, instruction, part, size, way, limit)
    start = row * (rows.shape[1] // 4) + (np.where(lanes, part.address, 0) >> 2)
    return rows.reshape(-1).view(np.uint32), np.broadcast_to(start, shape), np.broadcast_to(lanes, shape)
