"""The index of a sparse A: does it give each kept element its own position, within its own four elements of B?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.observe.fragments.arguments import Arguments
    from mfmasim.observe.fragments.tiles import Tile
    from mfmasim.observe.fragments.wrong import Wrong

    Entry = Callable[[Tile, str, str, str, str], Wrong]

GROUP = 4
"""Elements along K of which two are kept (CDNA3 ISA manual, 7.4)."""


def check_index(tile: Tile, unused: NDArray[np.bool_], arguments: Arguments, entry: Entry) -> int:
    """Check the index of a tile.

    Args:
        tile: the tile of a sparse instruction.
        unused: lines of A whose results are not stored.
        arguments: the kernel's arguments.
        entry: returns the record of wrong places for (tile, operand, argument, kind of finding, message).

    Returns:
        Places that are wrong.
    """
    labels = tile.labels["index"]  # (line, kept element)
    held = arguments.coordinates(labels, "index")
    groups = tile.ks.reshape(-1, GROUP)
    whole = groups[:, :1] % GROUP + np.arange(GROUP) == groups - groups[:, :1]
    count = 0
    for group in np.flatnonzero((groups >= 0).all(axis=1) & ~whole.all(axis=1)):
        text = "K of a group of four is not in order: the index selects a row of B by its position in the group"
        found = entry(tile, "B", "B", "mapping-wrong-element", text)
        first = int(groups[group].min()) // GROUP * GROUP
        for position in np.flatnonzero(groups[group] != first + np.arange(GROUP)):
            slot = int(group) * GROUP + int(position)
            column = int(tile.lines["B"][0])
            found.add((slot, 0), (first + int(position), column), int(tile.labels["B"][slot, 0]))
            count += 1
    needed = tile.ks[::2] // 2
    lines = tile.lines["A"]
    wrong = (held[..., 0] != lines[:, None]) | (held[..., 1] != needed[None, :])
    wrong &= (needed >= 0)[None, :] & ~unused[:, None]
    if wrong.any():
        text = "the position of a kept element is that of another"
        found = entry(tile, "index", "index", "mapping-wrong-index", text)
        for line, kept in np.argwhere(wrong):
            place = (int(lines[line]), int(needed[kept]))
            found.add((int(line), int(kept)), place, int(labels[line, kept]))
    return count + int(wrong.sum())
