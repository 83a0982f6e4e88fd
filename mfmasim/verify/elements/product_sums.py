"""Numbers in place of the sums of a product, so that outputs which are computed from them can be followed.

A conversion, an activation or a scale does not keep a label. So the result of every matrix
instruction is replaced by the number of the element of the product to which it belongs by its fragments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.formats import format as find_format
from mfmasim.machine.events import Observer
from mfmasim.observe.fragments.trace import fragment_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mfmasim.arrays import U64
    from mfmasim.machine.events import MatrixEvent
    from mfmasim.observe.fragments.tiles import Tile


class ProductSums(Observer):
    """Replaces results of matrix instructions by numbers of the elements that they belong to."""

    name = "sums"

    def __init__(self, tiles: Sequence[Tile], shape: tuple[int, ...], waves: int) -> None:
        """Record the element of the product of each result.

        Args:
            tiles: of a launch whose fragments were followed.
            shape: of the product.
            waves: of a launch.
        """
        order = 1 + max(tile.order for tile in tiles)
        cells = max(tile.labels["C"].size * tile.executed.event.operation.blocks for tile in tiles)
        none = shape[0] * shape[1]
        self._elements = np.full((waves, order, cells), none, np.int64)
        for tile in tiles:
            row, column = np.moveaxis(tile.elements, -1, 0)
            inside = (row >= 0) & (column >= 0) & (row < shape[0]) & (column < shape[1])
            first = tile.block * row.size
            numbers = np.where(inside, row * shape[1] + column, none).reshape(-1)
            if tile.previous is not None:  # beyond the end of K zeros are added to its sums
                before = self._elements[tile.previous.wave, tile.previous.order, first : first + row.size]
                numbers = np.where(numbers == none, before, numbers)
            self._elements[tile.wave, tile.order, first : first + row.size] = numbers
        self._waves, self._none = waves, none
        self._count = np.zeros(0, np.int64)
        self._codes = np.zeros((0, none + 1), np.uint32)
        self._encoded: dict[str, NDArray[Any]] = {}
        self.strange = False
        """Whether a wave executed another number of matrix instructions than the followed launch."""

    def begin(self, codes: Sequence[U64]) -> None:
        """Give the elements of the product their numbers, in launches that run together.

        Args:
            codes: of f32, in the shape of the product, for each launch.
        """
        self._codes = np.zeros((len(codes), self._none + 1), np.uint32)
        for own, one in zip(self._codes, codes, strict=True):
            own[:-1] = one.reshape(-1)
        self._encoded = {}
        self._count = np.zeros(self._waves * len(codes), np.int64)

    def on_matrix(self, event: MatrixEvent) -> NDArray[np.uint32] | None:
        """The numbers of the elements that a result adds to."""
        order = self._count[event.waves].copy()
        self._count[event.waves] += 1
        if (order >= self._elements.shape[1]).any():
            self.strange = True
            return None
        launch, own = np.divmod(event.waves, self._waves)
        operation = event.operation.D
        shape = operation.shape
        numbers = self._elements[own, order, : int(np.prod(shape))]
        codes = self._in(operation.format)[launch[:, None], numbers]
        return fragment_of(event, "D").pack(codes.astype(operation.dtype).reshape(-1, *shape))

    def _in(self, name: str) -> NDArray[Any]:
        """The numbers as codes of a format, (launches, elements)."""
        if name not in self._encoded:
            fmt, wide = find_format(name), find_format("f32")
            self._encoded[name] = self._codes if name == "f32" else fmt.encode(wide.decode(self._codes))
        return self._encoded[name]
