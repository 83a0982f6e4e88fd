"""Protocols of the objects that figures draw."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol


class Named(Protocol):
    """Something with a name, such as an architecture."""

    @property
    def name(self) -> str:
        """The name."""


class _Formula(Protocol):
    @property
    def formula(self) -> str:
        """Lane and item as digits."""


class Fragment(Named, Protocol):
    """An operand of a matrix instruction, spread over the registers of a wave."""

    @property
    def instruction(self) -> str:
        """Name of the instruction."""

    @property
    def arch(self) -> str:
        """Name of the architecture."""

    @property
    def format(self) -> str:
        """Number format of the elements."""

    @property
    def rows(self) -> int:
        """Rows of the matrix of one block."""

    @property
    def cols(self) -> int:
        """Columns of the matrix of one block."""

    @property
    def blocks(self) -> int:
        """Matrices side by side."""

    @property
    def axes(self) -> tuple[str, str]:
        """Letters that count rows and columns."""

    @property
    def lanes(self) -> int:
        """Lanes of the wave."""

    @property
    def vgprs(self) -> int:
        """Registers of the operand."""

    @property
    def width(self) -> int:
        """Bits of an element."""

    @property
    def layout(self) -> _Formula:
        """The layout."""

    @property
    def shape_text(self) -> str:
        """The matrix in words."""

    def table(self) -> Any:
        """Structured array with the columns row, col, block, lane, vgpr, bit: one row for every place."""


class Instruction(Named, Protocol):
    """A matrix instruction."""

    @property
    def arch(self) -> Named:
        """Its architecture."""

    @property
    def operands(self) -> Mapping[str, Fragment]:
        """The operands by name."""

    def details(self) -> Iterable[Sequence[Any]]:
        """Name and value of each of its properties."""


class Phase(Protocol):
    """One phase of an LDS access."""

    @property
    def number(self) -> int:
        """Its place in the order of phases."""

    @property
    def part(self) -> int:
        """Which of the two accesses of a two-address instruction, else 0."""

    @property
    def lanes(self) -> tuple[int, ...]:
        """Lanes of the phase."""

    @property
    def degree(self) -> int:
        """Passes it needs."""

    @property
    def banks(self) -> Mapping[int, Mapping[int, tuple[int, ...]]]:
        """For each bank its dwords, with the lanes that access them."""


class _Banked(Protocol):
    @property
    def banks(self) -> int:
        """Banks of the LDS."""


class Access(Protocol):
    """An LDS access of one wave, with its conflicts."""

    @property
    def arch(self) -> Named:
        """The architecture."""

    @property
    def instruction(self) -> Named:
        """The LDS instruction."""

    @property
    def table(self) -> _Banked:
        """Phases and banks."""

    @property
    def trust(self) -> str:
        """How far the table can be trusted, and where the phases are published."""

    @property
    def extra_passes(self) -> Any:
        """Passes beyond the first of each phase."""

    @property
    def phases(self) -> Sequence[Phase]:
        """The phases of the access."""


class Tile(Protocol):
    """A tile of rows of bytes in the LDS, under a swizzle."""

    @property
    def title(self) -> str:
        """The swizzle in words."""

    @property
    def rows(self) -> int:
        """Rows of the tile."""

    @property
    def row_bytes(self) -> int:
        """Bytes of a row."""

    def keeps_alignment(self, size: int) -> bool:
        """Whether blocks of so many bytes stay together."""

    def place(self, row: Any, column: Any) -> Any:
        """LDS byte offset of a byte of the tile."""
