"""The launches of a cast: pure functions from a shape to a list of launches, which tests execute.

The number of compute units is that of the products: CDNA3 white paper (MI300X: 304), CDNA4 white paper (MI355X: 256),
RDNA4 (RX 9070 XT: 64). It decides only the grid; every grid gives the same bytes.
"""

import math
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from mfmasim.verify.arrays import Array

L = TypeVar("L")
COMPUTE_UNITS = {"gfx942": 304, "gfx950": 256, "gfx1201": 64}
CAST_THREADS, CAST_EACH = 256, 16
MANY = 1 << 27
"""16-bit tensors of as many elements get two workgroups for each compute unit."""


@dataclass(frozen=True)
class Flat:
    """One launch of the flat kernel; with ``blocks == 0`` it is `cast_nothing`, which defines scale_inv alone."""

    blocks: int
    count: int


def plan_cast(count: int, given_bytes: int, units: int) -> Flat:
    """The one launch of a cast without transposition.

    Args:
        count: elements, 0 or more.
        given_bytes: bytes of an input element, 2 or 4.
        units: compute units of the device.
    """
    if count < 0:
        raise ValueError(f"{count} elements: 0 or more are expected")
    most = 2 * units if given_bytes == 2 and count >= MANY else units
    return Flat(min(-(-count // (CAST_THREADS * CAST_EACH)), most), count)


SIDE = 32
SHORT = 512
"""Matrices of fewer rows take one launch for all of them."""


@dataclass(frozen=True)
class Part:
    """One launch of cast and transpose, over the rows and columns of a part of the matrix."""

    load: int
    """Bytes of a row that a thread loads; 0 for the kernel of one element a thread."""
    store: int
    """Bytes of a column that a thread stores; 0 likewise."""
    first_row: int
    rows: int
    first_col: int
    cols: int

    def kernel(self, given: str, target: str) -> str:
        """Name of the kernel."""
        tail = f"load{self.load}_store{self.store}" if self.load else "rest"
        return f"cast_transpose_{given}_{target}_{tail}"

    @property
    def threads(self) -> int:
        """Of a workgroup."""
        return 512 if self.load else 256

    def tiles(self, given_bytes: int) -> tuple[int, int]:
        """Tiles down and across; one column of workgroups for the kernel without tiles."""
        if not self.load:
            return -(-self.rows * self.cols // 256), 1
        return self.rows // (SIDE * self.store), self.cols // (SIDE * self.load // given_bytes)


def plan_transpose(rows: int, cols: int, given_bytes: int) -> list[Part]:
    """The launches of a cast with transposition; none for a matrix without elements (`cast_nothing` is for that).

    Rows: below 512 all with the longest store whose tiles fit, else without tiles; from 512 on stores of 8 for all
    whole tiles, and one more kind for the rest. Columns, for each kind of rows: one launch where a wide tile fits, else
    the widest as far as it goes, and one launch for the remaining columns.

    Args:
        rows: of the input.
        cols: of the input.
        given_bytes: bytes of an input element, 2 or 4.

    Indices are 64 bits, so that only the grid bounds the size: a launch of 2^32 threads or more is refused.
    """
    if rows < 0 or cols < 0:
        raise ValueError(f"{rows} x {cols} elements: 0 or more are expected")
    bulk = rows // (SIDE * 8) * (SIDE * 8) if rows >= SHORT else 0
    kinds = [(8, 0, bulk), (_store(rows - bulk, 8 if rows < SHORT else 4), bulk, rows - bulk)]
    return [
        launchable(part, math.prod(part.tiles(given_bytes)), part.threads)
        for store, first, high in kinds
        if high and cols
        for part in _across(store, first, high, cols, given_bytes)
    ]


def plan_cascade(rows: int, cols: int, given_bytes: int) -> list[Part]:
    """The launches of a full cascade of rows, which was rejected: each store takes the whole tiles that are left.

    Arguments as of `plan_transpose`. Stores of 1 are kernels of transpose_ways.hip, the others those of the input.
    """
    launches, first = [], 0
    for store in (8, 4, 2, 1, 0):
        high = (rows - first) // (SIDE * store) * SIDE * store if store else rows - first
        if high and cols:
            launches += _across(store, first, high, cols, given_bytes)
        first += high
    return launches


def _store(rows: int, longest: int) -> int:
    """The longest store whose tiles fit; 0 for none."""
    return next((store for store in (8, 4, 2) if store <= longest and rows % (SIDE * store) == 0), 0)


def _across(store: int, first_row: int, rows: int, cols: int, given_bytes: int) -> list[Part]:
    if not store:
        return [Part(0, 0, first_row, rows, 0, cols)]
    loads = [load for load in (16, 8, 4, 2) if given_bytes <= load <= (16 if given_bytes == 4 else 8)]
    width = {load: SIDE * load // given_bytes for load in loads}
    whole = next((load for load in loads if load >= 8 and cols % width[load] == 0), 0)
    if whole:
        return [Part(whole, store, first_row, rows, 0, cols)]
    wide = cols // width[loads[0]] * width[loads[0]]
    rest = cols - wide
    load = next((load for load in loads if load <= 8 and rest % width[load] == 0), 0)
    last = Part(load, store if load else 0, first_row, rows, wide, rest)
    return [Part(loads[0], store, first_row, rows, 0, wide), last] if wide else [last]


AT_ONCE, TILE = 256, 128
"""Most tensors of one launch, and the side of the tiles into which it cuts them."""


@dataclass(frozen=True)
class Many:
    """One launch over several tensors."""

    tensors: range
    """Which of them."""
    first: tuple[int, ...]
    """First workgroup of each; then the number of all."""

    @property
    def blocks(self) -> int:
        """Workgroups of the grid: one at least, which defines the inverse scales of tensors without elements."""
        return max(self.first[-1], 1)


def plan_many(shapes: list[tuple[int, int]]) -> list[Many]:
    """The launches of a cast with transposition of many tensors.

    Args:
        shapes: rows and columns of each; a tensor without elements takes no workgroup.
    """
    for rows, cols in shapes:
        if not (0 <= rows < 1 << 31 and 0 <= cols < 1 << 31):
            raise ValueError(f"{rows} x {cols} elements: 0 to {(1 << 31) - 1} rows and columns are expected")
    launches = []
    for start in range(0, len(shapes), AT_ONCE):
        chosen, first = range(start, min(start + AT_ONCE, len(shapes))), [0]
        for each in chosen:
            rows, cols = shapes[each]
            first.append(first[-1] + -(-rows // TILE) * -(-cols // TILE))
        launches.append(Many(chosen, tuple(first)))
    return [launchable(launch, launch.blocks, 512) for launch in launches]


def table(
    pointers: list[list[Array]], shapes: list[tuple[int, int]], first: tuple[int, ...], count: Any = None
) -> list[Any]:
    """`struct tensors` of multi.hip, as a kernel argument.

    Args:
        pointers: for input, output, transposed output, scale, amax and scale_inv a list of one array each.
        shapes: rows and columns of each tensor.
        first: as `Many` has it.
        count: of the tensors; None for all.
    """

    def numbers(values: list[int] | tuple[int, ...], length: int = AT_ONCE) -> list[np.int32]:
        return [np.int32(n) for n in [*values, *[0] * (length - len(values))]]

    return [
        *([*field, *[None] * (AT_ONCE - len(field))] for field in pointers),
        numbers([rows for rows, _ in shapes]),
        numbers([cols for _, cols in shapes]),
        numbers(first, AT_ONCE + 1),
        np.int32(len(shapes) if count is None else count),
    ]


def launchable(launch: L, blocks: int, threads: int) -> L:
    """The launch, if a dispatch packet can count its work-items: 32 bits (HSA runtime specification, 2.9.6)."""
    if blocks * threads >= 1 << 32:
        raise ValueError(f"{blocks} workgroups of {threads} threads: fewer than 2^32 threads are possible in a launch")
    return launch
