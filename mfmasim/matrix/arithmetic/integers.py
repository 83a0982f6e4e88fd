"""Integer matrix products: exact sums, wrapped to 32 bits or saturated once per instruction or half of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfmasim.formats import FORMATS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.matrix.arithmetic.product import Product
    from mfmasim.matrix.request import Operands


def integer(product: Product, operands: Operands) -> NDArray[np.uint32]:
    """``integer``: products of integers, accumulated exactly.

    float64 holds every sum: 2^53 is far above K * 2^16 + 2^31 for any K that fits in memory.

    Args:
        product: an ``integer`` model.
        operands: codes (tiles, rows, columns).

    Returns:
        The bits of the 32-bit sums (tiles, M, N).
    """
    modes, model = product.modes, product.model
    saturate = modes.clamp or (modes.fp16_ovfl and model.clamp == "saturate")
    a, b = _values(product.formats.a, operands.a), _values(product.formats.b, operands.b)
    value = operands.c.view(np.int32).astype(np.float64)
    step = product.k // 2 if saturate and model.clamp == "saturate_halves" else product.k
    for start in range(0, a.shape[2], step):
        value = value + np.matmul(a[:, :, start : start + step], b[:, start : start + step])
        if saturate:
            value = np.clip(value, -(2.0**31), 2.0**31 - 1)
    return value.astype(np.int64).astype(np.uint32)


def _values(name: str, codes: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Integers by their codes; the sign bit, where there is one, counts negative."""
    sign = FORMATS[name].sign_bit
    value: NDArray[np.float64] = (codes ^ np.uint8(sign)).astype(np.float64) - sign
    return value
