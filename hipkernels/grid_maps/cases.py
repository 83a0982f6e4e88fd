"""Grid maps as device code, compared with their NumPy versions; tests/grids proves which maps are right."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.grids import MAPS, Grid, banded, grid_map, shares
from mfmasim.verify import In, LaunchDict, Out, case

ARCHS = ["gfx942", "gfx950", "gfx1151", "gfx1201"]
SHAPES = [(1, 1), (5, 7), (16, 16), (16, 17), (40, 39)]
NAMES = [{"name": name} for name in MAPS]


def twins(
    ids: NDArray[Any], rows: NDArray[Any] | int, cols: NDArray[Any] | int, name: str, xcds: int, window: int, chunk: int
) -> tuple[NDArray[Any], ...]:
    found = grid_map(name).place(ids.astype(np.int64), Grid(rows, cols, xcds, window, chunk))
    return tuple(np.broadcast_to(line, ids.shape).astype(np.int32) for line in found)


@case("maps.hip", kernel="ask_{name}", arch=ARCHS, each=NAMES, needs="xcds >= 1 and window >= 1 and chunk >= 1")
def asked(name: str = "row", xcds: int = 8, window: int = 4, chunk: int = 8) -> LaunchDict:
    grids = [(i, rows, cols) for rows, cols in SHAPES for i in range(rows * cols)]
    ids, rows, cols = np.array(grids, np.int32).T.copy()
    n = len(ids)
    args = [In("i32", n, ids), In("i32", n, rows), In("i32", n, cols), Out("i32", n), Out("i32", n)]
    expect = partial(twins, name=name, xcds=xcds, window=window, chunk=chunk)
    return {"grid": -(-n // 256), "block": 256, "args": [*args, n, xcds, window, chunk], "expect": expect}


@case("maps.hip", kernel="launch_{name}", arch=ARCHS, each=NAMES, needs="rows >= 1 and cols >= 1")
def launched(
    name: str = "row", rows: int = 5, cols: int = 7, xcds: int = 8, window: int = 4, chunk: int = 8
) -> LaunchDict:
    n = rows * cols
    args = [Out("i32", n), Out("i32", n), rows, cols, xcds, window, chunk]
    expect = lambda: twins(np.arange(n), rows, cols, name, xcds, window, chunk)  # noqa: E731
    return {"grid": n, "block": 64, "args": args, "expect": expect}


@case("maps.hip", kernel="launch_banded", arch=ARCHS, needs="cols >= 1 and xcds >= 1", each=[{}, {"xcds": 1}])
def experts(heights: tuple[int, ...] = (3, 0, 1, 7, 0, 2), cols: int = 5, xcds: int = 8) -> LaunchDict:
    """Tiles of the experts of a grouped GEMM, some of which have no rows."""
    rows = sum(heights)
    owners = np.repeat(np.arange(len(heights)), heights).astype(np.int32)
    first = np.cumsum([0, *heights]).astype(np.int32)
    args = [Out("i32", rows * cols), Out("i32", rows * cols), In("i32", rows, owners), In("i32", len(first), first)]

    def expect(*_: NDArray[Any]) -> list[NDArray[Any]]:
        numbers = shares(np.arange(rows * cols), rows * cols, xcds)
        return [line.astype(np.int32) for line in banded(numbers, heights, cols)]

    return {"grid": rows * cols, "block": 64, "args": [*args, cols, xcds], "expect": expect}
