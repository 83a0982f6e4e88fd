"""Block scales of one step: what they multiply a sum by, and by how much they raise its exponent."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mfmasim.formats import FORMATS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.matrix.arithmetic.product import Product
    from mfmasim.matrix.request import Operands


class Scale(NamedTuple):
    """Scale of a step's sum, by output element (tiles, M, N); the axes broadcast."""

    significand: NDArray[np.float64] | None
    """Product of the significands of both scales, exact; None where both are powers of two."""
    exponent: NDArray[np.int32]
    """Sum of their exponents."""
    nan: NDArray[np.bool_]
    """Where one of them is NaN."""

    def times(self, total: NDArray[np.float64]) -> NDArray[np.float64]:
        """A sum times the scale, exactly."""
        scaled: NDArray[np.float64] = np.ldexp(total, self.exponent)
        return scaled if self.significand is None else scaled * self.significand

    @property
    def zero(self) -> NDArray[np.bool_] | None:
        """Where a scale is zero; None where none can be."""
        return None if self.significand is None else self.significand == 0


def block_scales(product: Product, operands: Operands, first: int) -> Scale | None:
    """Scales of one block of K.

    Args:
        product: formats of the scales, and how many elements share one.
        operands: codes of the scales.
        first: number of a product in the block.

    Returns:
        The scales by output element; None without scales.
    """
    if not operands.scaled:
        return None
    block = first // product.formats.block
    exponent: Any = np.zeros((1, 1, 1), np.int32)
    nan: Any = np.zeros((1, 1, 1), np.bool_)
    significand: Any = None
    for name, codes in (
        (product.formats.scale_a, None if operands.scale_a is None else operands.scale_a[:, :, block, None]),
        (product.formats.scale_b, None if operands.scale_b is None else operands.scale_b[:, None, :, block]),
    ):
        if codes is None:
            continue
        if FORMATS[name].special == "scale":
            exponent, nan = (
                exponent + (codes.astype(np.int32) - FORMATS[name].bias),
                nan | (codes == FORMATS[name].mask),
            )
        else:
            numbers, powers, invalid = (table[codes] for table in _table(name))
            significand = numbers if significand is None else significand * numbers
            exponent, nan = exponent + powers, nan | invalid
    return Scale(significand, exponent, nan)


@cache
def _table(name: str) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.bool_]]:
    """Significand, exponent and whether it is NaN, of every code; a subnormal keeps the smallest exponent."""
    fmt = FORMATS[name]
    codes = np.arange(1 << fmt.bits)
    value = fmt.decode(codes.astype(fmt.carrier))
    nan = np.isnan(value)
    field = codes >> fmt.mantissa_bits & ((1 << fmt.exponent_bits) - 1)
    exponent = (np.maximum(field, 1) - fmt.bias).astype(np.int32)
    return np.ldexp(np.where(nan, 0.0, value), -exponent), exponent, nan
