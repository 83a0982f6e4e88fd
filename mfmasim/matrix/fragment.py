"""One operand of a matrix instruction: the lane and register bits of each element."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mfmasim.errors import MfmasimError
from mfmasim.figures.fragment import fragment_svg
from mfmasim.matrix.gather import Gather, element_dtype

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from mfmasim.matrix.layout import Layout

TABLE_DTYPE = np.dtype([(name, np.int32) for name in ("row", "col", "block", "lane", "vgpr", "bit", "width")])
"""Columns of `Fragment.table`."""


class Place(NamedTuple):
    """The place of an element: lane, register counted from 0 in the operand, and its lowest bit there."""

    lane: int
    vgpr: int
    bit: int


class Element(NamedTuple):
    """An element of the operand's matrix."""

    row: int
    col: int
    block: int


@dataclass(frozen=True, eq=False)
class Fragment:
    """An operand spread over the registers of a wave.

    Attributes:
        instruction: name of the instruction.
        arch: name of the architecture.
        name: ``A``, ``B``, ``C``, ``D``, ``scale_A``, ``scale_B`` or ``index``.
        format: number format of the elements, or ``index`` for the 2-bit positions of kept elements.
        rows: rows of the matrix of one block.
        cols: columns of the matrix of one block.
        blocks: matrices side by side.
        axes: letters of the layout that count rows and columns, such as ``("i", "k")``.
        layout: the layout itself.
        lanes: lanes of the wave.
        vgprs: registers of the operand.
        source: where the layout is published, or how it was inferred.
        origin: under broadcast modifiers, the element whose place each element is read from; else None.
    """

    instruction: str
    arch: str
    name: str
    format: str
    rows: int
    cols: int
    blocks: int
    axes: tuple[str, str]
    layout: Layout
    lanes: int
    vgprs: int
    source: str
    origin: NDArray[np.intp] | None = None

    @property
    def width(self) -> int:
        """Bits of an element."""
        return self.layout.width

    @property
    def dtype(self) -> np.dtype[Any]:
        """Unsigned type of the elements in `pack` and `unpack`."""
        return element_dtype(self.width)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the matrix: ([blocks,] rows, cols); the block axis exists only with several blocks."""
        return (self.blocks, self.rows, self.cols) if self.blocks > 1 else (self.rows, self.cols)

    @cached_property
    def _places(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Lane and first bit, each (elements, replicas), elements in the order block, row, column."""
        replicas = self.layout.replicas
        block, row, col, replica = np.indices((self.blocks, self.rows, self.cols, replicas))
        lane, bit = self.layout.place({self.axes[0]: row, self.axes[1]: col, "b": block, "r": replica})
        lane, bit = (np.ascontiguousarray(part).reshape(-1, replicas) for part in (lane, bit))
        return (lane, bit) if self.origin is None else (lane[self.origin], bit[self.origin])

    @cached_property
    def _gather(self) -> Gather:
        return Gather.build(self.width, self.vgprs, self.lanes, *self._places)

    @cached_property
    def _elements(self) -> dict[tuple[int, int], list[int]]:
        """Elements that start at (lane, bit over the lane's registers)."""
        found: dict[tuple[int, int], list[int]] = {}
        lane, bit = self._places
        for number, places in enumerate(zip(lane.tolist(), bit.tolist(), strict=True)):
            for place in zip(*places, strict=True):
                found.setdefault(place, []).append(number)
        return found

    @cached_property
    def mask(self) -> NDArray[np.uint32]:
        """Bits of the registers that hold elements, uint32 (vgprs, lanes)."""
        return self._gather.pack(np.full(self.blocks * self.rows * self.cols, (1 << self.width) - 1, self.dtype))

    @property
    def full(self) -> bool:
        """Whether every bit of the registers holds an element."""
        return self._gather.full

    def table(self) -> NDArray[np.void]:
        """One row for every place of every element.

        Returns:
            Structured array with the columns row, col, block, lane, vgpr, bit, width (int32), sorted by block, row,
            col, lane. A: row = i, col = k; B: row = k, col = j; C and D: row = i, col = j; sparse A and index: col
            counts kept elements; scales: row = i or j, col = block of 32 k. A 64-bit value has the low register, bit
            0 and width 64; a 6-bit value may go on in the next register.
        """
        lane, bit = self._places
        table = np.zeros(lane.shape, TABLE_DTYPE)
        block, row, col = np.unravel_index(np.arange(len(lane)), (self.blocks, self.rows, self.cols))
        for name, column in zip(("row", "col", "block"), (row, col, block), strict=True):
            table[name] = column[:, None]
        table["lane"], table["vgpr"], table["bit"], table["width"] = lane, bit // 32, bit % 32, self.width
        return table.ravel()

    def locate(self, row: int, col: int, block: int = 0) -> list[Place]:
        """All places of an element.

        Args:
            row: row of the matrix.
            col: column of the matrix.
            block: block, 0 where there is one.

        Returns:
            The places, by lane; more than one only where the wave holds copies (RDNA3).

        Raises:
            MfmasimError: the element is outside the matrix.
        """
        for what, value, size in (("row", row, self.rows), ("col", col, self.cols), ("block", block, self.blocks)):
            if not isinstance(value, int | np.integer) or not 0 <= value < size:
                raise MfmasimError(f"{what} {value!r} of {self._title} is not within 0..{size - 1}")
        lane, bit = (part[(block * self.rows + row) * self.cols + col].tolist() for part in self._places)
        return [Place(where, first // 32, first % 32) for where, first in zip(lane, bit, strict=True)]

    def element(self, lane: int, vgpr: int, bit: int = 0) -> Element | None:
        """Element at a place; under broadcast modifiers the first of those that read it.

        Args:
            lane: lane of the wave.
            vgpr: register, counted from 0 in the operand.
            bit: any bit of the element.

        Returns:
            Row, column and block, or None where the register holds no element.

        Raises:
            MfmasimError: the place is outside the operand's registers.
        """
        return next(iter(self.elements(lane, vgpr, bit)), None)

    def elements(self, lane: int, vgpr: int, bit: int = 0) -> list[Element]:
        """All elements that a place holds; several only under broadcast modifiers.

        Args:
            lane: lane of the wave.
            vgpr: register, counted from 0 in the operand.
            bit: any bit of the element.

        Raises:
            MfmasimError: the place is outside the operand's registers.
        """
        for what, value, size in (("lane", lane, self.lanes), ("vgpr", vgpr, self.vgprs), ("bit", bit, 32)):
            if not isinstance(value, int | np.integer) or not 0 <= value < size:
                raise MfmasimError(f"{what} {value!r} of {self._title} is not within 0..{size - 1}")
        first = vgpr * 32 + bit
        starts = range(first, max(first - self.width, -1), -1)
        numbers: list[int] = next((self._elements[lane, at] for at in starts if (lane, at) in self._elements), [])
        cells = self.rows * self.cols
        return [Element(number % cells // self.cols, number % self.cols, number // cells) for number in numbers]

    def pack(self, matrix: ArrayLike) -> NDArray[np.uint32]:
        """Put matrices into registers.

        Args:
            matrix: raw codes, unsigned integers, (..., [blocks,] rows, cols).

        Returns:
            uint32 (..., vgprs, lanes); bits that hold no element are 0.

        Raises:
            MfmasimError: wrong shape or type, or a code that does not fit the width.
        """
        if self.origin is not None:
            raise MfmasimError(f"{self._title} under a broadcast modifier can be read, not packed: places are shared")
        codes = self.check(matrix)
        batch = codes.shape[: codes.ndim - len(self.shape)]
        return self._gather.pack(codes.reshape(*batch, self.blocks * self.rows * self.cols))

    def unpack(self, registers: ArrayLike) -> NDArray[Any]:
        """Read matrices from registers.

        Args:
            registers: uint32 (..., vgprs, lanes); further registers beyond the operand's are ignored.

        Returns:
            Raw codes (..., [blocks,] rows, cols) in the smallest unsigned type; of copies, the one in the first lane.

        Raises:
            MfmasimError: wrong shape or type.
        """
        found = np.asarray(registers)
        if found.dtype != np.uint32:
            raise MfmasimError(f"registers of {self._title} must be uint32, not {found.dtype}")
        if found.ndim < 2 or found.shape[-1] != self.lanes or found.shape[-2] < self.vgprs:
            raise MfmasimError(
                f"registers of {self._title} must have shape (..., {self.vgprs}, {self.lanes}), not {found.shape}"
            )
        flat = self._gather.unpack(found[..., : self.vgprs, :])
        return flat.reshape(*flat.shape[:-1], *self.shape)

    def check(self, matrix: ArrayLike) -> NDArray[Any]:
        """Check shape, type and range of a matrix of codes, and give it the fragment's element type."""
        codes = np.asarray(matrix)
        if codes.dtype.kind == "i" and self.format in {"i4", "i8", "i32", "u4", "u8"} and self.width >= 8:
            if codes.dtype.itemsize != self.dtype.itemsize:
                raise MfmasimError(f"{self._title} takes {self.dtype} codes, not {codes.dtype}")
            codes = codes.view(self.dtype)
        if codes.dtype.kind != "u":
            hint = f"; use .view(np.{self.dtype})" if codes.dtype.itemsize == self.dtype.itemsize else ""
            raise MfmasimError(f"{self._title} takes raw {self.format} codes as {self.dtype}, not {codes.dtype}{hint}")
        if codes.shape[-len(self.shape) :] != self.shape:
            want = ", ".join(map(str, self.shape))
            axes = f"blocks, {self._axes}" if self.blocks > 1 else self._axes
            raise MfmasimError(f"{self._title} must have shape (..., {want}) = (..., {axes}), not {codes.shape}")
        narrow = self.width < codes.dtype.itemsize * 8
        if narrow and codes.size and int(codes.max()) >> self.width:
            raise MfmasimError(f"{self._title} holds {self.width}-bit codes, but {int(codes.max()):#x} was given")
        return codes.astype(self.dtype, copy=False)

    @property
    def shape_text(self) -> str:
        """The matrix in words, such as ``32x2`` or ``2 blocks of 32x1``."""
        one = f"{self.rows}x{self.cols}"
        return f"{self.blocks} blocks of {one}" if self.blocks > 1 else one

    def _repr_svg_(self) -> str:
        return fragment_svg(self)

    def _repr_html_(self) -> str:
        return f'<div style="overflow:auto">{self._repr_svg_()}</div>'

    @property
    def _title(self) -> str:
        return f"{self.name} of {self.instruction}"

    @property
    def _axes(self) -> str:
        return f"{self.axes[0]}, {self.axes[1]}"

    def __repr__(self) -> str:
        return (
            f"<{self.name} of {self.instruction} on {self.arch}: {self.shape_text} {self.format} "
            f"in {self.vgprs} VGPR{'s' * (self.vgprs > 1)}; {self.layout}>"
        )
