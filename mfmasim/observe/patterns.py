"""Patterns: one sentence that explains all wrong places of an operand at once, when there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    I64 = NDArray[np.int64]

__all__ = ["explain"]


def explain(needs: I64, holds: I64, slots: I64, others: Mapping[str, I64], summed: int) -> str:
    """Name what all wrong places have in common.

    Args:
        needs: element each wrong place needs, (places, 2).
        holds: element it holds, (places, 2); -1 where it holds none of this matrix.
        slots: row and column of the place in the instruction, (places, 2).
        others: further guesses at what the places would hold, by name, each (places, 2): another format's layout.
        summed: which coordinate is the summed one (1 for A, 0 for B, -1 where there is none).

    Returns:
        A clause, or an empty string.
    """
    if not len(needs):
        return ""
    if (holds < 0).any():
        return ""
    if (holds == needs[:, ::-1]).all():
        return "all by exchanging row and column"
    if (holds == slots[:, ::-1]).all():
        return "all as if the instruction's rows and columns were exchanged"
    for name, guess in others.items():
        if (holds == guess).all():
            return f"all as the {name} layout would have it"
    difference = holds - needs
    if (difference == difference[0]).all():
        row, col = (int(d) for d in difference[0])
        parts = [f"{word} by {value:+d}" for word, value in (("rows", row), ("columns", col)) if value]
        return "all shifted: " + " and ".join(parts)
    for axis, word in ((0, "row"), (1, "column")):
        other = 1 - axis
        if (holds[:, other] == needs[:, other]).all() and (holds[:, axis] == needs[:, axis] ^ 1).all():
            return f"all by exchanging neighbouring {word}s (as swapped halves of a byte or word would)"
    if summed >= 0:
        other = 1 - summed
        if (holds[:, other] == needs[:, other]).all():
            return "all in the summed index alone: K is permuted in this operand only"
        if (holds[:, summed] == needs[:, summed]).all():
            return f"all in the {'row' if other == 0 else 'column'} alone"
    return ""
