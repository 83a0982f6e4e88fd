"""The problem that every kernel here solves, C = alpha A B^T + beta C, and the contract each one states about it."""

from mfmasim.verify import A, B, C, case

CDNA = ("gfx942", "gfx950")


def declare(name, source, *, kernel="", tile, threads, align=16, arch=CDNA, needs="", M=128, N=128, K=256, **more):
    """A case for a GEMM kernel.

    Args:
        name: name of the case.
        source: HIP source.
        kernel: kernel name, if it is another.
        tile: rows and columns of C that a workgroup computes, and the step along K.
        threads: work-items of a workgroup, or several dimensions.
        align: bytes that the addresses of the rows of A and B have to be multiples of.
        arch: architectures.
        needs: the contract beyond "multiples of the tile"; where it is given it stands alone.
        M: rows of C by default.
        N: columns of C.
        K: length of the sums.
        more: further arguments of `case`.
    """
    m, n, _ = tile
    contract = needs or " and ".join(f"{size} % {step} == 0" for size, step in zip("MNK", tile, strict=True))

    def gemm(
        M=M,
        N=N,
        K=K,
        lda=0,
        ldb=0,
        ldc=0,
        alpha=1.25,
        beta=0.5,
        offset_a=0,
        offset_b=0,
        offset_c=0,
        alias="",
        fp8="fp8",
    ):
        a = A(fp8, (M, K), ld=lda, offset=offset_a, align=align)
        b = B(fp8, (K, N), order="column", ld=ldb, offset=offset_b, align=align)
        shared = {"": None, "A": a, "B": b}[alias]
        c = C("bf16", (M, N), ld=ldc, offset=offset_c, align=2, alias=shared)
        return {
            "grid": (-(-N // n), -(-M // m)),
            "block": threads,
            "args": [a, b, c, M, N, K, lda or K, ldb or K, ldc or N, alpha, beta],
            "expect": alpha * (a @ b) + beta * c if beta else alpha * (a @ b),
        }

    gemm.__name__ = name
    case(source, kernel=kernel or name, arch=arch, needs=contract, **more)(gemm)
