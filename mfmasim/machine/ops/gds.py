"""The global data share (GDS): where an access of an LDS instruction with the modifier `gds` goes.

Sources: CDNA1 and RDNA3 ISA manuals, chapters 2.2.2, 1.2.2.2, 12.6 and 13.4. M0 holds {base[31:16], size[15:0]} in
bytes; an address, which counts from the base, is out of range from the size on, or beyond the memory: a read gives 0, a
write is dropped. The bytes are a buffer of the launch, so that workgroups share them as they share memory.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.fidelity import LEVELS
from mfmasim.machine.opcodes.refusal import unsupported
from mfmasim.machine.ops.spaces import Part, rows_of, within
from mfmasim.machine.state.memory import Outside

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.isa import Instruction
    from mfmasim.machine.events.interface import Bound, Spaces
    from mfmasim.machine.opcodes.registry import Operation
    from mfmasim.machine.state.waves import Group

__all__ = ["by_first_lane", "dwords", "in_gds", "one_lane", "through_gds"]


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


def one_lane(instruction: Instruction, machine: Spaces) -> bool:
    """Whether only the first active lane acts; a count takes all of EXEC (RDNA3 ISA manual, 13.4.3)."""
    return machine.arch.lds.gds_one_lane and instruction.in_gds and instruction.opcode.kind != "count"


def by_first_lane(step: Bound) -> Bound:
    """Execute a step for the first active lane of each wave."""

    def run(g: Group) -> None:
        active = g.active
        g.mask = active & (np.cumsum(active, axis=1) == 1)
        step(g)
        g.refresh()

    return run


def shared(body: Callable[[Instruction, Spaces], Bound], instruction: Instruction, machine: Spaces) -> Bound:
    """Bind an instruction that accesses the GDS.

    Args:
        body: what binds the operation on the LDS
        instruction: the instruction, whose `gds` bit is set
        machine: the memories; `machine.launch.gds` is the global data share, or nothing

    Raises:
        MfmasimError: an operation of the LDS alone, or a launch without a global data share
    """
    if not instruction.opcode.memory or instruction.opcode.reads_m0:  # the manuals: LDS only; M0 would be two things
        raise unsupported(instruction, "global data share in an operation of the LDS alone:")
    if not machine.launch.gds:
        raise unsupported(instruction, "global data share, outside the instructions of the kernel itself:")
    step = body(instruction, machine)
    return by_first_lane(step) if one_lane(instruction, machine) else step


def through_gds(operation: Operation) -> Operation:
    """An operation on the LDS, for an instruction on the GDS."""
    fidelity = max(operation.fidelity, "assumed", key=LEVELS.index)
    return replace(operation, body=partial(shared, operation.body), fidelity=fidelity)
