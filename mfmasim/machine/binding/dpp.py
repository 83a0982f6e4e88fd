"""DPP: the first source comes from another lane.

Sources: CDNA3 ISA manual, 13.3.9 (DPP and its DPP_CTRL values); RDNA3 ISA manual, 7.7, and RDNA4 ISA manual, 7.9 (FI,
row_share, row_xmask, DPP8). The manual's table of BC and FI disagrees with its text; the text holds: FI fetches from
lanes that EXEC disables, and bound_ctrl alone decides for a lane without a source.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from mfmasim.isa import Instruction
from mfmasim.machine.events.interface import Bound
from mfmasim.machine.state.waves import Group

ROW = 16


def is_dpp(instruction: Instruction) -> bool:
    """Whether lanes exchange the first source of this instruction."""
    return "dpp_ctrl" in instruction.modifiers or "dpp8" in instruction.modifiers


@cache
def from_lanes(control: int, lanes: int) -> NDArray[np.int64]:
    """The lane that each lane reads under a DPP_CTRL value, int64 (lanes,); -1 for none."""
    lane = np.arange(lanes)
    place, row, count = lane % ROW, lane - lane % ROW, control & 15
    if control < 0x100:  # quad_perm: two bits for each lane of four
        return (lane & ~3) + (control >> 2 * (lane & 3) & 3)
    rows: dict[int, NDArray[np.int64]] = {
        0x10: np.where(place + count < ROW, lane + count, -1),  # row_shl
        0x11: np.where(place >= count, lane - count, -1),  # row_shr
        0x12: row + (place - count) % ROW,  # row_ror
        0x15: row + count,  # row_newbcast, row_share
        0x16: row + (place ^ count),  # row_xmask
    }
    if control >> 4 in rows:
        return rows[control >> 4]
    return {
        0x130: np.where(lane < lanes - 1, lane + 1, -1),  # wave_shl
        0x134: (lane + 1) % lanes,  # wave_rol
        0x138: lane - 1,  # wave_shr
        0x13C: (lane - 1) % lanes,  # wave_ror
        0x140: row + ROW - 1 - place,  # row_mirror
        0x141: lane - lane % 8 + 7 - lane % 8,  # row_half_mirror
        0x142: np.where(lane >= ROW, row - 1, -1),  # row_bcast:15
        0x143: np.where(lane >= 32, (lane & ~31) - 1, -1),  # row_bcast:31
    }[control]


@cache
def _from_eight(selectors: int, lanes: int) -> NDArray[np.int64]:
    """The lane that each lane reads under DPP8: three bits for each lane of eight."""
    lane = np.arange(lanes)
    return (lane & ~7) + (selectors >> 3 * (lane & 7) & 7)


def _source(instruction: Instruction) -> Callable[[int], NDArray[np.int64]]:
    """The source lanes of an instruction, for a number of lanes."""
    modifiers = instruction.modifiers
    if "dpp8" in modifiers:
        return lambda lanes: _from_eight(modifiers["dpp8"], lanes)
    return lambda lanes: from_lanes(modifiers["dpp_ctrl"], lanes)


def source_lanes(instruction: Instruction, lanes: int) -> NDArray[np.int64]:
    """The lane that each lane reads under an instruction's DPP controls, int64 (lanes,); -1 for none."""
    return _source(instruction)(lanes)


def moved(
    reader: Callable[[Group], NDArray[np.uint32]], instruction: Instruction
) -> Callable[[Group], NDArray[np.uint32]]:
    """Read another lane's dword; 0 for a lane outside the wave, or one that EXEC disables and FI does not fetch."""
    source_of, fetches = _source(instruction), bool(instruction.modifiers.get("fi"))

    def read(g: Group) -> NDArray[np.uint32]:
        source = source_of(g.lanes)
        valid = source >= 0 if fetches else (source >= 0) & g.active[:, source]
        return np.where(valid, reader(g)[:, source], np.uint32(0))

    return read


def narrowed(instruction: Instruction, step: Bound) -> Bound:
    """Execute a step for the lanes that row_mask and bank_mask enable.

    A lane without a source keeps its destination, unless bound_ctrl lets it read 0. DPP8 has neither masks nor such
    lanes, and reads 0 from lanes that EXEC disables.
    """
    modifiers = instruction.modifiers
    source_of, fetches = _source(instruction), bool(modifiers.get("fi"))
    rows, banks = modifiers.get("row_mask", 15), modifiers.get("bank_mask", 15)
    bound = bool(modifiers.get("bound_ctrl", 1))

    def run(g: Group) -> None:
        lane = np.arange(g.lanes)
        active = g.active & (rows >> lane // ROW & banks >> lane // 4 % 4 & 1).astype(np.bool_)
        if not bound:
            source = source_of(g.lanes)
            active = active & ((source >= 0) if fetches else (source >= 0) & g.active[:, source])
        g.mask = active
        step(g)
        g.refresh()  # the step may have written EXEC

    return run
