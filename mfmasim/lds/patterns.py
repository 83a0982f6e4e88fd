"""Access patterns of a tile: which row and column byte each lane of each wave access starts at.

A pattern does not determine where bytes lie; together with a swizzle it gives LDS addresses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from mfmasim.errors import MfmasimError
from mfmasim.lds.instructions import ds_instruction

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mfmasim.architectures import Arch
    from mfmasim.lds.swizzles import Swizzle


class Operand(Protocol):
    """What a pattern needs of a matrix fragment (``mfmasim.instruction(...).A``)."""

    @property
    def name(self) -> str:
        """Name of the operand, such as ``A``."""

    @property
    def instruction(self) -> str:
        """Name of the matrix instruction."""

    @property
    def axes(self) -> tuple[str, str]:
        """Letters of rows and columns: i, j and the summed k."""

    @property
    def blocks(self) -> int:
        """Matrices side by side."""

    @property
    def lanes(self) -> int:
        """Lanes of the wave."""

    @property
    def width(self) -> int:
        """Bits of an element."""

    def table(self) -> NDArray[np.void]:
        """Columns row, col, block, lane, vgpr, bit; one row for every place."""


@dataclass(frozen=True, eq=False)
class Pattern:
    """Wave accesses to a tile.

    Attributes:
        instruction: LDS instruction, such as ``ds_read_b128``.
        rows: row of the tile, int64 (accesses, lanes).
        columns: first column in bytes, int64 (accesses, lanes).
        active: lanes that take part, (accesses, lanes).
        name: its name in tables.
    """

    instruction: str
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    active: NDArray[np.bool_]
    name: str = ""

    @classmethod
    def of(
        cls,
        instruction: str,
        place: Callable[[NDArray[np.int64], int], tuple[Any, Any]],
        *,
        lanes: int = 64,
        accesses: int = 1,
        name: str = "",
    ) -> Pattern:
        """Pattern of a function.

        Args:
            instruction: LDS instruction.
            place: from lane numbers (an array) and the number of the access to row and column byte.
            lanes: lanes of the wave.
            accesses: wave accesses.
            name: its name in tables.

        >>> Pattern.of("ds_read_b128", lambda lane, n: (lane % 16, 64 * n + lane // 16 * 16), accesses=2).rows.shape
        (2, 64)
        """
        lane = np.arange(lanes)
        found = [np.broadcast_arrays(lane, *place(lane, number))[1:] for number in range(accesses)]
        rows, columns = (np.array([part[k] for part in found], np.int64) for k in (0, 1))
        return cls(instruction, rows, columns, np.ones(rows.shape, bool), name or instruction)

    @classmethod
    def linear(cls, instruction: str, rows: int, row_bytes: int, *, lanes: int = 64, name: str = "") -> Pattern:
        """Lane after lane through the whole tile, row after row: the usual store of a tile.

        Args:
            instruction: LDS instruction.
            rows: rows of the tile.
            row_bytes: bytes of a row.
            lanes: lanes of a wave.
            name: what reports call it.

        Raises:
            MfmasimError: a row does not hold whole accesses.
        """
        size = ds_instruction(None, instruction).size
        if row_bytes % size:
            raise MfmasimError(f"rows of {row_bytes} bytes do not hold whole {instruction} accesses of {size} bytes")
        total = rows * row_bytes // size
        number = np.arange(-(-total // lanes) * lanes).reshape(-1, lanes)
        active = number < total
        place = np.where(active, number, 0) * size
        return cls(instruction, place // row_bytes, place % row_bytes, active, name or f"{instruction}, linear")

    @classmethod
    def operand(cls, instruction: str, fragment: Operand, *, row: int = 0, column: int = 0, name: str = "") -> Pattern:
        """How a wave reads (or writes) a matrix operand from a tile that has k (for C and D: j) along its rows.

        A's tile row is i, B's is j (B stored by columns); the bytes of a lane are taken in blocks of the access.

        Args:
            instruction: LDS instruction.
            fragment: an operand, such as ``mfmasim.instruction("gfx950", "v_mfma_f32_32x32x16_f16").A``.
            row: row of the tile where the operand starts.
            column: column byte where it starts.
            name: its name in tables.

        Raises:
            MfmasimError: the lanes do not hold whole aligned accesses, or the operand has several blocks.
        """
        if fragment.blocks != 1:
            raise MfmasimError(
                f"{fragment.name} of {fragment.instruction} has {fragment.blocks} blocks: give a function"
            )
        size, table = ds_instruction(None, instruction).size, fragment.table()
        down = fragment.axes[0] in "ks"  # B: its rows count k, so its columns are the tile's rows
        major, minor = ("col", "row") if down else ("row", "col")
        first_bit = table[minor].astype(np.int64) * fragment.width
        held: dict[int, dict[tuple[int, int], int]] = {}
        for lane, line, bit in zip(table["lane"].tolist(), table[major].tolist(), first_bit.tolist(), strict=True):
            blocks = held.setdefault(lane, {})
            key = (line, bit // (8 * size))
            blocks[key] = blocks.get(key, 0) + fragment.width
        wrong = {bits for blocks in held.values() for bits in blocks.values()} - {8 * size}
        if wrong:
            raise MfmasimError(
                f"lanes hold {min(wrong)} neighbouring bits of {fragment.name} of {fragment.instruction}, "
                f"{instruction} moves {8 * size}: take an access that fits"
            )
        accesses = max(map(len, held.values()))
        shape = (accesses, fragment.lanes)
        rows, columns, active = np.zeros(shape, np.int64), np.zeros(shape, np.int64), np.zeros(shape, bool)
        for lane, blocks in held.items():
            for number, (line, block) in enumerate(sorted(blocks)):
                rows[number, lane], columns[number, lane], active[number, lane] = line, block * size, True
        title = name or f"{fragment.name} of {fragment.instruction}"
        return cls(instruction, rows + row, columns + column, active, title)

    @property
    def lanes(self) -> int:
        """Lanes of the wave."""
        return int(self.rows.shape[-1])

    @property
    def size(self) -> int:
        """Bytes of a lane's access."""
        return ds_instruction(None, self.instruction).size

    def addresses(self, swizzle: Swizzle, base: int = 0) -> NDArray[np.int64]:
        """LDS byte addresses under a swizzle, (accesses, lanes).

        Raises:
            MfmasimError: an access outside the tile, or one that the swizzle splits.
        """
        self.check(swizzle.rows, swizzle.row_bytes)
        first = swizzle.place(self.rows, self.columns)
        if swizzle.terms:
            last = swizzle.place(self.rows, self.columns + self.size - 1)
            split = (last - first != self.size - 1) & self.active
            if split.any():
                lane = int(np.argwhere(split)[0][-1])
                raise MfmasimError(f"{swizzle.title} splits the {self.size} bytes of lane {lane}'s {self.instruction}")
        return first + base

    def check(self, rows: int, row_bytes: int) -> None:
        """Refuse a pattern that leaves the tile."""
        outside = (self.rows < 0) | (self.rows >= rows) | (self.columns < 0) | (self.columns + self.size > row_bytes)
        if (outside & self.active).any():
            number, lane = np.argwhere(outside & self.active)[0].tolist()
            raise MfmasimError(
                f"{self.name}: lane {lane} of access {number} takes row {self.rows[number, lane]}, bytes "
                f"{self.columns[number, lane]}..{self.columns[number, lane] + self.size - 1}, outside the tile of "
                f"{rows}x{row_bytes} bytes"
            )

    def runs_on(self, archs: Sequence[Arch]) -> None:
        """Refuse an instruction or a wave size that one of the architectures does not have."""
        for found in archs:
            row = ds_instruction(found, self.instruction)
            if row.parts != 1:
                raise MfmasimError(f"{row.name} has two addresses: give its two accesses as one pattern each")
            if self.lanes not in found.wave_sizes:
                sizes = " or ".join(map(str, found.wave_sizes))
                raise MfmasimError(f"{self.name} has {self.lanes} lanes, a wave of {found.name} has {sizes}")
