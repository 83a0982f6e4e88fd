"""Reference of the split kernels, by the arithmetic of the instruction and of f32."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hipkernels.wmma.problem import WMMA
from mfmasim.verify import product_by


def slices_of(arch: str, a: NDArray[Any], b: NDArray[Any], slice_: int) -> NDArray[Any]:
    """Products of the slices of K, f16 by f16 -> f32 (slices, M, N)."""
    a, b = a.view(np.uint16), b.view(np.uint16)
    parts = (slice(first, first + slice_) for first in range(0, a.shape[1], slice_))
    return np.stack([product_by(arch, WMMA, a[:, k], b[k]) for k in parts]).view(np.float32)


def in_their_order(partial: NDArray[Any]) -> NDArray[Any]:
    """(slices, elements) -> (elements,), one f32 addition after the other."""
    total = np.zeros(partial.shape[1], np.float32)
    for layer in partial:
        total += layer
    return total
