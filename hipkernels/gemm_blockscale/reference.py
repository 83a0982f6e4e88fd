"""The block-scaled product in the kernels' own order, bit for bit, and how far from the exact result it may lie.

Products of a block of 128 are those of the matrix instruction's model, whose fidelity is then the result's; everything
else is one f32 operation of NumPy each.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import mfmasim
from hipkernels.attention.numbers16 import fma, power
from mfmasim import matrix
from mfmasim.errors import MfmasimError

SIDE = 128
FP8 = {"gfx942": "e4m3fnuz", "gfx950": "e4m3fn", "gfx1201": "e4m3fn"}
INSTRUCTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "gfx942": ("v_mfma_f32_16x16x32_fp8_fp8", {}),
    "gfx950": ("v_mfma_scale_f32_16x16x128_f8f6f4", {"a": "e4m3fn", "b": "e4m3fn"}),
    "gfx1201": ("v_wmma_f32_16x16x16_fp8_fp8", {}),
}


def finite(fmt: str, shape: tuple[int, ...], seed: int) -> NDArray[np.uint8]:
    """Codes of the whole range of an FP8 format but NaN: sums of their products are rounded nearly everywhere."""
    codes = np.random.default_rng(seed).integers(0, 256, shape, np.uint8)
    return np.where(np.isnan(mfmasim.format(fmt).decode(codes)), np.uint8(1), codes)


def _in_turn(k: int, each: int) -> NDArray[np.int64]:
    """K that each instruction takes as its own k, in turn, (instructions, each).

    A lane holds runs of 16 of K: on CDNA 64 n + 16 g onwards, g its group of 16 lanes, on RDNA4 32 n + 16 g onwards;
    an instruction takes as many bytes of a lane as it has k for a group.
    """
    if each == SIDE:  # the instruction's own k lie in the same two runs
        return np.arange(k).reshape(-1, SIDE)
    return np.arange(k).reshape(-1, each // 8, 2, 8).swapaxes(1, 2).reshape(-1, each)


def summed(arch: str, a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """``A B^T`` by a chain of matrix instructions that begins with 0 and reads 16 bytes a lane at a time.

    Args:
        arch: architecture.
        a: E4M3 codes (M, K) of the architecture's flavour; K a multiple of 128, on RDNA4 of 32.
        b: codes (N, K).

    Returns:
        f32 (M, N).
    """
    name, formats = INSTRUCTIONS[arch]
    op = matrix.instruction(arch, name, **formats)
    (m, k), n = a.shape, b.shape[0]
    rows, columns = -(-m // 16), -(-n // 16)
    left, right = np.zeros((16 * rows, k), np.uint8), np.zeros((16 * columns, k), np.uint8)
    left[:m], right[:n] = a, b
    left, right = left.reshape(rows, 1, 16, k), right.reshape(1, columns, 16, k)
    found = np.zeros((rows, columns, 16, 16), np.uint32)
    shape = (rows, columns, 16, op.k)
    for order in _in_turn(k, op.k):
        x, y = np.broadcast_to(left[..., order], shape), np.broadcast_to(right[..., order], shape)
        found = op.multiply(x, y.swapaxes(-1, -2), found)
    whole = found.swapaxes(1, 2).reshape(16 * rows, 16 * columns)[:m, :n]
    return np.ascontiguousarray(whole).view(np.float32)


def blocks(arch: str, a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Sum of each block of K as the matrix cores leave it, f32 (K / 128, M, N), of codes (M, K) and (N, K)."""
    return np.stack([summed(arch, a[:, k : k + SIDE], b[:, k : k + SIDE]) for k in range(0, a.shape[1], SIDE)])


def product(arch: str, a: NDArray[Any], b: NDArray[Any], scale_a: NDArray[Any], scale_b: NDArray[Any]) -> NDArray[Any]:
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


def experts_of(
    counts: tuple[int, ...], rows: int, seed: int, empty: int = 0
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Deal rows to experts: the list of rows, parts of 128 for one expert each, and the expert of each part.

    Args:
        counts: rows of each expert; they sum to `rows`.
        rows: rows of the result. The entries that fill a part up name this number, as vLLM's ``moe_align_block_size``.
        seed: of the permutation.
        empty: further parts without an expert, as a grid of the largest size has them.
    """
    order, at = np.random.default_rng(seed).permutation(rows), 0
    entries, experts = [np.zeros(0, np.int64)], []
    for expert, count in enumerate(counts):
        parts = -(-count // SIDE)
        entries.append(np.concatenate([order[at : at + count], np.full(parts * SIDE - count, rows)]))
        experts += [expert] * parts
        at += count
    entries.append(np.full(empty * SIDE, rows))
    return np.concatenate(entries).astype(np.int32), np.array(experts + [-1] * empty, np.int32)


def grouped(
    arch: str,
    a: NDArray[Any],
    b: NDArray[Any],
    scale_a: NDArray[Any],
    scale_b: NDArray[Any],
    entries: NDArray[Any],
    experts: NDArray[Any],
    fold: int,
    rows: int,
) -> NDArray[Any]:
    """Sums in f32, (rows, N): row `r` is row r // fold of A times B of the expert whose part of the list names r."""
    sums = np.zeros((rows, b.shape[1]), np.float32)
    for part, expert in zip(entries.reshape(-1, SIDE), experts, strict=True):
        named = part[(part >= 0) & (part < rows)]
        if expert >= 0 and named.size:
            sums[named] = product(arch, a[named // fold], b[expert], scale_a[:, named // fold], scale_b[expert])
    return sums


def gated(arch: str, sums: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """silu(gate) value of sums (rows, 2 N) as codes (rows, N), and the scales f32 (N / 128, rows)."""
    half = sums.shape[1] // 2
    fmt, one = mfmasim.format(FP8[arch]), np.float32(1)
    largest = np.float32(fmt.max)
    with np.errstate(all="ignore"):
        gate, value = sums[:, :half], sums[:, half:]
        values = gate / (one + power(arch, gate * np.float32(-1.44269504088896340736))) * value
        parts = values.reshape(len(sums), -1, SIDE)
        most = np.fmax(np.abs(parts).max(2), np.float32(1e-4))
        scale = most / largest
        scaled = np.clip(parts * (one / scale)[:, :, None], -largest, largest)
    return fmt.encode(scaled.reshape(values.shape)).astype(np.uint8), np.ascontiguousarray(scale.T)
