"""Transposed LDS reads of CDNA4.

Source: CDNA4 ISA manual, 11.4; the map of the lanes is that of two public models, one of them tested on a GPU
(rocjitsu, FlyDSL).

Sixteen lanes read a tile of N rows and 16 columns, N elements per lane, row by row; lane t of them receives column t.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from mfmasim.isa import Instruction
from mfmasim.machine.binding.operands import read_dword
from mfmasim.machine.events.interface import Bound, Spaces
from mfmasim.machine.opcodes.registry import direct
from mfmasim.machine.ops.spaces import Part, lds_address, load
from mfmasim.machine.state.waves import Group

#   mnemonic              bits of an element, elements per lane
ROWS: tuple[tuple[str, int, int], ...] = (
    ("ds_read_b64_tr_b16", 16, 4),
    ("ds_read_b64_tr_b8", 8, 8),
    ("ds_read_b64_tr_b4", 4, 16),
    ("ds_read_b96_tr_b6", 6, 16),
)
COLUMNS = 16


def transposed(words: list[NDArray[np.uint32]], bits: int, count: int) -> list[NDArray[np.uint32]]:
    """Exchange elements within each sixteen lanes.

    Args:
        words: what each lane read, one uint32 (waves, lanes) a dword.
        bits: width of an element.
        count: elements per lane; also the rows of the tile.

    Returns:
        What each lane receives, in the same shape.
    """
    raw = np.ascontiguousarray(np.stack(words, axis=-1))
    waves, lanes, dwords = raw.shape
    ones = np.unpackbits(raw.view(np.uint8), axis=-1, bitorder="little")
    tiles = ones.reshape(waves, lanes // COLUMNS, count, COLUMNS, bits)
    columns = np.ascontiguousarray(tiles.swapaxes(2, 3)).reshape(waves, lanes, 32 * dwords)
    out = np.packbits(columns, axis=-1, bitorder="little").view(np.uint32)
    return [out[..., k] for k in range(dwords)]


def _read(bits: int, count: int, instruction: Instruction, machine: Spaces) -> Bound:
    size = bits * count // 8
    base = read_dword(instruction.src[0], 0, instruction)
    offset = instruction.modifiers.get("offset", 0)
    target = instruction.dst[0]

    def run(g: Group) -> None:
        # EXEC must be all ones; a lane that is not active contributes zeros and receives nothing (assumed).
        words = load(machine, g, instruction, Part("lds", lds_address(base(g), offset), g.mask), size)
        for k, word in enumerate(transposed(words, bits, count)):
            g.write_v(target.kind, target.index + k, word)

    return run


for _name, _bits, _count in ROWS:
    direct(_name, "reference")(partial(_read, _bits, _count))
