"""GEMM with a 4:2 sparse A, on matrix instructions that take its kept half and an index, and what compresses A.

The index is followed like any operand: each of its two bits has to come from the place of the kept element beside it.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.verify import A, B, C, In, Index, LaunchDict, Out, case, sparse

SIDE = 128
NEEDS = "M > 0 and N > 0 and K > 0 and N % 128 == 0 and K % 64 == 0"
MASKED = {"bounds-buffer-range": "rows of the last tile that do not exist are fetched from beyond the resource, as 0"}
EACH: list[dict[str, Any]] = [{}, {"M": 77, "N": 256, "K": 128}]


def launch(M: int, N: int, K: int) -> LaunchDict:
    """Arguments of the kernels for C of shape (M, N)."""
    a, index, b = A("f16", (M, K // 2), align=16), Index((M, K // 2)), B("f16", (K, N), order="column", align=16)
    return {
        "grid": (N // SIDE, -(-M // SIDE)),
        "block": 256,
        "args": [a, index, b, C("f32", (M, N)), M, N, K],
        "expect": sparse(a, index) @ b,
    }


@case(
    "sparse.hip",
    kernel="sparse_gemm",
    arch=["gfx942", "gfx950"],
    needs=NEEDS,
    executes="v_smfmac_f32_32x32x16_f16",
    each=EACH,
    data=["integers", "special", "normal"],
    mapping={"K": 128},
    suppress=MASKED,
)
def sparse_gemm(M: int = 128, N: int = 128, K: int = 192) -> LaunchDict:
    return launch(M, N, K)


@case(
    "wave32.hip",
    kernel="sparse_wave32",
    arch="gfx1201",
    needs=NEEDS,
    executes="v_swmmac_f32_16x16x32_f16",
    each=EACH,
    data=["integers", "special", "normal"],
    mapping={"K": 128},
    suppress=MASKED,
)
def sparse_wave32(M: int = 128, N: int = 128, K: int = 192) -> LaunchDict:
    return launch(M, N, K)


def compressed(codes: NDArray[np.uint16]) -> tuple[NDArray[np.uint16], NDArray[np.uint16]]:
    """Kept elements (rows, K / 2), and positions of eight of them a word (rows, K / 16), of codes (rows, K)."""
    groups = codes.reshape(len(codes), -1, 4)
    largest = np.argsort(-(groups & 0x7FFF).astype(np.int64), axis=-1, kind="stable")
    places = np.sort(largest[..., :2], axis=-1)
    kept = np.take_along_axis(groups, places, axis=-1).reshape(len(codes), -1)
    bits = places.reshape(len(codes), -1, 8) << (2 * np.arange(8))
    return kept, bits.sum(axis=-1).astype(np.uint16)


@case(
    "compress.hip",
    kernel="compress",
    arch=["gfx942", "gfx950", "gfx1201"],
    needs="M > 0 and K > 0 and K % 16 == 0",
    trace=False,
)
def compress(M: int = 33, K: int = 192) -> LaunchDict:
    a = In("u16", (M, K), "bits")
    return {
        "grid": -(-M * K // 16 // 256),
        "block": 256,
        "args": [a, Out("u16", (M, K // 2)), Out("u16", (M, K // 16)), M * K // 16],
        "expect": compressed,
    }
