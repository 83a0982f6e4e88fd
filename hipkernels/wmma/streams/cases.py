"""Stream-K by RDNA's WMMA: parts of tiles in a workspace, added in the order of K by a second kernel."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.grids import segments
from mfmasim.grids.streams import Segment
from mfmasim.verify import A, B, C, In, InOut, LaunchDict, case, product_by

RDNA, WMMA, SIDE = ("gfx1151", "gfx1201"), "v_wmma_f32_16x16x16_f16", 64
NEEDS = {"stream_k": "N % 8 == 0 and K % 16 == 0", "any_stream_k": "K > 0"}
SHAPES = {"stream_k": (72, 136, 80), "any_stream_k": (65, 67, 53)}


def plan(M: int, N: int, K: int, workgroups: int) -> tuple[Segment, ...]:
    return segments(-(-M // SIDE) * -(-N // SIDE), -(-K // 16), workgroups)


def place(tile: int, N: int) -> tuple[slice, slice]:
    """Rows and columns of a tile of C."""
    row, column = divmod(tile, -(-N // SIDE))
    return slice(row * SIDE, (row + 1) * SIDE), slice(column * SIDE, (column + 1) * SIDE)


def first_kernel(
    arch: str, a: NDArray[Any], b: NDArray[Any], c: NDArray[Any], workspace: NDArray[Any], workgroups: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """C with the tiles that one workgroup has alone, and the workspace."""
    (M, K), N = a.shape, b.shape[1]
    for part in plan(M, N, K, workgroups):
        rows, columns = place(part.tile, N)
        k = slice(16 * part.first, 16 * part.last)
        sums = product_by(arch, WMMA, a[rows, k].view(np.uint16), b[k, columns].view(np.uint16)).view(np.float32)
        target = c[rows, columns] if part.slot is None else workspace[part.slot]
        target[: sums.shape[0], : sums.shape[1]] = sums
    return c, workspace


def second_kernel(workspace: NDArray[Any], c: NDArray[Any], K: int, workgroups: int) -> NDArray[Any]:
    """C with the sums of the parts, one after the other."""
    M, N = c.shape
    begun = set()
    for part in plan(M, N, K, workgroups):
        target = c[place(part.tile, N)]
        if part.slot is None:
            continue
        sums = workspace[part.slot, : target.shape[0], : target.shape[1]]
        target[:] = target + sums if part.tile in begun else sums
        begun.add(part.tile)
    return c


def declare(kernel: str) -> None:
    """Three cases: whole tiles as matrices, parts of them, and nearly one step a workgroup, as plain arrays."""
    M, N, K = SHAPES[kernel]
    align = 16 if kernel == "stream_k" else 2
    fixed: dict[str, Any] = {
        "kernel": kernel,
        "arch": RDNA,
        "executes": WMMA,
        "needs": f"M > 0 and N > 0 and workgroups > 0 and {NEEDS[kernel]}",
    }

    def whole(
        M: int = M, N: int = N, K: int = K, workgroups: int = 1, lda: int = 0, ldb: int = 0, ldc: int = 0
    ) -> LaunchDict:
        a, b = A("f16", (M, K), ld=lda, align=align), B("f16", (K, N), ld=ldb, align=align)
        c = C("f32", (M, N), ld=ldc, align=4)
        args = [a, b, c, None, M, N, K, lda or K, ldb or N, ldc or N]
        return {"grid": workgroups, "block": 128, "args": args, "expect": a @ b}

    def parts(M: int = M, N: int = N, K: int = K, workgroups: int = 4, arch: str = "") -> LaunchDict:
        args: list[Any] = [In("f16", (M, K), "normal"), In("f16", (K, N), "normal"), InOut("f32", (M, N))]
        args += [InOut("f32", (2 * workgroups, SIDE, SIDE)), M, N, K, K, N, N]
        expect = lambda a, b, c, workspace: first_kernel(arch, a, b, c, workspace, workgroups)  # noqa: E731
        return {"grid": workgroups, "block": 128, "args": args, "expect": expect}

    whole.__name__, parts.__name__ = f"{kernel}_whole", kernel
    tiles = -(-M // SIDE) * -(-N // SIDE)
    only = f"{fixed['needs']} and workgroups in (1, (M + 63) // 64 * ((N + 63) // 64))"
    case(
        "stream.hip",
        data=("normal", "special"),
        each=[{"workgroups": 1}, {"workgroups": tiles}],
        **fixed | {"needs": only},
    )(whole)
    case("stream.hip", each=[{"workgroups": 4}, {"workgroups": 7}, {"workgroups": 40}], **fixed)(parts)


for name in SHAPES:
    declare(name)


@case(
    "stream.hip",
    kernel="add_streams",
    arch=RDNA,
    each=[{"workgroups": w} for w in (1, 4, 7, 40)],
    needs="workgroups > 0",
)
def add_streams(M: int = 72, N: int = 136, K: int = 80, workgroups: int = 4) -> LaunchDict:
    tiles = -(-M // SIDE) * -(-N // SIDE)
    args = [In("f32", (2 * workgroups, SIDE, SIDE), "normal"), InOut("f32", (M, N), "normal"), M, N, K, N, workgroups]
    return {"grid": tiles, "block": 128, "args": args, "expect": lambda w, c: second_kernel(w, c, K, workgroups)}
