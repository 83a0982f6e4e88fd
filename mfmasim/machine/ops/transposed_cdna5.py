"""Transposed loads of CDNA5, from the LDS and from memory.

Source: CDNA5 ISA manual 10.9.2 and 11.2.4. Its figure says which column (K) and which rows (M) a lane loads; of 16 and
8 bits the fragment of the matrix follows, as Triton and rocjitsu have it for the LDS. Of 6 and 4 bits the figure leaves
open which register receives what; that is rocjitsu's model (assumed). rocjitsu exchanges 8 bits from memory in another
way than from the LDS; the manual's figure, which is that of memory, is followed for both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mfmasim.isa import Instruction
from mfmasim.machine.binding.operands import read_dword
from mfmasim.machine.events.interface import Bound, Spaces
from mfmasim.machine.opcodes.registry import direct
from mfmasim.machine.ops.global_memory import pointer
from mfmasim.machine.ops.spaces import Part, lds_address, load
from mfmasim.machine.state.waves import Group

LANES = 32


@dataclass(frozen=True)
class Exchange:
    """What lanes receive of each other's elements: lane t has element number ``t % count`` of other lanes."""

    bits: int
    """Of an element."""
    count: int
    """Elements of a lane."""
    fidelity: str
    source: Callable[[int, int], int]
    """Lane that element e of lane t comes from."""

    @property
    def size(self) -> int:
        """Bytes of a lane."""
        return self.bits * self.count // 8

    def apply(self, words: list[NDArray[np.uint32]]) -> list[NDArray[np.uint32]]:
        """What each lane receives, of dwords (waves, lanes) that the lanes read, in the same shape."""
        raw = np.ascontiguousarray(np.stack(np.broadcast_arrays(*words), axis=-1))
        waves, _, dwords = raw.shape
        ones = np.unpackbits(raw.view(np.uint8), axis=-1, bitorder="little")
        elements = ones.reshape(waves, LANES, self.count, self.bits)
        sources = np.array([[self.source(t, e) for e in range(self.count)] for t in range(LANES)])
        moved = elements[:, sources, (np.arange(LANES) % self.count)[:, None]]
        out = np.packbits(moved.reshape(waves, LANES, 32 * dwords), axis=-1, bitorder="little").view(np.uint32)
        return [out[..., k] for k in range(dwords)]


EXCHANGES = {
    "tr16_b128": Exchange(16, 8, "specified", lambda t, e: t // 8 * 8 + e),
    "tr8_b64": Exchange(8, 8, "specified", lambda t, e: t // 16 * 16 + t // 8 % 2 * 4 + e // 4 * 8 + e % 4),
    "tr6_b96": Exchange(6, 16, "assumed", lambda t, e: t // 16 * 4 + e // 4 * 8 + e % 4),
    "tr4_b64": Exchange(4, 16, "assumed", lambda t, e: t // 16 * 8 + e // 8 * 16 + e % 8),
}
"""By the end of the mnemonic."""


def _from_lds(exchange: Exchange, instruction: Instruction, machine: Spaces) -> Bound:
    base, target = read_dword(instruction.src[0], 0, instruction), instruction.dst[0]
    offset = instruction.modifiers.get("offset", 0)

    def run(g: Group) -> None:
        # EXEC is treated as all ones.
        address = np.broadcast_to(lds_address(base(g), offset), (g.count, g.lanes))
        words = load(machine, g, instruction, Part("lds", address, None), exchange.size)
        for k, word in enumerate(exchange.apply(words)):
            g.write_all_lanes(target.kind, target.index + k, np.broadcast_to(word, (g.count, g.lanes)))

    return run


def _from_memory(exchange: Exchange, instruction: Instruction, machine: Spaces) -> Bound:
    address, target = pointer(instruction), instruction.dst[0]

    def run(g: Group) -> None:
        # EXEC must be all ones or all zeros; a lane that is not active contributes what load gives it (assumed).
        words = load(machine, g, instruction, Part("global", address(g), g.mask), exchange.size)
        for k, word in enumerate(exchange.apply(words)):
            g.write_v(target.kind, target.index + k, word)

    return run


for _name, _exchange in EXCHANGES.items():
    direct(f"ds_load_{_name}", _exchange.fidelity)(partial(_from_lds, _exchange))
    direct(f"global_load_{_name}", _exchange.fidelity)(partial(_from_memory, _exchange))
