"""LDS exchanges that are more than one atomic operation: two places at once, and a conditional pair of dwords.

Source: CDNA3 ISA manual, 12.13 (DS_WRXCHG2_RTN_B32 and following, DS_CONDXCHG32_RTN_B64); LLVM for the gfx11 names.
Lanes act in order, and so do the two places of a lane.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.isa import Instruction
from mfmasim.machine.binding.operands import read_dword
from mfmasim.machine.events.interface import Bound, Spaces
from mfmasim.machine.opcodes.registry import direct
from mfmasim.machine.ops.gds import dwords as placed
from mfmasim.machine.ops.spaces import Part
from mfmasim.machine.state.waves import Group

#   gfx9                     gfx11 and later                       dwords, elements a unit of offset
PAIRS: tuple[tuple[str, str, int, int], ...] = (
    ("ds_wrxchg2_rtn_b32", "ds_storexchg_2addr_rtn_b32", 1, 1),
    ("ds_wrxchg2_rtn_b64", "ds_storexchg_2addr_rtn_b64", 2, 1),
    ("ds_wrxchg2st64_rtn_b32", "ds_storexchg_2addr_stride64_rtn_b32", 1, 64),
    ("ds_wrxchg2st64_rtn_b64", "ds_storexchg_2addr_stride64_rtn_b64", 2, 64),
)


class Exchange:
    """Dwords of the LDS that each lane reads and replaces, one lane after another."""

    def __init__(self, instruction: Instruction, machine: Spaces, offsets: list[int], dwords: int) -> None:
        """`offsets` in bytes, one for each place; `dwords` at each; data operands follow the address."""
        self.instruction, self.machine = instruction, machine
        self.offsets, self.dwords = offsets, dwords
        self.base = read_dword(instruction.src[0], 0, instruction)
        operands = instruction.src[1:]
        self.data = [read_dword(operands[i], k, instruction) for i in range(len(offsets)) for k in range(dwords)]
        self.target = instruction.dst[0]

    def run(self, g: Group, change: Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]) -> None:
        """Exchange; `change` gives the new dwords from the old ones and the data, in order."""
        shape, places, inside = (g.count, g.lanes), [], []
        for number, offset in enumerate(self.offsets):
            part = Part("lds", self.base(g).astype(np.int64) + offset, g.mask, number)
            flat, start, lanes = placed(self.machine, g, self.instruction, part, 4 * self.dwords, "atomic")
            inside.append(lanes)
            places.append(start)
        data = [np.broadcast_to(read(g), shape) for read in self.data]
        out = np.zeros((len(data), *shape), np.uint32)
        for wave, lane in np.argwhere(np.logical_or.reduce(inside)):
            for number in range(len(self.offsets)):
                if inside[number][wave, lane]:
                    at = int(places[number][wave, lane])
                    words = slice(number * self.dwords, (number + 1) * self.dwords)
                    old = flat[at : at + self.dwords].copy()
                    out[words, wave, lane] = old
                    flat[at : at + self.dwords] = change(old, np.array([word[wave, lane] for word in data[words]]))
        for k, word in enumerate(out):
            g.write_v(self.target.kind, self.target.index + k, word)


def _pair(dwords: int, stride: int, instruction: Instruction, machine: Spaces) -> Bound:
    offsets = [instruction.modifiers.get(f"offset{i}", 0) * 4 * dwords * stride for i in range(2)]
    exchange = Exchange(instruction, machine, offsets, dwords)
    return lambda g: exchange.run(g, lambda old, data: data)  # noqa: ARG005


def _conditional(instruction: Instruction, machine: Spaces) -> Bound:
    """The top bit of each dword of data says whether its other bits are stored."""
    exchange = Exchange(instruction, machine, [instruction.modifiers.get("offset", 0)], 2)
    top = np.uint32(1 << 31)
    return lambda g: exchange.run(g, lambda old, data: np.where(data & top, data & ~top, old))


for _old, _new, _dwords, _stride in PAIRS:
    direct(f"{_old} {_new}")(partial(_pair, _dwords, _stride))
direct("ds_condxchg32_rtn_b64")(_conditional)
