"""DS_APPEND and DS_CONSUME: the number of active lanes is added to a counter in the LDS, or subtracted from it, once.

Sources: CDNA1 and RDNA3 ISA manuals, DS_APPEND: the counter is at "M0.base + offset" and all lanes receive its old
value; LLVM, SelectDSAppendConsume: M0 is the address of the counter without the folded offset. CDNA3's manual says that
M0.base counts in the GDS alone, against the compiler of its own processors. Wherever M0[15:0] is 0 all agree. On gfx908
it does not count: MIOpen's Winograd kernels (v21) append at 0xffc0 while M0 is 0x1ffff, 0x2ffc0 and other types and
addresses of LDS_DIRECT, and read that counter at 0xffc0.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from mfmasim.isa import Instruction
from mfmasim.machine.events.interface import Bound, Spaces
from mfmasim.machine.numerics.float_mode import float_mode
from mfmasim.machine.opcodes.registry import direct
from mfmasim.machine.ops.atomic import PLAIN, Atomic
from mfmasim.machine.ops.atomic_table import OPERATIONS
from mfmasim.machine.ops.spaces import Part
from mfmasim.machine.state.waves import Group

BASE = np.uint32(0xFFFF)
"""Bits of M0 that are the base."""


class Count(Atomic):
    """The first active lane acts for all."""

    def sources(self, g: Group, shape: tuple[int, ...]) -> list[NDArray[np.uint32]]:
        """Active lanes of each wave."""
        active = np.broadcast_to(g.active, shape).sum(axis=1, keepdims=True)
        return [np.broadcast_to(active.astype(np.uint32), shape)]


def _count(name: str, instruction: Instruction, machine: Spaces) -> Bound:
    count = Count(instruction, machine, OPERATIONS["ds"][name], [])
    offset, target = instruction.modifiers.get("offset", 0), instruction.dst[0]
    # The base of the GDS is in the upper half.
    base = np.uint32(0) if instruction.in_gds or not machine.arch.lds.append_adds_m0 else BASE
    mode = float_mode(PLAIN, machine.arch.floats)

    def run(g: Group) -> None:
        first = np.broadcast_to(g.active, (g.count, g.lanes))
        first = first & (np.cumsum(first, axis=1) == 1)
        address = (g.s(machine.arch.m0) & base).astype(np.int64)[:, None] + offset
        (old,) = count.run(g, Part("lds", address, first), mode)
        g.write_v(target.kind, target.index, np.where(first, old, np.uint32(0)).max(axis=1, keepdims=True))

    return run


direct("ds_append", "assumed")(partial(_count, "ds_add_u32"))
direct("ds_consume", "assumed")(partial(_count, "ds_sub_u32"))
