"""What gemm has to leave: the product by the instruction's arithmetic, and f32 from there on."""

import numpy as np

from mfmasim.verify import product_by


def fused(x, y, z):
    """``x * y + z`` of f32, rounded once: products are exact in f64, and the sum there is rounded to odd."""
    product, z = x.astype(np.float64) * y.astype(np.float64), z.astype(np.float64)
    total = product + z
    part = total - product
    lost = (product - (total - part)) + (z - part)
    even = (total.view(np.int64) & 1) == 0
    odd = np.where(even & (lost != 0) & np.isfinite(total), np.nextafter(total, np.copysign(np.inf, lost)), total)
    return odd.astype(np.float32)


def gemm(arch, a, b, c, alpha, beta):
    """``alpha A B + beta C`` as the kernels have it; a factor of 0 reads nothing."""
    alpha, beta = np.float32(alpha), np.float32(beta)
    old = None if beta == 0 else beta * c
    if alpha == 0:
        return np.zeros((a.shape[0], b.shape[1]), np.float32) if old is None else old
    total = product_by(arch, "v_wmma_f32_16x16x16_f16", a.view(np.uint16), b.view(np.uint16)).view(np.float32)
    return alpha * total if old is None else fused(alpha, total, old)
