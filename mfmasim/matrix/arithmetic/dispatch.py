"""Entry of the arithmetic: any number of tiles, in chunks of bounded memory, each by the algorithm of the model.

Which path computes what; the docstring of a path proves that its results are those of `complete_paths`, which follow
the definitions in `mfmasim.matrix.models` literally and are what is left where no bound of a faster path holds:

=============== ============================================================ =================
algorithm       operands                                                     path
=============== ============================================================ =================
aligned         few tiles, or factors of 8 bits, within its bounds           `small_batches`
aligned         8 bits and fewer, every product and addend on one grid       `one_grid`
aligned         8 bits and fewer, exponents close enough for matrix products `matmul_steps`
aligned         other finite factors with exponents within [-100, 124]       `aligned_steps`
aligned         infinite factors, exponents beyond, clamp, other parameters  `complete_paths`
dot2, dot4      sums in f32 whose factors are not special                    `dot_products`
dot2, dot4      any other                                                    `complete_paths`
exact, fma, ... all                                                          `complete_paths`
integer         all                                                          `integers`
=============== ============================================================ =================

`aligned_tiles` chooses between the middle three, and `result_formats` surrounds it where C or D is not f32.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.formats import FORMATS
from mfmasim.matrix.arithmetic import aligned_tiles, complete_paths, dot_products, result_formats, small_batches
from mfmasim.matrix.arithmetic.batches import CHUNK, chunks, merge, select, take
from mfmasim.matrix.arithmetic.byte_factors import narrow
from mfmasim.matrix.arithmetic.checks import checked, checked_product
from mfmasim.matrix.arithmetic.integers import integer
from mfmasim.matrix.arithmetic.one_grid import on_one_grid
from mfmasim.matrix.request import PLAIN, Formats, Modes, Operands

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.matrix.arithmetic.product import Product
    from mfmasim.matrix.models import Model
    from mfmasim.matrix.request import Memo

_ALGORITHMS: dict[str, Callable[[Product, Operands], NDArray[Any]]] = {
    "aligned": result_formats.aligned,
    "dot2": dot_products.dot,
    "dot4": dot_products.dot,
    "exact": complete_paths.exact,
    "flush_pairwise": complete_paths.flush_pairwise,
    "fma": complete_paths.fma,
    "integer": integer,
}


def multiply(
    model: Model, formats: Formats, operands: Operands, modes: Modes = PLAIN, k: int | None = None
) -> NDArray[Any]:
    """Compute d = a b + c as one matrix instruction does, or as a sequence of them that walks along K.

    Args:
        model: the accumulation model, from `mfmasim.matrix.models.model_for`.
        formats: formats of A and B, and of C and D.
        operands: raw codes, right-aligned in unsigned integers. Leading axes are a batch and broadcast. M, N and K
            need not be those of an instruction.
        modes: clamp, MODE.FP16_OVFL and MODE.denorm; the other modifiers are already in the operands.
        k: K of one instruction in elements of a: no rounding step crosses a multiple of it, and each instruction adds
            to the last one's D. None: one instruction.

    Returns:
        Raw bits of D, (..., M, N), uint16, uint32 or uint64.

    Raises:
        MfmasimError: shapes, types or formats that do not fit, or a modifier that the model does not have.
    """
    columns = np.shape(operands.a)[-1:] or (1,)
    product = checked_product(model, formats, modes, columns[0] if k is None else k)
    with np.errstate(all="ignore"):
        d = small_batches.aligned(product, operands, lambda some: _run(product, some, some.c.shape[:1]))
        if d is not None:
            return d
        memos = operands.memos
        operands, batch = checked(product, operands)
        if operands.index is not None:
            return _sparse(product, operands, batch)
        if aligned_tiles.few_bits(product) and not operands.scaled:
            merged = merge(operands, batch)
            if merged is not None:
                joined, shape = merged
                return np.ascontiguousarray(np.swapaxes(_run(product, joined, batch[:-2]).reshape(shape), -3, -2))
        return _run(product, operands, batch, memos)


def multiply_exactly(
    model: Model, formats: Formats, operands: Operands, modes: Modes = PLAIN
) -> NDArray[np.uint32] | None:
    """`multiply` where every sum is exact before it is rounded, else None: for tiles of any size, at less cost.

    Args:
        model: the accumulation model.
        formats: formats of A and B, and of C and D.
        operands: raw codes (..., rows, columns) of equally many axes, without scales; A and B broadcast against C.
        modes: as in `multiply`.
    """
    product = checked_product(model, formats, modes, operands.a.shape[-1])
    if (
        not aligned_tiles.few_bits(product)
        or formats.d != "f32"
        or formats.addend != "f32"
        or not aligned_tiles.shortcuts(product)
    ):
        return None
    checked(product, operands)
    memos = operands.memos or (None, None)
    a, b = (
        narrow(product, name, codes, memo)
        for name, codes, memo in zip("ab", (operands.a, operands.b), memos, strict=True)
    )
    with np.errstate(all="ignore"):
        return on_one_grid(product, a, b, operands.c)


def _run(
    product: Product, operands: Operands, batch: tuple[int, ...], memos: tuple[Memo, Memo] | None = None
) -> NDArray[Any]:
    """Run the model's algorithm over chunks of the batch, and over bands of rows where one tile is large.

    Args:
        product: formats, model and modes.
        operands: checked codes.
        batch: their leading axes.
        memos: of A and B, for a batch that is one chunk.
    """
    m, n = operands.c.shape[-2:]
    k = operands.a.shape[-1]
    algorithm = product.model.algorithm
    run = _ALGORITHMS[algorithm]
    # Array elements for a row of a tile. Most algorithms hold every product of a step at once.
    whole = {"aligned": n, "integer": n + k + n * k // max(1, m)}
    size = whole.get(algorithm, n * min(product.model.group, product.k))
    rows = m if algorithm in whole else max(1, CHUNK // max(1, size))
    parts = list(chunks(batch, min(m, rows) * size))
    if len(parts) == 1 and rows >= m:
        every = operands.map(lambda array: take(array, batch, parts[0]))
        return run(product, replace(every, memos=memos) if memos else every).reshape(*batch, m, n)
    out = np.empty((*batch, m, n), _result(product))
    flat = out.reshape(-1, m, n)
    for part in parts:
        some = operands.map(lambda array, part=part: take(array, batch, part))  # type: ignore[misc]
        if rows >= m:
            flat[part] = run(product, some)
            continue
        for top in range(0, m, rows):
            band = slice(top, top + rows)
            flat[part, band] = run(product, some.rows(band))
    return out


def _result(product: Product) -> np.dtype[Any]:
    """Type of the raw bits of D."""
    return FORMATS[product.formats.d].carrier


def _sparse(product: Product, operands: Operands, batch: tuple[int, ...]) -> NDArray[Any]:
    """Sparse A: every row of A selects different rows of B, so that each row becomes a tile of one row."""
    m, n = operands.c.shape[-2:]
    out = np.empty((*batch, m, n), _result(product))
    flat = out.reshape(-1, m, n)
    # The gathered B has an element for every product, of a byte or two: chunks a few times larger are affordable.
    for part in chunks(batch, max(1, m * n * operands.a.shape[-1] // 8)):
        some = operands.map(lambda array, part=part: take(array, batch, part))  # type: ignore[misc]
        rows = Operands(some.a[:, :, None, :], select(some), some.c[:, :, None, :])
        flat[part] = _run(product, rows, rows.c.shape[:2])[:, :, 0, :]
    return out
