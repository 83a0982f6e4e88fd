"""Entry of the arithmetic: any number of tiles, in chunks of bounded memory, each by the first path that is exact.

`PATHS` is the table of the paths. Every path gives what `complete` gives, which follows the definitions in
`mfmasim.matrix.models` literally and is the last row of every algorithm; `bounds` has the conditions and their
derivations.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mfmasim.formats import FORMATS
from mfmasim.matrix.arithmetic import aligned_tiles, complete, dot_products, result_formats, small_batches
from mfmasim.matrix.arithmetic.batches import CHUNK, chunks, merge, select, take
from mfmasim.matrix.arithmetic.byte_factors import byte_factors
from mfmasim.matrix.arithmetic.one_grid import on_one_grid
from mfmasim.matrix.arithmetic.product import RESULTS, checked, checked_product
from mfmasim.matrix.request import PLAIN, Formats, Modes, Operands

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.matrix.arithmetic.product import Product, Rest
    from mfmasim.matrix.models import Model
    from mfmasim.matrix.request import Memo


class Path(NamedTuple):
    """One way to D."""

    algorithms: str
    """Those of the models that it computes."""
    operands: str
    """Which products and operands it is for."""
    compute: Callable[[Product, Operands, Rest], NDArray[Any] | None]
    """D (tiles, M, N), or None where a bound does not hold."""
    proof: str
    """Names of `mfmasim.matrix.arithmetic.bounds` that its condition consists of."""


def _always(compute: Rest) -> Callable[[Product, Operands, Rest], NDArray[Any]]:
    return lambda product, operands, _: compute(product, operands)


SMALL = Path(
    "aligned",
    "few products, or factors of 8 bits; unchecked operands of the formats' own types",
    small_batches.aligned,
    "aligned_parameters LOWEST HIGHEST SCALED_UP ADDEND_UNITS exact_grid addend_limit SMALLEST_POWER "
    "FACTOR_FRACTION_BITS",
)
"""The first of all: `multiply` tries it before the operands are checked, which costs more."""
PATHS = (
    Path("aligned", "C or D in another format than f32, by the paths below", result_formats.aligned, ""),
    Path(
        "aligned",
        "factors of 8 bits and fewer, on one grid or with exponents that powers of two tell",
        aligned_tiles.by_bytes,
        "aligned_parameters FRACTION_BITS exact_grid chain_limit in_float32 addend_limit power_width",
    ),
    Path(
        "aligned",
        "finite factors whose products' exponents are within bounds",
        aligned_tiles.by_products,
        "aligned_parameters LOWEST HIGHEST ADDEND_UNITS EMPTY EMPTY_BELOW FACTOR_FRACTION_BITS",
    ),
    Path("aligned", "any other", _always(aligned_tiles.complete_tiles), ""),
    Path(
        "dot2 dot4",
        "sums in f32 of factors and addends that are not special",
        dot_products.dot,
        "dot_parameters DOT_FACTORS DOT_EMPTY DOT_ADDEND DOT_FINEST",
    ),
    Path("dot2 dot4", "any other", _always(complete.dot), ""),
    Path("exact", "all", _always(complete.exact), ""),
    Path("flush_pairwise", "all", _always(complete.flush_pairwise), ""),
    Path("fma", "all", _always(complete.fma), ""),
    Path("integer", "all", _always(complete.integer), ""),
)
"""In the order in which they are tried."""
_PATHS = {
    algorithm: [path.compute for path in PATHS if algorithm in path.algorithms.split()]
    for algorithm in dict.fromkeys(" ".join(path.algorithms for path in PATHS).split())
}


def _tiles(product: Product, operands: Operands) -> NDArray[Any]:
    """D of tiles by the first path that is exact for them."""
    found = (compute(product, operands, _tiles) for compute in _PATHS[product.model.algorithm])
    return next(d for d in found if d is not None)


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
    if product.clamp:
        unclamped = multiply(model, formats, operands, _unclamped(modes), k)
        if _all_finite(formats, unclamped):
            return unclamped
    with np.errstate(all="ignore"):
        d = SMALL.compute(product, operands, lambda product, some: _run(product, some, some.c.shape[:1]))
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
    if product.clamp:
        d = multiply_exactly(model, formats, operands, _unclamped(modes))
        return d if d is not None and _all_finite(formats, d) else None
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
        byte_factors(product, name, codes, memo)
        for name, codes, memo in zip("ab", (operands.a, operands.b), memos, strict=True)
    )
    with np.errstate(all="ignore"):
        return on_one_grid(product, a, b, operands.c)


def _unclamped(modes: Modes) -> Modes:
    """Modes under which a finite overflow gives an infinity."""
    return replace(modes, clamp=False, fp16_ovfl=False)


def _all_finite(formats: Formats, d: NDArray[Any]) -> bool:
    """Whether no step of any element overflowed: an infinity as the addend gives an infinity or NaN up to D."""
    infinity = d.dtype.type(RESULTS[formats.d].inf)
    return not (d & infinity == infinity).any()


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
    # Array elements for a row of a tile. Most algorithms hold every product of a step at once.
    whole = {"aligned": n, "integer": n + k + n * k // max(1, m)}
    size = whole.get(algorithm, n * min(product.model.group, product.k))
    rows = m if algorithm in whole else max(1, CHUNK // max(1, size))
    parts = list(chunks(batch, min(m, rows) * size))
    if len(parts) == 1 and rows >= m:
        every = operands.map(lambda array: take(array, batch, parts[0]))
        return _tiles(product, replace(every, memos=memos) if memos else every).reshape(*batch, m, n)
    out = np.empty((*batch, m, n), _result(product))
    flat = out.reshape(-1, m, n)
    for part in parts:
        some = operands.map(lambda array, part=part: take(array, batch, part))  # type: ignore[misc]
        if rows >= m:
            flat[part] = _tiles(product, some)
            continue
        for top in range(0, m, rows):
            band = slice(top, top + rows)
            flat[part, band] = _tiles(product, some.rows(band))
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
