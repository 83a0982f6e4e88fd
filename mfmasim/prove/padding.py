"""Guarded loads: where a guard leaves out what lies outside of a matrix, zeros continue the matrix beyond its edges.

``row < M ? A[row][k] : 0`` is an element of such a matrix for every row. It needs no condition: its row and column say
whether it was loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfmasim.prove.contents import COLUMN, PAD, ROW, Byte, either
from mfmasim.prove.inequality import never_negative
from mfmasim.prove.matrices import line_and_place
from mfmasim.prove.polynomial import Polynomial, constant, of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mfmasim.prove.contract import Region
    from mfmasim.prove.state import State
    from mfmasim.prove.trace import Access

__all__ = ["padded"]


def padded(state: State, access: Access, region: Region) -> list[Byte] | None:
    """Bytes of registers that held 0 in all lanes, behind a load under a guard; None where they are not followed.

    Args:
        state: before or behind the load; its EXEC has the guard.
        access: of the load.
        region: the matrix that it reads.
    """
    width, tensor = region.bits // 8, region.tensor
    if region.bits % 8 or access.address is None or access.size % width or tensor is None or tensor.select:
        return None
    offset = access.address - of(region.pointer)
    here = [*state.facts, *state.exec.facts()]
    whole = line_and_place(region, offset, here)
    if whole is None or whole[2].terms:
        return None
    content: list[Byte] = []
    for number in range(access.size // width):
        row, column = _element(whole, tensor.order, number)
        if not _as_guarded(state, row, column, region):
            return None
        first = of(PAD) * of(region.pointer) + of(ROW) * row + of(COLUMN) * column
        content += [either(state.exec.on, first + byte, constant(0)) for byte in range(width)]
    return content


def _element(
    split: tuple[Polynomial, Polynomial, Polynomial], order: str, number: int
) -> tuple[Polynomial, Polynomial]:
    line, place = split[0], split[1] + number
    return (line, place) if order == "row" else (place, line)


def _active(
    on: NDArray[np.bool_], value: Polynomial, facts: Sequence[Polynomial]
) -> tuple[Polynomial, list[Polynomial]]:
    """A polynomial and facts of the lanes that are on, as one row."""

    def pick(c: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.broadcast_to(c, on.shape)[on]

    return value.mapped(pick), [fact.mapped(pick) for fact in facts]


def _as_guarded(state: State, row: Polynomial, column: Polynomial, region: Region) -> bool:
    """Whether the guard admits elements of the matrix alone, and leaves out none of them."""
    on = state.exec.on
    beyond = (row - region.shape[0], column - region.shape[1])
    for value in (row, column, -beyond[0] - 1, -beyond[1] - 1):
        if not never_negative(*_active(on, value, [*state.facts, *state.exec.facts()])):
            return False
    for condition, holds in state.exec.literals:
        other = [*state.facts, *condition.facts(holds=not holds)]
        if not any(never_negative(*_active(on, value, other)) for value in beyond):
            return False
    return True
