"""The dot product without intermediate rounding: the yardstick for error bounds."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from mfmasim.errors import MfmasimError
from tests.slow.matrix.fixed import UNIT, decode, encode, row
from tests.slow.matrix.ieee import special_code
from tests.slow.matrix.integer import FORMATS, integer_dot, to_32_bits
from tests.slow.matrix.products import multiply_exactly, special

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.slow.matrix.products import Product

__all__ = ["exact", "exact_sum"]

SCALE_BLOCK = 32
"""Elements of K that share one E8M0 scale (OCP MX 1.0; CDNA4 ISA manual 7.2)."""


def exact(
    a_format: str,
    b_format: str,
    d_format: str,
    a: Sequence[int],
    b: Sequence[int],
    c: int,
    *,
    scale_a: Sequence[int] | None = None,
    scale_b: Sequence[int] | None = None,
) -> int:
    """The exact sum of all products and c, rounded once to d's format (nearest, ties to even).

    Subnormals count in full. A zero sum is +0, a NaN has only its quiet bit set, integers wrap to 32 bits.

    Args:
        a_format: format of the elements of ``a``.
        b_format: format of the elements of ``b``.
        d_format: format of ``c`` and of the result.
        a: raw codes of one row of A.
        b: raw codes of one column of B, as many as ``a``.
        c: raw bits of the addend.
        scale_a: E8M0 codes, one per 32 elements; None is a scale of 1.
        scale_b: the same for B.

    Returns:
        Raw bits.

    Raises:
        MfmasimError: operands of different length or an unknown format.
    """
    total = exact_sum(a_format, b_format, d_format, a, b, c, scale_a=scale_a, scale_b=scale_b)
    if isinstance(total, str):
        quiet = special_code("+inf", d_format, 0) | 1 << (row(d_format).mantissa_bits - 1)
        return special_code(total, d_format, quiet)
    if d_format == "i32":
        return to_32_bits(int(total), saturate=False)
    return encode(int(total / Fraction(2) ** UNIT), d_format)


def exact_sum(
    a_format: str,
    b_format: str,
    d_format: str,
    a: Sequence[int],
    b: Sequence[int],
    c: int,
    *,
    scale_a: Sequence[int] | None = None,
    scale_b: Sequence[int] | None = None,
) -> Fraction | str:
    """The exact sum of all products and c as a rational number.

    Args, raises: as `exact`.

    Returns:
        The value, or ``"nan"``, ``"+inf"``, ``"-inf"`` when an operand is not finite.
    """
    if len(a) != len(b):
        raise MfmasimError(f"a has {len(a)} elements and b has {len(b)}; a dot product needs as many of both")
    if a_format in FORMATS:
        return Fraction(integer_dot(a_format, b_format, a, b, c))
    products: list[Product] = [
        multiply_exactly(decode(x, a_format), decode(y, b_format)) for x, y in zip(a, b, strict=True)
    ]
    scales = [decode(code, "e8m0fnu") for given in (scale_a, scale_b) if given is not None for code in given]
    verdict = special(products, decode(c, d_format))
    if any(scale.kind == "nan" for scale in scales):
        verdict = "nan"
    if verdict is not None:
        return verdict
    unit = Fraction(2) ** UNIT
    total = decode(c, d_format).value * unit
    for k, product in enumerate(products):
        exponent = 0
        for given in (scale_a, scale_b):
            if given is not None:
                exponent += decode(given[k // SCALE_BLOCK], "e8m0fnu").exponent
        total += product.value * unit * Fraction(2) ** exponent
    return total
