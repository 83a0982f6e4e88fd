"""Orders in which libraries store matrices and the scales of blocks, so that a lane finds what it needs together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.errors import MfmasimError, unknown

PADDING = 0xFF
"""What fills up an order of scales: NaN, so that a kernel that uses it shows."""


@dataclass(frozen=True)
class Shuffle:
    """An order of scales: rows and blocks of K are cut into parts, whose axes change places.

    The rows are those of A, or the columns of B.
    """

    name: str
    rows: tuple[int, ...]
    """Sizes of the parts of a row's number below the first one, highest first."""
    blocks: tuple[int, ...]
    """The same of a block's number."""
    axes: tuple[int, ...]
    """Which part each place holds, the slowest first; parts are numbered rows first, from the highest."""
    source: str
    padded: bool = False
    """Whether lengths that do not divide are filled up; with `PADDING`, as a library may leave anything there."""

    def stored(self, scales: NDArray[Any]) -> NDArray[Any]:
        """Scales in the order of memory.

        Args:
            scales: rows times blocks of K.

        Returns:
            The same numbers in one dimension.
        """
        rows, blocks = scales.shape
        more = [(0, -size % unit) for size, unit in zip((rows, blocks), self._units, strict=True)]
        whole = np.pad(scales, more, constant_values=PADDING)
        return np.ascontiguousarray(whole.reshape(self._parts(whole.shape)).transpose(self.axes)).reshape(-1)

    def loaded(self, memory: NDArray[Any], shape: tuple[int, int]) -> NDArray[Any]:
        """The inverse of `stored`, for so many rows and blocks of K."""
        whole = [size + -size % unit for size, unit in zip(shape, self._units, strict=True)]
        parts = self._parts(whole)
        inverse = np.argsort(self.axes)
        found = memory.reshape([parts[axis] for axis in self.axes]).transpose(inverse).reshape(whole)
        return found[: shape[0], : shape[1]]

    def check(self, what: str, rows: int, blocks: int) -> None:
        """Refuse sizes that do not divide into the parts.

        Args:
            what: the argument's name, for the message.
            rows: rows of A, or columns of B.
            blocks: scales of one of them.

        Raises:
            MfmasimError: they are no multiples.
        """
        for size, noun, unit in zip((rows, blocks), ("rows", "blocks"), self._units, strict=True):
            if size % unit and not self.padded:
                raise MfmasimError(f"{what}: {self.name} needs a multiple of {unit} {noun}, not {size}")

    @property
    def _units(self) -> tuple[int, int]:
        """What the numbers of rows and of blocks are multiples of."""
        return int(np.prod(self.rows, dtype=int)), int(np.prod(self.blocks, dtype=int))

    def _parts(self, shape: Sequence[int]) -> tuple[int, ...]:
        (rows, blocks), (each_rows, each_blocks) = shape, self._units
        return (rows // each_rows, *self.rows, blocks // each_blocks, *self.blocks)


SHUFFLES = {
    row.name: row
    for row in (
        # Tiles of 32 rows and 8 blocks; a dword has what a lane brings to four 16x16x128: two rows, 16 apart,
        # with two blocks, 4 apart.
        Shuffle(
            "hipblaslt_32x8",
            (2, 16),
            (2, 4),
            (0, 3, 5, 2, 4, 1),
            "hipBLASLt BLK32_UE8M0_32_8_EXT, as XLA makes it: openxla/xla, hipblaslt_scale_utils; Triton GFX950_SCALE; "
            "ROCm/aiter, e8m0_shuffle, which fills up with what the memory holds",
            padded=True,
        ),
        # The order that one tests' helper derives for the same mode: no parts of 16 rows and of 4 blocks.
        Shuffle(
            "hipblaslt_32x8_undivided",
            (32,),
            (8,),
            (0, 2, 3, 1),
            "swizzle_scales of a published Python binding of hipBLASLt, marked there as not verified",
        ),
        # For each 128 of K a dword a row, whose bytes are its four blocks.
        Shuffle("hipkittens_rows", (), (4,), (1, 0, 2), "HipKittens, MXFP8_8wave/8_wave_TN.cu, pack_scales_host"),
        # The same, already packed: a dword a lane, whose bytes are the scales of four tiles of 16 rows.
        Shuffle(
            "hipkittens_lanes",
            (4, 16),
            (4,),
            (3, 0, 4, 2, 1),
            "TransformerEngine, kittens/cdna4/mxfp8_gemm_helper.cuh, pack_scales_kernel; HipKittens #75",
        ),
    )
}


def find_shuffle(name: str) -> Shuffle:
    """The order of a name.

    Raises:
        MfmasimError: there is none.
    """
    if name not in SHUFFLES:
        raise unknown("order of scales", name, SHUFFLES)
    return SHUFFLES[name]


CHUNK = 16
"""Bytes that a lane loads at once; in every order of `OPERANDS` they are neighbours in memory and in K."""


@dataclass(frozen=True)
class OperandOrder:
    """An order of a whole operand: lines (rows of A, columns of B) and chunks of K change places."""

    name: str
    split: tuple[int, ...]
    """Sizes of the parts of a line's number, the highest first; -1 for the one that the matrix decides."""
    axes: tuple[int, ...]
    """Which part each place holds, the slowest first: parts of the line, then the chunk's number; in a chunk, K."""
    source: str

    def places(self, lines: int, depth: int, bits: int) -> NDArray[np.int64]:
        """Where each element lies.

        Args:
            lines: rows of A, or columns of B.
            depth: K.
            bits: of an element.

        Returns:
            Its number in memory, counted in elements, (lines, depth).

        Raises:
            MfmasimError: the sizes do not divide.
        """
        unit, chunk = int(abs(np.prod(self.split))), 8 * CHUNK // bits
        if lines % unit or depth % chunk:
            raise MfmasimError(
                f"{self.name} needs a multiple of {unit} lines and of {chunk} elements of K, not {lines} and {depth}"
            )
        parts = [lines // unit if size < 0 else size for size in self.split]
        numbers = np.arange(lines * depth, dtype=np.int64)
        stored = numbers.reshape(*parts, depth // chunk, chunk).transpose(*self.axes, len(parts) + 1).reshape(-1)
        found = np.empty_like(numbers)
        found[stored] = numbers
        return found.reshape(lines, depth)


OPERANDS = {
    row.name: row
    for row in (
        OperandOrder(
            "aiter_16x16",
            (-1, 16),
            (0, 2, 1),
            "ROCm/aiter, aiter/ops/shuffle.py, shuffle_weight(layout=(16, 16)), of elements of 4, 8 and 16 bits; AITER "
            "hands weights in this order to hipBLASLt as ORDER_COL16_4R8 (16 bits) and ORDER_COL16_4R16 (8 bits)",
        ),
        OperandOrder("aiter_32x16", (-1, 32), (0, 2, 1), "the same, layout=(32, 16)"),
        OperandOrder(
            "aiter_gate_up_16",
            (2, -1, 16),
            (1, 0, 3, 2),
            "the same file, shuffle_weight(layout=(16, 16), is_guinterleave=True, gate_up=True): tiles of both in turn",
        ),
    )
}
"""Orders of operands, by name."""


def find_operand_order(name: str) -> OperandOrder:
    """The order of a name.

    Raises:
        MfmasimError: there is none.
    """
    if name not in OPERANDS:
        raise unknown("order of an operand", name, OPERANDS)
    return OPERANDS[name]
