"""One rounding step of the RDNA dot products: DOT2 on gfx11, DOT4 on gfx12, with their NaN payloads.

Facts: ROCm/rocm-systems, rocjitsu (PR 12120, issue 12056), captured on W7900 (gfx1100) and R9700 (gfx1201).
Parameters: the fields of `mfmasim.matrix.models.Model`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.slow.matrix.factors import flush, flush_code
from tests.slow.matrix.fixed import decode, encode, floor_to, infinity, largest, lead, round_to, row, units
from tests.slow.matrix.products import largest_exponent, multiply_exactly

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.matrix.models import Model
    from tests.slow.matrix.fixed import Number
    from tests.slow.matrix.products import Product

__all__ = ["dot2", "dot4"]


def dot2(
    model: Model, pairs: Sequence[tuple[Number, Number]], c: int, d_format: str, *, fp16_ovfl: bool = False
) -> int:
    """One gfx11 step: magnitudes are cut on one grid and summed in the sign frame of c, in ones' complement.

    Args:
        model: the parameters.
        pairs: the step's factors (two).
        c: code of the running value in ``d_format``.
        d_format: ``"f32"``, ``"f16"`` or ``"bf16"``.
        fp16_ovfl: MODE.FP16_OVFL.

    Returns:
        Code of the new running value in ``d_format``.
    """
    products = [multiply_exactly(a, b) for a, b in pairs]
    found = _special(model, products, c, d_format)
    if found is not None:
        return found
    addend = _widen(model, c, d_format)
    if addend.significand == 0 and all(p.value == 0 for p in products):
        return 0

    grid = _grid(model, products, addend.value)
    total = 0
    for sign, value in [(addend.sign, addend.value), *((p.sign, p.value) for p in products)]:
        magnitude = floor_to(abs(value), grid)
        # A term that opposes c has its bits inverted, so it lies one unit below its negative: even a zero does.
        total += magnitude if sign == addend.sign else -magnitude - units(1, grid)
    if addend.sign:
        total = -total

    if d_format == "f16":
        return _round_f16(total, fp16_ovfl=fp16_ovfl)
    # 24 bits first, as if exponents had no end; only then is the result seen to be too small.
    rounded = round_to(total, lead(total) - row("f32").mantissa_bits) if total else 0
    if model.flush_output and lead(rounded) < -126:
        minus = model.flush_output == "signed" and rounded < 0
        result = 1 << 31 if minus else 0
    else:
        result = _plus_zero(encode(rounded, "f32"), "f32")
    return result >> 16 if d_format == "bf16" else result


def dot4(
    model: Model, pairs: Sequence[tuple[Number, Number]], c: int, d_format: str, *, fp16_ovfl: bool = False
) -> int:
    """One gfx12 step: neighbouring products are floored and added on their own grid, then met with c on a common one.

    Args and returns: as `dot2`, with up to four factors.
    """
    products = [multiply_exactly(a, b) for a, b in pairs]
    found = _special(model, products, c, d_format)
    if found is not None:
        return found
    addend = _widen(model, c, d_format)

    grid = _grid(model, products, addend.value)
    total = 0
    for first in range(0, len(products), model.pair):
        pair = products[first : first + model.pair]
        exponent = largest_exponent(pair)
        if exponent is not None:
            pair_sum = sum(floor_to(p.value, exponent - model.product_bits) for p in pair)
            total += floor_to(pair_sum, grid)
    tiny = abs(addend.value) < units(1, grid)
    if not (tiny and addend.value < 0 and grid > model.addend_lead_floor):
        total += floor_to(addend.value, grid)

    if d_format == "f16":
        return _round_f16(total, fp16_ovfl=fp16_ovfl)
    result = flush_code(_plus_zero(encode(total, "f32"), "f32"), "f32", model.flush_output)
    return result >> 16 if d_format == "bf16" else result


def _grid(model: Model, products: Sequence[Product], c: int) -> int:
    """Exponent of the common grid: 24 bits below the largest product or 26 below the leading bit of c."""
    grid = max(lead(c), model.addend_lead_floor) - model.addend_bits
    exponent = largest_exponent(products)
    return grid if exponent is None else max(grid, exponent - model.product_bits)


def _special(model: Model, products: Sequence[Product], c: int, d_format: str) -> int | None:
    """Result of a step in which something is not finite, in the hardware's order of precedence; None otherwise."""
    form = row(d_format)
    quiet, minus = 1 << (form.mantissa_bits - 1), 1 << (form.bits - 1)
    addend = decode(c, d_format)
    kinds = {p.kind for p in products}
    signs = {p.sign for p in products if p.kind == "inf"}
    if "nan" in kinds:
        return model.nan_factor
    if "invalid" in kinds or len(signs) == 2:
        return model.nan_invalid
    if addend.kind == "nan":
        return c | quiet
    if addend.kind == "inf":
        signs.add(addend.sign)
    if len(signs) == 2:
        return model.nan_invalid
    if signs:
        return infinity(d_format) | (minus if signs == {1} else 0)
    return None


def _widen(model: Model, code: int, d_format: str) -> Number:
    """A finite c of any format as the adder reads it, in f32: an f16 subnormal is an ordinary number there."""
    number = decode(code, d_format)
    wide = number.sign << 31 | encode(abs(number.value), "f32")
    return flush(decode(wide, "f32"), model.flush_addend)


def _round_f16(total: int, *, fp16_ovfl: bool) -> int:
    code = _plus_zero(encode(total, "f16"), "f16")
    if fp16_ovfl and decode(code, "f16").kind == "inf":
        return code & 0x8000 | largest("f16")
    return code


def _plus_zero(code: int, format_name: str) -> int:
    """Zero is positive, also when a negative sum was rounded to it."""
    return 0 if decode(code, format_name).significand == 0 else code
