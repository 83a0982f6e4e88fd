"""Factor operands of a tile: operand A or B as lines of the product times K, for either argument.

A kernel may pass columns of B as operand A and rows of A as operand B; the product is then transposed, and correct.
So a factor has the argument of its elements, and the line (row of A or column of B) and K of each element.

A sparse A keeps two of every four elements along K; the index selects them. Kept element c stands for K 2c and 2c + 1
here, two positions for one: the two kept elements of a group then cover its four K, for every index.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.observe.fragments.labels import CONSTANT_ZERO

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.arrays import I64
    from mfmasim.observe.fragments.arguments import Arguments
    from mfmasim.observe.fragments.tiles import Tile


@dataclass(frozen=True)
class Factor:
    """One factor operand of a tile. Arrays are (lines, k)."""

    operand: str
    """``A`` or ``B`` of the instruction."""
    role: str
    """The argument of most of its elements: ``A`` or ``B``."""
    axis: int
    """Coordinate of C along its lines: 0 row, 1 column."""
    labels: I64
    lines: I64
    """Row of A, or column of B, in each slot; -1 without an element of the argument."""
    ks: I64
    sparse: bool = False
    """Whether each slot stands for two K."""

    @property
    def zero(self) -> NDArray[np.bool_]:
        """Slots that hold the constant 0."""
        zeros: NDArray[np.bool_] = self.labels == CONSTANT_ZERO
        return zeros

    @property
    def first(self) -> NDArray[np.bool_]:
        """Positions of K that have a slot of their own, (k,)."""
        first: NDArray[np.bool_] = np.arange(self.ks.shape[1]) % (2 if self.sparse else 1) == 0
        return first

    @property
    def foreign(self) -> bool:
        """Whether it holds elements, but none of the argument."""
        return bool((self.labels > 0).any() and (self.lines < 0).all())

    def slot(self, line: int, k: int) -> tuple[int, int]:
        """Row and column of a slot in the instruction's operand."""
        k = k // 2 if self.sparse else k
        return (line, k) if self.operand == "A" else (k, line)

    def element(self, line: int, k: int) -> tuple[int, int]:
        """Row and column of an element in the argument."""
        k = k // 2 if self.sparse else k
        return (line, k) if self.role == "A" else (k, line)

    def stored_line(self, stored: I64) -> I64:
        """Output coordinates of the results of each line, (lines, results), from (m, n, 2)."""
        values = stored[..., self.axis]
        return values if self.operand == "A" else values.T


def factors_of(tile: Tile, arguments: Arguments) -> tuple[Factor, Factor]:
    """The two factor operands of a tile."""
    roles = roles_of(tile, arguments)
    exchanged = roles == ["B", "A"]
    first, second = (
        _factor(tile, operand, role, axis, arguments)
        for operand, role, axis in zip(("A", "B"), roles, (1, 0) if exchanged else (0, 1), strict=True)
    )
    return first, second


def roles_of(tile: Tile, arguments: Arguments) -> list[str]:
    """The arguments of most elements of operands A and B.

    If both arguments are declared, each operand has one of them: an element of another array is wrong at any place. An
    operand without elements, as beyond the end of a matrix, leaves its argument open.
    """
    counts = [[arguments.count(tile.labels[operand], role) for role in ("A", "B")] for operand in ("A", "B")]
    others = counts[0][1] - counts[0][0], counts[1][0] - counts[1][1]
    if all(role in arguments for role in ("A", "B")):
        return ["B", "A"] if max(others) > 0 <= min(others) else ["A", "B"]
    return ["B" if others[0] > 0 else "A", "A" if others[1] > 0 else "B"]


def _factor(tile: Tile, operand: str, role: str, axis: int, arguments: Arguments) -> Factor:
    labels = tile.labels[operand] if operand == "A" else tile.labels[operand].T
    place = arguments.coordinates(labels, role)
    lines, ks = (place[..., 0], place[..., 1]) if role == "A" else (place[..., 1], place[..., 0])
    sparse = operand == "A" and tile.executed.event.operation.sparse
    if sparse:
        labels, lines, ks = (np.repeat(array, 2, axis=1) for array in (labels, lines, ks))
        ks = np.where(ks < 0, -1, 2 * ks + np.arange(ks.shape[1]) % 2)
    return Factor(operand, role, axis, labels, lines, ks, sparse)
