"""Which lanes an exchange reads: for what follows values of lanes that EXEC has off.

Sources: the files of the operations, `lane_exchange`, `permlane`, `lane` and the binding of DPP.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.machine.binding.dpp import is_dpp, source_lanes
from mfmasim.machine.binding.operands import read_dword, scalar_reader
from mfmasim.machine.ops.lane_exchange import permute_target, swizzle_lanes
from mfmasim.machine.ops.permlane import ROW, selected

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.arrays import Flags
    from mfmasim.isa import Instruction
    from mfmasim.machine.state.waves import Group

    Lanes = Callable[[Group], NDArray[np.int64]]


WIDEST = 64
"""Lanes of the widest wave."""


@dataclass(frozen=True)
class Exchange:
    """An instruction that reads other lanes."""

    lanes: Lanes
    """The lane that each lane reads, (1 or waves, lanes); -1 where there is none."""
    halves: Callable[[Group, bool], tuple[NDArray[np.int64], Flags]] | None = None
    """Where it reaches a part of the wave only: the lane that is asked, and lanes whose result is another's. Data whose
    halves V_PERMLANE64 has exchanged (the second argument) are right where others are wrong."""
    why: str = "half"
    """What is wrong with these: ``half``, another half of the wave, or ``beyond``, no lane of the wave."""
    ignores_exec: bool = False
    """Whether it reads what the register holds in lanes that EXEC has off."""
    scalar: bool = False
    """Whether the result is one for all lanes."""
    enabled: NDArray[np.bool_] | bool = True
    """Lanes that the instruction itself enables."""
    data: int = 0
    """Which of its sources the lanes read."""


def is_move(instruction: Instruction) -> bool:
    """Whether it copies a register within each lane."""
    return instruction.name == "v_mov_b32" and not is_dpp(instruction)


def swaps_halves(instruction: Instruction, wave: int) -> bool:
    """Whether it exchanges the halves of a wave."""
    return instruction.name == "v_permlane64_b32" and wave == 64


def writes_one_lane(instruction: Instruction) -> bool:
    """Whether it writes one lane, whatever EXEC says."""
    return instruction.name == "v_writelane_b32"


def exchange_of(instruction: Instruction, reach: int, wave: int) -> Exchange | None:
    """What an instruction reads from other lanes; None if it does not, or has another value for absent ones on purpose.

    Args:
        instruction: any.
        reach: lanes that a DS permute reaches.
        wave: lanes of a wave.
    """
    name = instruction.name
    if name in ("ds_bpermute_b32", "ds_permute_b32"):
        return _permute(instruction, reach, wave)
    if name == "ds_swizzle_b32":
        swizzled = swizzle_lanes(instruction.modifiers.get("offset", 0), wave)[None]
        return Exchange(lambda _: swizzled)
    if name.startswith(("v_permlane16_", "v_permlanex16_")) and "swap" not in name:
        if instruction.modifiers.get("fi"):
            return None
        other, chosen = ROW * ("x16" in name), selected(instruction, by_lane="_var_" in name)
        return Exchange(lambda g: ((np.arange(g.lanes) & ~(ROW - 1)) ^ other) + chosen(g))
    if swaps_halves(instruction, wave):
        halves = (np.arange(64) ^ 32)[None]
        return Exchange(lambda _: halves, ignores_exec=True)
    if name == "v_readlane_b32":
        lane = scalar_reader(instruction.src[1], "u32", instruction)
        return Exchange(
            lambda g: (lane(g) & np.uint32(g.lanes - 1)).astype(np.int64)[:, None], ignores_exec=True, scalar=True
        )
    if is_dpp(instruction) and not instruction.modifiers.get("fi") and instruction.src[0].kind == "v":
        return _dpp(instruction, wave)
    return None


def _permute(instruction: Instruction, reach: int, wave: int) -> Exchange | None:
    target = permute_target(instruction, reach)
    if wave <= reach and instruction.name != "ds_bpermute_b32":
        return None
    if wave <= reach:
        return Exchange(target, None if wave == WIDEST else _beyond(instruction, wave), "beyond", data=1)
    read, pushes = read_dword(instruction.src[0], 0, instruction), instruction.name == "ds_permute_b32"
    offset = np.uint32(instruction.modifiers.get("offset", 0))

    def halves(g: Group, exchanged: bool) -> tuple[NDArray[np.int64], Flags]:
        shape = g.count, g.lanes
        asked = np.broadcast_to((read(g) + offset >> np.uint32(2)).astype(np.int64) & (wave - 1), shape)
        active = np.broadcast_to(g.active, shape)
        elsewhere = asked // reach != np.arange(wave) // reach
        # Code that knows the reach may leave the upper bit out: then it shows nothing, unless all ask for one lane.
        first = np.take_along_axis(asked, active.argmax(axis=1)[:, None], axis=1)
        whole = ((asked >= reach) & active).any(axis=1, keepdims=True)
        whole |= ((asked == first) | ~active).all(axis=1, keepdims=True)
        crossing: Flags = (elsewhere ^ exchanged) & whole & active
        if not pushes:
            return asked, crossing
        got, senders = np.zeros(shape, np.bool_), np.zeros(shape, np.int64)
        row, lane = np.nonzero(crossing)
        to = np.broadcast_to(target(g), shape)[row, lane]
        got[row, to], senders[row, to] = True, lane
        return senders, got & active

    nowhere = np.full((1, wave), -1)
    return Exchange((lambda _: nowhere) if pushes else target, halves, data=1)


def _beyond(instruction: Instruction, wave: int) -> Callable[[Group, bool], tuple[NDArray[np.int64], Flags]]:
    """Lanes that are asked, and lanes whose result is wrong: all, where each asks a lane that the wave does not have.

    The upper bits are ignored, which rotations make use of: they ask at least one lane that there is.
    """
    read = read_dword(instruction.src[0], 0, instruction)
    offset = np.uint32(instruction.modifiers.get("offset", 0))

    def asked(g: Group, _: bool) -> tuple[NDArray[np.int64], Flags]:
        shape = g.count, g.lanes
        lanes = np.broadcast_to((read(g) + offset >> np.uint32(2)).astype(np.int64) & (WIDEST - 1), shape)
        active = np.broadcast_to(g.active, shape)
        none: Flags = ((lanes >= wave) | ~active).all(axis=1, keepdims=True) & active
        return lanes, none

    return asked


def _dpp(instruction: Instruction, wave: int) -> Exchange | None:
    """DPP; where BOUND_CTRL is 0 an absent lane is left out of a sum, and a move keeps what the destination held."""
    modifiers = instruction.modifiers
    if not modifiers.get("bound_ctrl", 1) and instruction.name != "v_mov_b32":
        return None
    lane = np.arange(wave)
    rows, banks = modifiers.get("row_mask", 15), modifiers.get("bank_mask", 15)
    enabled = (rows >> lane // 16 & banks >> lane // 4 % 4 & 1).astype(np.bool_)
    sources = source_lanes(instruction, wave)[None]
    return Exchange(lambda _: sources, enabled=enabled)
