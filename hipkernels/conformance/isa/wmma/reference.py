"""Independent references: sparse products in float64 and in integers, from codes that are taken apart here."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

SEED = 23
"""A case is the same each time it is built."""


def two_of_four(k: int) -> NDArray[Any]:
    """Two different places out of four, in order, for each pair of kept elements: (16, k / 2)."""
    places = np.random.default_rng(SEED).permuted(np.tile(np.arange(4), (16, k // 4, 1)), axis=2)[:, :, :2]
    return np.sort(places, axis=2).reshape(16, k // 2)


def indices(where: NDArray[Any]) -> NDArray[Any]:
    """Places as words of sixteen, two bits each, in the order of k."""
    words = where.reshape(16, -1, 16).astype(np.uint64) << (2 * np.arange(16, dtype=np.uint64))
    return words.sum(axis=2).astype(np.uint32)


def expanded(a: NDArray[Any], where: NDArray[Any]) -> NDArray[Any]:
    """A with its zeros."""
    out = np.zeros((16, 2 * a.shape[1]), a.dtype)
    columns = np.arange(a.shape[1]) // 2 * 4 + where
    out[np.arange(16)[:, None], columns] = a
    return out


#          exponent bits, mantissa bits
FIELDS = {"e4m3fn": (4, 3), "e5m2": (5, 2), "bf16": (8, 7)}


def values(name: str, codes: NDArray[Any]) -> NDArray[Any]:
    """Finite codes as float64; f16 and f32 arrive as floats."""
    if codes.dtype.kind == "f":
        return codes.astype(np.float64)
    exponent_bits, mantissa_bits = FIELDS[name]
    bits = codes.astype(np.int64)
    field = bits >> mantissa_bits & ((1 << exponent_bits) - 1)
    mantissa = (bits & ((1 << mantissa_bits) - 1)) + ((field > 0) << mantissa_bits)
    exponent = np.maximum(field, 1) - ((1 << (exponent_bits - 1)) - 1) - mantissa_bits
    sign = 1 - 2 * (bits >> (exponent_bits + mantissa_bits) & 1)
    return sign * np.ldexp(mantissa.astype(np.float64), exponent)


def rounded(total: NDArray[Any]) -> NDArray[Any]:
    """Small numbers, which f32 holds exactly, as bf16 to nearest even."""
    bits = total.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def sparse(
    a_format: str, b_format: str, d: str, where: NDArray[Any], a: NDArray[Any], _: Any, b: NDArray[Any], c: NDArray[Any]
) -> NDArray[Any]:
    """C + A B for a sparse A and B by columns; sums are exact, and rounded once to bf16."""
    total = expanded(values(a_format, a), where) @ values(b_format, b).T + values(d, c)
    if d == "bf16":
        return rounded(total)
    return total.astype({"f32": np.float32, "f16": np.float16}[d])


def sparse_integers(where: NDArray[Any], a: NDArray[Any], _: Any, b: NDArray[Any], c: NDArray[Any]) -> NDArray[Any]:
    """The same in integers, wrapped to 32 bits."""
    total = expanded(a.astype(np.int64), where) @ b.astype(np.int64).T + c.astype(np.int64)
    return total.astype(np.uint64).astype(np.uint32).view(np.int32)
