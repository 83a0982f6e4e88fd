"""Cases that prove which input element each output element comes from, and on which ones each scale and amax depends.

`cases.py` includes them and passes the launch of the flat cast.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hipkernels.cast import multi_cases, mx_cases, operands, read_cases, reference, transpose_cases
from hipkernels.cast.mx_reference import BLOCK, FORMATS
from hipkernels.cast.operands import CDNA, GIVEN, TARGETS
from hipkernels.cast.plan import Part
from mfmasim.formats import ScaleRule
from mfmasim.verify import ComesFrom, DependsOn, LaunchDict, case
from mfmasim.verify.arrays import Array

OVERFLOWS = ["clamp", "ovfl", "plain"]
PLACES = np.arange(BLOCK)
NIBBLES = (2, 3, 10, 11)
"""FP4 codes of 1, 1.5, -1 and -1.5."""


def row_of(given: str, n: int, data: str) -> NDArray[Any]:
    """Elements; ``pairs``: neighbours are equal, ``alike``: all are."""
    return operands.values(given, n, "finite")[np.arange(n) // {"pairs": 2, "alike": n}.get(data, 1)]


def declare_flat(launch_cast: Callable[..., Any], archs: list[str]) -> None:
    """Casts without transposition."""

    @case(
        "cast.hip",
        kernel="cast_{given}_{target}_{overflow}",
        arch=archs,
        each=[{"given": g, "target": t, "overflow": o} for g in GIVEN for t in TARGETS for o in OVERFLOWS],
    )
    def cast_moves(
        n: int = 1037,
        given: str = "f32",
        target: str = "e4m3",
        overflow: str = "clamp",
        data: str = "finite",
        arch: str = "gfx950",
    ) -> LaunchDict:
        """Each byte from its element, in the bulk and in the tail."""
        x, fmt = row_of(given, n, data), reference.target_format(target, arch)
        launch = launch_cast(x, fmt, overflow, scale=0.7, given=given, arch=arch)
        return launch | {"sources": [ComesFrom(launch["args"][1], launch["args"][0])]}

    @case("cast.hip", kernel="cast_{given}_e4m3_clamp", arch=archs, each=[{"given": g} for g in GIVEN])
    def cast_amax_of(n: int = 83, given: str = "f32", data: str = "finite", arch: str = "gfx950") -> LaunchDict:
        """The largest magnitude is that of all elements."""
        x = row_of(given, n, data)
        launch = launch_cast(x, reference.target_format("e4m3", arch), "clamp", given=given, arch=arch)
        return launch | {"sources": [DependsOn(launch["args"][4], launch["args"][0])]}


def turned(launch: LaunchDict, part: Part) -> LaunchDict:
    """Sources of both outputs of a part; elements outside keep their value."""
    x, out, across = launch["args"][:3]

    def inside(row: NDArray[Any], col: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        row_in = (row >= part.first_row) & (row < part.first_row + part.rows)
        here = row_in & (col >= part.first_col) & (col < part.first_col + part.cols)
        return np.where(here, row, -1), np.where(here, col, -1)

    return launch | {"sources": [ComesFrom(out, x, inside), ComesFrom(across, x, lambda col, row: inside(row, col))]}


def drawn(given: str, rows: int, cols: int, data: str) -> NDArray[Any]:
    """A matrix; ``symmetric`` is its own transpose where it is square."""
    if data == "symmetric":
        numbers = np.arange(rows)[:, None] + np.arange(cols)
        return operands.values(given, rows + cols, "finite")[numbers]
    return operands.values(given, rows * cols, data).reshape(rows, cols)


def declare_transposed(given: str) -> None:
    """Every tile, and the kernel without them, for one input format."""
    tiles = [each for each in transpose_cases.TILES if each["given"] == given]

    @case(
        f"transpose_{given}.hip",
        kernel="cast_transpose_{given}_{target}_load{load}_store{store}",
        arch=CDNA,
        each=tiles,
    )
    def transpose_moves(
        given: str = "f32",
        target: str = "e4m3",
        load: int = 16,
        store: int = 8,
        data: str = "finite",
        arch: str = "gfx950",
    ) -> LaunchDict:
        """Through the LDS."""
        wide = 32 * load // {"f32": 4}.get(given, 2)
        part = Part(load, store, 0, 32 * store, 0, wide)
        x = drawn(given, part.rows, part.cols, data)
        return turned(transpose_cases.launch_part(x, part, given, reference.target_format(target, arch)), part)

    @case(f"transpose_{given}.hip", kernel="cast_transpose_{given}_e4m3_rest", arch=CDNA, each=[{"given": given}])
    def transpose_rest_moves(
        given: str = "f32", rows: int = 43, cols: int = 37, data: str = "finite", arch: str = "gfx950"
    ) -> LaunchDict:
        """Element by element."""
        part, x = Part(0, 0, 0, rows, 0, cols), drawn(given, rows, cols, data)
        return turned(transpose_cases.launch_part(x, part, given, reference.target_format("e4m3", arch)), part)


for each_given in GIVEN:
    declare_transposed(each_given)


@case(
    "transpose_f32.hip",
    kernel="{kernel}",
    arch=CDNA,
    each=[{"part": name, "kernel": part.kernel("f32", "e4m3")} for name, part in transpose_cases.PARTS.items()],
)
def transpose_part_moves(
    part: str = "tiles", kernel: str = "", rows: int = 193, cols: int = 193, arch: str = "gfx950"
) -> LaunchDict:
    """A part in the middle of a matrix; the surrounding elements stay unchanged."""
    x, chosen = operands.values("f32", rows * cols, "finite").reshape(rows, cols), transpose_cases.PARTS[part]
    return turned(transpose_cases.launch_part(x, chosen, "f32", reference.target_format("e4m3", arch)), chosen)


@case("transposed_read.hip", kernel="transposed_read_{given}_e4m3", arch="gfx950", each=[{"given": g} for g in GIVEN])
def transposed_read_moves(given: str = "f32", data: str = "finite", arch: str = "gfx950") -> LaunchDict:
    """Through the transposed reads of the LDS."""
    part = read_cases.Read(16, 8, 0, read_cases.TALL, 0, read_cases.BROAD)
    x = drawn(given, part.rows, part.cols, data)
    return turned(transpose_cases.launch_part(x, part, given, reference.target_format("e4m3", arch)), part)


@case(
    "multi.hip",
    kernel="multi_{given}_e4m3",
    arch=CDNA,
    each=[*({"given": g} for g in GIVEN), {"shapes": "edges"}, {"shapes": "many"}],
)
def multi_moves(given: str = "f32", shapes: str = "one", arch: str = "gfx950") -> LaunchDict:
    """Many tensors: each byte from its element of its own tensor."""
    launch = multi_cases.launch_named(given, "e4m3", shapes, 0, 0.0, "", "finite", arch)
    arrays = [array for field in launch["args"][0] for array in fields(field)]
    count = next(place for place, array in enumerate(arrays) if array.role != "in")  # of tensors with elements
    some, outs, across = (arrays[first : first + count] for first in (0, count, 2 * count))
    straight = [ComesFrom(out, x) for x, out in zip(some, outs, strict=True)]
    swapped = [ComesFrom(out, x, lambda col, row: (row, col)) for x, out in zip(some, across, strict=True)]
    return launch | {"sources": straight + swapped}


def fields(field: Array | list[Any] | None) -> list[Array]:
    """Arrays of a table, in order."""
    if isinstance(field, list | tuple):
        return [array for inner in field for array in fields(inner)]
    return [] if field is None or not hasattr(field, "role") else [field]


def of_line(way: str, shape: tuple[int, int]) -> tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]:
    """Functions of a code's place: its element, and the elements of its block; and of a scale's place."""
    length = shape[1] if way == "row" else shape[0]

    def pair(line: NDArray[Any], place: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Row and column, from the line and the place in it; nothing beyond its end."""
        place = np.where(place < length, place, -1)
        return (line, place) if way == "row" else (place, line)

    def one_of(target: str) -> Callable[..., Any]:
        if target == "e2m1":
            return lambda line, byte, part: pair(line, 2 * byte + part)
        return lambda row, col: (row, col)

    def block_of(target: str) -> Callable[..., Any]:
        if target == "e2m1":
            # A padding nibble in the last byte has no source.
            return lambda line, byte, part: pair(
                line, np.where(2 * byte + part < length, 2 * byte // BLOCK * BLOCK + PLACES, length)
            )
        if way == "row":
            return lambda row, col: pair(row, col // BLOCK * BLOCK + PLACES)
        return lambda row, col: pair(col, row // BLOCK * BLOCK + PLACES)

    def of_scale(first: NDArray[Any], second: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        line, block = (first, second) if way == "row" else (second, first)
        return pair(line, block * BLOCK + PLACES)

    return one_of, block_of, of_scale


@case(
    "mx.hip",
    kernel="mx_{given}_{target}_{way}",
    arch=["gfx942", "gfx950", "gfx1201"],
    each=[{"given": g, "target": t, "way": w} for g in GIVEN for t in FORMATS for w in ("row", "column")],
)
def mx_moves(
    given: str = "f32",
    target: str = "e4m3",
    way: str = "row",
    rule: ScaleRule = "ocp",
    rows: int = 35,
    cols: int = 69,
    data: str = "finite",
) -> LaunchDict:
    """Each code from its element and its block only; each scale from the elements of its block."""
    x = mx_cases.matrix(given, rows, cols, data) if data != "signs" else signs(given, rows, cols)
    launch = mx_cases.launch_quantise(x, given, target, way, rule)
    given_x, codes, scales = launch["args"][:3]
    one_of, block_of, of_scale = of_line(way, x.shape)
    parts = 2 if target == "e2m1" else 1
    return launch | {
        "sources": [
            ComesFrom(codes, given_x, one_of(target), parts=parts),
            DependsOn(codes, given_x, block_of(target), parts=parts),
            DependsOn(scales, given_x, of_scale),
        ]
    }


def signs(given: str, rows: int, cols: int) -> NDArray[Any]:
    """1 and -1: every block has the same largest magnitude."""
    x = operands.values(given, rows * cols, "finite").reshape(rows, cols)
    one = np.ones((), {"f32": np.float32, "f16": np.float16}[given])
    return np.where(np.signbit(x), -one, one)


@case(
    "mx.hip",
    kernel="mx_{target}_{way}_back",
    arch=["gfx942", "gfx950", "gfx1201"],
    each=[{"target": t, "way": w} for t in FORMATS for w in ("row", "column")],
)
def mx_back_moves(target: str = "e4m3", way: str = "row", rows: int = 35, cols: int = 69) -> LaunchDict:
    """Each number from its code and from the scale of its own block."""
    launch = mx_cases.mx_dequantise(target, way, rows, cols)
    codes, scales, out = launch["args"][:3]
    scale = (lambda row, col: (row, col // BLOCK)) if way == "row" else (lambda row, col: (row // BLOCK, col))
    if target != "e2m1":
        return launch | {"sources": [ComesFrom(out, codes), ComesFrom(out, scales, scale)]}

    def nibble(row: NDArray[Any], col: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        line, place = (row, col) if way == "row" else (col, row)
        return line, place // 2, place % 2

    from_codes = ComesFrom(out, codes, nibble, input_parts=2, values=NIBBLES)
    return launch | {"sources": [from_codes, ComesFrom(out, scales, scale)]}
