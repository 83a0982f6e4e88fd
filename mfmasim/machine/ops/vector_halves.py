"""16-bit moves, selections and logic of gfx11 and gfx12, on either half of a register.

Source: RDNA3 and RDNA4 ISA manuals, 7.4 (16-bit VGPRs) and VOP1, VOP2, VOP3 (V_MOV_B16, V_SWAP_B16, V_AND_B16 ...).
"""

from __future__ import annotations

import numpy as np

from mfmasim.arrays import U
from mfmasim.isa import Instruction
from mfmasim.machine.binding.operands import vector_reader, vector_writer
from mfmasim.machine.events.interface import Bound, Machine
from mfmasim.machine.opcodes.registry import direct, vector
from mfmasim.machine.opcodes.undefined_rules import bits
from mfmasim.machine.state.waves import Group


@vector("v_mov_b16", "f16 -> u16", undefined=bits())
def v_mov_b16(s0: U) -> U:
    """ABS and NEG act on the sign, OMOD and CLAMP do nothing (captured on gfx1201: goc, half_move_hardware.h)."""
    return np.ascontiguousarray(s0).view(np.uint16)


@vector("v_not_b16", "u16 -> u16", undefined=bits())
def v_not_b16(s0: U) -> U:
    return ~s0


@vector("v_and_b16", "u16 u16 -> u16", undefined=bits())
def v_and_b16(s0: U, s1: U) -> U:
    return s0 & s1


@vector("v_or_b16", "u16 u16 -> u16", undefined=bits())
def v_or_b16(s0: U, s1: U) -> U:
    return s0 | s1


@vector("v_xor_b16", "u16 u16 -> u16", undefined=bits(mixes=True))
def v_xor_b16(s0: U, s1: U) -> U:
    return s0 ^ s1


@vector(
    "v_cndmask_b16", "f16 f16 mask -> f16", undefined=bits()
)  # moved as bits; the type lets neg and abs act on the sign
def v_cndmask_b16(s0: U, s1: U, condition: U) -> U:
    return np.where(condition, s1, s0)


def _swap(instruction: Instruction, _machine: Machine) -> Bound:
    """Exchange two halves."""
    halves = instruction.modifiers.get("op_sel", 0)
    first, second = instruction.dst[0], instruction.src[0]
    upper = [bool(halves >> 3 & 1), bool(halves & 1)]
    read = [vector_reader(o, "u16", instruction, high=h) for o, h in zip((first, second), upper, strict=True)]
    write = [vector_writer(o, "u16", instruction, high=h) for o, h in zip((first, second), upper, strict=True)]

    def run(g: Group) -> None:
        one, two = read[0](g), read[1](g)
        write[0](g, two)
        write[1](g, one)

    return run


direct("v_swap_b16", undefined=bits(exchanges=True))(_swap)
