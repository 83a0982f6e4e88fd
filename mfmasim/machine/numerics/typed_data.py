"""Conversion between components of typed buffer data and 32-bit or 16-bit registers.

Loads are exact or rounded once (the ranges are those of the ISA manuals' formats; 10 and 11-bit floats have 5 exponent
bits and no sign). What the manuals leave open is assumed, from Direct3D's rules for typed buffers: a store rounds
normalised values to the nearest, half away from zero, cuts scaled ones and small floats, saturates both and integers
as well, and makes 0 of NaN where the format has none.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.arrays import U32

FRACTION = {10: 5, 11: 6}
"""Fraction bits of the small floats."""


def _signed(raw: U32, bits: int) -> NDArray[np.int64]:
    sign = np.int64(1 << bits - 1)
    return (raw.astype(np.int64) ^ sign) - sign


def _small_float(raw: U32, bits: int) -> U32:
    """A 10 or 11-bit float as f32, exactly."""
    fraction = FRACTION[bits]
    exponent, rest = raw >> np.uint32(fraction), raw & np.uint32((1 << fraction) - 1)
    wide = (rest << np.uint32(23 - fraction)) | np.where(exponent == 31, 255, exponent + 112).astype(np.uint32) << 23
    wide = np.where((exponent == 31) & (rest != 0), wide | np.uint32(0x400000), wide)
    denormal = (rest.astype(np.float32) * np.float32(2.0 ** (-14 - fraction))).view(np.uint32)
    return np.where(exponent == 0, denormal, wide).astype(np.uint32)


def _half(wide: U32) -> U32:
    """f32 to f16, to nearest even; a NaN keeps its sign and its highest bits, and becomes quiet."""
    nan = wide >> np.uint32(16) & np.uint32(0x8000) | np.uint32(0x7E00) | wide >> np.uint32(13) & np.uint32(0x1FF)
    real = np.ascontiguousarray(wide).view(np.float32)
    return np.where(np.isnan(real), nan, real.astype(np.float16).view(np.uint16).astype(np.uint32))


def _wide(half: U32) -> U32:
    """f16 to f32, exactly; a NaN becomes quiet."""
    sign = half >> np.uint32(15) << np.uint32(31)
    nan = sign | np.uint32(0x7FC00000) | (half & np.uint32(0x3FF)) << np.uint32(13)
    real = half.astype(np.uint16).view(np.float16)
    return np.where(np.isnan(real), nan, real.astype(np.float32).view(np.uint32))


def decoded(raw: U32, bits: int, kind: str, *, short: bool) -> U32:
    """The register contents of a load.

    Args:
        raw: the component's bits.
        bits: how many there are.
        kind: as `BufferFormat` names it.
        short: whether the register holds 16 bits (D16).

    Returns:
        Register contents; of 16 bits in the low half.
    """
    low = np.uint32(0xFFFF if short else 0xFFFFFFFF)
    if kind == "uint":
        return raw & low
    if kind == "sint":
        return _signed(raw, bits).astype(np.uint32) & low
    if kind == "float":
        if bits == 16 and short:
            return raw
        if bits == 16:
            return _wide(raw)
        wide = raw if bits == 32 else _small_float(raw, bits)
        return _half(wide) if short else wide
    real: NDArray[Any] = raw.astype(np.float64) if kind[0] == "u" else _signed(raw, bits).astype(np.float64)
    if kind == "unorm":
        real = real / ((1 << bits) - 1)
    elif kind == "snorm":
        real = np.maximum(real / ((1 << bits - 1) - 1), -1.0)
    if short:
        return real.astype(np.float16).view(np.uint16).astype(np.uint32)
    return real.astype(np.float32).view(np.uint32)


def encoded(word: U32, bits: int, kind: str, *, short: bool) -> U32:
    """The bits of a component that a store writes.

    Args:
        word: the register; of 16 bits in the low half.
        bits: how many the component has.
        kind: as `BufferFormat` names it.
        short: whether the register holds 16 bits (D16).

    Returns:
        The component, at bit 0.
    """
    top = (1 << bits) - 1
    if kind == "uint":
        return np.minimum(word, np.uint32(top))
    if kind == "sint":
        number = _signed(word, 16 if short else 32)
        return (np.clip(number, -(1 << bits - 1), (1 << bits - 1) - 1) & top).astype(np.uint32)
    wide = _wide(word) if short else np.ascontiguousarray(word)
    if kind == "float":
        if bits == 32:
            return wide
        if bits == 16:
            return word if short else _half(word)
        return _cut(wide, bits)
    real = np.nan_to_num(wide.view(np.float32).astype(np.float64), nan=0.0, posinf=2.0**40, neginf=-(2.0**40))
    if kind == "unorm":
        return np.floor(np.clip(real, 0, 1) * top + 0.5).astype(np.uint32)
    if kind == "snorm":
        scaled = np.clip(real, -1, 1) * (top >> 1)
        return (np.trunc(scaled + np.copysign(0.5, scaled)).astype(np.int64) & top).astype(np.uint32)
    low, high = (0, top) if kind == "uscaled" else (-(1 << bits - 1), top >> 1)
    return (np.clip(np.trunc(real), low, high).astype(np.int64) & top).astype(np.uint32)


def _cut(wide: U32, bits: int) -> U32:
    """f32 to a 10 or 11-bit float, towards zero; negative numbers become 0, too large ones the largest."""
    fraction = FRACTION[bits]
    value = wide.view(np.float32).astype(np.float64)
    finite = np.clip(np.nan_to_num(value, nan=0.0), 0, (2 - 2.0**-fraction) * 2.0**15)
    power = np.where(finite == 0, -14, np.maximum(np.frexp(finite)[1] - 1, -14))
    steps = np.floor(np.ldexp(finite, fraction - power)).astype(np.int64)
    # The implied bit of a normal number adds one to the exponent field.
    out = ((power + 14).astype(np.int64) << fraction) + steps
    infinity = 31 << fraction
    out = np.where(np.isposinf(value), infinity, np.where(np.isnan(value), infinity | 1 << fraction - 1, out))
    return out.astype(np.uint32)
