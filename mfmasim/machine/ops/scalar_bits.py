"""Scalar bit fields, bit counts, packing, and the logic that scalar_alu lacks.

Source: CDNA3 ISA manual, SOP1/SOP2/SOPC. Every array has shape (waves,).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mfmasim.arrays import U
from mfmasim.machine.opcodes.registry import scalar
from mfmasim.machine.opcodes.undefined_rules import bits

NONE = np.uint32(0xFFFFFFFF)
HALF, SIXTEEN = np.uint32(0xFFFF), np.uint32(16)


@scalar("s_nand_b32", "u32 u32 -> u32 scc", undefined=bits())
@scalar("s_nand_b64", "u64 u64 -> u64 scc", undefined=bits())
def s_nand(s0: U, s1: U) -> tuple[U, U]:
    out = ~(s0 & s1)
    return out, out != 0


@scalar("s_nor_b32", "u32 u32 -> u32 scc", undefined=bits())
@scalar("s_nor_b64", "u64 u64 -> u64 scc", undefined=bits())
def s_nor(s0: U, s1: U) -> tuple[U, U]:
    out = ~(s0 | s1)
    return out, out != 0


@scalar("s_xnor_b32", "u32 u32 -> u32 scc", undefined=bits(mixes=True))
@scalar("s_xnor_b64", "u64 u64 -> u64 scc", undefined=bits(mixes=True))
def s_xnor(s0: U, s1: U) -> tuple[U, U]:
    out = ~(s0 ^ s1)
    return out, out != 0


@scalar("s_ashr_i64", "i64 u32 -> i64 scc", undefined=bits(1))
def s_ashr_i64(s0: U, s1: U) -> tuple[U, U]:
    out = s0 >> (s1 & np.uint32(63)).astype(np.int64)
    return out, out != 0


@scalar("s_absdiff_i32", "i32 i32 -> i32 scc")
def s_absdiff_i32(s0: U, s1: U) -> tuple[U, U]:
    difference = s0 - s1
    out = np.where(difference < 0, np.int32(0) - difference, difference)
    return out, out != 0


@scalar("s_abs_i32", "i32 -> i32 scc")
def s_abs_i32(s0: U) -> tuple[U, U]:
    out = np.where(s0 < 0, np.int32(0) - s0, s0)
    return out, out != 0


def _field(bits: int) -> Callable[[U, U], tuple[U, U, U]]:
    """Source, offset and width of a bit field extract of `bits` bits, as uint64 where the source is."""
    kind: Any = np.uint64 if bits == 64 else np.uint32

    def split(s0: U, s1: U) -> tuple[U, U, U]:
        offset = (s1 & np.uint32(bits - 1)).astype(kind)
        width = np.minimum(s1 >> SIXTEEN & np.uint32(127), np.uint32(bits)).astype(kind)
        return s0, offset, width

    return split


def _unsigned_field(s0: U, s1: U, bits: int) -> tuple[U, U]:
    source, offset, width = _field(bits)(s0, s1)
    kind = source.dtype.type
    ones = ~kind(0) >> (kind(bits) - width & kind(bits - 1))
    out = source >> offset & np.where(width == 0, kind(0), ones)
    return out, out != 0


@scalar("s_bfe_u32", "u32 u32 -> u32 scc", undefined=bits(1))
def s_bfe_u32(s0: U, s1: U) -> tuple[U, U]:
    return _unsigned_field(s0, s1, 32)


@scalar("s_bfe_u64", "u64 u32 -> u64 scc", undefined=bits(1))
def s_bfe_u64(s0: U, s1: U) -> tuple[U, U]:
    return _unsigned_field(s0, s1, 64)


def _signed_field(s0: U, s1: U, bits: int) -> tuple[U, U]:
    """Shift the field's sign to the top and back. Bits above the source's end repeat its sign."""
    source, offset, width = _field(bits)(s0, s1)
    kind: Any = np.int64 if bits == 64 else np.int32
    up = np.where(width == 0, 0, bits - width).astype(kind)
    out = np.where(width == 0, kind(0), (source >> offset.astype(kind)) << up >> up)
    return out, out != 0


@scalar("s_bfe_i32", "i32 u32 -> i32 scc", undefined=bits(1))
def s_bfe_i32(s0: U, s1: U) -> tuple[U, U]:
    return _signed_field(s0, s1, 32)


@scalar("s_bfe_i64", "i64 u32 -> i64 scc", undefined=bits(1))
def s_bfe_i64(s0: U, s1: U) -> tuple[U, U]:
    return _signed_field(s0, s1, 64)


@scalar("s_bfm_b32", "u32 u32 -> u32")
def s_bfm_b32(s0: U, s1: U) -> U:
    one, limit = np.uint32(1), np.uint32(31)
    return ((one << (s0 & limit)) - one) << (s1 & limit)


@scalar("s_bfm_b64", "u32 u32 -> u64")
def s_bfm_b64(s0: U, s1: U) -> U:
    one, limit = np.uint64(1), np.uint64(63)
    return ((one << (s0 & limit)) - one) << (s1 & limit)


@scalar("s_pack_ll_b32_b16", "u32 u32 -> u32", undefined=bits())
def s_pack_ll_b32_b16(s0: U, s1: U) -> U:
    return (s0 & HALF) | (s1 << SIXTEEN)


@scalar("s_pack_lh_b32_b16", "u32 u32 -> u32", undefined=bits())
def s_pack_lh_b32_b16(s0: U, s1: U) -> U:
    return (s0 & HALF) | (s1 & ~HALF)


@scalar("s_pack_hl_b32_b16", "u32 u32 -> u32", undefined=bits())
def s_pack_hl_b32_b16(s0: U, s1: U) -> U:
    return (s0 >> SIXTEEN) | (s1 << SIXTEEN)


@scalar("s_pack_hh_b32_b16", "u32 u32 -> u32", undefined=bits())
def s_pack_hh_b32_b16(s0: U, s1: U) -> U:
    return (s0 >> SIXTEEN) | (s1 & ~HALF)


@scalar("s_bcnt1_i32_b32", "u32 -> u32 scc")
@scalar("s_bcnt1_i32_b64", "u64 -> u32 scc")
def s_bcnt1(s0: U) -> tuple[U, U]:
    out = np.bitwise_count(s0).astype(np.uint32)
    return out, out != 0


@scalar("s_bcnt0_i32_b32", "u32 -> u32 scc")
@scalar("s_bcnt0_i32_b64", "u64 -> u32 scc")
def s_bcnt0(s0: U) -> tuple[U, U]:
    out = np.bitwise_count(~s0).astype(np.uint32)
    return out, out != 0


@scalar("s_ff1_i32_b32 s_ctz_i32_b32", "u32 -> u32")
@scalar("s_ff1_i32_b64 s_ctz_i32_b64", "u64 -> u32")
def s_ff1(s0: U) -> U:
    """Position of the lowest one, all ones when there is none."""
    one = s0.dtype.type(1)
    below = (s0 & (~s0 + one)) - one  # ones below the lowest one; wraps to all ones for 0
    return np.where(s0 == 0, NONE, np.bitwise_count(below).astype(np.uint32))


@scalar("s_ff0_i32_b32", "u32 -> u32")
@scalar("s_ff0_i32_b64", "u64 -> u32")
def s_ff0(s0: U) -> U:
    return s_ff1(~s0)


@scalar("s_flbit_i32_b32 s_clz_i32_u32", "u32 -> u32")
@scalar("s_flbit_i32_b64 s_clz_i32_u64", "u64 -> u32")
def s_flbit(s0: U) -> U:
    """Leading zeros, all ones when the source is zero."""
    filled = s0.copy()
    bits = 8 * s0.dtype.itemsize
    for shift in (1, 2, 4, 8, 16, 32):
        if shift < bits:
            filled |= filled >> s0.dtype.type(shift)
    return np.where(s0 == 0, NONE, np.uint32(bits) - np.bitwise_count(filled).astype(np.uint32))


@scalar("s_flbit_i32 s_cls_i32", "i32 -> u32")
@scalar("s_flbit_i32_i64 s_cls_i32_i64", "i64 -> u32")
def s_flbit_signed(s0: U) -> U:
    """Leading bits equal to the sign, all ones when every bit is."""
    unsigned: Any = np.uint64 if s0.dtype == np.int64 else np.uint32
    return s_flbit(np.where(s0 < 0, ~s0, s0).view(unsigned))


@scalar("s_brev_b64", "u64 -> u64", undefined=bits())
def s_brev_b64(s0: U) -> U:
    octets = np.unpackbits(np.ascontiguousarray(s0).reshape(-1, 1).view(np.uint8), axis=-1, bitorder="little")
    return np.packbits(octets[:, ::-1], axis=-1, bitorder="little").view(np.uint64).reshape(np.shape(s0))


def _quads(s0: U) -> U:
    """Whether each group of four bits has a one, as booleans (waves, groups)."""
    octets = np.unpackbits(np.ascontiguousarray(s0).reshape(-1, 1).view(np.uint8), axis=-1, bitorder="little")
    return np.asarray(octets.reshape(len(octets), -1, 4).any(axis=-1))


@scalar("s_quadmask_b32", "u32 -> u32 scc", undefined=bits())
@scalar("s_quadmask_b64", "u64 -> u64 scc", undefined=bits())
def s_quadmask(s0: U) -> tuple[U, U]:
    """One bit for every group of four."""
    groups = _quads(s0)
    out = (groups * (s0.dtype.type(1) << np.arange(groups.shape[1]).astype(s0.dtype))).sum(axis=1).astype(s0.dtype)
    return out, out != 0


@scalar("s_wqm_b32", "u32 -> u32 scc", undefined=bits())
@scalar("s_wqm_b64", "u64 -> u64 scc", undefined=bits())
def s_wqm(s0: U) -> tuple[U, U]:
    """Every group of four that has a one becomes all ones."""
    out = np.packbits(np.repeat(_quads(s0), 4, axis=1), axis=-1, bitorder="little").view(s0.dtype)[:, 0]
    return out, out != 0


@scalar("s_bitreplicate_b64_b32", "u32 -> u64", undefined=bits())
def s_bitreplicate_b64_b32(s0: U) -> U:
    octets = np.unpackbits(np.ascontiguousarray(s0).reshape(-1, 1).view(np.uint8), axis=-1, bitorder="little")
    return np.packbits(np.repeat(octets, 2, axis=1), axis=-1, bitorder="little").view(np.uint64)[:, 0]


@scalar("s_bitset0_b32", "u32 u32 -> u32", undefined=bits(0))
@scalar("s_bitset0_b64", "u32 u64 -> u64", undefined=bits(0))
def s_bitset0(s0: U, old: U) -> U:
    kind = old.dtype.type
    return old & ~(kind(1) << (s0 & np.uint32(8 * old.dtype.itemsize - 1)).astype(kind))


@scalar("s_bitset1_b32", "u32 u32 -> u32", undefined=bits(0))
@scalar("s_bitset1_b64", "u32 u64 -> u64", undefined=bits(0))
def s_bitset1(s0: U, old: U) -> U:
    kind = old.dtype.type
    return old | kind(1) << (s0 & np.uint32(8 * old.dtype.itemsize - 1)).astype(kind)


@scalar("s_bitcmp0_b64", "u64 u32 -> scc", undefined=bits(1))
def s_bitcmp0_b64(s0: U, s1: U) -> U:
    return (s0 >> (s1 & np.uint32(63)).astype(np.uint64) & np.uint64(1)) == 0


@scalar("s_bitcmp1_b64", "u64 u32 -> scc", undefined=bits(1))
def s_bitcmp1_b64(s0: U, s1: U) -> U:
    return (s0 >> (s1 & np.uint32(63)).astype(np.uint64) & np.uint64(1)) != 0


@scalar("s_cmovk_i32", "u32 u32 scc -> u32", undefined=bits())
def s_cmovk_i32(s0: U, old: U, scc: U) -> U:
    return np.where(scc, s0, old)
