"""Checks of the arithmetic's arguments: codes of the formats, matching shapes, modes that the model has."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.errors import MfmasimError, unknown
from mfmasim.formats import FORMATS
from mfmasim.matrix.arithmetic.product import Product
from mfmasim.matrix.arithmetic.special_values import RESULTS
from mfmasim.matrix.request import Operands

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.matrix.models import Model
    from mfmasim.matrix.request import Formats, Modes

_INTEGERS = tuple(name for name, form in FORMATS.items() if form.integer and form.bits <= 8)
_FLOATS = tuple(name for name, form in FORMATS.items() if not form.integer and form.special != "scale")


@lru_cache(maxsize=256)
def checked_product(model: Model, formats: Formats, modes: Modes, k: int) -> Product:
    """Parameters of a product, once for all its operands.

    Args:
        model: the accumulation model.
        formats: formats of A and B, and of C and D.
        modes: clamp, MODE.FP16_OVFL and MODE.denorm.
        k: K of one instruction.

    Raises:
        MfmasimError: formats that do not fit the model, or a modifier that it does not have.
    """
    integer = model.algorithm == "integer"
    factors = _INTEGERS if integer else _FLOATS
    for name in (formats.a, formats.b):
        if name not in factors:
            raise unknown("integer matrix element format" if integer else "matrix element format", name, factors)
    if integer and formats.d != "i32":
        raise MfmasimError(f"integer products accumulate in i32, not {formats.d}")
    for name in {formats.d, formats.addend} if not integer else ():
        if name not in RESULTS:
            raise unknown("format of C and D", name, RESULTS)
    if formats.addend != formats.d and model.algorithm != "aligned":
        raise MfmasimError(f"model {model.name} adds and returns one format, not {formats.addend} and {formats.d}")
    if model.algorithm == "fma" and not formats.a == formats.b == formats.d:
        raise MfmasimError(f"model {model.name} multiplies and adds in one format, not {formats.a} into {formats.d}")
    if modes.clamp and model.clamp == "none":
        raise MfmasimError(f"model {model.name} has no clamp")
    if k < 1:
        raise MfmasimError(f"K of an instruction must be at least 1, not {k}")
    return Product(model, formats, modes, k)


def checked(product: Product, given: Operands) -> tuple[Operands, tuple[int, ...]]:
    """The operands as unsigned arrays, and the leading axes that they broadcast to.

    Args:
        product: formats, model and modes.
        given: operands from the caller.

    Raises:
        MfmasimError: shapes or types that do not fit, or scales that the model does not have.
    """
    formats = product.formats
    operands = Operands(
        _codes("a", formats.a, given.a),
        _codes("b", formats.b, given.b),
        _codes("c", formats.addend, given.c),
        None if given.scale_a is None else _codes("scale_a", formats.scale_a, given.scale_a),
        None if given.scale_b is None else _codes("scale_b", formats.scale_b, given.scale_b),
        None if given.index is None else _codes("index", "2-bit positions", given.index, bits=2),
    )
    _check_shapes(product, operands)
    shapes = [array.shape[:-2] for array in operands.named().values()]
    if shapes.count(shapes[0]) == len(shapes):
        return operands, shapes[0]
    try:
        return operands, np.broadcast_shapes(*shapes)
    except ValueError:
        axes = ", ".join(dict.fromkeys(map(str, shapes)))
        raise MfmasimError(f"leading axes of the operands do not fit together: {axes}") from None


def _codes(name: str, fmt: str, codes: Any, bits: int = 0) -> NDArray[Any]:
    """Codes as an unsigned array; refuses floats, negatives and codes that do not fit."""
    array, bits = np.asarray(codes), bits or FORMATS[fmt].bits
    if array.dtype.kind not in "ui":
        raise MfmasimError(f"{name} must be raw {fmt} codes in an unsigned integer array, not {array.dtype}")
    if array.ndim < 2:
        raise MfmasimError(f"{name} must have at least two axes (rows, columns), not shape {array.shape}")
    if array.dtype.itemsize * 8 > bits or array.dtype.kind == "i":
        if array.size and (int(array.max()) >> bits or int(array.min()) < 0):
            bad = array[(array < 0) | (array >> bits != 0)].flat[0]
            raise MfmasimError(f"{name} holds {int(bad)}, which is not a code of {fmt} ({bits} bits)")
        array = array.astype(np.dtype(f"u{max(1, bits // 8)}"))
    return array


def _check_shapes(product: Product, operands: Operands) -> None:
    """(..., M, K) x (..., K, N) + (..., M, N); a sparse A has half as many columns as B has rows."""
    a, b, c = operands.a, operands.b, operands.c
    m, k, n = *a.shape[-2:], b.shape[-1]
    dense = k if operands.index is None else 2 * k
    if dense != b.shape[-2]:
        raise MfmasimError(f"a has K = {dense} (shape {a.shape}) but b has K = {b.shape[-2]} (shape {b.shape})")
    if c.shape[-2:] != (m, n):
        raise MfmasimError(f"c must end in {(m, n)} (M, N), but has shape {c.shape}")
    if operands.index is not None and operands.index.shape[-2:] != (m, k):
        raise MfmasimError(f"index must hold one position per kept element, {(m, k)}, not {operands.index.shape}")
    if not operands.scaled:
        return
    model = product.model
    if not model.scale_point:
        raise MfmasimError(f"model {model.name} has no block scales")
    block = product.formats.block
    if block % model.group:
        raise MfmasimError(f"model {model.name} sums {model.group} products, which straddles scale blocks of {block}")
    for name, scale, rows in (("scale_a", operands.scale_a, m), ("scale_b", operands.scale_b, n)):
        if scale is not None and scale.shape[-2:] != (rows, -(-k // block)):
            ends = (rows, -(-k // block))
            raise MfmasimError(
                f"{name} must end in {ends} (one code per {block} of K = {k}), but has shape {scale.shape}"
            )
