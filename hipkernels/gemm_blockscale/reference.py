"""The block-scaled product in the kernels' own order, bit for bit, and how far from the exact result it may lie.

Products of a block of 128 are those of the matrix instruction's model, whose fidelity is then the result's; everything
else is one f32 operation of NumPy each.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import mfmasim
from hipkernels.attention.numbers16 import fma
from mfmasim import matrix
from mfmasim.errors import MfmasimError

SIDE = 128
FP8 = {"gfx942": "e4m3fnuz", "gfx950": "e4m3fn"}
INSTRUCTIONS: dict[str, tuple[str, dict[str, str]]] = {
    "gfx942": ("v_mfma_f32_16x16x32_fp8_fp8", {}),
    "gfx950": ("v_mfma_scale_f32_16x16x128_f8f6f4", {"a": "e4m3fn", "b": "e4m3fn"}),
}


def _orders(k: int) -> NDArray[np.int64]:
    """K of a block that each instruction takes as its own k, in turn, (instructions, k).

    A lane holds K 16 g to 16 g + 15 and 64 further, g its group; an instruction takes k / 4 of these bytes.
    """
    own = np.concatenate([np.arange(16), 64 + np.arange(16)]).reshape(-1, k // 4)  # (instruction, byte of the lane)
    if k == SIDE:  # the instruction's own k lie in the same two runs
        return np.arange(SIDE)[None]
    return np.stack([(16 * np.arange(4)[:, None] + part).reshape(-1) for part in own])


def blocks(arch: str, a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Sum of each block of K as the matrix cores leave it, f32 (K / 128, M, N), of codes (M, K) and (N, K)."""
    name, formats = INSTRUCTIONS[arch]
    op = matrix.instruction(arch, name, **formats)
    (m, k), n = a.shape, b.shape[0]
    rows, columns = -(-m // 16), n // 16
    left = np.zeros((16 * rows, k), np.uint8)
    left[:m] = a
    left, right = left.reshape(rows, 1, 16, -1, SIDE), b.reshape(1, columns, 16, -1, SIDE)
    found = np.zeros((k // SIDE, rows, columns, 16, 16), np.uint32)
    for block in range(k // SIDE):
        for order in _orders(op.k):
            x, y = left[:, :, :, block][..., order], right[:, :, :, block][..., order]
            shape = (rows, columns, 16, op.k)
            found[block] = op.multiply(
                np.broadcast_to(x, shape), np.broadcast_to(y, shape).swapaxes(-1, -2), found[block]
            )
    return found.swapaxes(2, 3).reshape(k // SIDE, 16 * rows, n)[:, :m].view(np.float32)


def product(
    arch: str, a: NDArray[Any], b: NDArray[Any], scale_a: NDArray[Any], scale_b: NDArray[Any]
) -> NDArray[Any]:
    """Sums in f32, (M, N).

    Args:
        arch: architecture.
        a: codes (M, K).
        b: codes (N, K), by rows.
        scale_a: f32 (K / 128, M).
        scale_b: f32 (N / 128, K / 128).

    Raises:
        MfmasimError: a sum is further from the exact one than rounding allows: the model of the product is wrong.
    """
    parts = blocks(arch, a, b)
    sums = np.zeros(parts.shape[1:], np.float32)
    fmt = mfmasim.format(FP8[arch])
    x, y = fmt.decode(a).astype(np.float64), fmt.decode(b).astype(np.float64)
    exact, size = np.zeros(sums.shape), np.zeros(sums.shape)
    with np.errstate(all="ignore"):
        for block, part in enumerate(parts):
            k = slice(SIDE * block, SIDE * block + SIDE)
            other = np.repeat(scale_b[:, block], SIDE)
            scale = scale_a[block][:, None] * other
            sums = fma(part, scale, sums)
            by = scale_a[block].astype(np.float64)[:, None] * other
            exact += by * (x[:, k] @ y[:, k].T)
            size += np.abs(by) * (np.abs(x[:, k]) @ np.abs(y[:, k]).T)
        # Each product of a block is truncated at most once per k; a scale is rounded, and each sum, once.
        bound = (2 * SIDE + 2 * len(parts)) * 2.0**-24 * size + 2.0**-126
        wrong = np.isfinite(exact) & (np.abs(sums - exact) > bound)
    if wrong.any():
        m, n = np.argwhere(wrong)[0]
        raise MfmasimError(f"C[{m}][{n}] is {sums[m, n]}, exactly {exact[m, n]}, bound {bound[m, n]:.3g}")
    return sums


def shuffled(b: NDArray[Any]) -> NDArray[Any]:
    """B (..., N, K) in AITER's order (16, 16) for 8 bits: [N / 16][K / 16][16 rows][16 bytes].

    Source: aiter/ops/shuffle.py, `shuffle_weight`: rows of 16, columns of 32 in two halves of 16 bytes.
    """
    *lead, n, k = b.shape
    parts = b.reshape(*lead, n // 16, 16, k // 16, 16)
    return np.ascontiguousarray(parts.swapaxes(-3, -2)).reshape(b.shape)


def by_rows(memory: NDArray[Any]) -> NDArray[Any]:
    """The inverse of `shuffled`."""
    *lead, n, k = memory.shape
    parts = memory.reshape(*lead, n // 16, k // 16, 16, 16)
    return np.ascontiguousarray(parts.swapaxes(-3, -2)).reshape(memory.shape)
