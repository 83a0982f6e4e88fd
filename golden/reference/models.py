"""Bit-exact models of how matrix instructions accumulate, in Python integers, one dot product at a time.

Sources: the published, hardware-checked algorithms for CDNA3 (arXiv 2511.10909v2, there FMA, TR-FDPA and GTR-FDPA).
K is cut into groups of consecutive k; a group's rounded result is the C of the next. `golden.reference.steps` has the
groups of CDNA1, CDNA2 and RDNA.

**Assumed, all of it in this paragraph.** How CDNA4 accumulates is not published. The CDNA4 rules here are those
of CDNA3 with CDNA4's formats: (1) f32 is a chain of fused multiply-adds; (2) f16 sums groups of 8; (3) fp8 and bf8,
and f8f6f4 with fp8, bf8, fp6, bf6 or fp4, sum groups of 16 in an even and an odd half; (4) a block scale
2^(scale_a + scale_b - 254) multiplies the finished sum of each group before that sum meets C: the sum is shifted
whole, nothing is rounded or lost by it, it cannot overflow, and its alignment place moves by the same amount (groups
never straddle a block of 32); the manual says no more than "after the dot product, before accumulation"; (5) a scale
of 0 is 2^-127, like OCP's; a NaN scale gives NaN whatever it multiplies; (6) a C that lies far below the sum is
dropped as for CDNA3 fp8. CDNA5's (gfx1250) are taken to be CDNA4's.

On every architecture the payload of a NaN result is not modelled: NaN is 0x7fc00000 here. Denormals are kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from golden.reference.exact import add, check_shapes, product_terms
from golden.reference.formats import FORMATS, NAN, Number, decode, decode_all, encode, find_format
from golden.reference.steps import dot2_step, dot4_step, exact_step, flushed_factor, pairwise_step
from golden.reference.terms import multiply, signed, special

if TYPE_CHECKING:
    from collections.abc import Sequence

    from golden.reference.formats import Codes

F32 = FORMATS["f32"]
PLUS_ZERO = 0
XF32_MASK = 0xFFFFE000


@dataclass(frozen=True)
class Rule:
    """How one instruction accumulates.

    Attributes:
        name: Name in the manifest.
        fidelity: `reference` (a published model that was checked on hardware) or `assumed`.
        group: Products summed before the running value takes part; 1 is a chain of fused multiply-adds.
        halves: 2 when even and odd k of a group are summed separately first, else 1.
        overflowing_products: Whether a finite product of at least 2**128 counts as infinite.
        drops_far_addend: Whether a C more than 25 places below the leading place counts as zero.
        cuts_to_xf32: Whether 10 fraction bits are kept of each f32 factor, the rest cut off.
        step: How a group is added: `fma` (one product), `aligned` (CDNA3), or one of `golden.reference.steps`.
        flushes: Subnormal factors count as zeros: `positive`, `signed` (of their sign), or not.
        pair: Products that `dot4` adds on a grid of their own.
    """

    name: str
    fidelity: str
    group: int
    halves: int = 1
    overflowing_products: bool = False
    drops_far_addend: bool = False
    cuts_to_xf32: bool = False
    step: str = "aligned"
    flushes: str = ""
    pair: int = 2


_FMA = Rule("fma_chain", "reference", 1, step="fma")
_TR = Rule("tr_fdpa", "reference", 8, overflowing_products=True)
_GTR = Rule("gtr_fdpa", "reference", 16, halves=2, drops_far_addend=True)

_E = Rule("e_fdpa", "reference", 4, step="exact")
_FTZ = Rule("ftz_pairwise", "reference", 4, step="pairwise", flushes="positive")
_DOT2 = Rule("dot2", "hardware", 2, step="dot2")
_DOT4 = Rule("dot4", "hardware", 4, step="dot4")

RULES = {
    ("CDNA1", "f32"): _FMA,
    ("CDNA1", "16bit"): _E,
    ("CDNA1", "bf16"): replace(_E, group=2),
    ("CDNA2", "f32"): _FMA,
    ("CDNA2", "16bit"): _FTZ,
    ("CDNA2", "bf16"): replace(_FTZ, group=2),
    ("RDNA3", "16bit"): _DOT2,
    ("RDNA3", "bf16"): replace(_DOT2, flushes="signed"),
    ("RDNA4", "16bit"): _DOT4,
    ("RDNA4", "8bit"): replace(_DOT4, fidelity="assumed", pair=4),
    ("CDNA5", "f32"): replace(_FMA, fidelity="assumed"),
    ("CDNA5", "16bit"): replace(_TR, fidelity="assumed"),
    ("CDNA5", "8bit"): replace(_GTR, fidelity="assumed"),
    ("CDNA5", "f4"): replace(_GTR, name="gtr_fdpa_scaled", fidelity="assumed"),
    ("CDNA5", "f8f6f4"): replace(_GTR, name="gtr_fdpa_scaled", fidelity="assumed"),
    ("CDNA3", "f32"): _FMA,
    ("CDNA3", "xf32"): replace(_TR, group=4, cuts_to_xf32=True),
    ("CDNA3", "16bit"): _TR,
    ("CDNA3", "8bit"): _GTR,
    ("CDNA4", "f32"): replace(_FMA, fidelity="assumed"),
    ("CDNA4", "16bit"): replace(_TR, fidelity="assumed"),
    ("CDNA4", "8bit"): replace(_GTR, fidelity="assumed"),
    ("CDNA4", "f8f6f4"): replace(_GTR, name="gtr_fdpa_scaled", fidelity="assumed"),
}


def floor_to(value: int, unit: int, grid: int) -> int:
    """`value * 2**unit` as the number of whole `2**grid` in it, toward minus infinity."""
    return value << (unit - grid) if unit >= grid else value >> (grid - unit)


def truncate_to(value: int, unit: int, grid: int) -> int:
    """`value * 2**unit` as the number of whole `2**grid` in it, toward zero."""
    whole = floor_to(abs(value), unit, grid)
    return -whole if value < 0 else whole


def fma(a: Number, b: Number, c: Number) -> int:
    """IEEE 754 fused multiply-add of f32 values: the f32 code, signed zeros included."""
    product = multiply(a, b)
    total = add([product, c])
    if total.kind == "finite" and total.significand == 0:
        both_zero = product.significand == 0 and c.significand == 0
        minus = both_zero and product.sign == 1 and c.sign == 1
        return F32.sign_bit if minus else PLUS_ZERO
    return encode(total, F32)


def leading_place(terms: Sequence[Number]) -> int | None:
    """The largest place among the non-zero terms, None when all are zero."""
    return max((t.place for t in terms if t.significand), default=None)


def truncated_sum(terms: Sequence[Number]) -> tuple[int, int] | None:
    """Sum terms, each truncated 24 places below the leading one.

    Returns:
        (sum in units of 2**(place - 24), place), or None when all terms are zero.
    """
    place = leading_place(terms)
    if place is None:
        return None
    grid = place - 24
    return sum(truncate_to(signed(t), t.exponent, grid) for t in terms), place


def group_sum(terms: Sequence[Number], halves: int) -> tuple[int, int] | None:
    """Sum a group of products, over even and odd k separately when there are two halves.

    Returns:
        As `truncated_sum`.
    """
    parts = [part for h in range(halves) if (part := truncated_sum(terms[h::halves])) is not None]
    if not parts:
        return None
    place = max(p for _, p in parts)
    return sum(floor_to(s, p - 24, place - 24) for s, p in parts), place


def aligned_step(terms: Sequence[Number], c: Number, rule: Rule, scale: Number | None = None) -> int:
    """Add one group of products to the running value.

    Args:
        terms: The exact products, as many as the rule's group.
        c: Running value, decoded from f32.
        rule: The accumulation rule.
        scale: Product of the two block scales, or None.

    Returns:
        f32 code of the new running value.
    """
    if rule.overflowing_products:
        terms = [_overflowed(t) for t in terms]
    if scale is not None and scale.kind == "nan":
        return encode(NAN, F32)
    answer = special([*terms, c])
    if answer is not None:
        return encode(answer, F32)

    total, place = group_sum(terms, rule.halves) or (0, None)
    if place is not None and scale is not None:
        place += scale.exponent
    top = c.place if place is None else max(place, c.place)

    grid = top - 32
    wide = 0 if place is None else floor_to(total, place - 24, grid)
    dropped = rule.drops_far_addend and c.place < top - 25
    addend = 0 if dropped else floor_to(signed(c), c.exponent, top - 24)
    result = wide + (addend << 8)  # from units of 2**(top - 24) to units of 2**(top - 32)
    if result == 0:
        return PLUS_ZERO

    last_grid = max(abs(result).bit_length() - 1 + grid, -126) - 31
    result, unit = (floor_to(result, grid, last_grid), last_grid) if last_grid > grid else (result, grid)
    return encode(Number("finite", int(result < 0), abs(result), unit, 0), F32)


def dot(
    a: Sequence[Number], b: Sequence[Number], c: int, rule: Rule, scales: Sequence[Number] | None, block: int
) -> int:
    """One element of D.

    Args:
        a: Row of A, in ascending k.
        b: Column of B.
        c: f32 code of the element of C.
        rule: The accumulation rule.
        scales: Product of A's and B's scale per block of K, or None.
        block: Elements of K per scale; a multiple of the rule's group.

    Returns:
        f32 code.
    """
    if rule.group == 1:
        for x, y in zip(a, b, strict=True):
            c = fma(x, y, decode(c, F32))
        return c
    if rule.step != "aligned":
        return _stepped(product_terms(a, b), c, rule)
    terms = product_terms(a, b)
    for start in range(0, len(terms), rule.group):
        scale = None if scales is None else scales[start // block]
        c = aligned_step(terms[start : start + rule.group], decode(c, F32), rule, scale)
    return c


def _stepped(terms: Sequence[Number], c: int, rule: Rule) -> int:
    """An element of D under the rules of `golden.reference.steps`."""
    if rule.step == "pairwise" and not c & 0x7F800000:
        c = 0  # a C that is flushed loses its sign
    for start in range(0, len(terms), rule.group):
        group = terms[start : start + rule.group]
        if rule.step == "exact":
            c = exact_step(group, decode(c, F32))
        elif rule.step == "pairwise":
            c = pairwise_step(group, c)
        elif rule.step == "dot2":
            c = dot2_step(group, c)
        else:
            c = dot4_step(group, c, rule.pair)
    return c


def matmul(
    a: Codes,
    b: Codes,
    a_format: str,
    b_format: str,
    rule: Rule,
    *,
    c: Codes | None = None,
    scale_a: Codes | None = None,
    scale_b: Codes | None = None,
    block: int = 32,
) -> Codes:
    """D of one matrix instruction.

    Args:
        a: (M, K) raw codes.
        b: (K, N) raw codes.
        a_format: Format of A's codes.
        b_format: Format of B's codes.
        rule: One of `RULES`.
        c: (M, N) f32 codes; None is +0 everywhere.
        scale_a: (M, K/block) e8m0fnu codes; with scale_b or not at all.
        scale_b: (K/block, N) e8m0fnu codes.
        block: Elements along K that share a scale.

    Returns:
        (M, N) f32 codes, uint32; NaN is 0x7fc00000.

    Raises:
        ValueError: Shapes that do not belong together, an unknown format, or scales under a rule of single products.
    """
    check_shapes(a, b, c, scale_a, scale_b, block)
    if scale_a is not None and (rule.group == 1 or block % rule.group):
        raise ValueError(f"rule {rule.name} sums groups of {rule.group}, which do not divide a scale block of {block}")
    if rule.cuts_to_xf32:
        a, b = a & np.uint32(XF32_MASK), b & np.uint32(XF32_MASK)
    rows = _factors(decode_all(a, find_format(a_format)), a_format, rule)
    columns = _factors(decode_all(b.T, find_format(b_format)), b_format, rule)
    e8m0 = FORMATS["e8m0fnu"]
    row_scales = None if scale_a is None else decode_all(scale_a, e8m0)
    column_scales = None if scale_b is None else decode_all(scale_b.T, e8m0)
    d = np.zeros((len(rows), len(columns)), np.uint32)
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            scales = None
            if row_scales is not None and column_scales is not None:
                scales = product_terms(row_scales[i], column_scales[j])
            d[i, j] = dot(row, column, PLUS_ZERO if c is None else int(c[i, j]), rule, scales, block)
    return d


def _factors(numbers: list[list[Number]], name: str, rule: Rule) -> list[list[Number]]:
    """Factors as the instruction reads them."""
    if not rule.flushes:
        return numbers
    hidden, keep = 1 << find_format(name).fraction_bits, rule.flushes == "signed"
    return [[flushed_factor(number, hidden, keep_sign=keep) for number in line] for line in numbers]


def _overflowed(term: Number) -> Number:
    """A finite product of at least 2**128 as the infinity it becomes."""
    if term.kind == "finite" and term.significand.bit_length() + term.exponent > 128:
        return Number("inf", term.sign, 0, 0, 0)
    return term
