"""What the kernels of dot.hip compute: one function per kernel, from inputs to outputs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hipkernels.conformance.isa.exactly import fma32


def _elements(x: NDArray[Any], bits: int, signed: bool) -> NDArray[Any]:
    """The fields of `bits` bits in 32-bit words, (words, 32 / bits) of int64."""
    fields = x.view(np.uint32)[:, None] >> np.arange(0, 32, bits, dtype=np.uint32) & np.uint32((1 << bits) - 1)
    fields = fields.astype(np.int64)
    return fields - (fields >> bits - 1 << bits) if signed else fields


def _dot(
    x: NDArray[Any],
    y: NDArray[Any],
    z: NDArray[Any],
    bits: int,
    signs: tuple[bool, bool],
    clamp: bool,
    result_signed: bool,
) -> NDArray[Any]:
    a, b = (_elements(v, bits, sign) for v, sign in zip((x, y), signs, strict=True))
    total = (a * b).sum(1) + z.view(np.int32 if result_signed else np.uint32).astype(np.int64)
    if clamp:
        low, high = (-(2**31), 2**31 - 1) if result_signed else (0, 2**32 - 1)
        total = np.clip(total, low, high)
    return total.astype(np.uint32).view(np.int32)


def _both(x: NDArray[Any], y: NDArray[Any], z: NDArray[Any], bits: int, signed: bool) -> list[NDArray[Any]]:
    return [_dot(x, y, z, bits, (signed, signed), clamp, signed) for clamp in (False, True)]


def dot_integers(x: NDArray[Any], y: NDArray[Any], z: NDArray[Any]) -> NDArray[Any]:
    return np.stack([out for signed in (True, False) for bits in (8, 4) for out in _both(x, y, z, bits, signed)])


def dot_short(x: NDArray[Any], y: NDArray[Any], z: NDArray[Any]) -> NDArray[Any]:
    return np.stack(_both(x, y, z, 16, signed=True) + _both(x, y, z, 16, signed=False))


def dot_mixed(x: NDArray[Any], y: NDArray[Any], z: NDArray[Any]) -> NDArray[Any]:
    kinds = [(8, (True, False), False), (8, (False, True), True), (4, (True, False), True), (4, (False, False), False)]
    return np.stack([_dot(x, y, z, bits, signs, clamp, result_signed=True) for bits, signs, clamp in kinds])


def packed_f32(x: NDArray[Any], y: NDArray[Any], z: NDArray[Any]) -> NDArray[Any]:
    """x, y, z: (items, 2)."""
    swapped = y[:, ::-1]
    first = np.repeat(x[:, :1], 2, 1)
    fused = [fma32(*(np.ascontiguousarray(v) for v in vs)) for vs in ((x, y, z), (first, -swapped, z))]
    return np.stack([x + y, x * y, fused[0], x[:, ::-1] - y, fused[1]])


def dot_halves(x: NDArray[Any], y: NDArray[Any], z: NDArray[Any]) -> NDArray[Any]:
    """x, y: (items, 2)."""
    first = (x.astype(np.float64) * y).sum(1) + z
    second = first + (x.astype(np.float64) * y[::-1]).sum(1)
    return np.stack([first, second]).astype(np.float32)
