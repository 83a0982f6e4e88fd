"""Vector moves, selections, bit-wise ternary operations and accumulator moves. Source: CDNA3/CDNA4 ISA manuals."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.machine.binding.operands import read_dword, vector_reader, vector_writer
from mfmasim.machine.numerics.lane_select import select
from mfmasim.machine.opcodes.registry import direct, shaped, vector
from mfmasim.machine.opcodes.undefined_rules import bits, moves

if TYPE_CHECKING:
    from collections.abc import Callable

    from mfmasim.architectures import Arch
    from mfmasim.arrays import U
    from mfmasim.isa import Instruction
    from mfmasim.machine.events.interface import Bound, Machine
    from mfmasim.machine.numerics.float_mode import FloatMode
    from mfmasim.machine.state.waves import Group


@vector("v_mov_b32", "u32 -> u32", undefined=bits(), refuses_clamp=True)
def v_mov_b32(s0: U) -> U:
    return s0


@vector("v_mov_b64", "u64 -> u64", undefined=bits())
def v_mov_b64(s0: U) -> U:
    return s0


@vector("v_cndmask_b32", "sign32 sign32 mask -> f32", undefined=bits())
def v_cndmask_b32(s0: U, s1: U, condition: U) -> U:
    return select(condition, s1, s0)


@vector("v_accvgpr_read_b32 v_accvgpr_write_b32 v_accvgpr_mov_b32", "u32 -> u32", undefined=bits())
def v_accvgpr(s0: U) -> U:
    return s0


@vector("v_pack_b32_f16", "f16 f16 mode -> u32", undefined=bits(), refuses_clamp=True)
def v_pack_b32_f16(s0: U, s1: U, mode: FloatMode) -> U:
    low, high = (np.ascontiguousarray(s).view(np.uint16).astype(np.uint32) for s in (s0, s1))
    if mode.rules.pack_quiets:
        low, high = (np.where(s & 0x7FFF > 0x7C00, s | np.uint32(0x200), s) for s in (low, high))
    return low | high << np.uint32(16)


def _bind_bitop3(kind: str, instruction: Instruction, _machine: Machine) -> Bound:
    """Bit i of the result is bit {a, b, c} of the truth table (CDNA4 ISA manual, V_BITOP3_B32)."""
    table = instruction.modifiers.get("bitop3", 0)
    halves = instruction.modifiers.get("op_sel", 0)
    readers = [
        vector_reader(operand, kind, instruction, high=bool(halves >> i & 1))
        for i, operand in enumerate(instruction.src)
    ]
    write = vector_writer(instruction.dst[0], kind, instruction, high=bool(halves >> 3 & 1))

    def run(g: Group) -> None:
        a, b, c = (read(g) for read in readers)
        out = np.zeros(np.broadcast(a, b, c).shape, a.dtype)
        for row in range(8):
            if table >> row & 1:
                out |= (a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c)
        write(g, out)

    return run


for _name, _kind in (("v_bitop3_b32", "u32"), ("v_bitop3_b16", "u16")):
    direct(_name, undefined=bits(mixes=True))(partial(_bind_bitop3, _kind))


@shaped("v_bitop2_b32", "u32 u32 -> u32", "assumed", undefined=bits(mixes=True))
def v_bitop2_b32(instruction: Instruction, _arch: Arch) -> Callable[[U, U], U]:
    """The same of two sources, of dual instructions; LLVM makes it of V_BITOP3_B32 whose third source is 0."""
    table = instruction.modifiers["bitop3"]

    def run(a: U, b: U) -> U:
        out = np.zeros(np.broadcast(a, b).shape, np.uint32)
        for row in range(0, 8, 2):
            if table >> row & 1:
                out |= (a if row & 4 else ~a) & (b if row & 2 else ~b)
        return out

    return run


def _bind_readfirstlane(instruction: Instruction, _machine: Machine) -> Bound:
    """Value of the lowest active lane, lane 0 when none is active; EXEC does not mask the scalar result."""
    read = read_dword(instruction.src[0], 0, instruction)
    code = instruction.dst[0].index

    def run(g: Group) -> None:
        values, active = np.broadcast_arrays(read(g), g.active)
        g.write_s(code, np.take_along_axis(values, np.argmax(active, axis=1)[:, None], axis=1)[:, 0])

    return run


direct("v_readfirstlane_b32", undefined=moves())(_bind_readfirstlane)
