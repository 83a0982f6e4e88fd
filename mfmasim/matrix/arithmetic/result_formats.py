"""Addends and results of another format than f32 around ``aligned``: widened before, rounded once per instruction."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.errors import MfmasimError
from mfmasim.formats import FORMATS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.matrix.arithmetic.product import Product, Rest
    from mfmasim.matrix.request import Operands


def aligned(product: Product, operands: Operands, rest: Rest) -> NDArray[Any] | None:
    """``aligned`` for formats of C and D other than f32; None where both are.

    Args:
        product: its model is an ``aligned`` row.
        operands: codes (tiles, rows, columns), and the scales of the same tiles.
        rest: D in f32 of one instruction.

    Returns:
        Raw bits (tiles, M, N) in the format of D.

    Raises:
        MfmasimError: several instructions whose C and D differ.
    """
    formats = product.formats
    if formats.d == formats.addend == "f32":
        return None
    k = operands.a.shape[2]
    if k > product.k and formats.d != formats.addend:
        raise MfmasimError(f"a chain of instructions needs C and D in one format, not {formats.addend} and {formats.d}")
    wide = replace(product, formats=formats._replace(d="f32", c="f32"))
    value = operands.c
    for first in range(0, k, product.k):
        part = slice(first, first + product.k)
        sliced = {"a": operands.a[:, :, part], "b": operands.b[:, part], "c": _widened(formats.addend, value)}
        some = replace(operands, **sliced, memos=None)
        value = _narrowed(product, some, rest(wide, some))
    return value


def _widened(name: str, codes: NDArray[Any]) -> NDArray[np.uint32]:
    """Codes of C as f32, exactly; a NaN stays a NaN."""
    if name == "f32":
        return codes
    with np.errstate(invalid="ignore"):
        wide: NDArray[np.float32] = FORMATS[name].decode(codes).astype(np.float32)
    return wide.view(np.uint32)


def _narrowed(product: Product, operands: Operands, bits: NDArray[np.uint32]) -> NDArray[Any]:
    """Results in the format of D: to nearest even, and NaN without payload.

    A finite sum out of range gives an infinity, or the largest number under MODE.FP16_OVFL.
    """
    name = product.formats.d
    if name == "f32":
        return bits
    fmt = FORMATS[name]
    value = bits.view(np.float32).astype(np.float64)
    codes = fmt.encode(np.abs(value), overflow="infinity_or_nan")
    if product.modes.fp16_ovfl:
        overflow = (codes == fmt.inf_code) & ~_infinite(product, operands)
        codes = np.where(overflow, codes.dtype.type(fmt.max_code), codes)
    signed = np.where(np.signbit(value), codes | codes.dtype.type(fmt.sign_bit), codes)
    nan: NDArray[Any] = np.where(np.isnan(value), codes.dtype.type(fmt.nan_code or 0), signed)
    return nan


def _infinite(product: Product, operands: Operands) -> NDArray[np.bool_]:
    """Where an infinite factor or addend makes the result infinite (or NaN)."""
    a, b = (product.factors(name, codes).inf for name, codes in (("a", operands.a), ("b", operands.b)))
    found: NDArray[np.bool_] = np.isinf(operands.c.view(np.float32))
    if a is not None:
        found = found | np.asarray(a.any(axis=2))[:, :, None]
    if b is not None:
        found = found | np.asarray(b.any(axis=1))[:, None, :]
    return found
