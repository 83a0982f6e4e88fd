"""The problem that every kernel here solves, C = A B in f16 with sums in f32, and each one's contract."""

from mfmasim.verify import A, B, C, case

RDNA = ("gfx1151", "gfx1201")
WMMA = "v_wmma_f32_16x16x16_f16"
DATA = ("normal", "special")  # where signs differ RDNA3 truncates even sums that f32 could hold


def declare(source, kernel, tile, threads, *, k=16, whole=True, M=0, N=0, K=48, name="", **more):
    """A case for a kernel.

    Args:
        source: HIP source.
        kernel: kernel name.
        tile: rows and columns of C that a workgroup computes.
        threads: work-items of a workgroup.
        k: what K has to be a multiple of.
        whole: whether it loads 16 bytes at a time and so needs N % 8 == 0 and aligned rows.
        M: rows of C by default; else a few less than the tile.
        N: columns of C; else a few less than the tile.
        K: length of the sums.
        name: name of the case, if it is another.
        more: further arguments of `case`.
    """
    align = 16 if whole else 2

    def gemm(M=M or tile[0] - 8, N=N or tile[1] - 8, K=K, lda=0, ldb=0, ldc=0):
        a = A("f16", (M, K), ld=lda, align=align)
        b = B("f16", (K, N), ld=ldb, align=align)
        c = C("f32", (M, N), ld=ldc, align=4)
        return {
            "grid": (-(-N // tile[1]), -(-M // tile[0])),
            "block": threads,
            "args": [a, b, c, M, N, K, lda or K, ldb or N, ldc or N],
            "expect": a @ b,
        }

    gemm.__name__ = name or kernel
    needs = f"M > 0 and N % 8 == 0 and K % {k} == 0" if whole else "M > 0 and N > 0 and K > 0"
    settings = {"arch": RDNA, "data": DATA, "needs": needs, "executes": WMMA} | more
    case(source, kernel=kernel, **settings)(gemm)
