"""Matrices of dot products: NumPy arrays only hold the codes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.errors import MfmasimError, unknown
from tests.slow.matrix.dot import dot

if TYPE_CHECKING:
    from mfmasim.matrix.models import Model

__all__ = ["multiply"]

Codes = np.ndarray[Any, np.dtype[Any]]

_STORE = {"f64": np.uint64, "f32": np.uint32, "i32": np.uint32, "f16": np.uint16, "bf16": np.uint16}


def multiply(
    model: Model,
    a_format: str,
    b_format: str,
    d_format: str,
    a: Codes,
    b: Codes,
    c: Codes,
    *,
    scale_a: Codes | None = None,
    scale_b: Codes | None = None,
    selection: Codes | None = None,
    clamp: bool = False,
    fp16_ovfl: bool = False,
    denormals: bool = True,
    c_format: str = "",
    scale_formats: tuple[str, str] = ("e8m0fnu", "e8m0fnu"),
    block: int = 32,
) -> Codes:
    """Multiply matrices of raw codes, one output element after the other.

    Args:
        model: a row of `mfmasim.matrix.models`.
        a_format: format of A's elements.
        b_format: format of B's elements.
        d_format: format of D, and of C unless c_format names another.
        a: (..., M, K) raw codes, right-aligned; when sparse, (..., M, kept K).
        b: (..., K, N) raw codes.
        c: (..., M, N) raw bits.
        scale_a: (..., M, K/block) codes of scales, or None.
        scale_b: (..., K/block, N) codes of scales, or None.
        selection: (..., M, kept K) the dense k of every kept element of A, or None.
        clamp: the instruction's clamp bit.
        fp16_ovfl: MODE.FP16_OVFL.
        denormals: MODE.denorm keeps subnormals.
        c_format: format of C where it is not that of D.
        scale_formats: formats of the scales of A and B.
        block: elements of K that share one scale.

    Returns:
        (..., M, N) raw bits: uint16, uint32 or uint64 by d's format.

    Raises:
        MfmasimError: shapes that do not fit, or what `dot` refuses.
    """
    if d_format not in _STORE:
        raise unknown("output format", d_format, _STORE)
    rows, kept = a.shape[-2:]
    depth, columns = b.shape[-2:]
    if (rows, columns) != c.shape[-2:] or (selection is None and kept != depth):
        raise MfmasimError(f"shapes do not fit: a {a.shape}, b {b.shape}, c {c.shape}; need (M, K), (K, N), (M, N)")
    if selection is not None and selection.shape[-2:] != (rows, kept):
        raise MfmasimError(f"selection has shape {selection.shape}, but a has {a.shape}")
    operands = [array for array in (a, b, c, scale_a, scale_b, selection) if array is not None]
    batch = np.broadcast_shapes(*(array.shape[:-2] for array in operands))

    def at(array: Codes | None, index: tuple[int, ...]) -> Codes | None:
        return None if array is None else np.broadcast_to(array, batch + array.shape[-2:])[index]

    d = np.zeros((*batch, rows, columns), _STORE[d_format])
    for index in np.ndindex(*batch):
        one_a, one_b, one_c = at(a, index), at(b, index), at(c, index)
        one_scale_a, one_scale_b, one_selection = at(scale_a, index), at(scale_b, index), at(selection, index)
        assert one_a is not None
        assert one_b is not None
        assert one_c is not None
        for i in range(rows):
            ks = range(kept) if one_selection is None else [int(k) for k in one_selection[i]]
            for j in range(columns):
                d[(*index, i, j)] = dot(
                    model,
                    a_format,
                    b_format,
                    d_format,
                    [int(code) for code in one_a[i]],
                    [int(one_b[k, j]) for k in ks],
                    int(one_c[i, j]),
                    scale_a=None if one_scale_a is None else [int(code) for code in one_scale_a[i]],
                    scale_b=None if one_scale_b is None else [int(code) for code in one_scale_b[:, j]],
                    clamp=clamp,
                    fp16_ovfl=fp16_ovfl,
                    denormals=denormals,
                    c_format=c_format,
                    scale_formats=scale_formats,
                    block=block,
                )
    return d
