"""Exchange of lanes within groups of a power of two lanes: v_permlane_bcast, up, down, xor, idx_gen.

Source: CDNA5 ISA manual, VOP3 (V_PERMLANE_BCAST_B32 and following). All lanes are read, EXEC decides about writes. The
width of a group that is no power of two is undefined there: the wave's workgroup ends.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.machine.binding.operands import read_dword, scalar_reader
from mfmasim.machine.opcodes.refusal import unsupported
from mfmasim.machine.opcodes.registry import direct, shaped
from mfmasim.machine.opcodes.undefined_rules import moves
from mfmasim.machine.state.waves import Group

if TYPE_CHECKING:
    from collections.abc import Callable

    from mfmasim.architectures import Arch
    from mfmasim.arrays import I64, U
    from mfmasim.isa import Instruction
    from mfmasim.machine.events.interface import Bound, Machine

    Choice = Callable[[I64, I64, I64], I64]

SIX = np.int64(63)
MODIFIERS = ("op_sel", "clamp", "omod")


def _bcast(lane: I64, index: I64, width: I64) -> I64:
    return (lane & -width) + (index & SIX & (width - 1))


def _up(lane: I64, delta: I64, width: I64) -> I64:
    return np.where((lane & (width - 1)) < delta, lane, lane - delta)


def _down(lane: I64, delta: I64, width: I64) -> I64:
    return np.where((lane & (width - 1)) + delta < width, lane + delta, lane)


def _xor(lane: I64, mask: I64, width: I64, wave: int) -> I64:
    """A lane above the group reads itself; one below it is read (the manual tests one side only)."""
    other = lane ^ (mask & SIX)
    return np.where((mask >= wave) | (other >= (lane & -width) + width), lane, other)


def _exchange(name: str, instruction: Instruction, machine: Machine) -> Bound:
    if any(instruction.modifiers.get(modifier) for modifier in MODIFIERS):
        raise unsupported(instruction, "a modifier that lane exchanges do not have")
    read = read_dword(instruction.src[0], 0, instruction)
    amount, size = (scalar_reader(operand, "u32", instruction) for operand in instruction.src[1:3])
    to, wave = instruction.dst[0].index, machine.kernel.wave
    choices: dict[str, Choice] = {"bcast": _bcast, "up": _up, "down": _down, "xor": partial(_xor, wave=wave)}
    chosen = choices[name]
    lane = np.arange(wave, dtype=np.int64)

    def run(g: Group) -> None:
        width = size(g).astype(np.int64)[:, None]
        wrong = (width == 0) | (width & (width - 1) != 0) | (width > wave)
        if wrong.any():
            which = int(wrong[:, 0].argmax())
            text = f"{instruction.name} with groups of {int(width[which, 0])} lanes, not a power of two up to {wave}"
            machine.stop(
                "trap", text, instruction.pc, Group(g.waves, g.indices()[np.broadcast_to(wrong[:, 0], (g.count,))])
            )
            width = np.where(wrong, 1, width)
        source = chosen(lane, amount(g).astype(np.int64)[:, None], width)
        values = read(g)
        shape = (max(len(values), len(source)), wave)
        picked = np.take_along_axis(np.broadcast_to(values, shape), np.broadcast_to(source, shape), axis=1)
        g.write_v("v", to, picked)

    return run


for _name in ("bcast", "up", "down", "xor"):
    direct(f"v_permlane_{_name}_b32", undefined=moves(1, 2))(partial(_exchange, _name))


@shaped("v_permlane_idx_gen_b32", "u32 u32 -> u32")
def v_permlane_idx_gen_b32(_instruction: Instruction, arch: Arch) -> Callable[[U, U], U]:
    """Byte address for ds_bpermute: lane S0 of the lane's own group of S1 lanes."""
    lane = np.arange(arch.wave_sizes[0], dtype=np.uint32)

    def run(s0: U, s1: U) -> U:
        mask = s1 - np.uint32(1)
        return ((s0 & np.uint32(63) & mask) + (lane & ~mask)) << np.uint32(2)

    return run
