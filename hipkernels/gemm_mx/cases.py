"""GEMM with block scales on CDNA4, C = alpha (A * scale_A) (B * scale_B)^T + beta C, in the MX formats and mixed."""

from typing import Any

from mfmasim.verify import A, B, C, LaunchDict, ScaleA, ScaleB, case
from mfmasim.verify.shuffles import SHUFFLES

FORMATS = ("e4m3fn", "e5m2", "e2m3fn", "e3m2fn", "e2m1fn")
BITS = {"e4m3fn": 8, "e5m2": 8, "e2m3fn": 6, "e3m2fn": 6, "e2m1fn": 4}
PAIRS = [{"a": a, "b": b} for a in FORMATS for b in FORMATS]
READS = {8: 2, 6: 3, 4: 1}
"""Reads of the LDS for a fragment, by bits of an element."""
SHAPES = {"16x16x128": 16, "32x32x64": 32}
ALIKE = [("e4m3fn", "e4m3fn"), ("e2m1fn", "e2m1fn")]
MIXED = [("e2m3fn", "e2m3fn"), ("e5m2", "e3m2fn"), ("e4m3fn", "e2m1fn")]
TILED = {
    "tiled": ("tiled.hip", "16x16x128", 128, ALIKE + MIXED),
    "tiled_32x32x64": ("tiled.hip", "32x32x64", 128, ALIKE + MIXED),
    "hipkittens_rows": ("shuffled.hip", "16x16x128", 128, ALIKE),
    "hipkittens_lanes": ("shuffled.hip", "16x16x128", 128, ALIKE),
    "hipblaslt_32x8": ("shuffled.hip", "16x16x128", 256, ALIKE),
}
"""Source, instruction, what K is a multiple of, and formats."""


def declare(
    name: str, source: str, shape: str, block: int, size: int, deep: int = 128, K: int = 256, **more: Any
) -> None:
    """Cases of one kernel in several formats.

    Args:
        name: name of the cases, and the first part of the kernels'.
        source: HIP source.
        shape: M, N and K of the instruction.
        block: rows and columns of C of a workgroup.
        size: rows and columns of C by default.
        deep: what K is a multiple of.
        K: by default.
        more: further arguments of `case`; ``shuffle`` is the order of the scales.
    """
    shuffled = more.pop("shuffle", "")

    def scaled(
        a: str = "e4m3fn",
        b: str = "e4m3fn",
        M: int = size,
        N: int = size,
        K: int = K,
        lda: int = 0,
        ldb: int = 0,
        ldc: int = 0,
        alpha: float = 1.25,
        beta: float = 0.5,
        shuffle: str = shuffled,
    ) -> LaunchDict:
        x = A(a, (M, K), ld=lda, align=16)
        y = B(b, (K, N), order="column", ld=ldb, align=16)
        sx, sy = ScaleA((M, K // 32), shuffle=shuffle), ScaleB((K // 32, N), order="column", shuffle=shuffle)
        c = C("bf16", (M, N), ld=ldc, align=2)
        product = alpha * ((x * sx) @ (y * sy))
        return {
            "grid": (N // block, M // block),
            "block": 256,
            "args": [x, y, sx, sy, c, M, N, K, lda or K, ldb or K, ldc or N, alpha, beta],
            "expect": product + beta * c if beta else product,
        }

    scaled.__name__ = name
    case(
        source,
        kernel=f"{name}_{{a}}_{{b}}",
        arch="gfx950",
        needs=f"M % {block} == 0 and N % {block} == 0 and K % {deep} == 0",
        executes=f"v_mfma_scale_f32_{shape}_f8f6f4",
        **more,
    )(scaled)


def ahead(shape: str, a: str, b: str, name: str) -> tuple[str, ...]:
    """Orders of a turn of tiled.h: the next tile is fetched before this one is read; the last turn fetches nothing.

    Args:
        shape: M, N and K of the instruction.
        a: format of A.
        b: format of B.
        name: of the case, which is the order of the scales where it has one.
    """
    rows = SHAPES[shape]
    tiles, steps = 64 // rows, rows // 16
    scales = {"hipkittens_lanes": 1, "hipblaslt_32x8": 2}.get(name, tiles)
    reads = 2 * scales + tiles * steps * (READS[BITS[a]] + READS[BITS[b]])
    direct = (BITS[a] + BITS[b]) // 2
    turn = f"R{reads} lgkmcnt(0) M{tiles * tiles * steps}"
    # Two tiles of K have their scales together: only every other turn fetches some.
    fetches = (direct, direct + 2) if name == "hipblaslt_32x8" else (direct + 1,)
    return turn, *(f"F{n} {turn} vmcnt(0) B" for n in fetches)


declare("scaled", "scaled.hip", "16x16x128", 64, 64, each=PAIRS)
declare("scaled_32x32x64", "scaled_32x32x64.hip", "32x32x64", 64, 64, each=PAIRS)
for name, (source, shape, deep, pairs) in TILED.items():
    more = {"shuffle": name} if name in SHUFFLES else {}
    for a, b in pairs:
        # Every slot is used again; the elements are followed through fewer tiles.
        each, mapping = [{"a": a, "b": b}], {"K": 256, "alpha": 1.0, "beta": 0.0}
        declare(
            name,
            source,
            shape,
            128,
            128,
            deep,
            3 * deep,
            each=each,
            order=ahead(shape, a, b, name),
            mapping=mapping,
            **more,
        )
