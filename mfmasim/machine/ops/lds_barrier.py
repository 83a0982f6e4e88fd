"""Barriers in the memory of the LDS, at which waves, copies and tensor instructions arrive.

Source: CDNA5 ISA manual, 11.2.2 and DS_ATOMIC_BARRIER_ARRIVE_RTN_B64. The 64 bits hold a pending count, above it the
phase, and from bit 32 on the initial count. An arrival subtracts from the lower dword; a pending count below zero
borrows from the phase and starts again from the initial count. The width of the pending count is configured; 29 bits
are assumed, as Triton and AMD's libhipcxx do.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from mfmasim.isa import Instruction
from mfmasim.machine.binding.operands import read_dword
from mfmasim.machine.events.interface import Bound, Spaces
from mfmasim.machine.opcodes.registry import direct
from mfmasim.machine.ops.spaces import Part, lds_address, rows_of, within
from mfmasim.machine.state import private_memory
from mfmasim.machine.state.waves import Group

WIDTH = 29
"""Bits of the pending count."""


def arrived(state: int, initial: int, update: int) -> int:
    """The lower dword of a barrier after an arrival.

    Args:
        state: the lower dword before.
        initial: the initial count.
        update: what is subtracted.

    >>> hex(arrived(1, 1, 1)), hex(arrived(0, 1, 1))
    ('0x0', '0xe0000001')
    """
    after = state - update & 0xFFFFFFFF
    if after >> WIDTH - 1 & 1:
        after = after >> WIDTH << WIDTH | initial & (1 << WIDTH) - 1
    return after


def arrive(
    machine: Spaces,
    g: Group,
    instruction: Instruction,
    address: NDArray[np.int64],
    mask: NDArray[np.bool_],
    update: NDArray[np.uint32],
) -> list[NDArray[np.uint32]]:
    """Arrivals of active lanes, one after the other; returns both dwords as each found them.

    Args:
        machine: the spaces.
        g: the waves.
        instruction: what arrives.
        address: of the barrier in the LDS, (waves, lanes).
        mask: lanes that arrive.
        update: what each subtracts.
    """
    part = Part("lds", address, mask)
    if machine.notify.accesses:
        machine.notify.access(instruction, g, part, "atomic", 8)
    rows, row, limit = rows_of(machine, g, "lds")
    inside, _ = within(machine, g, instruction, part, 8, "atomic", limit)
    found = [np.zeros(address.shape, np.uint32) for _ in range(2)]
    groups = np.broadcast_to(row, address.shape)
    for place in np.argwhere(np.broadcast_to(inside, address.shape)):
        wave, lane = int(place[0]), int(place[1])
        here, at, one = groups[wave : wave + 1, lane], address[wave : wave + 1, lane], np.ones(1, np.bool_)
        low, high = (int(word[0]) for word in private_memory.read(rows, here, at, 8, one))
        found[0][wave, lane], found[1][wave, lane] = low, high
        after = arrived(low, high & 0xFFFF, int(update[wave, lane]))
        private_memory.write(rows, here, at, [np.array([after], np.uint32)], 4, one)
    return found


def _arrive(returns: bool, instruction: Instruction, machine: Spaces) -> Bound:
    base, offset = read_dword(instruction.src[0], 0, instruction), instruction.modifiers.get("offset", 0)
    update = read_dword(instruction.src[1], 0, instruction) if returns else None

    def run(g: Group) -> None:
        shape = g.count, g.lanes
        address, mask = np.broadcast_to(lds_address(base(g), offset), shape), np.broadcast_to(g.active, shape)
        each = np.ones(shape, np.uint32) if update is None else np.broadcast_to(update(g), shape)
        words = arrive(machine, g, instruction, address, mask, each)
        if returns:
            target = instruction.dst[0]
            for k, word in enumerate(words):
                g.write_v(target.kind, target.index + k, word)

    return run


direct("ds_atomic_barrier_arrive_rtn_b64", "assumed")(partial(_arrive, True))
direct("ds_atomic_async_barrier_arrive_b64", "assumed")(partial(_arrive, False))
