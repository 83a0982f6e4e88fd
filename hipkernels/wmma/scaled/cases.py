"""gemm by RDNA's WMMA, ``alpha A B + beta C`` in f16 with C in f32: into another C, in place, or without any C.

Each kernel has a case of matrices, which is in place, and one of plain arrays, whose C_in and C_out are two. The first
one leaves alpha = 0 to the second: as an expression, 0 times a product with an infinity is NaN.
"""

from collections.abc import Sequence
from typing import Any

from hipkernels.wmma.scaled.reference import gemm
from mfmasim.verify import A, B, C, In, LaunchDict, Out, case
from mfmasim.verify.arrays import Array
from mfmasim.verify.roles import Tensor

RDNA, WMMA = ("gfx1151", "gfx1201"), "v_wmma_f32_16x16x16_f16"
FACTORS = [
    {"alpha": 1.25, "beta": -0.5},
    {"alpha": 2.0, "beta": 0.0},
    {"alpha": 0.0, "beta": 3.0},
    {"alpha": 0.0, "beta": 0.0},
]


def declare(
    kernel: str,
    tile: tuple[int, int],
    threads: int,
    *,
    k: int = 16,
    whole: bool = True,
    M: int = 0,
    N: int = 0,
    K: int = 48,
) -> None:
    """The cases of one kernel.

    Args:
        kernel: its name.
        tile: rows and columns of C that a workgroup computes.
        threads: work-items of a workgroup.
        k: divisor of K.
        whole: whether it loads 16 bytes at a time and so needs N % 8 == 0 and aligned rows.
        M: rows of C by default; else a few less than the tile.
        N: columns of C; else a few less than the tile.
        K: length of the sums.
    """
    align, size = 16 if whole else 2, (M or tile[0] - 8, N or tile[1] - 8, K)
    shape = f"M > 0 and N % 8 == 0 and K % {k} == 0" if whole else "M > 0 and N > 0 and K > 0"
    fixed: dict[str, Any] = {"kernel": kernel, "arch": RDNA}

    def launch(M: int, N: int, arrays: Sequence[Array | Tensor | None], rest: list[Any]) -> LaunchDict:
        return {"grid": (-(-N // tile[1]), -(-M // tile[0])), "block": threads, "args": [*arrays, *rest]}

    def in_place(
        M: int = size[0],
        N: int = size[1],
        K: int = K,
        lda: int = 0,
        ldb: int = 0,
        ldc: int = 0,
        alpha: float = 1.25,
        beta: float = -0.5,
    ) -> LaunchDict:
        a = A("f16", (M, K), ld=lda, align=align)
        b = B("f16", (K, N), ld=ldb, align=align)
        c = C("f32", (M, N), ld=ldc, align=4)
        rest = [M, N, K, lda or K, ldb or N, ldc or N, ldc or N, alpha, beta]
        expect = alpha * (a @ b) + beta * c if beta else alpha * (a @ b)
        return launch(M, N, [a, b, c, c], rest) | {"expect": expect}

    def out_of_place(
        M: int = size[0],
        N: int = size[1],
        K: int = K,
        alpha: float = 1.25,
        beta: float = -0.5,
        C_in: int = 1,
        arch: str = "",
    ) -> LaunchDict:
        inputs = [In("f16", (M, K), "normal"), In("f16", (K, N), "normal")]
        old = In("f32", (M, N), "special") if C_in else None
        args = [*inputs, old, Out("f32", (M, N))]
        return launch(M, N, args, [M, N, K, K, N, N, N, alpha, beta]) | {
            "expect": lambda a, b, c=None: gemm(arch, a, b, c, alpha, beta)
        }

    in_place.__name__, out_of_place.__name__ = kernel, f"{kernel}_apart"
    case("scaled.hip", needs=f"{shape} and alpha != 0", data=("normal", "special"), executes=WMMA, **fixed)(in_place)
    case("scaled.hip", needs=f"{shape} and (C_in or beta == 0)", each=FACTORS, **fixed)(out_of_place)


declare("gemm_64x64", (64, 64), 128, M=65)
declare("gemm_128x64", (128, 64), 256)
declare("gemm_k_unrolled", (128, 64), 256, k=32, K=64)
declare("gemm_256x64", (256, 64), 512)
declare("any_gemm_64x64", (64, 64), 128, whole=False, M=65, N=35, K=37)
declare("any_gemm_k_unrolled", (128, 64), 256, whole=False, M=29, N=33, K=36)
