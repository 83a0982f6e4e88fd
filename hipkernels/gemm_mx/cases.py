"""GEMM with block scales on CDNA4, C = alpha (A * scale_A) (B * scale_B)^T + beta C, in the MX formats and mixed."""

from mfmasim.verify import A, B, C, LaunchDict, ScaleA, ScaleB, case

PAIRS = [(name, name) for name in ("e4m3fn", "e5m2", "e2m3fn", "e3m2fn", "e2m1fn")]
PAIRS += [("e4m3fn", "e2m1fn"), ("e2m1fn", "e2m3fn"), ("e2m3fn", "e5m2")]


@case(
    "scaled.hip",
    kernel="scaled_{a}_{b}",
    arch="gfx950",
    needs="M % 64 == 0 and N % 64 == 0 and K % 128 == 0",
    each=[{"a": a, "b": b} for a, b in PAIRS],
    executes="v_mfma_scale_f32_16x16x128_f8f6f4",
)
def scaled(
    a: str = "e4m3fn",
    b: str = "e4m3fn",
    M: int = 64,
    N: int = 64,
    K: int = 256,
    lda: int = 0,
    ldb: int = 0,
    ldc: int = 0,
    alpha: float = 1.25,
    beta: float = 0.5,
) -> LaunchDict:
    x = A(a, (M, K), ld=lda, align=16)
    y = B(b, (K, N), order="column", ld=ldb, align=16)
    sx, sy = ScaleA((M, K // 32)), ScaleB((K // 32, N), order="column")
    c = C("bf16", (M, N), ld=ldc, align=2)
    product = alpha * ((x * sx) @ (y * sy))
    return {
        "grid": (N // 64, M // 64),
        "block": 256,
        "args": [x, y, sx, sy, c, M, N, K, lda or K, ldb or K, ldc or N, alpha, beta],
        "expect": product + beta * c if beta else product,
    }
