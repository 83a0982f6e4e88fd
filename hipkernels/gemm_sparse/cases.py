"""GEMM with a 4:2 sparse A, on matrix instructions that take its kept half and an index, and what compresses A.

The index is followed like any operand: each of its two bits has to come from the place of the kept element beside it.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mfmasim.verify import A, B, C, In, Index, LaunchDict, Out, case, sparse

SIDE = 128
CDNA = ("gfx942", "gfx950")
MASKED = {"bounds-buffer-range": "rows of the last tile that do not exist are fetched from beyond the resource, as 0"}


def launch(M: int, N: int, K: int, element: str, sums: str) -> LaunchDict:
    """Arguments of the kernels for C of shape (M, N)."""
    a, index, b = A(element, (M, K // 2), align=16), Index((M, K // 2)), B(element, (K, N), order="column", align=16)
    return {
        "grid": (N // SIDE, -(-M // SIDE)),
        "block": 256,
        "args": [a, index, b, C(sums, (M, N)), M, N, K],
        "expect": sparse(a, index) @ b,
    }


def declare(kernel: str, arch: Sequence[str], instruction: str, element: str, sums: str) -> None:
    """The case of a kernel.

    Args:
        kernel: its name.
        arch: architectures.
        instruction: what it multiplies with.
        element: format of A and B.
        sums: format of C.
    """
    least = 64 if element.endswith("16") else 128

    def product(M: int = 128, N: int = 128, K: int = 3 * least) -> LaunchDict:
        return launch(M, N, K, element, sums)

    product.__name__ = kernel
    case(
        "wave32.hip" if "wave32" in kernel else "sparse.hip",
        kernel=kernel,
        arch=arch,
        needs=f"M > 0 and N > 0 and K > 0 and N % 128 == 0 and K % {least} == 0",
        executes=instruction,
        each=[{}, {"M": 77, "N": 256, "K": 128}],
        data=["integers", "one_hot"] if sums == "i32" else ["integers", "special", "normal"],
        mapping={"K": 2 * least},
        suppress=MASKED,
    )(product)


for name, element, sums, smfmac, swmmac in (
    ("", "f16", "f32", "f32_32x32x16_f16", "f32_16x16x32_f16"),
    ("_bf16", "bf16", "f32", "f32_32x32x16_bf16", "f32_16x16x32_bf16"),
    ("_fp8", "fp8", "f32", "f32_32x32x32_fp8_fp8", "f32_16x16x32_fp8_fp8"),
    ("_i8", "i8", "i32", "i32_32x32x32_i8", "i32_16x16x32_iu8"),
):
    declare(f"sparse{name or '_gemm'}", CDNA, f"v_smfmac_{smfmac}", element, sums)
    declare(f"sparse_wave32{name}", ("gfx1201",), f"v_swmmac_{swmmac}", element, sums)


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
