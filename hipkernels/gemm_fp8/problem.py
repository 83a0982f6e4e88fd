"""The problem that every kernel here solves, C = alpha A B^T + beta C, and the contract of each kernel."""

from typing import Any

from mfmasim.verify import A, B, C, LaunchDict, case

CDNA = ("gfx942", "gfx950")


def declare(
    name: str,
    source: str,
    *,
    kernel: str = "",
    tile: tuple[int, int, int],
    threads: int | tuple[int, int],
    align: int = 16,
    arch: str | tuple[str, str] = CDNA,
    needs: str = "",
    M: int = 128,
    N: int = 128,
    K: int = 256,
    **more: Any,
) -> None:
    """A case for a GEMM kernel.

    Args:
        name: name of the case.
        source: HIP source.
        kernel: kernel name, if it is another.
        tile: rows and columns of C that a workgroup computes, and the step along K.
        threads: work-items of a workgroup, or several dimensions.
        align: bytes that the addresses of the rows of A and B have to be multiples of.
        arch: architectures.
        needs: the contract; it replaces the default, "multiples of the tile".
        M: rows of C by default.
        N: columns of C.
        K: length of the sums.
        more: further arguments of `case`.
    """
    m, n, _ = tile
    contract = needs or " and ".join(f"{size} % {step} == 0" for size, step in zip("MNK", tile, strict=True))

    def gemm(
        M: int = M,
        N: int = N,
        K: int = K,
        lda: int = 0,
        ldb: int = 0,
        ldc: int = 0,
        alpha: float = 1.25,
        beta: float = 0.5,
        offset_a: int = 0,
        offset_b: int = 0,
        offset_c: int = 0,
        alias: str = "",
        fp8: str = "fp8",
    ) -> LaunchDict:
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
