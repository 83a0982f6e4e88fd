"""DS_*_SRC2_*: a place in the LDS is combined with another one. Source: CDNA1 ISA manual, 11.4 "SRC2 Ops" and DS.

Place A is the address; B, the data, is a signed number of dwords away: {OFFSET1[6:0], OFFSET0}, or with OFFSET1[7]
bits 31 to 17 of the address, of which the other 17 are then the place. Lanes act in order: each reads B and changes A.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.isa import Instruction
from mfmasim.machine.binding.operands import read_dword
from mfmasim.machine.events.interface import Bound, Spaces
from mfmasim.machine.numerics.float_mode import FloatMode
from mfmasim.machine.opcodes.refusal import unsupported
from mfmasim.machine.opcodes.registry import direct
from mfmasim.machine.ops.atomic import Atomic
from mfmasim.machine.ops.atomic_table import OPERATIONS, AtomicOperation
from mfmasim.machine.ops.gds import dwords
from mfmasim.machine.ops.spaces import Part
from mfmasim.machine.state.waves import Group

#   operation   types of 32 and of 64 bits, by the operation that combines
ROWS: tuple[tuple[str, str, str], ...] = (
    ("add",   "u", ""), ("sub",   "u", ""), ("rsub",  "u", ""), ("inc",   "u", ""), ("dec",   "u", ""),
    ("min",   "i", ""), ("max",   "i", ""), ("min",   "u", ""), ("max",   "u", ""), ("min",   "f", ""),
    ("max",   "f", ""), ("and",   "b", ""), ("or",    "b", ""), ("xor",   "b", ""), ("write", "b", "wrxchg_rtn"),
)  # fmt: skip
FROM_ADDRESS, PLACE = 1 << 15, np.uint32(0x1FFFF)


def places(address: NDArray[np.uint32], offset: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Bytes A and B of each lane.

    Args:
        address: the address register.
        offset: the 16 bits of both offset fields.
    """
    if offset & FROM_ADDRESS:
        a = (address & PLACE).astype(np.int64)
        return a, a + 4 * (address.view(np.int32) >> np.int32(17)).astype(np.int64)
    a = address.astype(np.int64)
    return a, a + 4 * ((offset & 0x7FFF ^ 0x4000) - 0x4000)


class Second(Atomic):
    """One instruction: the data of each lane are in the LDS."""

    def act(self, g: Group, a: NDArray[np.int64], b: NDArray[np.int64], mode: FloatMode) -> None:
        """Combine; data outside the LDS are 0."""
        machine, shape = self.machine, self.shape(g)
        data = Part("lds", np.broadcast_to(b, shape), g.mask, 1)
        _, source, there = dwords(machine, g, self.instruction, data, self.size, "read")
        flat, start, active, _ = self._places(g, Part("lds", a, g.mask), shape)
        combine = self.body(mode)
        for lane in zip(*np.nonzero(active), strict=True):
            first, second = (self._at(flat, at[lane]) for at in (start, source))
            new = combine(first, second if there[lane] else np.zeros_like(second))
            self._put(flat, start[lane][None], new)

    def _at(self, flat: NDArray[np.uint32], place: Any) -> NDArray[Any]:
        return self.value([flat[place + k : place + k + 1] for k in range(self.parts)])


def _second(operation: AtomicOperation, instruction: Instruction, machine: Spaces) -> Bound:
    atomic = Second(instruction, machine, operation, [])
    base, offset = read_dword(instruction.src[0], 0, instruction), instruction.modifiers.get("offset", 0)

    def run(g: Group) -> None:
        if g.waves.float_mode is None:
            raise unsupported(instruction, "waves whose MODE differs, in one atomic:")
        mode = replace(g.waves.float_mode, bits=g.waves.float_mode.bits & ~0xF)  # as for other atomics on the LDS
        atomic.act(g, *places(base(g), offset), mode)

    return run


for _name, _type, _other in ROWS:
    for _size in (32, 64):
        _row = OPERATIONS["ds"][f"ds_{_other or _name}_{_type}{_size}"]
        direct(f"ds_{_name}_src2_{_type}{_size}", _row.fidelity)(partial(_second, _row))
direct("ds_add_src2_f32")(partial(_second, OPERATIONS["ds"]["ds_add_f32"]))
