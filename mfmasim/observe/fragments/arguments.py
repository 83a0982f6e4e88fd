"""A kernel's arguments for the mapping check: their labels, formats and order in memory."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.observe.fragments.labels import CONSTANT_ZERO, NOT_AN_ELEMENT, POISON, Labelled

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mfmasim.arrays import I64
    from mfmasim.observe.fragments.labels import LabelSpace


WORDS = {
    CONSTANT_ZERO: "the constant 0",
    POISON: "poison (never written)",
    NOT_AN_ELEMENT: "no element (mixed, computed or constant)",
}


@dataclass(frozen=True)
class Argument:
    """One role-tagged argument."""

    role: str
    """``A``, ``B``, ``C``, ``scale_A`` or ``scale_B``."""
    format: str
    shape: tuple[int, ...]
    order: str = "row"
    """``row`` or ``column``: which elements are neighbours in memory."""
    byte: int = 0
    """For scales: the selected byte of the scale word."""
    converted: bool = False
    """The kernel converts it to `format` on the way, so that its elements cannot be followed."""
    special: bool = False
    """Its elements may be infinities or NaNs."""
    stored: str = ""
    """Name of its order in memory, one of `orders`."""
    orders: Callable[[], Mapping[str, I64]] = dict
    """Places of each element in every known order, by the order's name; computed only if places are wrong."""
    ld: int = 0
    """Leading dimension in elements; 0 where lines follow one another."""


class Arguments:
    """All arguments of a launch, and the labels of the inputs among them."""

    def __init__(self, arguments: list[Argument], labels: LabelSpace) -> None:
        """`labels` has one block per input, named after its role."""
        self.by_role = {argument.role: argument for argument in arguments}
        self.labels = labels
        self._blocks: dict[str, Labelled] = {block.name: block for block in labels.blocks}

    def __contains__(self, role: str) -> bool:
        """Whether there is a labelled input of that role."""
        return role in self._blocks

    @property
    def depth(self) -> int:
        """K of the whole product; without an A the largest possible K."""
        if "A" not in self:
            return 1 << 62
        return self.shape("A")[1] * (2 if "index" in self else 1)

    def shape(self, role: str) -> tuple[int, ...]:
        """Shape of an input's labels."""
        return self._blocks[role].shape

    def converted(self, role: str) -> bool:
        """Whether the kernel converts that argument on the way."""
        return role in self.by_role and self.by_role[role].converted

    def special(self, role: str) -> bool:
        """Whether elements of that argument may be infinities or NaNs."""
        return role in self.by_role and self.by_role[role].special

    def byte(self, role: str) -> int:
        """The selected byte of the scale word."""
        return self.by_role[role].byte

    def count(self, labels: I64, role: str) -> int:
        """Number of labels that belong to a role's array."""
        block = self._blocks.get(role)
        if block is None:
            return 0
        offset = labels - block.first
        return int(np.count_nonzero((offset >= 0) & (offset < math.prod(block.shape))))

    def coordinates(self, labels: I64, role: str) -> I64:
        """Coordinates of labels in a role's array, (..., dimensions); -1 for labels of other roles."""
        block = self._blocks.get(role)
        dimensions = len(block.shape) if block else 2
        out = np.full((*labels.shape, dimensions), -1, np.int64)
        if block is None:
            return out
        offset = labels - block.first
        inside = (offset >= 0) & (offset < math.prod(block.shape))
        where = np.unravel_index(np.where(inside, offset, 0), block.shape)
        for axis, values in enumerate(where):
            np.copyto(out[..., axis], values, where=inside)
        return out

    def describe(self, label: int) -> str:
        """The meaning of a label in words."""
        if label in WORDS:
            return WORDS[label]
        block, place = self.labels.block_of(label)
        return self.element(block.name, place)

    def element(self, role: str, place: tuple[int, ...]) -> str:
        """Name of an element, such as ``A[5, 0]`` or ``scale_A[5, 1] byte 2``."""
        if len(place) == 3:
            byte = f" byte {place[2]}" if self.shape(role)[2] > 1 else ""
            return f"{role}[{place[0]}, {place[1]}]{byte}"
        return f"{role}[{', '.join(map(str, place))}]"
