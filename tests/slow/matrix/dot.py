"""One output element of a matrix instruction: the chain of a model's steps."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from mfmasim.errors import MfmasimError, unknown
from tests.slow.matrix import cdna, rdna
from tests.slow.matrix.factors import factor, flush_code
from tests.slow.matrix.fixed import decode, encode, infinity, largest, row
from tests.slow.matrix.integer import integer_dot, to_32_bits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.matrix.models import Model
    from tests.slow.matrix.fixed import Number

__all__ = ["dot"]

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
    c_format: str = "",
    scale_formats: tuple[str, str] = ("e8m0fnu", "e8m0fnu"),
    block: int = 32,
) -> int:
    """Compute one output element as the model's hardware does.

    Args:
        model: a row of `mfmasim.matrix.models`.
        a_format: format of the elements of ``a``, such as ``"f16"`` or ``"i8"``.
        b_format: format of the elements of ``b``.
        d_format: format of the result, and of ``c`` unless ``c_format`` names another: ``f32``, ``f64``, ``f16``,
            ``bf16`` or ``i32``.
        a: raw codes of one row of A in ascending k (kept elements only, when sparse).
        b: raw codes of one column of B, as many as ``a``.
        c: raw bits of the addend.
        scale_a: codes of the scales of A's blocks in ascending k; None is a scale of 1.
        scale_b: the same for B.
        clamp: the instruction's clamp bit.
        fp16_ovfl: MODE.FP16_OVFL.
        denormals: MODE.denorm keeps subnormals (only models with ``mode_denormals`` look at it).
        c_format: format of ``c`` where it is not that of the result (CDNA5's bf16f32).
        scale_formats: formats of the scales of A and B.
        block: elements of K that share one scale (OCP MX 1.0, CDNA4 ISA manual 7.2: 32; CDNA5 ISA manual 7.12.6: 16).

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
        if clamp and model.clamp == "saturate_halves":
            half = len(a) // 2
            c = to_32_bits(integer_dot(a_format, b_format, a[:half], b[:half], c), saturate=True)
            a, b = a[half:], b[half:]
        return to_32_bits(integer_dot(a_format, b_format, a, b, c), saturate=saturate)

    given, wide_result = c, model.algorithm == "aligned" and d_format != "f32"
    if wide_result or (c_format and c_format != "f32"):  # wide sums, rounded once after the last step
        number = decode(c, c_format or d_format)
        c = 0x7FC00000 if number.kind == "nan" else _f32(number)
    numbers_a = [factor(model, code, a_format, denormals=denormals) for code in a]
    numbers_b = [factor(model, code, b_format, denormals=denormals) for code in b]
    pairs = list(zip(numbers_a, numbers_b, strict=True))
    for first in range(0, len(pairs), model.group):
        group = pairs[first : first + model.group]
        if first == 0:  # the instruction's own c is flushed like a factor; a -0 made by a step stays -0 in the next
            c = _flush_addend(model, c, d_format)
        scale = _scale(model, (scale_a, scale_b), scale_formats, first, len(group), block)
        result = _step(model, group, c, "f32" if wide_result else d_format, scale, fp16_ovfl=fp16_ovfl)
        if model.clamp == "max" and (clamp or fp16_ovfl):
            result = _no_overflow(group, c, result, d_format)
        c = result
    if wide_result:
        return _narrow(pairs, decode(given, c_format or d_format), c, d_format, fp16_ovfl=fp16_ovfl)
    return c


def _f32(number: Number) -> int:
    """Bits of a number of a narrower format as f32."""
    if number.kind == "inf":
        return number.sign << 31 | infinity("f32")
    return number.sign << 31 | encode(abs(number.value), "f32")


def _narrow(pairs: Sequence[tuple[Number, Number]], c: Number, result: int, d_format: str, *, fp16_ovfl: bool) -> int:
    """An f32 result rounded to 16 bits; under FP16_OVFL a finite overflow is the largest number."""
    number = decode(result, "f32")
    if number.kind == "nan":
        return infinity(d_format) | 1 << (row(d_format).mantissa_bits - 1)
    sign = number.sign << (row(d_format).bits - 1)
    magnitude = infinity(d_format) if number.kind == "inf" else encode(abs(number.value), d_format)
    finite = all(one.kind == "finite" for one in (c, *(factor for pair in pairs for factor in pair)))
    if fp16_ovfl and magnitude == infinity(d_format) and finite:
        magnitude = largest(d_format)
    return sign | magnitude


def _step(
    model: Model,
    group: Sequence[tuple[Number, Number]],
    c: int,
    d_format: str,
    scale: tuple[Fraction, int] | None,
    *,
    fp16_ovfl: bool,
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
    model: Model,
    scales: tuple[Sequence[int] | None, Sequence[int] | None],
    formats: tuple[str, str],
    first: int,
    length: int,
    size: int,
) -> tuple[Fraction, int] | None:
    """Product of the two scales of a group, and of their exponents; None when one of them is NaN."""
    block = first // size
    if model.scale_point and (first + length - 1) // size != block:
        raise MfmasimError(f"model {model.name}: a group of {model.group} crosses a scale block of {size}")
    value, exponent = Fraction(1), 0
    for codes, name in zip(scales, formats, strict=True):
        if codes is not None:
            number = decode(codes[block], name)
            if number.kind == "nan":
                return None
            value *= (-1) ** number.sign * number.significand * Fraction(2) ** (number.exponent - number.mantissa_bits)
            exponent += number.exponent
    return value, exponent


def _no_overflow(group: Sequence[tuple[Number, Number]], c: int, result: int, d_format: str) -> int:
    """The largest number in place of an infinity that finite operands made."""
    operands = [decode(c, d_format), *(number for pair in group for number in pair)]
    finite = all(number.kind == "finite" for number in operands)
    if finite and decode(result, d_format).kind == "inf":
        sign = 1 << (row(d_format).bits - 1)
        return result & sign | largest(d_format) if result != infinity(d_format) else largest(d_format)
    return result
