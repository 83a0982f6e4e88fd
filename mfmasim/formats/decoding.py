"""Codes to float64, exactly: as NumPy reads them, or by a table of every code."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.formats.checks import as_codes

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from mfmasim.formats.model import Format

__all__ = ["decode"]

# Elements per piece: input, table and output of a piece stay in the first two cache levels.
PIECE = 1 << 14


def decode(fmt: Format, codes: ArrayLike) -> NDArray[np.float64]:
    """See `Format.decode`."""
    array = as_codes(codes, fmt)
    flat = np.ascontiguousarray(array.astype(fmt.carrier, copy=False)).reshape(-1)
    if fmt.unread_bits:
        flat = flat & fmt.carrier.type(fmt.mask - (1 << fmt.unread_bits) + 1)
    out = np.empty(flat.size, np.float64)
    direct = _DIRECT.get(fmt.name)
    table = _table(fmt) if direct is None and fmt.bits <= 16 else None
    with np.errstate(invalid="ignore"):  # raised for signalling NaNs, which become quiet
        for start in range(0, flat.size, PIECE):
            piece = slice(start, start + PIECE)
            if table is not None:
                # Codes are checked, so "clip" never clips; it spares NumPy a buffer.
                np.take(table, flat[piece], out=out[piece], mode="clip")
            elif direct is not None:
                out[piece] = direct(flat[piece])
            else:
                out[piece] = _decode_fields(fmt, flat[piece].astype(np.int64))
    return out.reshape(array.shape)


# Formats whose bits NumPy can read as they are; of f16 it would leave signalling NaNs signalling. Every one of their
# values is a float64, so that the casts are exact.
_DIRECT: dict[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
    "f64": lambda bits: bits.view(np.float64),
    "f32": lambda bits: bits.view(np.float32),
    "xf32": lambda bits: bits.view(np.float32),
    "bf16": lambda bits: (bits.astype(np.uint32) << np.uint32(16)).view(np.float32),
}


@cache
def _table(fmt: Format) -> NDArray[np.float64]:
    """Value of every code of a format of at most 16 bits."""
    table = _decode_fields(fmt, np.arange(1 << fmt.bits, dtype=np.int64))
    table.flags.writeable = False
    return table


def _decode_fields(fmt: Format, codes: NDArray[np.int64]) -> NDArray[np.float64]:
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
