"""Reference of gemm: the product by the instruction's arithmetic, then f32."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.verify import product_by


def fused(x: np.float32, y: NDArray[Any], z: NDArray[Any]) -> NDArray[Any]:
    """``x * y + z`` of f32, rounded once: products are exact in f64, and the sum there is rounded to odd."""
    product, z = x.astype(np.float64) * y.astype(np.float64), z.astype(np.float64)
    total = product + z
    part = total - product
    lost = (product - (total - part)) + (z - part)
    even = (total.view(np.int64) & 1) == 0
    odd = np.where(even & (lost != 0) & np.isfinite(total), np.nextafter(total, np.copysign(np.inf, lost)), total)
    return odd.astype(np.float32)


def gemm(arch: str, a: NDArray[Any], b: NDArray[Any], c: NDArray[Any], alpha: float, beta: float) -> NDArray[Any]:
    """``alpha A B + beta C`` as the kernels compute it; with a factor of 0 the operand is not read."""
    by, old = np.float32(alpha), None if beta == 0 else np.float32(beta) * c
    if alpha == 0:
        return np.zeros((a.shape[0], b.shape[1]), np.float32) if old is None else old
    total = product_by(arch, "v_wmma_f32_16x16x16_f16", a.view(np.uint16), b.view(np.uint16)).view(np.float32)
    return by * total if old is None else fused(by, total, old)
