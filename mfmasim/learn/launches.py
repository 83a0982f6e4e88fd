"""What each exercise's kernel is launched with, and what is expected: as the function of a case file declares it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.verify import A, B, C, ComesFrom, DependsOn, In, LaunchDict, Out, ScaleA, ScaleB


def _product(
    M: int, N: int, K: int, a: str = "f16", b: str = "f16", read: str = "", block: int = 64, shared: int = 0
) -> LaunchDict:
    """C = A B in f32, all row-major, in one workgroup."""
    x, y, z = A(a, (M, K), read=read), B(b, (K, N)), C("f32", (M, N))
    return {"grid": 1, "block": block, "args": [x, y, z], "expect": x @ y, "shared_bytes": shared}


def _scaled(a: str) -> LaunchDict:
    """C = (A * scale_A) (B * scale_B) of 32x32x64."""
    x, y, z = A(a, (32, 64)), B(a, (64, 32)), C("f32", (32, 32))
    sx, sy = ScaleA((32, 2)), ScaleB((2, 32))
    return {"grid": 1, "block": 64, "args": [x, y, sx, sy, z], "expect": (x * sx) @ (y * sy)}


def lanes(n: int = 1024, wave: int = 64) -> LaunchDict:
    """The sum of each wave's elements."""
    x, out = In("i32", n, "integers"), Out("i32", n // wave)

    def sums(values: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(values.reshape(-1, wave).sum(axis=1, dtype=np.int32))

    sources = [DependsOn(out, x, lambda w: wave * w + np.arange(wave))]
    return {"grid": n // 256, "block": 256, "args": [x, out], "expect": sums, "sources": sources}


def f32_32x32x2() -> LaunchDict:
    """One instruction."""
    return _product(32, 32, 2, "f32", "f32")


def f16_32x32x8() -> LaunchDict:
    """One instruction."""
    return _product(32, 32, 8)


def f16_16x16x16() -> LaunchDict:
    """One instruction, of MFMA or WMMA."""
    return _product(16, 16, 16)


def wmma_16x16x16() -> LaunchDict:
    """One instruction of a wave of 32 lanes."""
    return _product(16, 16, 16, block=32)


def fp8_packing() -> LaunchDict:
    """A is converted by the kernel."""
    return _product(32, 32, 16, "f32", "e4m3fnuz", read="e4m3fnuz")


def fnuz_and_ocp(draw: int = 0) -> LaunchDict:  # noqa: ARG001 - other inputs by the name of the run
    """Both operands are in the format of another architecture."""
    return _product(32, 32, 16, "e4m3fn", "e4m3fn")


def block_scales() -> LaunchDict:
    """FP8 with scales."""
    return _scaled("e4m3fn")


def fp4_nibbles() -> LaunchDict:
    """FP4 with scales."""
    return _scaled("e2m1fn")


def lds_tile() -> LaunchDict:
    """Four waves."""
    return _product(64, 64, 16, block=256)


def bank_padding(n: int = 32) -> LaunchDict:
    """A transpose."""
    x, out = In("f32", (n, n), "normal"), Out("f32", (n, n))
    sources = [ComesFrom(out, x, lambda row, column: (column, row))]
    return {"grid": 1, "block": 256, "args": [x, out], "expect": np.transpose, "sources": sources}


def swizzled_tile() -> LaunchDict:
    """A tile of 4096 bytes, which leaves no room for padding."""
    return _product(32, 32, 64, shared=4096)


def direct_to_lds(n: int = 512) -> LaunchDict:
    """Blocks of 256 in reverse."""
    x, out = In("u32", n, "bits"), Out("u32", n)

    def reverse(values: NDArray[Any]) -> NDArray[Any]:
        return values.reshape(-1, 256)[:, ::-1].reshape(-1)

    sources = [ComesFrom(out, x, lambda i: i // 256 * 256 + 255 - i % 256)]
    return {"grid": n // 256, "block": 256, "args": [x, out], "expect": reverse, "sources": sources}


def waitcnt(n: int = 256) -> LaunchDict:
    """Two loads a lane."""
    x, out = In("u32", 2 * n, "bits"), Out("u32", n)

    def sums(values: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(np.uint32(3) * values[:n] + values[n:])

    return {"grid": n // 64, "block": 64, "args": [x, out, np.uint32(n)], "expect": sums}


def double_buffer(tiles: int = 4) -> LaunchDict:
    """A weighted sum over tiles."""
    x, out = In("u32", (tiles, 256), "bits"), Out("u32", 256)

    def sums(values: NDArray[Any]) -> NDArray[Any]:
        total = np.zeros(256, np.uint32)
        for tile in values:
            total = np.uint32(3) * total + tile[::-1]
        return total

    return {"grid": 1, "block": 256, "args": [x, out, np.uint32(tiles)], "expect": sums}


def triton_layout() -> LaunchDict:
    """Four waves, as Triton's programs."""
    return _product(64, 64, 8, block=256)


def small_gemm(M: int = 64, N: int = 64, K: int = 16) -> LaunchDict:
    """A product of any size.

    Args:
        M: rows of A.
        N: columns of B.
        K: columns of A.
    """
    x, y, z = A("f16", (M, K)), B("f16", (K, N)), C("f32", (M, N))
    sizes = [np.uint32(size) for size in (M, N, K)]
    return {"grid": (N // 64, M // 64), "block": 256, "args": [x, y, z, *sizes], "expect": x @ y}


LAUNCHES: dict[str, Callable[..., LaunchDict]] = {
    "lanes": lanes,
    "load_a": f32_32x32x2,
    "rows_of_d": f32_32x32x2,
    "pack_f16": f16_32x32x8,
    "k_of_16x16x16": f16_16x16x16,
    "fp8_packing": fp8_packing,
    "fnuz_and_ocp": fnuz_and_ocp,
    "block_scales": block_scales,
    "fp4_nibbles": fp4_nibbles,
    "lds_tile": lds_tile,
    "bank_padding": bank_padding,
    "xor_swizzle": swizzled_tile,
    "waitcnt": waitcnt,
    "direct_to_lds": direct_to_lds,
    "direct_swizzle": swizzled_tile,
    "double_buffer": double_buffer,
    "wmma_rdna3": wmma_16x16x16,
    "wmma_rdna4": wmma_16x16x16,
    "triton_layout": triton_layout,
    "small_gemm": small_gemm,
}
"""By the exercise's name."""
