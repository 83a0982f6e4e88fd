"""MXFP4 GEMM in the 8-wave ping-pong and the 4-wave interleave on CDNA4, beside those of FP8 in gemm_fp8/scheduled."""

from typing import Any

from hipkernels.gemm_fp8.scheduled.schedules import APART, pingpong_order
from mfmasim.verify import A, B, C, Claim, LaunchDict, ScaleA, ScaleB, case

SIDE, DEEP = 256, 256
"""Rows and columns of C of a workgroup, and elements of K in a tile."""
ENDS = {"bounds-buffer-range": "rows, columns and K beyond the end are fetched from beyond the resource, as 0"}
MATRIX = "v_mfma_scale_f32_16x16x128_f8f6f4"
BLOCK = "M4 R M3 R M3 F R M3 R M2 F R M"
INTERLEAVE = f"vmcnt(9) lgkmcnt(0) B {BLOCK} lgkmcnt(0) {BLOCK} vmcnt(8) lgkmcnt(0) B F {BLOCK} lgkmcnt(0) {BLOCK}"
"""A step of 128 of K: four blocks, whose reads and loads are as far apart as there is room."""
COPIES = Claim("register copies in the main loop", "register copies", 0)
BOUND = [Claim("bound by the matrix cores", "matrix share", 1)]


def declare(
    schedule: str, source: str, threads: int, shuffled: bool, suppress: dict[str, str], flags: list[str], **more: Any
) -> None:
    """The cases of one kernel.

    Args:
        schedule: ``pingpong`` or ``interleave``.
        source: of the kernel.
        threads: work-items of a workgroup.
        shuffled: B is in AITER's order instead of by rows.
        suppress: findings that are meant.
        flags: of the compiler.
        more: further arguments of `case`.
    """
    name = f"mx_{schedule}_shuffled" if shuffled else f"mx_{schedule}"

    def scheduled(
        M: int = 256, N: int = 256, K: int = 768, gap: int = 0, ldc: int = 0, alpha: float = 1.25, beta: float = 0.5
    ) -> LaunchDict:
        a = A("e2m1fn", (M, K), ld=K + gap, align=16)
        b = B("e2m1fn", (K, N), order="column", align=16, shuffle="aiter_16x16" if shuffled else "")
        order = "hipblaslt_32x8"
        sa, sb = ScaleA((M, K // 32), shuffle=order), ScaleB((K // 32, N), order="column", shuffle=order)
        c = C("bf16", (M, N), ld=ldc, align=8)
        product = alpha * ((a * sa) @ (b * sb))
        return {
            "grid": (-(-N // SIDE), -(-M // SIDE)),
            "block": threads,
            "args": [a, b, sa, sb, c, M, N, K, K + gap, K, ldc or N, alpha, beta],
            "expect": product + beta * c if beta else product,
        }

    scheduled.__name__ = name
    case(
        f"../../gemm_fp8/scheduled/{source}",
        kernel=name,
        arch="gfx950",
        flags=flags,
        needs=f"M > 0 and N % 16 == 0 and N > 0 and K % 32 == 0 and K > {DEEP}",
        executes=[MATRIX, "buffer_load_dword.* lds"],
        each=[{}, {"M": 77, "N": 208, "K": 544, "gap": 32, "ldc": 212}],
        mapping={"alpha": 1.0, "beta": 0.0, "K": 544},
        suppress=ENDS | suppress,
        **more,
    )(scheduled)


for shuffled in (False, True):
    declare(
        "pingpong",
        "pingpong.hip",
        512,
        shuffled,
        APART,
        ["-DMXFP4"],
        order=pingpong_order("gfx950", scaled=True),
        claims=[COPIES, *BOUND],
    )
    declare("interleave", "interleave_mx.hip", 256, shuffled, {}, [], order=INTERLEAVE, claims=BOUND)
