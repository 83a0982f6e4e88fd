"""Exchange of lanes by selectors: v_permlane16, v_permlanex16, those with a selector a lane, v_permlane64.

Source: RDNA3 and RDNA4 ISA manuals, VOP3 (V_PERMLANE16_B32) and VOP1 (V_PERMLANE64_B32). OP_SEL[0] is FI (fetch from
lanes that EXEC disables), OP_SEL[1] BOUND_CTRL: without FI a disabled lane gives 0, or keeps the destination.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mfmasim.isa import Instruction
from mfmasim.machine.binding.operands import read_dword, scalar_reader
from mfmasim.machine.events.interface import Bound, Machine
from mfmasim.machine.opcodes.refusal import unsupported
from mfmasim.machine.opcodes.registry import direct
from mfmasim.machine.opcodes.undefined_rules import moves
from mfmasim.machine.state.waves import Group

ROW = 16
FOUR = np.uint32(4)


def selected(instruction: Instruction, *, by_lane: bool) -> Callable[[Group], NDArray[np.int64]]:
    """The lane of a row that each lane selects, (1 or waves, lanes).

    Args:
        instruction: a V_PERMLANE16 or V_PERMLANEX16.
        by_lane: whether every lane has a selector of its own.
    """
    if by_lane:
        own = read_dword(instruction.src[1], 0, instruction)
        return lambda g: (own(g) & np.uint32(15)).astype(np.int64)
    low, high = (scalar_reader(operand, "u32", instruction) for operand in instruction.src[1:3])

    def read(g: Group) -> NDArray[np.int64]:
        place = np.arange(g.lanes, dtype=np.uint32) % np.uint32(ROW)
        words = np.where(place < 8, low(g)[:, None], high(g)[:, None])
        lanes: NDArray[np.int64] = (words >> (FOUR * (place & np.uint32(7))) & np.uint32(15)).astype(np.int64)
        return lanes

    return read


def _permlane(other_row: int, by_lane: bool, instruction: Instruction, _machine: Machine) -> Bound:
    modifiers = instruction.modifiers
    if modifiers.get("op_sel") or modifiers.get("clamp") or modifiers.get("omod"):
        raise unsupported(instruction, "a modifier that lane exchanges do not have")
    fetches, bound = bool(modifiers.get("fi")), bool(modifiers.get("bound_ctrl"))
    chosen = selected(instruction, by_lane=by_lane)
    read = read_dword(instruction.src[0], 0, instruction)
    to = instruction.dst[0].index

    def run(g: Group) -> None:
        source = ((np.arange(g.lanes) & ~(ROW - 1)) ^ other_row) + chosen(g)
        values, active = read(g), g.active
        rows = max(len(values), len(source), len(active))
        shape = (rows, g.lanes)
        source = np.broadcast_to(source, shape)
        out = np.take_along_axis(np.broadcast_to(values, shape), source, axis=1)
        if not fetches:
            valid = np.take_along_axis(np.broadcast_to(active, shape), source, axis=1)
            out = np.where(valid, out, np.uint32(0) if bound else g.v("v", to))
        g.write_v("v", to, out)

    return run


for _name, _other_row, _by_lane in (
    ("v_permlane16_b32", 0, False),
    ("v_permlanex16_b32", ROW, False),
    ("v_permlane16_var_b32", 0, True),
    ("v_permlanex16_var_b32", ROW, True),
):
    _rule = moves(1, keeps=True) if _by_lane else moves(1, 2, keeps=True)
    direct(_name, undefined=_rule)(partial(_permlane, _other_row, _by_lane))


def _permlane64(instruction: Instruction, _machine: Machine) -> Bound:
    """Exchange the halves of a wave64; nothing in wave32. Reads lanes regardless of EXEC."""
    read = read_dword(instruction.src[0], 0, instruction)
    to = instruction.dst[0].index

    def run(g: Group) -> None:
        if g.lanes == 64:
            values = np.broadcast_to(read(g), (max(1, len(read(g))), 64))
            g.write_v("v", to, np.roll(values, 32, axis=1))

    return run


direct("v_permlane64_b32", undefined=moves(keeps=True))(_permlane64)
