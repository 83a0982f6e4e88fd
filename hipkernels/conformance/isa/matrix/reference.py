"""What the kernels of matrix.hip compute, exactly; inputs are chosen so that every sum is exact in its type."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def product(a: NDArray[Any], b: NDArray[Any], c: Any = None) -> NDArray[Any]:
    """A (m, k) times B (k, n) plus C, in integers or doubles that hold the sum exactly."""
    wide = np.int64 if a.dtype.kind in "iu" else np.float64
    total = a.astype(wide) @ b.astype(wide)
    return total + (0 if c is None else c)  # C = 0 turns a sum of -0 into 0


def wrapped(total: NDArray[Any]) -> NDArray[Any]:
    return total.astype(np.uint64).astype(np.uint32).view(np.int32)


def bf16(codes: NDArray[Any]) -> NDArray[Any]:
    return (codes.astype(np.uint32) << 16).view(np.float32)


def blocks(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """a: (16, 4), b: (16, 4)."""
    first = a[:, :, None] * b[:, None, :] + np.float32(0)
    shared = a[np.arange(16) // 4 * 4 + 1]
    return np.stack([first, first + shared[:, :, None] * b[:, None, :]])


def dense(values: NDArray[Any], places: NDArray[Any]) -> NDArray[Any]:
    """Sparse (rows, k) with the place of each value in its four -> (rows, 2 k). Two values may share a place."""
    rows, count = values.shape
    out = np.zeros((rows, 2 * count))
    slot = np.arange(count)
    np.add.at(out, (np.arange(rows)[:, None], 4 * (slot // 2) + places), values)
    return out


def fields(words: NDArray[Any], bits: int, signed: bool) -> NDArray[Any]:
    """(lines, words) of u32 -> (lines, fields), the low bits first."""
    ones = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=1, bitorder="little")
    ones = ones.reshape(len(words), -1, bits).astype(np.int64)
    value = (ones << np.arange(bits)).sum(-1)
    return value - (value >> bits - 1 << bits) if signed else value


def e2m3(codes: NDArray[Any]) -> NDArray[Any]:
    """6-bit floats: sign, two bits of exponent (bias 1), three of mantissa; OCP MX 1.0, 5.3.2."""
    exponent, mantissa = codes >> 3 & 3, codes & 7
    size = np.where(exponent == 0, mantissa, (8 + mantissa) << np.maximum(exponent - 1, 0)) / 8
    return np.where(codes >> 5 & 1, -size, size)


def six_bits(a: NDArray[Any], b: NDArray[Any], scale_a: NDArray[Any], scale_b: NDArray[Any]) -> NDArray[Any]:
    """a, b: 16 lines of 24 words; scales (16, 4), powers of two with bias 127."""
    factors = [
        e2m3(fields(words, 6, signed=False)) * np.repeat(2.0 ** (scale.astype(int) - 127), 32, 1)
        for words, scale in ((a, scale_a), (b, scale_b))
    ]
    return (factors[0] @ factors[1].T).astype(np.float32)


def fp8(codes: NDArray[Any], mantissa: int) -> NDArray[Any]:
    """OCP FP8 with so many bits of mantissa, finite codes only; OCP 8-bit floating point specification 1.0, 5.1."""
    bias = 2 ** (6 - mantissa) - 1
    code = codes.astype(int)
    exponent, fraction = code >> mantissa & (1 << 7 - mantissa) - 1, code & (1 << mantissa) - 1
    size = np.where(
        exponent == 0, fraction * 2.0 ** (1 - bias), ((1 << mantissa) + fraction) * 2.0 ** (exponent - bias)
    )
    return np.where(code >> 7, -size, size) / 2.0**mantissa
