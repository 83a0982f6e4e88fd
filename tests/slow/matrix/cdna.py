"""One rounding step of each CDNA algorithm: a group of products is added to the running value.

Facts: arXiv 2511.10909v2 (algorithms FMA, FTZ-AddMul, E-FDPA, TR-FDPA, GTR-FDPA), checked there on MI100, MI250X and
MI300X; CDNA ISA manuals for denormals, scales and clamp. Parameters: the fields of `mfmasim.matrix.models.Model`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from tests.slow.matrix.factors import flush_code
from tests.slow.matrix.fixed import decode, encode, floor_to, lead, round_to, truncate_to
from tests.slow.matrix.ieee import add, fma, multiply, special_code
from tests.slow.matrix.products import largest_exponent, multiply_exactly, special, with_overflow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.matrix.models import Model
    from tests.slow.matrix.fixed import Number

__all__ = ["aligned", "exact_group", "flush_pairwise", "fma_chain"]

_ROUND = {"truncate": truncate_to, "floor": floor_to, "nearest_even": round_to}


def fma_chain(model: Model, pairs: Sequence[tuple[Number, Number]], c: int, d_format: str) -> int:
    """One IEEE fma per k."""
    for a, b in pairs:
        c = flush_code(fma(a, b, decode(c, d_format), d_format, model.nan_invalid), d_format, model.flush_output)
    return c


def exact_group(model: Model, pairs: Sequence[tuple[Number, Number]], c: int, d_format: str) -> int:
    """The exact sum of all products and c, rounded once; a zero sum is +0 whatever the signs were."""
    products = [multiply_exactly(a, b) for a, b in pairs]
    addend = decode(c, d_format)
    verdict = special(products, addend)
    if verdict is not None:
        return special_code(verdict, d_format, model.nan_invalid)
    total = addend.value + sum(product.value for product in products)
    return flush_code(encode(total, d_format), d_format, model.flush_output)


def flush_pairwise(model: Model, pairs: Sequence[tuple[Number, Number]], c: int, d_format: str) -> int:
    """Products and sums are rounded and flushed one by one: ((p0+p1) + (p2+p3)), then that is added to c."""
    nan = model.nan_invalid

    def flushed(code: int) -> int:
        return flush_code(code, d_format, model.flush_output)

    sums = [flushed(multiply(a, b, d_format, nan)) for a, b in pairs]
    while len(sums) > 1:
        odd_one = [sums[-1]] if len(sums) % 2 else []
        sums = [flushed(add(x, y, d_format, nan)) for x, y in zip(sums[0::2], sums[1::2], strict=False)] + odd_one
    return flushed(add(c, sums[0], d_format, nan))


def aligned(
    model: Model,
    pairs: Sequence[tuple[Number, Number]],
    c: int,
    d_format: str,
    scale: tuple[Fraction, int] | None = (Fraction(1), 0),
) -> int:
    """Products and c are cut to common grids, added as integers, and rounded once.

    Args:
        model: the parameters.
        pairs: the step's factors in ascending k.
        c: code of the running value.
        d_format: ``"f32"``.
        scale: the product of the block's scales and of their exponents, None when a scale is NaN.

    Returns:
        Code of the new running value.
    """
    # Products that leave f32's range are infinities, and infinities are settled before anything is dropped.
    limit = 128 if model.product_overflow else None
    products = [with_overflow(multiply_exactly(a, b), limit) for a, b in pairs]
    addend = decode(c, d_format)
    verdict = special(products, addend)
    if scale is None:
        verdict = "nan"
    if verdict is not None:
        return special_code(verdict, d_format, model.nan_invalid)
    assert scale is not None

    # 1. Each partial sum (even k, odd k) on the grid of its own largest product.
    partials: list[tuple[int, int]] = []
    for first in range(model.partial_sums):
        part = products[first :: model.partial_sums]
        e_part = largest_exponent(part)
        if e_part is not None:
            grid = e_part - model.product_bits
            partials.append((e_part, sum(_ROUND[model.product_rounding](p.value, grid) for p in part)))

    # 2. The partial sums on the grid of the larger one.
    e_c = addend.exponent
    total = 0
    e_max = e_c
    if partials and scale[0] != 0:
        e_dot = max(e_part for e_part, _ in partials)
        for _, part_sum in partials:
            if model.partial_sums > 1:
                total += _ROUND[model.partial_rounding](part_sum, e_dot - model.partial_bits)
            else:
                total += part_sum
        # 3. The block's scale.
        scaled = total * scale[0]
        assert scaled.denominator == 1, "the unit is too coarse"
        total = scaled.numerator
        e_dot += scale[1]
        e_max = max(e_dot, e_c)

    # 4. Sum and addend on the grids of the largest exponent of all.
    total = _ROUND[model.sum_rounding](total, e_max - model.sum_bits)
    kept = _ROUND[model.addend_rounding](addend.value, e_max - model.addend_bits)
    if model.drop_addend_below is not None and e_c < e_max - model.drop_addend_below:
        kept = 0
    total += kept

    # 5. One more cut, then the only rounding to nearest.
    if total == 0:
        return 0
    if model.final_bits is not None:
        total = _ROUND[model.final_rounding](total, max(lead(total), -126) - model.final_bits)
    return flush_code(encode(total, d_format), d_format, model.flush_output)
