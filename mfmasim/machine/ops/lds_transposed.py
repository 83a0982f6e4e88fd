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
from mfmasim.machine.events.interface import Bound, Spaces
from mfmasim.machine.opcodes.registry import direct
from mfmasim.machine.ops.lds import bind_load
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
    raw = np.stack(words, axis=-1)
    waves, lanes = raw.shape[:2]
    whole = bits % 8 == 0
    parts = raw.view(f"u{bits // 8}") if whole else np.unpackbits(raw.view(np.uint8), axis=-1, bitorder="little")
    tiles = parts.reshape(waves, lanes // COLUMNS, count, COLUMNS, -1)
    columns = np.ascontiguousarray(tiles.swapaxes(2, 3)).reshape(waves, lanes, -1)
    out = columns if whole else np.packbits(columns, axis=-1, bitorder="little")
    return list(np.moveaxis(out.view(np.uint32), -1, 0).copy())


def _read(bits: int, count: int, instruction: Instruction, machine: Spaces) -> Bound:
    read = bind_load(instruction, machine, instruction.modifiers.get("offset", 0), bits * count // 8)
    target = instruction.dst[0]

    def run(g: Group) -> None:
        # EXEC must be all ones; a lane that is not active contributes zeros and receives nothing (assumed).
        for k, word in enumerate(transposed(read(g), bits, count)):
            g.write_v(target.kind, target.index + k, word)

    return run


for _name, _bits, _count in ROWS:
    direct(_name, "reference")(partial(_read, _bits, _count))
