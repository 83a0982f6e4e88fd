"""Epilogues in the kernels' own order, bit for bit: f32 arithmetic of NumPy, and the casts' reference of the codes.

The sums are those of the matrix instruction's model, with the operands exchanged as in the kernels; its fidelity is
then the result's.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import mfmasim
from hipkernels.attention.numbers16 import fma, power
from hipkernels.cast import mx_reference
from hipkernels.gemm_blockscale.reference import summed
from mfmasim import matrix
from mfmasim.formats import ScaleRule, scale_of
from mfmasim.verify.shuffles import find_shuffle

F32 = np.float32
ORDER = "hipblaslt_32x8"
"""Order of scales in memory, of operands and of results."""
LOG2_E = F32(1.44269504088896340736)
STEP = 128
"""K of an instruction."""
BLOCK = 32
"""Elements under one scale."""


def products(arch: str, a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """``A B^T`` of FP8 codes (M, K) and (N, K), f32 (M, N)."""
    return np.ascontiguousarray(summed(arch, b, a).T)


def nibbles(packed: NDArray[Any]) -> NDArray[Any]:
    """FP4 codes, two to a byte, the first low."""
    return np.stack([packed & 15, packed >> 4], axis=-1).reshape(len(packed), -1)


def _steps(codes: NDArray[Any], scales: NDArray[Any], rows: int, depth: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Codes (tiles, steps, 16, 128) and scales (tiles, steps, 16, 4), filled up with 0, which has the scale 2^-127."""
    whole, more = np.zeros((rows, depth), np.uint8), np.zeros((rows, depth // BLOCK), np.uint8)
    whole[: len(codes), : codes.shape[1]], more[: len(scales), : scales.shape[1]] = codes, scales
    shape = rows // 16, 16, depth // STEP
    return whole.reshape(*shape, STEP).swapaxes(1, 2), more.reshape(*shape, STEP // BLOCK).swapaxes(1, 2)


def scaled_products(a: NDArray[Any], b: NDArray[Any], sa: NDArray[Any], sb: NDArray[Any]) -> NDArray[Any]:
    """The same of packed FP4 codes (M, K / 2) and (N, K / 2) with scales in `ORDER`, on gfx950."""
    op = matrix.instruction("gfx950", "v_mfma_scale_f32_16x16x128_f8f6f4", a="e2m1fn", b="e2m1fn")
    (m, half), n = a.shape, len(b)
    depth, order = -(-2 * half // STEP) * STEP, find_shuffle(ORDER)
    parts = []
    for codes, scales in ((b, sb), (a, sa)):
        rows = len(codes)
        by_row = order.loaded(scales, (rows, 2 * half // BLOCK))
        parts.append(_steps(nibbles(codes), by_row, -(-rows // 16) * 16, depth))
    (x, of_x), (y, of_y) = parts
    found = np.zeros((len(x), len(y), 16, 16), np.uint32)
    lead = found.shape[:2]
    for step in range(depth // STEP):
        left, right = (
            np.broadcast_to(x[:, None, step], (*lead, 16, STEP)),
            np.broadcast_to(y[None, :, step], (*lead, 16, STEP)),
        )
        scale_x = np.broadcast_to(of_x[:, None, step], (*lead, 16, 4))
        scale_y = np.broadcast_to(of_y[None, :, step], (*lead, 16, 4))
        found = op.multiply(left, right.swapaxes(-1, -2), found, scale_x, scale_y)
    whole = found.swapaxes(1, 2).reshape(16 * len(x), 16 * len(y))[:n, :m]
    return np.ascontiguousarray(whole.T).view(F32)


def widened(c: NDArray[Any]) -> NDArray[Any]:
    """C as f32; bf16 comes as its codes."""
    return (c.astype(np.uint32) << 16).view(F32) if c.dtype == np.uint16 else c.astype(F32)


def identity(_arch: str, x: NDArray[Any]) -> NDArray[Any]:
    """Values as they are."""
    return x


def gelu(arch: str, x: NDArray[Any]) -> NDArray[Any]:
    """GELU by tanh, as x / (1 + 2^z)."""
    s = F32(F32(-2) * LOG2_E) * F32(0.79788456080286535588)
    with np.errstate(all="ignore"):
        z = x * fma(x * x, np.asarray(F32(s * F32(0.044715))), np.asarray(s))
        return x / (F32(1) + power(arch, z))


def silu(arch: str, gate: NDArray[Any], value: NDArray[Any]) -> NDArray[Any]:
    """The value times the gate's SiLU."""
    with np.errstate(all="ignore"):
        return gate / (F32(1) + power(arch, gate * -LOG2_E)) * value


def linear(
    sums: NDArray[Any], alpha: float, bias: NDArray[Any], beta: float = 0.0, c: NDArray[Any] | None = None
) -> NDArray[Any]:
    """``fma(beta, C, fma(alpha, sum, bias))``; without C if beta is 0.

    Args:
        sums: f32 (M, N).
        alpha: factor of the sums.
        bias: f32 (N,).
        beta: factor of C.
        c: (M, N).
    """
    x = fma(sums, np.asarray(F32(alpha)), bias)
    return x if beta == 0 or c is None else fma(widened(c), np.asarray(F32(beta)), x)


def row_amax(x: NDArray[Any], before: NDArray[Any]) -> NDArray[Any]:
    """The largest of each row's magnitudes and of what was there, as integers, (M,)."""
    bits: NDArray[Any] = (x.view(np.uint32) & np.uint32(0x7FFFFFFF)).view(np.int32)
    return np.maximum(bits.max(axis=1), before)


def random_words(seed: int, numbers: NDArray[Any]) -> NDArray[np.uint32]:
    """Counter-based random words (C. Wellons, "lowbias32")."""
    x = numbers.astype(np.uint32) ^ np.uint32(seed)
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        x = (x ^ x >> np.uint32(shift)) * np.uint32(factor)
    found: NDArray[np.uint32] = x ^ x >> np.uint32(16)
    return found


def following(word: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The word for the second of two elements that share one: a step of the shift register of V_PRNG_B32."""
    return word << np.uint32(1) ^ np.where(word >> np.uint32(31), np.uint32(197), np.uint32(0))


def stochastic(x: NDArray[Any], target: str, rule: ScaleRule, seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Codes and scales as `mx_reference.quantise` gives them, of finite values rounded stochastically.

    An element is divided by its scale and cut where 24 bits of f32 end; the random word's top bits are added below the
    format's last place, and what then lies below that place is dropped.
    """
    rows, columns = x.shape
    fmt = mfmasim.format(mx_reference.FORMATS[target])
    scales = scale_of(np.abs(x).reshape(rows, -1, BLOCK).max(axis=2), fmt, rule)
    quotient = x.astype(np.float64) / np.repeat(mx_reference.powers(scales), BLOCK, axis=1)
    numbers = np.arange(rows * columns, dtype=np.uint32).reshape(rows, columns)
    if target == "e2m1":
        words = random_words(seed, numbers // np.uint32(2))
        words[:, 1::2] = following(words[:, 1::2])
    else:
        words = random_words(seed, numbers)
    exponent = np.maximum(np.frexp(np.where(quotient == 0, 1, quotient))[1] - 1, 1 - fmt.bias)
    smallest = np.exp2(exponent - 23.0)
    codes = fmt.encode(np.trunc(quotient / smallest) * smallest, "stochastic", "saturate", words)
    return (codes[:, ::2] | codes[:, 1::2] << 4 if target == "e2m1" else codes), scales


def stored(scales: NDArray[Any], written: int) -> NDArray[Any]:
    """Scales (M, blocks) in `ORDER`: of `written` blocks what fills up is 0, beyond them 0xff is left."""
    rows, blocks = scales.shape
    whole = np.full((-(-rows // 32) * 32, -(-blocks // 8) * 8), 0xFF, np.uint8)
    whole[:, :written] = 0
    whole[:rows, :blocks] = scales
    return find_shuffle(ORDER).stored(whole)


Function = Callable[[str, NDArray[Any]], NDArray[Any]]
FUNCTIONS: dict[str, Function] = {"linear": identity, "gelu": gelu}
