"""Matrix instructions in kernels over plain arrays: integers in any order, floats with sums that are exact."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hipkernels.conformance.isa.matrix.reference import bf16, blocks, dense, fields, fp8, product, six_bits, wrapped
from hipkernels.conformance.isa.targets import ARCHS, on_grid
from hipkernels.wmma_types.reference import SATURATES, integer_product
from mfmasim.verify import In, InOut, LaunchDict, Out, case

declare = partial(case, "matrix.hip")
wave, wave32 = on_grid(1, 64), on_grid(1, 32)
CDNA = [arch for arch in ARCHS if arch in ("gfx942", "gfx950")]
RDNA = [arch for arch in ARCHS if arch not in (*CDNA, "gfx1030")]
GFX12 = [arch for arch in ARCHS if arch == "gfx1201"]
SEED = 17
"""A case is the same each time it is built."""


def two_of_four() -> NDArray[Any]:
    """Two different places out of four, in order, for each pair of sparse elements: (16, 16)."""
    places = np.random.default_rng(SEED).permuted(np.tile(np.arange(4), (16, 8, 1)), axis=2)[:, :, :2]
    return np.sort(places, axis=2).reshape(16, 16).astype(np.uint8)


@declare(
    kernel="accumulate_agpr",
    arch=CDNA,
    executes=["v_accvgpr_read_b32", "v_accvgpr_write_b32", r"v_mfma_f32_32x32x8_f16 a\[.*"],
)
def accumulate_agpr(K: int = 40) -> LaunchDict:
    args = [In("f16", (32, K), "integers"), In("f16", (K, 32), "integers"), InOut("f32", (32, 32), "integers"), K]
    return wave(args, lambda a, b, c: product(a, b, c).astype(np.float32))


@declare(
    kernel="accumulation_registers",
    arch=CDNA,
    executes=[
        "global_load_dword a.*",
        "v_accvgpr_mov_b32",
        "ds_write_b32 v.*, a.*",
        "global_store_dword v.*, a.*, off",
    ],
)
def accumulation_registers() -> LaunchDict:
    args = [In("u32", 128, "bits"), Out("u32", (2, 128))]
    return {"grid": 2, "block": 64, "args": args, "expect": lambda x: np.stack([x, x * np.uint32(3)])}


@declare(kernel="mfma_bytes", arch=CDNA, executes="v_mfma_i32_16x16x32_i8")
def mfma_bytes() -> LaunchDict:
    args = [In("i8", (16, 32), "bits"), In("i8", (16, 32), "bits"), InOut("i32", (16, 16), "bits")]
    return wave(args, lambda a, b, c: wrapped(product(a, b.T, c)))


@declare(kernel="mfma_brains", arch=CDNA, executes="v_mfma_f32_32x32x8_bf16(_1k)?")
def mfma_brains() -> LaunchDict:
    args = [In("bf16", (32, 8), "integers"), In("bf16", (32, 8), "integers"), Out("f32", (32, 32))]
    return wave(args, lambda a, b: product(bf16(a), bf16(b).T).astype(np.float32))


@declare(kernel="mfma_doubles", arch=CDNA, executes="v_mfma_f64_16x16x4_f64")
def mfma_doubles(K: int = 12) -> LaunchDict:
    args = [In("f64", (16, K), "integers"), In("f64", (K, 16), "integers"), Out("f64", (16, 16)), K]
    return wave(args, product)


@declare(kernel="mfma_blocks", arch=CDNA, executes="v_mfma_f32_4x4x1_16b_f32 .* cbsz:2 abid:1")
def mfma_blocks() -> LaunchDict:
    args = [In("f32", (16, 4), "integers"), In("f32", (16, 4), "integers"), Out("f32", (2, 16, 4, 4))]
    return wave(args, blocks)


@declare(kernel="mfma_sparse", arch=CDNA, executes="v_smfmac_f32_16x16x32_f16")
def mfma_sparse() -> LaunchDict:
    args = [In("f16", (16, 16), "integers"), In("u8", (16, 16), two_of_four())]
    args += [In("f16", (16, 32), "integers"), Out("f32", (16, 16))]
    return wave(args, lambda a, where, b: product(dense(a, where), b.T, 1).astype(np.float32))


@declare(kernel="mfma_wide", arch="gfx950", executes=["v_mfma_f32_16x16x32_f16", "v_mfma_i32_16x16x64_i8"])
def mfma_wide() -> LaunchDict:
    args = [In("f16", (16, 32), "integers"), In("f16", (16, 32), "integers"), Out("f32", (16, 16))]
    args += [In("i8", (16, 64), "bits"), In("i8", (16, 64), "bits"), Out("i32", (16, 16))]
    return wave(args, lambda a, b, p, q: (product(a, b.T).astype(np.float32), wrapped(product(p, q.T))))


@declare(kernel="mfma_six_bits", arch="gfx950", executes="v_mfma_scale_f32_16x16x128_f8f6f4")
def mfma_six_bits() -> LaunchDict:
    scales = np.random.default_rng(SEED).integers(124, 130, (2, 16, 4)).astype(np.uint8)
    args = [In("u32", (16, 24), "bits"), In("u32", (16, 24), "bits")]
    args += [In("u8", (16, 4), scales[0].copy()), In("u8", (16, 4), scales[1].copy()), Out("f32", (16, 16))]
    return wave(args, six_bits)


def positive(*shape: int) -> NDArray[Any]:
    """Small unsigned numbers: where signs differ, RDNA3 truncates even sums that are exact in f32."""
    return np.random.default_rng(SEED).integers(0, 10, shape).astype(np.float32)


def brains(values: NDArray[Any]) -> NDArray[Any]:
    return (values.view(np.uint32) >> 16).astype(np.uint16)


@declare(kernel="wmma_halves", arch=RDNA, executes="v_wmma_f32_16x16x16_f16")
def wmma_halves() -> LaunchDict:
    a, b, c = positive(3, 16, 16)
    args = [In("f16", (16, 16), a.astype(np.float16)), In("f16", (16, 16), b.astype(np.float16))]
    args += [InOut("f32", (16, 16), c.copy())]
    return wave32(args, lambda a, b, c: product(a, b.T, c).astype(np.float32))


@declare(kernel="wmma_brains", arch=RDNA, executes="v_wmma_f32_16x16x16_bf16")
def wmma_brains() -> LaunchDict:
    a, b, c = positive(3, 16, 16)
    args = [In("bf16", (16, 16), brains(a)), In("bf16", (16, 16), brains(b)), InOut("f32", (16, 16), c.copy())]
    return wave32(args, lambda a, b, c: product(bf16(a), bf16(b).T, c).astype(np.float32))


@declare(kernel="wmma_bytes", arch=RDNA, executes="v_wmma_i32_16x16x16_iu8 .* neg_lo:.*")
def wmma_bytes() -> LaunchDict:
    args = [In("i8", (16, 16), "bits"), In("u8", (16, 16), "bits"), InOut("i32", (16, 16), "bits")]
    return wave32(args, lambda a, b, c: wrapped(product(a, b.T, c)))


@declare(kernel="wmma_nibbles", arch=RDNA, executes="v_wmma_i32_16x16x16_iu4 .* clamp")
def wmma_nibbles(arch: str = "") -> LaunchDict:
    args = [In("u32", (16, 2), "bits"), In("u32", (16, 2), "bits"), InOut("i32", (16, 16), "special")]

    def expect(a: NDArray[Any], b: NDArray[Any], c: NDArray[Any]) -> NDArray[Any]:
        factors = fields(a, 4, signed=False), fields(b, 4, signed=True).T
        return integer_product(*factors, c, step=SATURATES[arch], clamp=True)

    return wave32(args, expect)


@declare(kernel="wmma_fp8", arch=GFX12, executes="v_wmma_f32_16x16x16_fp8_bf8")
def wmma_fp8() -> LaunchDict:
    args = [In("e4m3fn", (16, 16), "integers"), In("e5m2", (16, 16), "integers"), InOut("f32", (16, 16), "integers")]
    return wave32(args, lambda a, b, c: product(fp8(a, 3), fp8(b, 2).T, c).astype(np.float32))


@declare(kernel="wmma_sparse", arch=GFX12, executes="v_swmmac_f32_16x16x32_f16")
def wmma_sparse() -> LaunchDict:
    args = [In("f16", (16, 16), "integers"), In("u8", (16, 16), two_of_four())]
    args += [In("f16", (16, 32), "integers"), InOut("f32", (16, 16), "integers")]
    return wave32(args, lambda a, where, b, c: product(dense(a, where), b.T, c).astype(np.float32))
