"""Scale pairing: is each element multiplied by the scale of its line and block of K, from the selected byte?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.arrays import I64
    from mfmasim.observe.fragments.arguments import Arguments
    from mfmasim.observe.fragments.factors import Factor
    from mfmasim.observe.fragments.tiles import Tile
    from mfmasim.observe.fragments.wrong import Wrong

    Entry = Callable[[Tile, str, str, str, str], Wrong]


def check_scales(tile: Tile, factor: Factor, wrong: NDArray[np.bool_], arguments: Arguments, entry: Entry) -> int:
    """Check the scales of one operand of a tile.

    Args:
        tile: the tile.
        factor: the operand.
        wrong: slots (lines, k) with a wrong element, which are omitted.
        arguments: the kernel's arguments.
        entry: returns the record of wrong places for (tile, operand, argument, kind of finding, message).

    Returns:
        Places that are wrong.
    """
    operand, role = f"scale_{factor.operand}", f"scale_{factor.role}"
    labels = tile.labels[operand]  # (line, block of K) for both operands
    held = arguments.coordinates(labels, role)
    if factor.role == "B":
        held = held[..., [1, 0, 2]]  # the argument is (block of K, column): transpose to (column, block)
    byte, size = arguments.byte(role), block_of(tile)
    count = 0
    used = ~wrong & (factor.ks >= 0)
    own = np.repeat(held, size, axis=1)
    right = (factor.lines == own[..., 0]) & (factor.ks // size == own[..., 1]) & (own[..., 2] == byte)
    for line, block in np.argwhere((used & ~right).reshape(*labels.shape, size).any(axis=2)).tolist():
        slots = slice(block * size, (block + 1) * size)
        use = used[line, slots]
        needs = np.stack([factor.lines[line, slots][use], factor.ks[line, slots][use] // size], axis=-1)
        have = held[line, block]
        if (have >= 0).all() and not (needs == needs[0]).all():
            where = np.flatnonzero(use) + block * size
            count += _mixed(tile, factor, line, where, needs, have, entry)
        elif (have[:2] != needs[0]).any() or have[2] != byte:
            text = "the elements of this block of K are multiplied by "
            text += "the scale of another block" if (have >= 0).all() else "what is no scale of the argument"
            found = entry(tile, operand, role, "mapping-wrong-scale", text)
            line_needed, block_needed = (int(value) for value in needs[0])
            place = (line_needed, block_needed) if factor.role == "A" else (block_needed, line_needed)
            found.add((line, block), (*place, byte), int(labels[line, block]))
            count += 1
    return count


def block_of(tile: Tile) -> int:
    """Elements of K that share a scale of a tile's instruction."""
    return tile.executed.event.operation.row.scale_block


def _mixed(tile: Tile, factor: Factor, line: int, slots: I64, needs: I64, have: I64, entry: Entry) -> int:
    """Slots that share a scale hold elements of several blocks: the elements of the other blocks are wrong."""
    size = block_of(tile)
    astray = (needs != have[:2]).any(axis=-1)
    if not astray.any():
        return 0
    text = "elements of one block of K are multiplied by the scale of another block"
    found = entry(tile, factor.operand, factor.role, "mapping-wrong-scale", text)
    for slot in slots[astray]:
        # Any element of the scale's block would be right; the message names the one at the same position.
        needed = factor.element(int(have[0]), int(have[1]) * size + int(slot) % size)
        found.add(factor.slot(line, int(slot)), needed, int(factor.labels[line, slot]))
    return int(astray.sum())
