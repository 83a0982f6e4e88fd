"""Guarded loads: a guard that disables loads outside of a matrix pads the matrix with zeros beyond its edges.

``row < M ? A[row][k] : 0`` is an element of the padded matrix for every row. The content needs no condition: its row
and column determine whether it was loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfmasim.prove.contents import COLUMN, PAD, ROW, Byte, either
from mfmasim.prove.inequality import never_negative
from mfmasim.prove.matrices import line_and_place
from mfmasim.prove.polynomial import Polynomial, constant, of

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from mfmasim.prove.contract import Region
    from mfmasim.prove.masks import Literal
    from mfmasim.prove.state import State
    from mfmasim.prove.trace import Access

__all__ = ["padded"]


def padded(
    state: State, access: Access, region: Region, guards: Collection[Literal] | None = None
) -> list[Byte] | None:
    """Contents of registers that held 0 after a guarded load; None if they are not followed.

    Args:
        state: before or after the load; its EXEC has the guard.
        access: of the load.
        region: the matrix that it reads.
        guards: conditions of EXEC that do not hold in all lanes whose registers held 0; None means all of EXEC's.
    """
    width, tensor = region.bits // 8, region.tensor
    if region.bits % 8 or access.address is None or access.size % width or tensor is None or tensor.select:
        return None
    offset = access.address - of(region.pointer)
    here = [*state.facts, *state.exec.facts()]
    whole = line_and_place(region, offset, here)
    if whole is None or whole[2].terms:
        return None
    count = access.size // width
    guards = state.exec.literals if guards is None else guards
    if not _as_guarded(state, region, guards, *(_element(whole, tensor.order, number) for number in (0, count - 1))):
        return None
    content: list[Byte] = []
    for number in range(count):
        row, column = _element(whole, tensor.order, number)
        first = of(PAD) * of(region.pointer) + of(ROW) * row + of(COLUMN) * column
        content += [either(state.exec.on, first + byte, constant(0)) for byte in range(width)]
    return content


def _element(
    split: tuple[Polynomial, Polynomial, Polynomial], order: str, number: int
) -> tuple[Polynomial, Polynomial]:
    line, place = split[0], split[1] + number
    return (line, place) if order == "row" else (place, line)


def _as_guarded(
    state: State,
    region: Region,
    guards: Collection[Literal],
    first: tuple[Polynomial, Polynomial],
    last: tuple[Polynomial, Polynomial],
) -> bool:
    """Whether the guard admits exactly the elements of the matrix.

    Args:
        state: its EXEC has the guard.
        region: the matrix.
        guards: conditions that may disable elements.
        first: row and column of the first element of a line that each lane loads.
        last: row and column of the last element; if both lie within the matrix, all elements between them do.
    """
    on = state.exec.on

    def pick(c: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.broadcast_to(c, on.shape)[on]

    inside = [*first, *(limit - value - 1 for value, limit in zip(last, region.shape, strict=True))]
    beyond = [(value - limit).mapped(pick) for value, limit in zip(first, region.shape, strict=True)]
    facts = [fact.mapped(pick) for fact in state.facts]
    admitted = [*facts, *(fact.mapped(pick) for fact in state.exec.facts())]
    if not all(never_negative(value.mapped(pick), admitted) for value in inside):
        return False
    for condition, holds in guards:
        other = [*facts, *(fact.mapped(pick) for fact in condition.facts(holds=not holds))]
        if not any(never_negative(value, other) for value in beyond):
            return False
    return True
