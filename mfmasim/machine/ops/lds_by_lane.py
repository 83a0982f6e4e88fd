"""LDS accesses without an address register: each lane has its own dword after M0 and the offset.

Source: CDNA3 ISA manual, 12.13 (DS_READ_ADDTID_B32, DS_WRITE_ADDTID_B32); LLVM for the gfx11 names.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mfmasim.isa import Instruction
from mfmasim.machine.binding.operands import read_dword
from mfmasim.machine.events.interface import Bound, Spaces
from mfmasim.machine.opcodes.registry import direct
from mfmasim.machine.ops.spaces import Part, load, store
from mfmasim.machine.state.waves import Group

LOW = np.uint32(0xFFFF)


def _place(instruction: Instruction, m0: int, g: Group) -> NDArray[np.int64]:
    start: NDArray[np.int64] = (g.s(m0) & LOW).astype(np.int64)[:, None]
    return start + instruction.modifiers.get("offset", 0) + 4 * np.arange(g.lanes)


def _read(instruction: Instruction, machine: Spaces) -> Bound:
    target = instruction.dst[0]

    def run(g: Group) -> None:
        (word,) = load(machine, g, instruction, Part("lds", _place(instruction, machine.arch.m0, g), g.mask), 4)
        g.write_v(target.kind, target.index, word)

    return run


def _write(instruction: Instruction, machine: Spaces) -> Bound:
    data = read_dword(instruction.src[0], 0, instruction)
    return lambda g: store(
        machine, g, instruction, Part("lds", _place(instruction, machine.arch.m0, g), g.mask), [data(g)], 4
    )


direct("ds_read_addtid_b32 ds_load_addtid_b32")(_read)
direct("ds_write_addtid_b32 ds_store_addtid_b32")(_write)
