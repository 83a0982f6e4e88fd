"""The mathematically exact matrix product, rounded once.

`D[i,j] = round(sum over k of A[i,k] * SA[i,k//block] * B[k,j] * SB[k//block,j]  [+ C[i,j]])`, the sum exact in
integers, the one rounding to nearest even with gradual underflow.

Rules where a sum of real numbers has no answer, or two:
- NaN in A, B, C or a scale, Inf * 0, or infinities of both signs: the format's canonical NaN. One sign: that Inf.
  No finite product or partial sum overflows; only the rounded result can.
- An exact sum of zero is +0, whatever the signs of its summands. A sum that is not zero but rounds to zero keeps
  its sign.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from golden.reference.formats import FORMATS, Number, decode_all, encode, find_format
from golden.reference.terms import multiply, signed, special

if TYPE_CHECKING:
    from collections.abc import Sequence

    from golden.reference.formats import Codes


def add(terms: Sequence[Number]) -> Number:
    """The exact sum of numbers of any kind, by the rules above; an empty sum is +0."""
    answer = special(terms)
    if answer is not None:
        return answer
    unit = min((t.exponent for t in terms), default=0)
    total = sum(signed(t) << (t.exponent - unit) for t in terms)
    return Number("finite", int(total < 0), abs(total), unit, unit + abs(total).bit_length() - 1)


def product_terms(a: Sequence[Number], b: Sequence[Number]) -> list[Number]:
    """The exact products of a row of A and a column of B."""
    return [multiply(x, y) for x, y in zip(a, b, strict=True)]


def matmul(
    a: Codes,
    b: Codes,
    a_format: str,
    b_format: str,
    *,
    c: Codes | None = None,
    c_format: str = "f32",
    scale_a: Codes | None = None,
    scale_b: Codes | None = None,
    block: int = 32,
    out: str = "f32",
    saturate: bool = False,
) -> Codes:
    """The exact product of two matrices of codes, rounded once.

    Args:
        a: (M, K) raw codes.
        b: (K, N) raw codes.
        a_format: Format of A's codes.
        b_format: Format of B's codes.
        c: (M, N) raw codes to add, or None.
        c_format: Format of C's codes.
        scale_a: (M, K/block) e8m0fnu codes; given together with scale_b or not at all.
        scale_b: (K/block, N) e8m0fnu codes.
        block: Elements along K that share a scale.
        out: Format of the result.
        saturate: Overflow gives the largest finite value instead of Inf.

    Returns:
        (M, N) raw codes of `out`.

    Raises:
        ValueError: Shapes that do not belong together, or an unknown format.
    """
    check_shapes(a, b, c, scale_a, scale_b, block)
    rows, columns = decode_all(a, find_format(a_format)), decode_all(b.T, find_format(b_format))
    addends = None if c is None else decode_all(c, find_format(c_format))
    row_scales = None if scale_a is None else decode_all(scale_a, FORMATS["e8m0fnu"])
    column_scales = None if scale_b is None else decode_all(scale_b.T, FORMATS["e8m0fnu"])
    fmt = find_format(out)
    result = np.zeros((len(rows), len(columns)), fmt.dtype)
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            terms = product_terms(row, column)
            if row_scales is not None and column_scales is not None:
                scales = product_terms(row_scales[i], column_scales[j])
                terms = [multiply(term, scales[k // block]) for k, term in enumerate(terms)]
            if addends is not None:
                terms.append(addends[i][j])
            result[i, j] = encode(add(terms), fmt, saturate=saturate)
    return result


def check_shapes(a: Codes, b: Codes, c: Codes | None, scale_a: Codes | None, scale_b: Codes | None, block: int) -> None:
    """Hold the operands' shapes to A (M, K), B (K, N), C (M, N), scales (M, K/block) and (K/block, N).

    Raises:
        ValueError: One of them does not fit; it is named with both shapes.
    """
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0]:
        raise ValueError(f"A {a.shape} and B {b.shape} are not (M, K) and (K, N)")
    m, k, n = *a.shape, b.shape[1]
    if c is not None and c.shape != (m, n):
        raise ValueError(f"C is {c.shape}, needs {(m, n)}")
    if (scale_a is None) != (scale_b is None):
        raise ValueError("scale_a and scale_b come together or not at all")
    if scale_a is not None and scale_b is not None:
        if k % block:
            raise ValueError(f"K={k} is not a multiple of the scale block {block}")
        for name, scale, shape in (("scale_a", scale_a, (m, k // block)), ("scale_b", scale_b, (k // block, n))):
            if scale.shape != shape:
                raise ValueError(f"{name} is {scale.shape}, needs {shape}")
