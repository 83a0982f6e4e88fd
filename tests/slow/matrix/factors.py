"""Raw codes to numbers: what happens to factors and addend before any arithmetic."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tests.slow.matrix.fixed import decode, row

if TYPE_CHECKING:
    from mfmasim.matrix.models import Model
    from tests.slow.matrix.fixed import Number

__all__ = ["factor", "flush", "flush_code"]


def flush(number: Number, rule: str) -> Number:
    """Flush a subnormal to zero.

    Args:
        number: any number.
        rule: ``""`` keeps it, ``"signed"`` makes a zero of its sign, ``"positive"`` makes +0 (also of -0).
    """
    if number.kind != "finite":
        return number
    if rule == "signed" and number.subnormal:
        return replace(number, significand=0)
    if rule == "positive" and (number.subnormal or number.significand == 0):
        return replace(number, significand=0, sign=0)
    return number


def flush_code(code: int, format_name: str, rule: str) -> int:
    """The same for a code of an IEEE-like format."""
    flushed = flush(decode(code, format_name), rule)
    if rule and flushed.kind == "finite" and flushed.significand == 0:
        return flushed.sign << (row(format_name).bits - 1)
    return code


def factor(model: Model, code: int, format_name: str, *, denormals: bool) -> Number:
    """Decode an element of A or B as the model's multiplier sees it.

    Args:
        model: the accumulation model.
        code: raw bits.
        format_name: the element's format.
        denormals: MODE.denorm; False makes models with ``mode_denormals`` flush.
    """
    form = row(format_name)
    if model.input_mantissa_bits is not None and form.bits == 32:
        dropped = form.mantissa_bits - model.input_mantissa_bits
        code = code >> dropped << dropped
    number = flush(decode(code, format_name), model.flush_inputs)
    if model.mode_denormals and not denormals:
        number = flush(number, "signed")
    return number
