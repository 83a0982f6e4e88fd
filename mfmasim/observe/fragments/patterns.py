"""Patterns: one clause that explains all wrong places of an operand, if there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mfmasim.arrays import I64, Flags


LINES = ("row", "column")
FEWEST = 4
"""Fewest places for an explanation by another leading dimension."""
TILES = (4, 8, 16, 32, 64, 128, 256)
"""Sides of square tiles."""


class Memory(NamedTuple):
    """The order of a matrix in memory."""

    shape: tuple[int, int]
    order: str
    """``row`` or ``column``: which elements are neighbours."""
    ld: int = 0
    """Elements from one line to the next; 0 for contiguous lines."""


def explain(needs: I64, holds: I64, slots: I64, others: Mapping[str, I64], memory: Memory, summed: int) -> str:
    """The pattern that all wrong places share.

    Args:
        needs: element each wrong place needs, (places, 2).
        holds: element it holds, (places, 2); -1 where it holds none of this matrix.
        slots: row and column of the place in the instruction, (places, 2).
        others: hypotheses by name, such as another format's layout: the element of each place, (places, 2).
        memory: the order of the matrix in memory.
        summed: the summed coordinate (1 for A, 0 for B, -1 for none).

    Returns:
        A clause, or an empty string. Up to an eighth of the places may hold no element of the matrix.
    """
    known: Flags = np.logical_and.reduce(holds >= 0, axis=1)
    if stride := _stride(needs, holds, known, memory):
        return stride
    if not len(needs) or 8 * int((~known).sum()) > len(needs):
        return ""
    without = int((~known).sum())
    clause = _clause(
        needs[known], holds[known], slots[known], {name: g[known] for name, g in others.items()}, memory, summed
    )
    if clause and without:
        clause += f" (except {without} that hold{'s' if without == 1 else ''} no element)"
    return clause


def _clause(needs: I64, holds: I64, slots: I64, others: Mapping[str, I64], memory: Memory, summed: int) -> str:
    if (holds == needs[:, ::-1]).all():
        return "all by exchanging row and column"
    for size in TILES:
        corner = needs // size * size
        if (holds == corner + (needs - corner)[:, ::-1]).all():
            name = {1: "A", 0: "B"}.get(summed, "C")
            cause = ", as if A and B were exchanged in the instruction" if name == "C" else ""
            return f"{name} is transposed within each {size}x{size} tile{cause}"
    for name, guess in others.items():
        if (holds == guess).all():
            return f"all as the {name} layout of the instruction would have it"
    if (_address(holds, memory) == _other_address(needs, memory)).all():
        return "all by exchanging row and column in the address, as if the matrix were stored in the other order"
    if (holds == slots[:, ::-1]).all():
        return "all as if the instruction's rows and columns were exchanged"
    for axis, word in enumerate(LINES):
        other = 1 - axis
        if (holds[:, other] == needs[:, other]).all() and (holds[:, axis] == needs[:, axis] ^ 1).all():
            return f"all by exchanging neighbouring {word}s (as swapped halves of a byte or word would)"
    difference = holds - needs
    if (difference == difference[0]).all():
        steps = [f"{word}s by {int(step):+d}" for word, step in zip(LINES, difference[0], strict=True) if step]
        return "all shifted: " + " and ".join(steps)
    distance = _address(holds, memory) - _address(needs, memory)
    if (distance == distance[0]).all():
        return f"all shifted by {int(distance[0]):+d} elements in memory"
    for axis, moved in ((0, "column"), (1, "row")):
        if (difference[:, axis] == 0).all():
            if summed == 1 - axis and _one_permutation(slots[:, summed], difference[:, summed]):
                return "all in the summed index alone: K is permuted in this operand only"
            if summed == 1 - axis:
                return "all in the summed index alone, differently in each line (as if only store or load swizzles)"
            return f"all in the {moved} alone"
    return ""


def _stride(needs: I64, holds: I64, known: Flags, memory: Memory) -> str:
    """Another leading dimension: each place holds the element at the address that this dimension gives.

    Places without an element must be those whose address lies outside of the matrix.
    """
    (rows, cols), order, ld = memory
    lines, length = (rows, cols) if order == "row" else (cols, rows)
    line, place = needs.T if order == "row" else needs[:, ::-1].T
    if len(needs) < FEWEST or not known.any() or len(np.unique(line[known])) < 2 or not line.all():
        return ""
    used = ld or length
    held_line, held_place = holds.T if order == "row" else holds[:, ::-1].T
    distance = (held_line * used + held_place - place)[known]
    found = int(distance[0] // line[known][0])
    address = found * line + place
    outside = (address >= lines * used) | (address % used >= length)
    if found == used or (distance != found * line[known]).any() or not outside[~known].all():
        return ""
    return f"all as if the leading dimension were {found}, not {used}"


def _one_permutation(positions: I64, moved: I64) -> bool:
    """Whether each position of the summed index moves by the same distance in every line."""
    return all(len(np.unique(moved[positions == position])) == 1 for position in np.unique(positions))


def _address(elements: I64, memory: Memory) -> I64:
    """Offset in memory, in elements."""
    (rows, cols), order, _ = memory
    return elements[:, 0] * cols + elements[:, 1] if order == "row" else elements[:, 1] * rows + elements[:, 0]


def _other_address(elements: I64, memory: Memory) -> I64:
    """Offset in memory, in elements, for the other order of the matrix."""
    return _address(elements, Memory(memory.shape, "column" if memory.order == "row" else "row"))
