"""The problem that every kernel here solves, C = A B in f16 with sums in f32, and the contract of each kernel."""

from typing import Any

from mfmasim.verify import A, B, C, LaunchDict, case

RDNA = ("gfx1151", "gfx1201")
WMMA = "v_wmma_f32_16x16x16_f16"
DATA = ("normal", "special")  # where signs differ RDNA3 truncates even sums that are exact in f32


def declare(
    source: str,
    kernel: str,
    tile: tuple[int, int],
    threads: int,
    *,
    k: int = 16,
    n: int = 8,
    whole: bool = True,
    line: bool = False,
    c: int = 4,
    order: str = "row",
    M: int = 0,
    N: int = 0,
    K: int = 48,
    **more: Any,
) -> None:
    """A case for a kernel.

    Args:
        source: HIP source.
        kernel: kernel name.
        tile: rows and columns of C that a workgroup computes.
        threads: work-items of a workgroup.
        k: divisor of K.
        n: divisor of N; 8 where B is loaded 16 bytes at a time, which then needs aligned rows.
        whole: whether A is loaded 16 bytes at a time, which needs `k` and aligned rows; otherwise M, N and K are any.
        line: whether the grid has one dimension.
        c: bytes that rows of C have to begin at a multiple of.
        order: of B; in ``column`` order it is stored as N rows of K.
        M: rows of C by default; else a few less than the tile.
        N: columns of C; else a few less than the tile.
        K: length of the sums.
        more: further arguments of `case`; also ``name``, of the case, if it is not the kernel's, and ``asks``, which is
            called with M, N and K and raises MfmasimError for shapes that the kernel does not support.
    """
    n = n if whole else 1
    name, asks = more.pop("name", kernel), more.pop("asks", None)

    def gemm(
        M: int = M or tile[0] - 8, N: int = N or tile[1] - 8, K: int = K, lda: int = 0, ldb: int = 0, ldc: int = 0
    ) -> LaunchDict:
        if asks:
            asks(M, N, K)
        tensors = [
            A("f16", (M, K), ld=lda, align=16 if whole else 2),
            B("f16", (K, N), order=order, ld=ldb, align=2 * n),
            C("f32", (M, N), ld=ldc, align=c),
        ]
        a, b, _ = tensors
        rows, columns = -(-M // tile[0]), -(-N // tile[1])
        return {
            "grid": rows * columns if line else (columns, rows),
            "block": threads,
            "args": [*tensors, M, N, K, lda or K, ldb or (N if order == "row" else K), ldc or N],
            "expect": a @ b,
        }

    gemm.__name__ = name
    needs = f"M > 0 and N % {n} == 0 and K % {k} == 0" if whole else "M > 0 and N > 0 and K > 0"
    settings = {"arch": RDNA, "data": DATA, "needs": needs, "executes": WMMA} | more
    case(source, kernel=kernel, **settings)(gemm)
