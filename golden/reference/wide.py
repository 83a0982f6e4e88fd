"""The same accumulation as `golden.reference.models`, for whole matrices at once, in NumPy's 64-bit integers.

For the sizes at which plain Python takes minutes. Tests hold it to the plain one. It knows no infinities: FP8 E4M3, FP6
and FP4 have none, and inputs of other formats must not contain any.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from golden.reference.formats import FORMATS, decode, find_format

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from golden.reference.formats import Codes
    from golden.reference.models import Rule

    Integers = NDArray[np.int64]

NOWHERE = -(1 << 20)
"""Place of a sum without terms."""
AT_ONCE = 1 << 18
"""Products held at a time."""


def decode_parts(codes: Codes, name: str) -> tuple[Integers, Integers, NDArray[np.bool_]]:
    """Signed significands, places and NaN flags of codes of a narrow format.

    Raises:
        ValueError: A code is an infinity.
    """
    fmt = find_format(name)
    known = {int(code): decode(int(code), fmt) for code in np.unique(codes)}
    if any(number.kind == "inf" for number in known.values()):
        raise ValueError(f"{name} codes with an infinity")
    size = max(known) + 1
    significand, place = np.zeros(size, np.int64), np.zeros(size, np.int64)
    nan = np.zeros(size, np.bool_)
    for code, number in known.items():
        significand[code] = -number.significand if number.sign else number.significand
        place[code] = number.place
        nan[code] = number.kind == "nan"
    return significand[codes], place[codes], nan[codes]


def shifted(values: Integers, by: Integers) -> Integers:
    """`values * 2**by`, toward minus infinity."""
    return np.where(by >= 0, values << np.clip(by, 0, 62), values >> np.clip(-by, 0, 62))


def matmul(
    a: Codes,
    b: Codes,
    formats: tuple[str, str],
    rule: Rule,
    scale_a: Codes | None = None,
    scale_b: Codes | None = None,
    block: int = 32,
) -> Codes:
    """D from C = +0, as `golden.reference.models.matmul` gives it, for rules that sum groups of products.

    Args:
        a: (M, K) raw codes.
        b: (K, N) raw codes.
        formats: Formats of A's and B's codes.
        rule: One of `golden.reference.models.RULES`, with groups.
        scale_a: (M, K/block) e8m0fnu codes without NaN, or None.
        scale_b: (K/block, N) likewise.
        block: Elements along K that share a scale.

    Returns:
        (M, N) f32 codes, uint32; NaN is 0x7fc00000.
    """
    rows = max(1, AT_ONCE // (b.shape[1] * rule.group))
    parts = [
        _some_rows(
            a[i : i + rows], b, formats, rule, None if scale_a is None else scale_a[i : i + rows], scale_b, block
        )
        for i in range(0, a.shape[0], rows)
    ]
    return np.concatenate(parts)


def _some_rows(
    a: Codes, b: Codes, formats: tuple[str, str], rule: Rule, scale_a: Codes | None, scale_b: Codes | None, block: int
) -> Codes:
    a_value, a_place, a_nan = decode_parts(a, formats[0])
    b_value, b_place, b_nan = decode_parts(b, formats[1])
    fraction = sum(FORMATS[name].fraction_bits for name in formats)
    sums = np.zeros((a.shape[0], b.shape[1]), np.float32)
    for start in range(0, a.shape[1], rule.group):
        k = slice(start, start + rule.group)
        values = a_value[:, None, k] * b_value[k].T[None]
        places = np.where(values != 0, a_place[:, None, k] + b_place[k].T[None], NOWHERE)
        total, place = _group_sum(values, places, fraction, rule.halves)
        if scale_a is not None and scale_b is not None:
            exponent = (
                scale_a[:, None, start // block].astype(np.int64) + scale_b[start // block].astype(np.int64) - 254
            )
            place = np.where(place == NOWHERE, place, place + exponent)
        sums = _step(total, place, sums, rule)
    codes = sums.view(np.uint32)
    nan: NDArray[np.bool_] = np.logical_or.outer(a_nan.any(axis=1), b_nan.any(axis=0))
    return np.where(nan, np.uint32(0x7FC00000), codes)


def _group_sum(values: Integers, places: Integers, fraction: int, halves: int) -> tuple[Integers, Integers]:
    """Sum in units of 2**(place - 24): terms are cut toward zero on their half's grid, halves toward minus infinity."""
    parts = []
    for half in range(halves):
        v, p = values[..., half::halves], places[..., half::halves]
        top = p.max(axis=-1)
        # A term's unit is 2**(p - fraction), the grid's 2**(top - 24).
        by = np.where(v != 0, p - fraction - top[..., None] + 24, 0)
        parts.append(((np.sign(v) * shifted(np.abs(v), by)).sum(axis=-1), top))
    place = np.maximum.reduce([top for _, top in parts])
    total = sum(shifted(part, np.maximum(top - place, -62)) for part, top in parts)
    return np.asarray(total), place


def _step(total: Integers, place: Integers, sums: NDArray[np.float32], rule: Rule) -> NDArray[np.float32]:
    """Add one group to the running sums."""
    bits = sums.view(np.uint32).astype(np.int64)
    field = bits >> 23 & 255
    size = (bits & 0x7FFFFF) | np.where(field != 0, 1 << 23, 0)
    c_place, c_value = np.maximum(field, 1) - 127, np.where(bits >> 31 != 0, -size, size)
    top = np.maximum(place, c_place)
    wide = shifted(total, np.maximum(place - top, -54) + 8)
    addend = shifted(c_value, np.maximum(c_place - top, -62) + 1)
    if rule.drops_far_addend:
        addend = np.where(c_place < top - 25, 0, addend)
    result, grid = wide + (addend << 8), top - 32
    # Toward minus infinity 31 places below the leading one, then once to f32: both are exact in float64.
    leading = np.frexp(np.abs(result).astype(np.float64))[1] - 1 + grid
    drop = np.maximum(np.maximum(leading, -126) - 31 - grid, 0)
    rounded = np.ldexp((result >> drop).astype(np.float64), (grid + drop).astype(np.int32)).astype(np.float32)
    return np.where(result == 0, np.float32(0), rounded)


def sequential(a: Codes, b: Codes, formats: tuple[str, str]) -> Codes:
    """D as one fused multiply-add after the other leaves it, in ascending k, where products are exact in f32."""
    x, y = (_floats(codes, name) for codes, name in zip((a, b), formats, strict=True))
    sums = np.zeros((a.shape[0], b.shape[1]), np.float32)
    for k in range(a.shape[1]):
        sums = sums + np.outer(x[:, k], y[k]).astype(np.float32)
    return canonical(sums)


def exact(a: Codes, b: Codes, formats: tuple[str, str]) -> NDArray[np.float64]:
    """The exact product; the formats' ranges are so small that float64 sums them without rounding."""
    x, y = (_floats(codes, name) for codes, name in zip((a, b), formats, strict=True))
    return np.asarray(x @ y)


def finish(sums: NDArray[np.float32], alpha: float, beta: float, c: Codes) -> Codes:
    """BF16 codes of fma(alpha, sum, beta * C), or of alpha * sum where beta is 0; f32 factors, NaN is 0x7fc0."""
    factor, share = np.float32(alpha), np.float32(beta)
    if beta == 0:
        return to_bf16(factor * sums)
    old = (c.astype(np.uint32) << 16).view(np.float32)
    return to_bf16(fma(factor, sums, share * old))


def to_bf16(values: NDArray[np.float32]) -> Codes:
    """Round f32 to BF16, to nearest even; NaN is 0x7fc0."""
    bits = values.view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + (bits >> np.uint64(16) & np.uint64(1))) >> np.uint64(16)
    return np.where(np.isnan(values), 0x7FC0, rounded).astype(np.uint16)


def canonical(values: NDArray[np.float32]) -> Codes:
    """f32 codes with one NaN."""
    return np.where(np.isnan(values), np.uint32(0x7FC00000), values.view(np.uint32))


def fma(a: np.float32 | NDArray[np.float32], b: NDArray[np.float32], c: NDArray[np.float32]) -> NDArray[np.float32]:
    """A * b + c rounded once to f32: float64 rounds the sum to odd first, which a second rounding cannot double."""
    product, addend = np.asarray(a, np.float64) * b.astype(np.float64), c.astype(np.float64)
    total = product + addend
    back = total - product
    lost = (product - (total - back)) + (addend - back)
    bits = total.view(np.int64)
    even = (bits & 1) == 0
    # Toward the lost part: away from zero when it has the sum's sign, else toward zero.
    away = (lost > 0) == (total > 0)
    odd = np.where((lost != 0) & np.isfinite(total) & even, np.where(away, bits + 1, bits - 1), bits)
    return np.asarray(odd.view(np.float64).astype(np.float32))


def _floats(codes: Codes, name: str) -> NDArray[np.float64]:
    significand, place, nan = decode_parts(codes, name)
    values = np.ldexp(significand.astype(np.float64), (place - FORMATS[name].fraction_bits).astype(np.int32))
    return np.where(nan, np.nan, values)
