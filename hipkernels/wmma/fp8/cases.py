"""FP8 GEMM on RDNA4: rungs from one thread an element to a schedule that the matrix instructions bound."""

from collections.abc import Callable
from typing import Any

from hipkernels.gemm_blockscale.reference import finite
from hipkernels.wmma.fp8.reference import in_their_order
from mfmasim.verify import A, B, C, Claim, In, LaunchDict, Out, case

ARCH, MATRIX = "gfx1201", "v_wmma_f32_16x16x16_(fp8|bf8)_(fp8|bf8)"
MASKED = {"bounds-buffer-range": "rows that the matrices do not have are fetched from beyond the resource, as 0"}
ANY = "M > 0 and N > 0 and K > 0"
TILED = f"{ANY} and K % 64 == 0"
SIZES = {"f32": 4, "bf16": 2, "f16": 2}
COMBINATIONS = [
    *(("e4m3fn", "e4m3fn", c) for c in SIZES),
    *((a, b, "bf16") for a, b in (("e4m3fn", "e5m2"), ("e5m2", "e4m3fn"), ("e5m2", "e5m2"))),
]


def matrices(
    formats: tuple[str, str, str], tile: tuple[int, int], block: int | tuple[int, int], align: int, rows: bool
) -> Callable[..., LaunchDict]:
    """A case's function: C = alpha A B^T.

    Args:
        formats: of A, B and C.
        tile: rows and columns of C of a workgroup.
        block: its work-items.
        align: bytes that rows of A and B begin at a multiple of.
        rows: whether C is stored 16 bytes at a time, which needs aligned rows.
    """

    def gemm(
        M: int = tile[0] + 5,
        N: int = tile[1] + 8,
        K: int = 192,
        lda: int = 0,
        ldb: int = 0,
        ldc: int = 0,
        alpha: float = 1.25,
    ) -> LaunchDict:
        a = A(formats[0], (M, K), ld=lda, align=align)
        b = B(formats[1], (K, N), order="column", ld=ldb, align=align)
        c = C(formats[2], (M, N), ld=ldc, align=16 if rows else SIZES[formats[2]])
        return {
            "grid": (-(-N // tile[1]), -(-M // tile[0])),
            "block": block,
            "args": [a, b, c, M, N, K, lda or K, ldb or K, ldc or N, alpha],
            "expect": alpha * (a @ b),
        }

    return gemm


def declare(
    source: str,
    kernel: str,
    tile: tuple[int, int],
    block: int | tuple[int, int] = 128,
    formats: tuple[str, str, str] = ("e4m3fn", "e4m3fn", "f32"),
    align: int = 16,
    rows: bool = False,
    needs: str = TILED,
    **more: Any,
) -> None:
    """A kernel's case; arguments of `matrices`, its contract, and further ones of `case`."""
    gemm = matrices(formats, tile, block, align, rows)
    gemm.__name__ = kernel
    settings: dict[str, Any] = {"executes": MATRIX, "suppress": MASKED} | more
    case(source, kernel=kernel, arch=ARCH, needs=f"{needs} and N % 8 == 0" if rows else needs, **settings)(gemm)


declare("rungs.hip", "rung_naive", (16, 16), (16, 16), align=1, needs=ANY, executes=(), suppress={}, trace=False)
declare("rungs.hip", "rung_fragments", (16, 16), 32, align=8, needs=f"{ANY} and K % 16 == 0", suppress={})
for name in ("lds", "wide", "padded", "swizzled", "two_slots", "ahead"):
    declare("rungs.hip", f"rung_{name}", (64, 64))
declare("rungs.hip", "rung_large", (128, 128))
declare("rungs.hip", "rung_turned", (128, 128), rows=True)

TUNED = [
    Claim("bound by the vector unit, which multiplies", "VALU share", 1),
    Claim("matrix instructions of a turn, two tiles of K", "v_wmma_.*", 128),
    Claim("reads of 16 bytes, each for two of them", "ds_load_b128", 32),
    Claim("no read conflicts", "LDS degree", 1),
    Claim("no copies in the main loop", "register copies", 0),
]
for a, b, c in COMBINATIONS:
    declare(
        "tuned.hip",
        f"tuned_{a}_{b}_{c}",
        (128, 128),
        formats=(a, b, c),
        rows=True,
        claims=TUNED,
        data=("integers", "normal", "special") if a == b else ("integers", "normal"),
    )
for tile, threads in (((64, 64), 128), ((128, 64), 128), ((256, 128), 256)):
    declare("tuned.hip", "tuned_{}x{}".format(*tile), tile, threads, ("e4m3fn", "e4m3fn", "bf16"), rows=True)


@case(
    "tuned.hip",
    kernel="tuned_e4m3fn_e4m3fn_{c}",
    arch=ARCH,
    executes=MATRIX,
    needs=f"{TILED} and N % 8 == 0",
    suppress=MASKED,
    each=[{"c": "bf16"}, {"c": "f16", "M": 200, "K": 128}, {"c": "f32", "N": 264, "K": 64}],
)
def tuned_bits(
    c: str = "bf16", M: int = 77, N: int = 136, K: int = 320, alpha: float = 0.75, seed: int = 1, arch: str = ""
) -> LaunchDict:
    """Bit for bit what the instruction's arithmetic gives in the kernel's order of K."""
    inputs = [In("e4m3fn", (rows, K), finite("e4m3fn", (rows, K), seed + rows)) for rows in (M, N)]
    args = [*inputs, Out(c, (M, N)), M, N, K, K, K, N, alpha]
    expect = lambda a, b: in_their_order(arch, a, b, alpha, c)  # noqa: E731
    return {"grid": (-(-N // 128), -(-M // 128)), "block": 128, "args": args, "expect": expect}
