"""DPP: the first source comes from another lane. Source: CDNA3 ISA manual, 13.3.9 (DPP and its DPP_CTRL values)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.isa import Instruction
    from mfmasim.machine.state import Group

    Bound = Callable[[Group], None]

__all__ = ["from_lanes", "moved", "narrowed"]

ROW = 16


def from_lanes(control: int, lanes: int = 64) -> NDArray[np.int64]:
    """The lane that each lane reads under a DPP_CTRL value, int64 (lanes,); -1 where there is none."""
    lane = np.arange(lanes)
    place, row, count = lane % ROW, lane - lane % ROW, control & 15
    if control < 0x100:  # quad_perm: two bits for each lane of four
        return (lane & ~3) + (control >> 2 * (lane & 3) & 3)
    rows: dict[int, NDArray[np.int64]] = {
        0x10: np.where(place + count < ROW, lane + count, -1),  # row_shl
        0x11: np.where(place >= count, lane - count, -1),  # row_shr
        0x12: row + (place - count) % ROW,  # row_ror
        0x15: row + count,  # row_newbcast
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


def moved(reader: Callable[[Group], NDArray[np.uint32]], control: int) -> Callable[[Group], NDArray[np.uint32]]:
    """Read another lane's dword; 0 where the control names no lane, or one that EXEC disables."""
    source = from_lanes(control)
    inside = source >= 0

    def read(g: Group) -> NDArray[np.uint32]:
        values = reader(g)[:, source]
        return np.where(inside & g.active[:, source], values, np.uint32(0))

    return read


def narrowed(instruction: Instruction, step: Bound) -> Bound:
    """Execute a step for the lanes that row_mask and bank_mask enable.

    A lane without a source keeps its destination, unless bound_ctrl lets it read 0.
    """
    modifiers = instruction.modifiers
    lane = np.arange(64)
    enabled = (modifiers["row_mask"] >> lane // ROW & modifiers["bank_mask"] >> lane // 4 % 4 & 1).astype(np.bool_)
    source = from_lanes(modifiers["dpp_ctrl"])
    bound = bool(modifiers["bound_ctrl"])

    def run(g: Group) -> None:
        active = g.active & enabled
        if not bound:
            active = active & (source >= 0) & g.active[:, source]
        g.mask = active
        step(g)
        g.refresh()  # the step may have written EXEC

    return run
