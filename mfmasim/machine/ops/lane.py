"""Operations that depend on the lane's number. Source: CDNA3 ISA manual, VOP3."""

from __future__ import annotations

from functools import partial

import numpy as np

from mfmasim.isa import Instruction
from mfmasim.machine.binding.operands import read_dword, scalar_reader, vector_writer
from mfmasim.machine.events.interface import Bound, Machine
from mfmasim.machine.opcodes.registry import direct
from mfmasim.machine.opcodes.undefined_rules import moves
from mfmasim.machine.state.waves import Group


def _mbcnt(first: int, instruction: Instruction, _machine: Machine) -> Bound:
    """Count the ones of a mask below this lane, of the 32 lanes from the `first` one on."""
    mask = read_dword(instruction.src[0], 0, instruction)
    add = read_dword(instruction.src[1], 0, instruction)
    write = vector_writer(instruction.dst[0], "u32", instruction)

    def run(g: Group) -> None:
        below = np.arange(g.lanes) - first
        field = ((np.uint64(1) << np.clip(below, 0, 32).astype(np.uint64)) - np.uint64(1)).astype(np.uint32)
        write(g, np.bitwise_count(mask(g) & field).astype(np.uint32) + add(g))

    return run


direct("v_mbcnt_lo_u32_b32")(partial(_mbcnt, 0))
direct("v_mbcnt_hi_u32_b32")(partial(_mbcnt, 32))


def _readlane(instruction: Instruction, _machine: Machine) -> Bound:
    read = read_dword(instruction.src[0], 0, instruction)
    lane = scalar_reader(instruction.src[1], "u32", instruction)
    code = instruction.dst[0].index

    def run(g: Group) -> None:
        chosen = (lane(g) & np.uint32(g.lanes - 1)).astype(np.int64)[:, None]
        values = read(g)
        rows = max(len(chosen), len(values))
        values = np.broadcast_to(values, (rows, g.lanes))
        g.write_s(code, np.take_along_axis(values, np.broadcast_to(chosen, (rows, 1)), axis=1)[:, 0])

    return run


direct("v_readlane_b32", undefined=moves(1))(_readlane)
