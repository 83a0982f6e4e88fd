"""What the f32 kernels compute, from the meaning of their C++ source."""

import numpy as np


def fused(x, y, z):
    """One rounding of x y + z: f64 holds the product exactly, and rounding its sum to odd makes the second one safe."""
    product = x.astype(np.float64) * y.astype(np.float64)
    total = product + z.astype(np.float64)
    back = total - product
    error = (product - (total - back)) + (z - back)
    bits = total.view(np.int64)
    inexact = np.isfinite(total) & (error != 0)
    toward = np.where((error > 0) == (total > 0), 1, -1)
    odd = np.where(inexact & (bits & 1 == 0), bits + toward, bits)
    return odd.view(np.float64).astype(np.float32)
