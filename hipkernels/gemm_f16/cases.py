"""GEMM in f16 and bf16, C = alpha A B^T + beta C, once for each shape of matrix instructions."""

from mfmasim.verify import A, B, C, LaunchDict, case

SHAPES = {"16x16x16": ("gfx942", "gfx950"), "32x32x8": ("gfx942", "gfx950"), "16x16x32": "gfx950", "32x32x16": "gfx950"}
CONTRACT = "M % 64 == 0 and N % 64 == 0 and K % 64 == 0"


def declare(format_: str, shape: str) -> None:
    def gemm(
        M: int = 64,
        N: int = 128,
        K: int = 128,
        lda: int = 0,
        ldb: int = 0,
        ldc: int = 0,
        alpha: float = 1.25,
        beta: float = 0.5,
        offset_a: int = 0,
        alias: str = "",
    ) -> LaunchDict:
        a = A(format_, (M, K), ld=lda, offset=offset_a, align=16)
        b = B(format_, (K, N), order="column", ld=ldb, align=16)
        out = "f32" if format_ == "f16" else "bf16"
        c = C(out, (M, N), ld=ldc, align=4 if out == "f32" else 2, alias={"": None, "A": a, "B": b}[alias])
        return {
            "grid": (N // 64, M // 64),
            "block": 256,
            "args": [a, b, c, M, N, K, lda or K, ldb or K, ldc or N, alpha, beta],
            "expect": alpha * (a @ b) + beta * c if beta else alpha * (a @ b),
        }

    gemm.__name__ = name = f"{format_}_{shape}"
    instruction = f"v_mfma_f32_{shape}_{format_}"
    case("half.hip", kernel=name, arch=SHAPES[shape], needs=CONTRACT, executes=instruction)(gemm)


for each in SHAPES:
    for name in ("f16", "bf16"):
        declare(name, each)
