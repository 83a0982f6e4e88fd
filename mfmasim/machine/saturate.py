"""The clamp modifier of integer operations: the exact result, brought into the range of its type.

Source: CDNA3 ISA manual, 6.5 (for integer operations clamp gives the largest or smallest representable value).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    U = Any  # an array of any integer type

__all__ = ["saturating"]

WHOLE: dict[str, Any] = {"u32": np.uint32, "i32": np.int32, "u16": np.uint16, "i16": np.int16}
LOW24 = 0xFFFFFF


def _low24(value: U) -> U:
    """The signed value of 24 bits."""
    return ((value & LOW24) ^ 0x800000) - 0x800000


def _bytes(a: U, b: U) -> U:
    """Sum of the absolute differences of four bytes."""
    return sum(np.abs((a >> at & 0xFF) - (b >> at & 0xFF)) for at in (0, 8, 16, 24))


def _words(a: U, b: U) -> U:
    return np.abs((a & 0xFFFF) - (b & 0xFFFF)) + np.abs((a >> 16) - (b >> 16))


def _masked(a: U, b: U) -> U:
    """The same of the bytes whose reference is not zero."""
    pairs = [(a >> at & 0xFF, b >> at & 0xFF) for at in (0, 8, 16, 24)]
    return sum(np.where(y == 0, 0, np.abs(x - y)) for x, y in pairs)


# Exact results of int64 sources: all of them fit.
EXACT: dict[str, Callable[..., U]] = {
    **dict.fromkeys(("v_add_u32", "v_add_i32", "v_add_u16", "v_add_i16", "v_add_co_u32"), lambda a, b: a + b),
    **dict.fromkeys(("v_sub_u32", "v_sub_i32", "v_sub_u16", "v_sub_i16", "v_sub_co_u32"), lambda a, b: a - b),
    **dict.fromkeys(("v_subrev_u32", "v_subrev_u16", "v_subrev_co_u32"), lambda a, b: b - a),
    "v_addc_co_u32": lambda a, b, c: a + b + c,
    "v_subb_co_u32": lambda a, b, c: a - b - c,
    "v_subbrev_co_u32": lambda a, b, c: b - a - c,
    "v_mad_u32_u24": lambda a, b, c: (a & LOW24) * (b & LOW24) + c,
    "v_mad_i32_i24": lambda a, b, c: _low24(a) * _low24(b) + c,
    **dict.fromkeys(
        ("v_mad_u16", "v_mad_i16", "v_mad_legacy_u16", "v_mad_legacy_i16", "v_mad_u32_u16", "v_mad_i32_i16"),
        lambda a, b, c: a * b + c,
    ),
    "v_sad_u8": lambda a, b, c: _bytes(a, b) + c,
    "v_sad_hi_u8": lambda a, b, c: (_bytes(a, b) << 16) + c,
    "v_sad_u16": lambda a, b, c: _words(a, b) + c,
    "v_sad_u32": lambda a, b, c: np.abs(a - b) + c,
    "v_msad_u8": lambda a, b, c: _masked(a, b) + c,
}


def saturating(name: str, results: tuple[str, ...], body: Callable[..., Any]) -> Callable[..., Any] | None:
    """The body of an operation with clamp, or None where clamp has no integer meaning.

    Args:
        name: mnemonic.
        results: types of the results; the first saturates, a carry stays what it is.
        body: the operation without clamp.
    """
    exact = EXACT.get(name)
    if exact is None:
        return None
    whole = WHOLE[results[0]]
    low, high = np.iinfo(whole).min, np.iinfo(whole).max

    def saturated(*sources: U) -> Any:
        value = np.clip(exact(*[np.asarray(source).astype(np.int64) for source in sources]), low, high).astype(whole)
        return value if len(results) == 1 else (value, *body(*sources)[1:])

    return saturated
