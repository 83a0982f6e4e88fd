"""Numbers to codes: the checks, the cut into cache-sized pieces, and the tables that make narrow targets fast.

Finite results of the common pairs of wide formats take NumPy's casts (float64 to float32, float32 to float16) and an
integer step (f32 to bf16): they round once, to nearest even, subnormals included (IEEE 754; tests compare them with the
slow model). Inf and NaN are left to `mfmasim.formats.rounding`, which applies overflow and NaN rules.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.formats.checks import as_codes, as_random
from mfmasim.formats.modes import check_modes
from mfmasim.formats.rounding import round_codes
from mfmasim.formats.rows import ROWS

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Bits = NDArray[np.unsignedinteger[Any]]
    from numpy.typing import ArrayLike, NDArray

    from mfmasim.formats.modes import NanRule, Overflow, Rounding
    from mfmasim.formats.rows import FormatRow

    Codes = NDArray[np.unsignedinteger[Any]]


def _nearest_bf16(bits: Bits) -> Bits:
    """f32 to bf16: add just under half of the last place kept, and its lowest bit."""
    # A NaN whose payload lies in the lower half would carry into something finite: it goes to Inf, and is put right.
    nan = (bits & np.uint32(0x7FFFFFFF)) > np.uint32(0x7F800000)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    return np.where(nan, np.uint32(0x7F80), rounded).astype(np.uint16)


def _zero_bf16(bits: Bits) -> Bits:
    return (bits >> np.uint32(16)).astype(np.uint16)


def _nearest_f16(bits: Bits) -> Bits:
    with np.errstate(all="ignore"):
        return bits.view(np.float32).astype(np.float16).view(np.uint16)


def _zero_f16(bits: Bits) -> Bits:
    with np.errstate(all="ignore"):
        values = bits.view(np.float32)
        nearest = values.astype(np.float16)
        # One code back where the nearest lies beyond; codes of one sign are ordered like their values.
        return nearest.view(np.uint16) - (np.abs(nearest.astype(np.float32)) > np.abs(values))


def _nearest_f32(bits: Bits) -> Bits:
    with np.errstate(all="ignore"):
        return bits.view(np.float64).astype(np.float32).view(np.uint32)


def _zero_f32(bits: Bits) -> Bits:
    with np.errstate(all="ignore"):
        values = bits.view(np.float64)
        nearest = values.astype(np.float32)
        return nearest.view(np.uint32) - (np.abs(nearest.astype(np.float64)) > np.abs(values))


SHORTCUTS: dict[tuple[str, str, str], Callable[[Bits], Bits]] = {
    ("f32", "bf16", "nearest_even"): _nearest_bf16,
    ("f32", "bf16", "toward_zero"): _zero_bf16,
    ("f32", "f16", "nearest_even"): _nearest_f16,
    ("f32", "f16", "toward_zero"): _zero_f16,
    ("f64", "f32", "nearest_even"): _nearest_f32,
    ("f64", "f32", "toward_zero"): _zero_f32,
}


def odd_single(bits: Bits) -> NDArray[np.uint32]:
    """f64 codes rounded to odd in f32: cut off, with the lowest bit set where anything was lost.

    A second rounding to at most 22 mantissa bits then gives what one rounding would have given.
    """
    with np.errstate(all="ignore"):
        values = bits.view(np.float64)
        nearest = values.astype(np.float32)
        wide = nearest.astype(np.float64)
        cut: NDArray[np.uint32] = nearest.view(np.uint32) - (np.abs(wide) > np.abs(values))
        cut |= wide != values
        return cut


# Elements per piece: source, index and codes of a piece stay in the first two cache levels.
PIECE = 1 << 14


def recode(
    codes: ArrayLike,
    source: FormatRow,
    target: FormatRow,
    rounding: Rounding,
    overflow: Overflow,
    random: ArrayLike | None,
    nan: NanRule,
) -> Codes:
    """See `mfmasim.formats.convert`, which takes names too.

    Args:
        codes: integers, any shape.
        source: format of ``codes``.
        target: format of the result.
        rounding: see `mfmasim.formats.modes.Rounding`.
        overflow: see `mfmasim.formats.modes.Overflow`.
        random: random bits for ``stochastic``.
        nan: see `mfmasim.formats.modes.NanRule`.

    Returns:
        Codes of ``target`` of the same shape.
    """
    check_modes(rounding, overflow, nan)
    array = as_codes(codes, source)
    noise = as_random(random, rounding, array.shape)
    flat = np.ascontiguousarray(array.astype(source.carrier, copy=False)).reshape(-1)
    out = np.empty(flat.size, target.carrier)
    if noise is None:
        step = _way(source, target, rounding, overflow, nan)
        for start in range(0, flat.size, PIECE):
            step(flat[start : start + PIECE], out[start : start + PIECE])
    else:
        noise = np.ascontiguousarray(noise).reshape(-1)
        for start in range(0, flat.size, PIECE):
            piece = slice(start, start + PIECE)
            out[piece] = round_codes(flat[piece], source, target, rounding, overflow, nan, noise[piece])
    return out.reshape(array.shape)


_TOP_HALF = next(row for row in ROWS if row.name == "bf16")
"""The upper half of an f32."""


@cache
def _way(
    source: FormatRow, target: FormatRow, rounding: Rounding, overflow: Overflow, nan: NanRule
) -> Callable[[Codes, Codes], None]:
    """Choose how one piece is converted: by table, by a shortcut, or by the general rounding."""

    def general(piece: Codes) -> Codes:
        return round_codes(piece, source, target, rounding, overflow, nan)

    narrow = source.bits <= 16
    if narrow or _fits_top_half(source, target):
        table = _table(source if narrow else _TOP_HALF, target, rounding, overflow, nan)

        def look_up(piece: Codes, out: Codes) -> None:
            index = piece if narrow else _odd_half(odd_single(piece) if source.name == "f64" else piece)
            # Every index lies inside the table, so "clip" never clips; it saves NumPy a buffer.
            np.take(table, index, out=out, mode="clip")

        return look_up
    shortcut = SHORTCUTS.get((source.name, target.name, rounding))
    if shortcut is None:

        def plain(piece: Codes, out: Codes) -> None:
            out[...] = general(piece)

        return plain
    magnitude, infinity = target.carrier.type(target.mask >> 1), target.carrier.type(target.inf_code)

    def quick(piece: Codes, out: Codes) -> None:
        out[...] = shortcut(piece)
        special = (out & magnitude) >= infinity
        if special.any():
            out[special] = general(piece[special])

    return quick


def _fits_top_half(source: FormatRow, target: FormatRow) -> bool:
    """Whether the upper 16 bits of the source (as f32) and one sticky bit decide the target's code.

    A value rounded to odd with two bits more than the target keeps rounds onwards like the value itself. The
    upper half of an f32 has 7 mantissa bits.
    """
    return source.name in {"f32", "f64"} and not target.integer and target.mantissa_bits <= 5


def _odd_half(bits: Codes) -> NDArray[np.uint32]:
    """Upper halves of f32 codes, the lowest bit set where anything was cut off (rounding to odd)."""
    half = bits & np.uint32(0xFFFF)
    half += np.uint32(0xFFFF)  # bit 16 is now set where the lower half was not zero
    half |= bits
    half >>= np.uint32(16)
    return half


@cache
def _table(source: FormatRow, target: FormatRow, rounding: Rounding, overflow: Overflow, nan: NanRule) -> Codes:
    """Target code of every code of a source of at most 16 bits."""
    codes = np.arange(1 << source.bits, dtype=source.carrier)
    table = round_codes(codes, source, target, rounding, overflow, nan)
    table.flags.writeable = False
    return table
