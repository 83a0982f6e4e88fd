"""Sums of absolute differences and averages of packed bytes. Source: CDNA3 ISA manual, VOP3.

Arrays broadcast to (waves, lanes); a 64-bit source is one array of uint64, four registers have a leading axis.
"""

from __future__ import annotations

import numpy as np

from mfmasim.arrays import U
from mfmasim.machine.opcodes.registry import vector

BYTE, HALF = np.uint32(0xFF), np.uint32(0xFFFF)
SHIFTS = tuple(np.uint32(shift) for shift in (0, 8, 16, 24))


def _difference(a: U, b: U) -> U:
    return np.maximum(a, b) - np.minimum(a, b)


def _sum(s0: U, s1: U, *, masked: bool = False) -> U:
    """Sum of absolute differences of four bytes; masked: only where the byte of the reference s1 is not zero."""
    total: U = np.array(0, np.uint32)
    for shift in SHIFTS:
        x, y = s0 >> shift & BYTE, s1 >> shift & BYTE
        total = total + (np.where(y == 0, np.uint32(0), _difference(x, y)) if masked else _difference(x, y))
    return total


@vector("v_sad_u8", "u32 u32 u32 -> u32", saturates=True)
def v_sad_u8(s0: U, s1: U, s2: U) -> U:
    return _sum(s0, s1) + s2


@vector("v_sad_hi_u8", "u32 u32 u32 -> u32", saturates=True)
def v_sad_hi_u8(s0: U, s1: U, s2: U) -> U:
    return (_sum(s0, s1) << np.uint32(16)) + s2


@vector("v_sad_u16", "u32 u32 u32 -> u32", saturates=True)
def v_sad_u16(s0: U, s1: U, s2: U) -> U:
    return _difference(s0 & HALF, s1 & HALF) + _difference(s0 >> SHIFTS[2], s1 >> SHIFTS[2]) + s2


@vector("v_sad_u32", "u32 u32 u32 -> u32", saturates=True)
def v_sad_u32(s0: U, s1: U, s2: U) -> U:
    return _difference(s0, s1) + s2


@vector("v_msad_u8", "u32 u32 u32 -> u32", saturates=True)
def v_msad_u8(s0: U, s1: U, s2: U) -> U:
    return _sum(s0, s1, masked=True) + s2


def _slices(s0: U) -> list[U]:
    """The four dwords that start at bytes 0 to 3 of eight."""
    return [(s0 >> np.uint64(8 * byte)).astype(np.uint32) for byte in range(4)]


def _four(s0: U, s1: U, s2: U, *, masked: bool) -> U:
    """Four sums over sliding slices, each added to a 16-bit field of s2 and cut to 16 bits."""
    out = np.zeros(np.broadcast(s0, s1, s2).shape, np.uint64)
    for byte, part in enumerate(_slices(s0)):
        at = np.uint64(16 * byte)
        out |= ((_sum(part, s1, masked=masked) + (s2 >> at).astype(np.uint32)) & HALF).astype(np.uint64) << at
    return out


@vector("v_qsad_pk_u16_u8", "u64 u32 u64 -> u64", refuses_clamp=True)
def v_qsad_pk_u16_u8(s0: U, s1: U, s2: U) -> U:
    return _four(s0, s1, s2, masked=False)


@vector("v_mqsad_pk_u16_u8", "u64 u32 u64 -> u64", refuses_clamp=True)
def v_mqsad_pk_u16_u8(s0: U, s1: U, s2: U) -> U:
    return _four(s0, s1, s2, masked=True)


@vector("v_mqsad_u32_u8", "u64 u32 b32x4 -> b32x4", refuses_clamp=True)
def v_mqsad_u32_u8(s0: U, s1: U, s2: U) -> U:
    parts = [_sum(part, s1, masked=True) + s2[byte] for byte, part in enumerate(_slices(s0))]
    return np.stack(np.broadcast_arrays(*parts))


@vector("v_lerp_u8", "u32 u32 u32 -> u32")
def v_lerp_u8(s0: U, s1: U, s2: U) -> U:
    """Average of bytes; the lowest bit of the third source's byte rounds up."""
    out = np.zeros(np.broadcast(s0, s1, s2).shape, np.uint32)
    for shift in SHIFTS:
        total = (s0 >> shift & BYTE) + (s1 >> shift & BYTE) + (s2 >> shift & np.uint32(1))
        out |= (total >> np.uint32(1)) << shift
    return out
