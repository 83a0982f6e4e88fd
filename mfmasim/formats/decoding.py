"""Codes to float64, exactly: as NumPy reads them, or by a table of every code."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.formats.checks import as_codes

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from mfmasim.formats.rows import FormatRow

# Elements per piece: input, table and output of a piece stay in the first two cache levels.
PIECE = 1 << 14


def decode(fmt: FormatRow, codes: ArrayLike) -> NDArray[np.float64]:
    """See `Format.decode`."""
    array = as_codes(codes, fmt)
    flat = np.ascontiguousarray(array.astype(fmt.carrier, copy=False)).reshape(-1)
    if fmt.unread_bits:
        flat = flat & fmt.carrier.type(fmt.mask - (1 << fmt.unread_bits) + 1)
    out = np.empty(flat.size, np.float64)
    direct = _direct(fmt)
    table = _table(fmt) if direct is None and fmt.bits <= 16 else None
    with np.errstate(invalid="ignore"):  # raised for signalling NaNs, which become quiet
        for start in range(0, flat.size, PIECE):
            piece = slice(start, start + PIECE)
            if table is not None:
                # Codes are checked, so "clip" never clips; it saves NumPy a buffer.
                np.take(table, flat[piece], out=out[piece], mode="clip")
            elif direct is not None:
                out[piece] = direct(flat[piece])
            else:
                out[piece] = _decode_fields(fmt, flat[piece].astype(np.int64))
    return out.reshape(array.shape)


@cache
def _direct(fmt: FormatRow) -> Callable[[NDArray[Any]], NDArray[Any]] | None:
    """How NumPy reads codes that are a float64, a float32 or the upper part of one; None for others.

    Every one of their values is a float64, so that the casts are exact. Of f16, NumPy would leave signalling NaNs
    signalling.
    """
    if fmt.special != "ieee":
        return None
    if (fmt.exponent_bits, fmt.mantissa_bits) == (11, 52):
        return lambda bits: bits.view(np.float64)
    if (fmt.exponent_bits, fmt.bits, fmt.bias) == (8, 32, 127):
        return lambda bits: bits.view(np.float32)
    if (fmt.exponent_bits, fmt.bias) == (8, 127):
        return lambda bits: (bits.astype(np.uint32) << np.uint32(32 - fmt.bits)).view(np.float32)
    return None


@cache
def _table(fmt: FormatRow) -> NDArray[np.float64]:
    """Value of every code of a format of at most 16 bits."""
    table = _decode_fields(fmt, np.arange(1 << fmt.bits, dtype=np.int64))
    table.flags.writeable = False
    return table


def _decode_fields(fmt: FormatRow, codes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Decode by sign, exponent and mantissa; an int64 holds every intermediate."""
    if fmt.integer:
        integers: NDArray[np.float64] = (codes - ((codes & fmt.sign_bit) << 1)).astype(np.float64)
        return integers  # below 2**53: exact
    mantissa = codes & ((1 << fmt.mantissa_bits) - (1 << fmt.unread_bits))
    exponent = (codes >> fmt.mantissa_bits) & ((1 << fmt.exponent_bits) - 1)
    if fmt.special == "scale":
        magnitudes = np.ldexp(1.0, exponent - fmt.bias)
    else:
        normal = exponent > 0
        significand = mantissa + (normal.astype(np.int64) << fmt.mantissa_bits)
        # At most 53 significant bits, and the exponent lies within float64's range: both steps are exact.
        magnitudes = np.ldexp(significand.astype(np.float64), np.maximum(exponent, 1) - fmt.bias - fmt.mantissa_bits)
    negative = (codes & fmt.sign_bit) != 0
    values: NDArray[np.float64] = np.where(negative, -magnitudes, magnitudes)
    if fmt.inf_code is not None:
        magnitude = codes & (fmt.mask >> 1)
        values = np.where(magnitude == fmt.inf_code, np.where(negative, -np.inf, np.inf), values)
        values = np.where(magnitude > fmt.inf_code, np.where(negative, -np.nan, np.nan), values)
    elif fmt.nan_code is not None:
        signs = fmt.sign_bit if fmt.special == "fn" else 0
        nan = np.where(negative & (signs != 0), -np.nan, np.nan)
        values = np.where((codes | signs) == (fmt.nan_code | signs), nan, values)
    return values
