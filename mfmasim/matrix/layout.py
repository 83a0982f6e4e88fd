"""Lane layouts in a small notation: lane and item as digits of the coordinates.

A layout says where a matrix element lives. It is written as two lists of digits, the least significant digit first::

    lane = i%32, k/8%2 ; item = k%8

``i%32`` is a digit of radix 32, ``k/8%2`` the digit ``floor(k/8) mod 2`` of radix 2. Read like any number, the list
gives ``lane = i%32 + 32*(k/8%2)``. Items are counted inside one lane; an item of 8 bits with number 5 lies in bits
15:8 of the lane's second register, because items fill the registers from bit 0 of the first one upwards.

The letters: ``i`` row of A, C and D; ``j`` column of B, C and D; ``k`` the summed index; ``b`` block; ``s`` number of
a kept element of a sparse row (its dense k is one of the four of group ``s/2``); ``g`` block of 32 k that shares a
scale; ``r`` replica, for elements that the wave holds several times.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mfmasim.errors import MfmasimError

_DIGIT = re.compile(r"([a-z])(?:/(\d+))?%(\d+)")


@dataclass(frozen=True)
class Digit:
    """The digit ``floor(coordinate / divisor) mod radix`` of a coordinate."""

    coordinate: str
    divisor: int
    radix: int

    def __str__(self) -> str:
        return f"{self.coordinate}{f'/{self.divisor}' if self.divisor > 1 else ''}%{self.radix}"


@dataclass(frozen=True)
class Layout:
    """Place of every element of one operand.

    Attributes:
        lane: digits of the lane number, least significant first.
        item: digits of the item number inside the lane.
        width: bits of an element.
        stride: bits from one item to the next; more than `width` where part of a register stays unused.
        offset: bit of item 0.
        first_lane: lane of the first element.
    """

    lane: tuple[Digit, ...]
    item: tuple[Digit, ...]
    width: int
    stride: int
    offset: int = 0
    first_lane: int = 0

    def __str__(self) -> str:
        return f"lane = {_list(self.lane)} ; item = {_list(self.item)}"

    @property
    def formula(self) -> str:
        """Closed formulas of lane and item, with weights written out."""
        first = f"{self.first_lane} + " if self.first_lane else ""
        return f"lane = {first}{_sum(self.lane)} ; item = {_sum(self.item)}"

    @property
    def inverse(self) -> str:
        """Closed formulas of the coordinates from lane and item."""
        terms: dict[str, list[tuple[int, str]]] = {}
        lane = f"(lane - {self.first_lane})" if self.first_lane else "lane"
        for where, digits in ((lane, self.lane), ("item", self.item)):
            weight = 1
            for digit in digits:
                part = f"{where}{f'/{weight}' if weight > 1 else ''}%{digit.radix}"
                terms.setdefault(digit.coordinate, []).append((digit.divisor, part))
                weight *= digit.radix
        terms.pop("r", None)
        return " ; ".join(
            f"{name} = "
            + " + ".join(part if divisor == 1 else f"{divisor}*({part})" for divisor, part in sorted(parts))
            for name, parts in sorted(terms.items())
        )

    def contiguous(self, coordinate: str) -> Layout:
        """The layout with a coordinate renumbered, so that each lane holds a run of consecutive numbers.

        Each lane holds the same elements; only their numbers change. Sums over the coordinate keep their
        exact value, but not the grouping that rounding depends on.
        """
        weight = 1
        renamed: dict[Digit, Digit] = {}
        for digit in (*self.item, *self.lane):
            if digit.coordinate == coordinate:
                renamed[digit] = Digit(coordinate, weight, digit.radix)
                weight *= digit.radix
        lane, item = (tuple(renamed.get(digit, digit) for digit in digits) for digits in (self.lane, self.item))
        return replace(self, lane=lane, item=item)

    @property
    def items(self) -> int:
        """Items of one lane."""
        return _size(self.item)

    @property
    def lanes(self) -> int:
        """Lanes that hold elements."""
        return _size(self.lane)

    @property
    def replicas(self) -> int:
        """Number of lanes with a copy of each element."""
        return _size(digit for digit in self.lane if digit.coordinate == "r")

    def at(self, offset: int, first_lane: int = 0) -> Layout:
        """Same layout with item 0 at another bit, and the first element in another lane."""
        return replace(self, offset=offset, first_lane=first_lane)

    def place(self, coordinates: Mapping[str, NDArray[np.int64]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Lane and first bit of elements.

        Args:
            coordinates: one integer array for each letter the layout uses; the arrays broadcast.

        Returns:
            The lane, and the element's first bit counted over the lane's registers (bit 0 of register 1 is 32).
        """
        return (
            _value(self.lane, coordinates) + self.first_lane,
            _value(self.item, coordinates) * self.stride + self.offset,
        )


def parse(text: str, width: int, stride: int | None = None) -> Layout:
    """Read a layout from its notation.

    Args:
        text: ``"lane = i%32, k/8%2 ; item = k%8"``; digits of radix 1 are dropped.
        width: bits of an element.
        stride: bits from one item to the next, the width unless given.

    Returns:
        The layout.

    Raises:
        MfmasimError: the text does not follow the notation.

    >>> parse("lane = i%16, k/4%4 ; item = k%4", 16).formula
    'lane = i%16 + 16*(k/4%4) ; item = k%4'
    """
    parts = [part.partition("=") for part in text.split(";")]
    if [name.strip() for name, _, _ in parts] != ["lane", "item"]:
        raise MfmasimError(f"layout {text!r} is not of the form 'lane = digits ; item = digits'")
    lane, item = (_digits(digits) for _, _, digits in parts)
    return Layout(lane, item, width, width if stride is None else stride)


def _digits(text: str) -> tuple[Digit, ...]:
    digits = []
    for word in text.replace(",", " ").split():
        if word == "0":  # no digit at all
            continue
        found = _DIGIT.fullmatch(word)
        if found is None:
            raise MfmasimError(f"layout digit {word!r} is not of the form 'k%8' or 'k/8%2'")
        digit = Digit(found[1], int(found[2] or 1), int(found[3]))
        if digit.radix > 1:
            digits.append(digit)
    return tuple(digits)


def _size(digits: Iterable[Digit]) -> int:
    size = 1
    for digit in digits:
        size *= digit.radix
    return size


def _value(digits: tuple[Digit, ...], coordinates: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
    value = np.zeros(np.broadcast_shapes(*(np.shape(c) for c in coordinates.values())), np.int64)
    weight = 1
    for digit in digits:
        value += coordinates[digit.coordinate] // digit.divisor % digit.radix * weight
        weight *= digit.radix
    return value


def _list(digits: tuple[Digit, ...]) -> str:
    return ", ".join(map(str, digits)) or "0"


def _sum(digits: tuple[Digit, ...]) -> str:
    terms, weight = [], 1
    for digit in digits:
        terms.append(str(digit) if weight == 1 else f"{weight}*({digit})")
        weight *= digit.radix
    return " + ".join(terms) or "0"
