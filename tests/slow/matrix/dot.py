"""One output element of a matrix instruction: the chain of a model's steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfmasim.errors import MfmasimError, unknown
from tests.slow.matrix import cdna, rdna
from tests.slow.matrix.factors import factor, flush_code
from tests.slow.matrix.fixed import decode, infinity, largest, row
from tests.slow.matrix.integer import integer_dot, to_32_bits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.matrix.models import Model
    from tests.slow.matrix.fixed import Number

__all__ = ["SCALE_BLOCK", "dot"]

SCALE_BLOCK = 32
"""Elements of K that share one E8M0 scale (OCP MX 1.0; CDNA4 ISA manual 7.2)."""

_ALGORITHMS = ("fma", "exact", "flush_pairwise", "aligned", "dot2", "dot4", "integer")


def dot(
    model: Model,
    a_format: str,
    b_format: str,
    d_format: str,
    a: Sequence[int],
    b: Sequence[int],
    c: int,
    *,
    scale_a: Sequence[int] | None = None,
    scale_b: Sequence[int] | None = None,
    clamp: bool = False,
    fp16_ovfl: bool = False,
    denormals: bool = True,
) -> int:
    """Compute one output element as the model's hardware does.

    Args:
        model: a row of `mfmasim.matrix.models`.
        a_format: format of the elements of ``a``, such as ``"f16"`` or ``"i8"``.
        b_format: format of the elements of ``b``.
        d_format: format of ``c`` and of the result: ``f32``, ``f64``, ``f16``, ``bf16`` or ``i32``.
        a: raw codes of one row of A in ascending k (kept elements only, when sparse).
        b: raw codes of one column of B, as many as ``a``.
        c: raw bits of the addend.
        scale_a: E8M0 codes of A's blocks of 32 in ascending k; None is a scale of 1.
        scale_b: the same for B.
        clamp: the instruction's clamp bit.
        fp16_ovfl: MODE.FP16_OVFL.
        denormals: MODE.denorm keeps subnormals (only models with ``mode_denormals`` look at it).

    Returns:
        Raw bits of the result.

    Raises:
        MfmasimError: operands of different length, an unknown format, or a modifier the model does not have.
    """
    if model.algorithm not in _ALGORITHMS:
        raise unknown("algorithm", model.algorithm, _ALGORITHMS, f"in model {model.name}")
    if len(a) != len(b):
        raise MfmasimError(f"a has {len(a)} elements and b has {len(b)}; a dot product needs as many of both")
    if clamp and model.clamp == "none":
        raise MfmasimError(f"model {model.name} has no clamp")
    if not model.scale_point and not (scale_a is None and scale_b is None):
        raise MfmasimError(f"model {model.name} has no block scales")

    if model.algorithm == "integer":
        saturate = clamp or (model.clamp == "saturate" and fp16_ovfl)
        return to_32_bits(integer_dot(a_format, b_format, a, b, c), saturate=saturate)

    numbers_a = [factor(model, code, a_format, denormals=denormals) for code in a]
    numbers_b = [factor(model, code, b_format, denormals=denormals) for code in b]
    pairs = list(zip(numbers_a, numbers_b, strict=True))
    for first in range(0, len(pairs), model.group):
        group = pairs[first : first + model.group]
        if first == 0:  # the instruction's own c is flushed like a factor; a -0 made by a step stays -0 in the next
            c = _flush_addend(model, c, d_format)
        scale = _scale(model, scale_a, scale_b, first, len(group))
        result = _step(model, group, c, d_format, scale, fp16_ovfl=fp16_ovfl)
        if model.clamp == "max" and (clamp or fp16_ovfl):
            result = _no_overflow(group, c, result, d_format)
        c = result
    return c


def _step(
    model: Model, group: Sequence[tuple[Number, Number]], c: int, d_format: str, scale: int | None, *, fp16_ovfl: bool
) -> int:
    if model.algorithm == "dot2":
        return rdna.dot2(model, group, c, d_format, fp16_ovfl=fp16_ovfl)
    if model.algorithm == "dot4":
        return rdna.dot4(model, group, c, d_format, fp16_ovfl=fp16_ovfl)
    if model.algorithm == "aligned":
        return cdna.aligned(model, group, c, d_format, scale)
    steps = {"fma": cdna.fma_chain, "exact": cdna.exact_group, "flush_pairwise": cdna.flush_pairwise}
    return steps[model.algorithm](model, group, c, d_format)


def _flush_addend(model: Model, c: int, d_format: str) -> int:
    """The addend as a step reads it; the RDNA steps flush it themselves, as the f32 that they widen it to."""
    return c if model.algorithm in {"dot2", "dot4"} else flush_code(c, d_format, model.flush_addend)


def _scale(
    model: Model, scale_a: Sequence[int] | None, scale_b: Sequence[int] | None, first: int, length: int
) -> int | None:
    """Exponent of the product of the two scales of a group, or None when one of them is NaN."""
    block = first // SCALE_BLOCK
    if model.scale_point and (first + length - 1) // SCALE_BLOCK != block:
        raise MfmasimError(f"model {model.name}: a group of {model.group} crosses a scale block of {SCALE_BLOCK}")
    exponent = 0
    for scales in (scale_a, scale_b):
        if scales is not None:
            number = decode(scales[block], "e8m0fnu")
            if number.kind == "nan":
                return None
            exponent += number.exponent
    return exponent


def _no_overflow(group: Sequence[tuple[Number, Number]], c: int, result: int, d_format: str) -> int:
    """The largest number in place of an infinity that finite operands made."""
    operands = [decode(c, d_format), *(number for pair in group for number in pair)]
    finite = all(number.kind == "finite" for number in operands)
    if finite and decode(result, d_format).kind == "inf":
        sign = 1 << (row(d_format).bits - 1)
        return result & sign | largest(d_format) if result != infinity(d_format) else largest(d_format)
    return result
