"""Packing and unpacking of a fragment as index gathers, computed once for each layout.

Registers are viewed as a row of cells: bytes for elements of up to 8 bits, halves for 16, words for 32 and 64. A
place becomes the index of a cell, and moving a whole batch of fragments is one ``take``, of runs of cells where the
layout keeps them together. Little-endian hosts only, as NumPy's ``view`` shows register bits in the host's order.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

if sys.byteorder != "little":  # pragma: no cover
    raise ImportError("mfmasim views registers as bytes and needs a little-endian host")


def element_dtype(width: int) -> np.dtype[Any]:
    """Unsigned type that carries one element: uint8 up to 8 bits, then uint16, uint32, uint64."""
    return np.dtype(f"u{max(8, width) // 8}")


@dataclass(frozen=True)
class _Runs:
    """Indices of cells as runs of `length` consecutive ones, each of which starts at a multiple of it."""

    length: int
    starts: NDArray[np.intp]
    """Start of each run, in runs."""

    @classmethod
    def of(cls, indices: NDArray[np.intp], cells: int) -> _Runs:
        """The longest runs, a power of two long, that indices into so many cells consist of."""
        length = 1
        while not (cells | len(indices)) % (2 * length):
            pairs = indices[::length].reshape(-1, 2)
            if (pairs[:, 0] % (2 * length)).any() or (pairs[:, 1] != pairs[:, 0] + length).any():
                break
            length *= 2
        return cls(length, indices[::length] // length)

    def take(self, cells: NDArray[Any]) -> NDArray[Any]:
        """Cells (..., n) at the indices (..., m)."""
        if self.length == 1:
            return cells.take(self.starts, axis=-1)
        batch = cells.shape[:-1]
        taken = cells.reshape(*batch, -1, self.length).take(self.starts, axis=-2)
        return taken.reshape(*batch, len(self.starts) * self.length)


@dataclass(frozen=True)
class Gather:
    """Moves elements between a flat matrix (..., elements) and registers (..., vgprs, lanes)."""

    width: int
    vgprs: int
    lanes: int
    read_cells: NDArray[np.intp]
    """Cells each element is read from: (elements, cells of an element), lowest bits first."""
    read_shift: NDArray[np.uint16] | None
    """Bits of the first cell below the element, for elements narrower than a byte that share one."""
    write_elements: NDArray[np.intp]
    """Elements each cell is made of: (cells, elements in a cell); `absent` where a part stays zero."""
    write_shift: NDArray[np.uint16] | None
    """Right shift of each such element after it was moved up by a byte; only for elements narrower than a byte."""
    full: bool
    """Whether every part of every cell is written."""

    @cached_property
    def _reads(self) -> _Runs:
        return _Runs.of(self.read_cells.ravel(), self.vgprs * self.lanes * (32 // min(max(self.width, 8), 32)))

    @cached_property
    def _writes(self) -> _Runs:
        cells = len(self.read_cells) * self.read_cells.shape[1] + (not self.full)
        return _Runs.of(self.write_elements[:, 0], cells)

    @classmethod
    def build(cls, width: int, vgprs: int, lanes: int, lane: NDArray[np.int64], bit: NDArray[np.int64]) -> Gather:
        """Compute the gathers.

        Args:
            width: bits of an element.
            vgprs: registers of the operand.
            lanes: lanes of the wave.
            lane: (elements, replicas) lane of each element.
            bit: (elements, replicas) first bit, counted over the lane's registers.

        Returns:
            The gathers; reading takes the first replica, writing writes all.
        """
        cell_bits = min(max(width, 8), 32)
        parts = max(1, width // 32)  # a 64-bit element is two words in two registers
        total = vgprs * lanes * (32 // cell_bits)

        def cell(lane: NDArray[np.int64], bit: NDArray[np.int64]) -> NDArray[np.intp]:
            found = (bit // 32 * lanes + lane) * (32 // cell_bits) + bit % 32 // cell_bits
            return found.astype(np.intp)

        if width >= 8:
            read = np.stack([cell(lane[:, 0], bit[:, 0] + 32 * part) for part in range(parts)], axis=-1)
            owner = np.full((total, 1), -1, np.intp)
            number = np.broadcast_to(np.arange(len(lane))[:, None], lane.shape)
            for part in range(parts):
                owner[cell(lane, bit + 32 * part), 0] = number * parts + part
            full = bool((owner >= 0).all())
            return cls(width, vgprs, lanes, read, None, owner, None, full)

        # Narrow elements: every byte is put together from the elements that overlap it.
        last = np.minimum(bit // 8 * 8 + 8, vgprs * 32 - 8)
        read = np.stack([cell(lane[:, 0], bit[:, 0]), cell(lane[:, 0], last[:, 0])], axis=-1)
        shift = (bit[:, 0] % 8).astype(np.uint16)
        slots: list[list[tuple[int, int]]] = [[] for _ in range(total)]
        for element in range(len(lane)):
            for where, first in zip(lane[element], bit[element], strict=True):
                for start in range(first // 8 * 8, first + width, 8):
                    index = (start // 32 * lanes + where) * 4 + start % 32 // 8
                    slots[index].append((element, int(first) - start))
        most = max(len(slot) for slot in slots)
        owner = np.full((total, most), -1, np.intp)
        left = np.zeros((total, most), np.int64)
        for index, slot in enumerate(slots):
            for column, (element, amount) in enumerate(slot):
                owner[index, column], left[index, column] = element, amount
        full = all(sum(min(8, amount + width) - max(0, amount) for _, amount in slot) == 8 for slot in slots)
        crosses = bool((bit % 8 + width > 8).any())
        right = (8 - left).astype(np.uint16)
        return cls(width, vgprs, lanes, read if crosses else read[:, :1], shift, owner, right, full)

    def unpack(self, registers: NDArray[np.uint32]) -> NDArray[Any]:
        """Read every element: (..., vgprs, lanes) -> (..., elements)."""
        batch = registers.shape[:-2]
        flat = np.ascontiguousarray(registers).reshape(*batch, self.vgprs * self.lanes)
        if self.width == 64:
            return self._reads.take(flat).view(np.uint64)
        cells = flat.view(element_dtype(self.width))
        if self.read_shift is None:
            return self._reads.take(cells)
        if self.read_cells.shape[1] == 1:
            read = np.take(cells, self.read_cells[:, 0], axis=-1) >> self.read_shift.astype(np.uint8)
            return read & np.uint8((1 << self.width) - 1)
        low, high = (np.take(cells, self.read_cells[:, part], axis=-1).astype(np.uint16) for part in (0, 1))
        return (((low | high << np.uint16(8)) >> self.read_shift) & np.uint16((1 << self.width) - 1)).astype(np.uint8)

    def pack(self, codes: NDArray[Any]) -> NDArray[np.uint32]:
        """Write every element: (..., elements) -> (..., vgprs, lanes); bits that no element has are 0."""
        batch = codes.shape[:-1]
        cells = np.ascontiguousarray(codes).view(np.uint32) if self.width == 64 else codes
        if not self.full:
            cells = np.concatenate([cells, np.zeros((*batch, 1), cells.dtype)], axis=-1)
        if self.write_shift is None:
            packed = self._writes.take(cells)
        else:
            packed = np.zeros((*batch, len(self.write_elements)), np.uint8)
            for column in range(self.write_elements.shape[1]):
                part = np.take(cells, self.write_elements[:, column], axis=-1).astype(np.uint16) << np.uint16(8)
                # One byte of headroom on the right takes the bits that belong to the byte before.
                packed |= (part >> self.write_shift[:, column]).astype(np.uint8)
        return packed.view(np.uint32).reshape(*batch, self.vgprs, self.lanes)
