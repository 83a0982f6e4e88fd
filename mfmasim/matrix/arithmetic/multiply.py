"""Public entry: shapes, types, sparse selection, scales, chunks; then the algorithm of the model."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.errors import MfmasimError, unknown
from mfmasim.matrix.arithmetic import chains, dots, tiles
from mfmasim.matrix.arithmetic.batches import CHUNK, check_scale, check_shapes, chunks, merge, select, take
from mfmasim.matrix.arithmetic.integers import integer_bits, integer_chain
from mfmasim.matrix.arithmetic.operands import Codes, check_codes, decode, row
from mfmasim.matrix.arithmetic.specials import RESULTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.matrix.arithmetic.operands import Factors
    from mfmasim.matrix.models import Model

    _Run = Callable[[Model, Codes, Codes, NDArray[Any], chains.Options], NDArray[Any]]
    _Plain = Callable[[Model, Factors, Factors, NDArray[Any], chains.Options], NDArray[Any]]

__all__ = ["chain", "multiply"]


def multiply(
    model: Model,
    a_format: str,
    b_format: str,
    d_format: str,
    a: Any,
    b: Any,
    c: Any,
    *,
    scale_a: Any = None,
    scale_b: Any = None,
    selection: Any = None,
    clamp: bool = False,
    fp16_ovfl: bool = False,
    denormals: bool = True,
) -> NDArray[Any]:
    """Compute d = a b + c as one matrix instruction does, for any number of tiles.

    Args:
        model: the accumulation model, from `mfmasim.matrix.models.model_for`.
        a_format: format of A's elements; ``i8``, ``u8``, ``i4``, ``u4`` are two's complement and unsigned integers.
        b_format: format of B's elements.
        d_format: format of C and D: ``f32``, ``f64``, ``f16``, ``bf16`` or ``i32``.
        a: raw codes (..., M, K), right-aligned in unsigned integers. Leading axes are a batch and broadcast.
        b: raw codes (..., K, N).
        c: raw bits (..., M, N).
        scale_a: E8M0 codes (..., M, K/32), or None for 1.0.
        scale_b: E8M0 codes (..., K/32, N), or None for 1.0.
        selection: dense k of every kept element of a, (..., M, K kept); then b stays dense.
        clamp: the instruction's clamp.
        fp16_ovfl: MODE.FP16_OVFL.
        denormals: MODE.denorm lets subnormal f32 factors through.

    Returns:
        Raw bits of D, (..., M, N), uint16, uint32 or uint64.

    Raises:
        MfmasimError: shapes, types or formats that do not fit, or a modifier that the model does not have.
    """
    return chain(
        model, a_format, b_format, d_format, a, b, c, k=None, scale_a=scale_a, scale_b=scale_b, selection=selection,
        clamp=clamp, fp16_ovfl=fp16_ovfl, denormals=denormals,
    )  # fmt: skip


def chain(
    model: Model,
    a_format: str,
    b_format: str,
    d_format: str,
    a: Any,
    b: Any,
    c: Any,
    *,
    k: int | None,
    scale_a: Any = None,
    scale_b: Any = None,
    selection: Any = None,
    clamp: bool = False,
    fp16_ovfl: bool = False,
    denormals: bool = True,
) -> NDArray[Any]:
    """Compute what a sequence of instructions gives that walk along K, each adding to the last one's D.

    Args:
        model: as for `multiply`, and so are all arguments that are not named here.
        a_format: format of A.
        b_format: format of B.
        d_format: format of C and D.
        a: raw codes (..., M, K) of any M and K; M and N need not be those of an instruction.
        b: raw codes (..., K, N).
        c: raw bits (..., M, N).
        k: K of one instruction in elements of a: no rounding step crosses a multiple of it. None: one instruction.
        scale_a: E8M0 codes (..., M, K/32).
        scale_b: E8M0 codes (..., K/32, N).
        selection: dense k of every kept element.
        clamp: the instruction's clamp.
        fp16_ovfl: MODE.FP16_OVFL.
        denormals: MODE.denorm lets subnormal f32 factors through.

    Returns:
        Raw bits of D.

    Raises:
        MfmasimError: as for `multiply`.
    """
    is_integer = model.algorithm == "integer"
    formats = (a_format, b_format, d_format)
    if not is_integer and d_format not in RESULTS:
        raise unknown("format of C and D", d_format, RESULTS)
    if clamp and model.clamp == "none":
        raise MfmasimError(f"model {model.name} has no clamp")
    bits = [integer_bits(name) if is_integer else row(name).bits for name in (a_format, b_format)]
    a, b = check_codes("a", a_format, a, bits[0]), check_codes("b", b_format, b, bits[1])
    c = check_codes("c", d_format, c, 32 if is_integer else np.dtype(RESULTS[d_format].dtype).itemsize * 8)
    if selection is not None:
        return _sparse(model, formats, a, b, c, selection, k=k, clamp=clamp, fp16_ovfl=fp16_ovfl, denormals=denormals)
    batch = check_shapes(a, b, c)
    instruction_k = a.shape[-1] if k is None else k
    if instruction_k < 1:
        raise MfmasimError(f"K of an instruction must be at least 1, not {instruction_k}")
    if is_integer:
        return integer_chain(model, formats, (a, b, c), batch, instruction_k, clamp=clamp, fp16_ovfl=fp16_ovfl)
    options = chains.Options(
        d_format=d_format,
        k=instruction_k,
        clamp=(clamp or fp16_ovfl) and model.clamp == "max",
        fp16_ovfl=fp16_ovfl,
        fraction_bits=0 if is_integer else row(a_format).mantissa_bits + row(b_format).mantissa_bits,
    )
    if model.algorithm == "fma":
        return _fma(model, a_format, a, b, c, batch, options, denormals=denormals)
    scales = _scales(model, scale_a, scale_b, (*c.shape[-2:], a.shape[-1]))
    reads: list[Callable[[NDArray[Any]], Factors]] = [
        partial(decode, model, name, denormals=denormals, place=place)
        for name, place in ((a_format, "a"), (b_format, "b"))
    ]
    with np.errstate(all="ignore"):
        if scale_a is None and scale_b is None and options.fraction_bits <= tiles.MERGED_FRACTION_BITS:
            merged = merge(a, b, c, batch)
            if merged is not None:
                joined = _run(model, reads, merged[:3], batch[:-2], (None, None), options)
                return np.ascontiguousarray(np.swapaxes(joined.reshape(merged[3]), -3, -2))
        return _run(model, reads, (a, b, c), batch, scales, options)


def _run(
    model: Model,
    reads: list[Callable[[NDArray[Any]], Factors]],
    operands: tuple[NDArray[Any], NDArray[Any], NDArray[Any]],
    batch: tuple[int, ...],
    scales: tuple[NDArray[Any] | None, NDArray[Any] | None],
    options: chains.Options,
) -> NDArray[Any]:
    """Run a model over chunks of the batch, and over bands of rows where one tile is large."""
    c = operands[2]
    m, n = c.shape[-2:]
    run, terms = _RUN[model.algorithm]
    size = n * (min(model.group, options.k) if terms else 1)
    rows = max(1, CHUNK // size) if terms else m
    out = np.empty((*batch, m, n), c.dtype)
    flat = out.reshape(-1, m, n)
    for part in chunks(batch, min(m, rows) * size):
        x, y, addend = (take(v, batch, part) for v in operands)
        scale_a, scale_b = (None if scale is None else take(scale, batch, part) for scale in scales)
        if scale_a is not None or scale_b is not None:
            options = replace(options, scale_a=scale_a, scale_b=scale_b)
        if rows >= m:
            flat[part] = run(model, Codes(x, reads[0]), Codes(y, reads[1]), addend, options)
            continue
        for top in range(0, m, rows):
            band = slice(top, top + rows)
            flat[part, band] = run(model, Codes(x[:, band], reads[0]), Codes(y, reads[1]), addend[:, band], options)
    return out


def _scales(
    model: Model, scale_a: Any, scale_b: Any, shape: tuple[int, int, int]
) -> tuple[NDArray[Any] | None, NDArray[Any] | None]:
    """Check the block scales against the tile's (M, N, K)."""
    if scale_a is None and scale_b is None:
        return None, None
    m, n, k = shape
    if not model.scale_point:
        raise MfmasimError(f"model {model.name} has no block scales")
    if 32 % model.group:
        raise MfmasimError(f"model {model.name} sums {model.group} products, which straddles scale blocks of 32")
    blocks = -(-k // 32)
    return (
        None if scale_a is None else check_scale("scale_a", scale_a, (m, blocks), k),
        None if scale_b is None else check_scale("scale_b", scale_b, (blocks, n), k),
    )


def _sparse(
    model: Model,
    formats: tuple[str, str, str],
    a: NDArray[Any],
    b: NDArray[Any],
    c: NDArray[Any],
    selection: Any,
    **modifiers: Any,
) -> NDArray[Any]:
    """Sparse A: every row of A meets rows of B of its own, so that each row becomes a tile of one row."""
    chosen = np.asarray(selection)
    if chosen.dtype.kind not in "ui" or chosen.shape[-2:] != a.shape[-2:]:
        raise MfmasimError(f"selection must hold one integer per kept element, {a.shape[-2:]}, not {chosen.shape}")
    if chosen.size and not 0 <= int(chosen.min()) <= int(chosen.max()) < b.shape[-2]:
        raise MfmasimError(f"selection holds k outside 0..{b.shape[-2] - 1} (b has shape {b.shape})")
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2], c.shape[:-2], chosen.shape[:-2])
    m, n = c.shape[-2:]
    out = np.empty((*lead, m, n), c.dtype)
    flat = out.reshape(-1, m, n)
    # The gathered B has an element for every product, of a byte or two: chunks a few times larger are no burden.
    for part in chunks(lead, max(1, m * n * a.shape[-1] // 8)):
        rows = select(take(b, lead, part), take(chosen, lead, part))
        tiles = take(a, lead, part)[:, :, None, :], rows, take(c, lead, part)[:, :, None, :]
        flat[part] = chain(model, *formats, *tiles, **modifiers)[:, :, 0, :]
    return out


def _plainly(run: _Plain) -> _Run:
    """An algorithm that wants its factors decoded in natural order."""

    def decoded(model: Model, a: Codes, b: Codes, c: NDArray[Any], options: chains.Options) -> NDArray[Any]:
        return run(model, a.factors(), b.factors(), c, options)

    return decoded


# The function, and whether it holds every product of a step at once.
_RUN: dict[str, tuple[_Run, bool]] = {
    "aligned": (tiles.aligned, False),
    "dot2": (dots.dot, True),
    "dot4": (dots.dot, True),
    "exact": (_plainly(chains.exact), True),
    "flush_pairwise": (_plainly(chains.flush_pairwise), True),
}


def _fma(
    model: Model,
    a_format: str,
    a: NDArray[Any],
    b: NDArray[Any],
    c: NDArray[Any],
    batch: tuple[int, ...],
    options: chains.Options,
    *,
    denormals: bool,
) -> NDArray[Any]:
    """FMA chains take the codes as they are: the factors' format is that of d."""
    if a_format != options.d_format:
        raise MfmasimError(
            f"model {model.name} multiplies and adds in one format, not {a_format} into {options.d_format}"
        )
    how = model.flush_inputs or ("" if denormals or not model.mode_denormals else "signed")
    a, b = (chains.flushed(x, a_format, how) for x in (a, b))
    x, y = (v.view({"f32": np.float32, "f64": np.float64}[a_format]) for v in (a, b))
    m, n = c.shape[-2:]
    out = np.empty((*batch, m, n), c.dtype)
    flat = out.reshape(-1, m, n)
    rows = max(1, CHUNK // n)
    for part in chunks(batch, min(m, rows) * n):
        p, q, addend = (take(v, batch, part) for v in (x, y, c))
        for top in range(0, m, rows):
            band = slice(top, top + rows)
            flat[part, band] = chains.fma(model, p[:, band], q, addend[:, band], options)
    return out
