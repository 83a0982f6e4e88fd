"""Codes in registers: narrow codes packed into 32-bit dwords, and bytes picked out of them.

The dwords of a pack form one string of bits, lowest dword and lowest bit first. A 6-bit code therefore crosses dword
borders: 32 of them fill 192 bits or 6 dwords. Source: CDNA4 ISA manual, V_CVT_SCALEF32_PK32_FP6_F16 (6 bits each) and
V_CVT_SCALEF32_PK_FP4_F32 (first value in the low nibble).
"""

from __future__ import annotations

from math import gcd
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mfmasim.errors import MfmasimError, unknown
from mfmasim.formats.checks import as_codes
from mfmasim.formats.registry import Format
from mfmasim.formats.registry import format as lookup

Order = Literal["low_first", "high_first"]
"""Where the first code goes: ``low_first`` is what the hardware reads. ``high_first`` swaps the codes within each
byte (4-bit formats) or dword (others), as some quantisers store them."""


def pack(codes: ArrayLike, fmt: str | Format, order: Order = "low_first") -> NDArray[np.uint32]:
    """Pack codes into dwords along the last axis.

    Args:
        codes: integers of shape (..., n); n must fill whole dwords (a multiple of 4 for 8 bits, 8 for 4 bits, 16 for
            6 bits, 2 for 16 bits).
        fmt: format of the codes.
        order: see `Order`.

    Returns:
        uint32 of shape (..., n * bits / 32). A 64-bit code takes two dwords, the low one first.

    Raises:
        MfmasimError: n does not fill dwords, a code is too wide, an unknown order, or ``high_first`` for 6 bits.

    >>> [hex(dword) for dword in pack([1, 2, 3, 4, 5, 6, 7, 8], "e2m1fn")]
    ['0x87654321']
    >>> pack(range(32), "e2m3fn").shape
    (6,)
    """
    fmt = lookup(fmt)
    array = as_codes(codes, fmt)
    group = 32 // gcd(fmt.bits, 32)
    if array.ndim == 0 or array.shape[-1] % group:
        raise MfmasimError(
            f"{fmt.name} packs whole dwords: the last axis must be a multiple of {group}, not {array.shape}"
        )
    array = _swap(array, fmt, order)
    if fmt.bits == 8 * fmt.carrier.itemsize:
        little = array.astype(fmt.carrier.newbyteorder("<"))
        return np.ascontiguousarray(little).view("<u4").astype(np.uint32, copy=False)
    groups = array.shape[-1] // group
    codes = array.reshape(*array.shape[:-1], groups, group).astype(np.uint32)
    dwords = np.zeros((*codes.shape[:-1], group * fmt.bits // 32), np.uint32)
    for place in range(group):
        dword, bit = divmod(place * fmt.bits, 32)
        dwords[..., dword] |= codes[..., place] << np.uint32(bit)
        if bit + fmt.bits > 32:
            dwords[..., dword + 1] |= codes[..., place] >> np.uint32(32 - bit)
    return dwords.reshape(*array.shape[:-1], groups * dwords.shape[-1])


def unpack(dwords: ArrayLike, fmt: str | Format, order: Order = "low_first") -> NDArray[np.unsignedinteger[Any]]:
    """Split dwords into codes along the last axis, the inverse of `pack`.

    Args:
        dwords: uint32 of shape (..., d); d * 32 must be a multiple of the width (6-bit codes: 3 dwords for 16 codes).
        fmt: format of the codes.
        order: see `Order`.

    Returns:
        Codes of shape (..., d * 32 / bits) in the format's ``carrier``.

    Raises:
        MfmasimError: not 32-bit dwords, a number of them that does not end with a code, or an unknown order.
    """
    fmt = lookup(fmt)
    array = as_codes(dwords, lookup("f32"))
    group = fmt.bits // gcd(fmt.bits, 32)
    if array.ndim == 0 or array.shape[-1] % group:
        raise MfmasimError(f"{fmt.name} unpacks groups of {group} dwords along the last axis, not {array.shape}")
    if fmt.bits == 8 * fmt.carrier.itemsize:
        octets = np.ascontiguousarray(array.astype("<u4")).view(np.uint8)
        codes = octets.view(fmt.carrier.newbyteorder("<")).astype(fmt.carrier, copy=False)
        return _swap(codes, fmt, order)
    count = array.shape[-1] // group
    groups = array.reshape(*array.shape[:-1], count, group).astype(np.uint32, copy=False)
    codes = np.empty((*groups.shape[:-1], 32 * group // fmt.bits), fmt.carrier)
    for place in range(codes.shape[-1]):
        dword, bit = divmod(place * fmt.bits, 32)
        code = groups[..., dword] >> np.uint32(bit)
        if bit + fmt.bits > 32:
            code = code | groups[..., dword + 1] << np.uint32(32 - bit)
        codes[..., place] = code & np.uint32(fmt.mask)
    codes = codes.reshape(*array.shape[:-1], count * codes.shape[-1])
    return _swap(codes, fmt, order)


def _swap(codes: NDArray[Any], fmt: Format, order: Order) -> NDArray[Any]:
    """Reverse the codes of each byte or dword for ``high_first``."""
    if order not in get_args(Order):
        raise unknown("packing order", order, get_args(Order))
    if order == "low_first":
        return codes
    if 32 % fmt.bits and fmt.bits % 32:
        raise MfmasimError(f"{fmt.bits}-bit codes cross dword borders: the only packing order is low_first")
    group = max(1, 8 // fmt.bits if fmt.bits < 8 else 32 // fmt.bits)
    return codes.reshape(*codes.shape[:-1], codes.shape[-1] // group, group)[..., ::-1].reshape(codes.shape)


def select_byte(dwords: NDArray[np.uint32], byte: int) -> NDArray[np.uint32]:
    """Pick byte 0 (lowest) to 3 of each dword, as the scale operands' ``op_sel`` does.

    Raises:
        MfmasimError: another byte.
    """
    return (dwords >> np.uint32(8 * _byte(byte))) & np.uint32(0xFF)


def insert_byte(dwords: NDArray[np.uint32], byte: int, values: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Replace byte 0 (lowest) to 3 of each dword and keep the other three.

    Args:
        dwords: uint32, any shape.
        byte: 0 to 3.
        values: uint32 of the same shape, of which the lowest byte counts.

    Returns:
        uint32 of the same shape.

    Raises:
        MfmasimError: another byte.
    """
    shift = np.uint32(8 * _byte(byte))
    return (dwords & ~(np.uint32(0xFF) << shift)) | ((values & np.uint32(0xFF)) << shift)


def _byte(byte: int) -> int:
    if byte not in {0, 1, 2, 3}:
        raise MfmasimError(f"a dword has no byte {byte!r}; allowed: 0, 1, 2, 3")
    return int(byte)
