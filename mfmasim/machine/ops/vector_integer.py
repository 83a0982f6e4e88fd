"""Vector integer arithmetic, shifts and bit fields. Source: CDNA3/CDNA4 ISA manuals, VOP1/VOP2/VOP3.

Arrays broadcast to (waves, lanes).
"""

from __future__ import annotations

import numpy as np

from mfmasim.arrays import U
from mfmasim.machine.opcodes.registry import vector
from mfmasim.machine.opcodes.undefined_rules import bits, sums

M31, M63 = np.uint32(31), np.uint32(63)
AMOUNTS = tuple(np.array(amount, np.uint32) for amount in range(32))
ONE64 = np.uint64(1)
LOW24 = np.uint32(0xFFFFFF)


def _amount(s: U) -> U:
    """The bits of a source that shift a dword; of a constant without a call of NumPy."""
    return s & M31 if s.ndim else AMOUNTS[s.item() & 31]


def _signed24(value: U) -> U:
    """The low 24 bits of any integer type with their sign."""
    up = value.dtype.type(8 * value.itemsize - 24)
    return value << up >> up


@vector("v_add_u32 v_add_nc_u32", "u32 u32 -> u32", undefined=sums(), saturates=True)
def v_add_u32(s0: U, s1: U) -> U:
    return s0 + s1


@vector("v_sub_u32 v_sub_nc_u32", "u32 u32 -> u32", undefined=sums(), saturates=True)
def v_sub_u32(s0: U, s1: U) -> U:
    return s0 - s1


@vector("v_subrev_u32 v_subrev_nc_u32", "u32 u32 -> u32", undefined=sums(), saturates=True)
def v_subrev_u32(s0: U, s1: U) -> U:
    return s1 - s0


@vector("v_and_b32", "u32 u32 -> u32", undefined=bits())
def v_and_b32(s0: U, s1: U) -> U:
    return s0 & s1


@vector("v_or_b32", "u32 u32 -> u32", undefined=bits())
def v_or_b32(s0: U, s1: U) -> U:
    return s0 | s1


@vector("v_xor_b32", "u32 u32 -> u32", undefined=bits(mixes=True))
def v_xor_b32(s0: U, s1: U) -> U:
    return s0 ^ s1


@vector("v_xnor_b32", "u32 u32 -> u32", undefined=bits(mixes=True))
def v_xnor_b32(s0: U, s1: U) -> U:
    return ~(s0 ^ s1)


@vector("v_not_b32", "u32 -> u32", undefined=bits())
def v_not_b32(s0: U) -> U:
    return ~s0


@vector("v_lshlrev_b32", "u32 u32 -> u32", undefined=bits(0))
def v_lshlrev_b32(s0: U, s1: U) -> U:
    return s1 << _amount(s0)


@vector("v_lshrrev_b32", "u32 u32 -> u32", undefined=bits(0))
def v_lshrrev_b32(s0: U, s1: U) -> U:
    return s1 >> _amount(s0)


@vector("v_ashrrev_i32", "u32 i32 -> i32", undefined=bits(0))
def v_ashrrev_i32(s0: U, s1: U) -> U:
    return s1 >> (s0 & M31).astype(np.int32)


@vector("v_lshlrev_b64", "u32 u64 -> u64", undefined=bits(0))
def v_lshlrev_b64(s0: U, s1: U) -> U:
    return s1 << (s0 & M63).astype(np.uint64)


@vector("v_lshrrev_b64", "u32 u64 -> u64", undefined=bits(0))
def v_lshrrev_b64(s0: U, s1: U) -> U:
    return s1 >> (s0 & M63).astype(np.uint64)


@vector("v_ashrrev_i64", "u32 i64 -> i64", undefined=bits(0))
def v_ashrrev_i64(s0: U, s1: U) -> U:
    return s1 >> (s0 & M63).astype(np.int64)


@vector("v_lshl_add_u32", "u32 u32 u32 -> u32", undefined=sums(shifted=1))
def v_lshl_add_u32(s0: U, s1: U, s2: U) -> U:
    return (s0 << _amount(s1)) + s2


@vector("v_add_lshl_u32", "u32 u32 u32 -> u32")
def v_add_lshl_u32(s0: U, s1: U, s2: U) -> U:
    return (s0 + s1) << _amount(s2)


@vector("v_lshl_or_b32", "u32 u32 u32 -> u32", undefined=bits(1))
def v_lshl_or_b32(s0: U, s1: U, s2: U) -> U:
    return (s0 << _amount(s1)) | s2


@vector("v_and_or_b32", "u32 u32 u32 -> u32", undefined=bits())
def v_and_or_b32(s0: U, s1: U, s2: U) -> U:
    return (s0 & s1) | s2


@vector("v_or3_b32", "u32 u32 u32 -> u32", undefined=bits())
def v_or3_b32(s0: U, s1: U, s2: U) -> U:
    return s0 | s1 | s2


@vector("v_xor3_b32", "u32 u32 u32 -> u32", undefined=bits(mixes=True))
def v_xor3_b32(s0: U, s1: U, s2: U) -> U:
    return s0 ^ s1 ^ s2


@vector("v_xad_u32", "u32 u32 u32 -> u32")
def v_xad_u32(s0: U, s1: U, s2: U) -> U:
    return (s0 ^ s1) + s2


@vector("v_add3_u32", "u32 u32 u32 -> u32", undefined=sums())
def v_add3_u32(s0: U, s1: U, s2: U) -> U:
    return s0 + s1 + s2


@vector("v_lshl_add_u64", "u64 u32 u64 -> u64", undefined=sums(shifted=1))
def v_lshl_add_u64(s0: U, s1: U, s2: U) -> U:
    count = s1 & np.uint32(7)
    # The manual: a count above 4 is not supported and shifts by nothing.
    return (s0 << np.where(count > 4, np.uint32(0), count).astype(np.uint64)) + s2


@vector("v_bfe_u32", "u32 u32 u32 -> u32", undefined=bits(1, 2))
def v_bfe_u32(s0: U, s1: U, s2: U) -> U:
    return (s0 >> (s1 & M31)) & ((np.uint32(1) << (s2 & M31)) - np.uint32(1))


@vector("v_bfe_i32", "i32 u32 u32 -> i32", undefined=bits(1, 2))
def v_bfe_i32(s0: U, s1: U, s2: U) -> U:
    width = (s2 & M31).astype(np.int64)
    field = (s0.astype(np.int64) >> (s1 & M31).astype(np.int64)) & ((np.int64(1) << width) - 1)
    sign = (np.int64(1) << width) >> 1
    return ((field ^ sign) - sign).astype(np.int32)


@vector("v_bfi_b32", "u32 u32 u32 -> u32", undefined=bits(mixes=True))
def v_bfi_b32(s0: U, s1: U, s2: U) -> U:
    return (s0 & s1) | (~s0 & s2)


@vector("v_alignbit_b32", "u32 u32 u32 -> u32", undefined=bits(2))
def v_alignbit_b32(s0: U, s1: U, s2: U) -> U:
    return (((s0.astype(np.uint64) << np.uint64(32)) | s1) >> (s2 & M31).astype(np.uint64)).astype(np.uint32)


@vector("v_alignbyte_b32", "u32 u32 u32 -> u32", undefined=bits(2))
def v_alignbyte_b32(s0: U, s1: U, s2: U) -> U:
    shift = (s2 & np.uint32(3)).astype(np.uint64) << np.uint64(3)
    return (((s0.astype(np.uint64) << np.uint64(32)) | s1) >> shift).astype(np.uint32)


@vector("v_perm_b32", "u32 u32 u32 -> u32", undefined=bits(2))
def v_perm_b32(s0: U, s1: U, s2: U) -> U:
    """Each selector byte picks a byte of {s0, s1}: 0-3 from s1, 4-7 from s0, 8-11 a sign, 12 zero, above 0xff."""
    pool = (s0.astype(np.uint64) << np.uint64(32)) | s1
    out = np.zeros(np.broadcast(s0, s1, s2).shape, np.uint32)
    for byte in range(4):
        selector = (s2 >> np.uint32(8 * byte)) & np.uint32(0xFF)
        picked = (pool >> ((selector & np.uint32(7)).astype(np.uint64) << np.uint64(3))) & np.uint64(0xFF)
        # Selectors 8..11 replicate the sign of bytes 1, 3, 5, 7.
        odd = ((selector & np.uint32(3)).astype(np.uint64) << np.uint64(4)) + np.uint64(15)
        sign = np.where((pool >> odd) & ONE64, np.uint64(0xFF), np.uint64(0))
        value = np.where(selector < 8, picked, np.where(selector < 12, sign, np.where(selector == 12, 0, 0xFF)))
        out |= value.astype(np.uint32) << np.uint32(8 * byte)
    return out


@vector("v_mul_lo_u32", "u32 u32 -> u32", undefined=sums())
def v_mul_lo_u32(s0: U, s1: U) -> U:
    return s0 * s1


@vector("v_mul_hi_u32", "u32 u32 -> u32")
def v_mul_hi_u32(s0: U, s1: U) -> U:
    return (s0.astype(np.uint64) * s1 >> np.uint64(32)).astype(np.uint32)


@vector("v_mul_hi_i32", "i32 i32 -> i32")
def v_mul_hi_i32(s0: U, s1: U) -> U:
    return (s0.astype(np.int64) * s1 >> np.int64(32)).astype(np.int32)


@vector("v_mul_u32_u24", "u32 u32 -> u32", undefined=sums(factors=24), saturates=True)
def v_mul_u32_u24(s0: U, s1: U) -> U:
    return (s0 & LOW24) * (s1 & LOW24)


@vector("v_mul_i32_i24", "i32 i32 -> i32", saturates=True)
def v_mul_i32_i24(s0: U, s1: U) -> U:
    return _signed24(s0) * _signed24(s1)


@vector("v_mad_u32_u24", "u32 u32 u32 -> u32", undefined=sums(factors=24), saturates=True)
def v_mad_u32_u24(s0: U, s1: U, s2: U) -> U:
    return (s0 & LOW24) * (s1 & LOW24) + s2


@vector("v_mad_i32_i24", "i32 i32 i32 -> i32", saturates=True)
def v_mad_i32_i24(s0: U, s1: U, s2: U) -> U:
    return v_mul_i32_i24(s0, s1) + s2


@vector("v_mad_u64_u32 v_mad_co_u64_u32", "u32 u32 u64 -> u64 mask", undefined=sums(), saturates=True)
def v_mad_u64_u32(s0: U, s1: U, s2: U) -> tuple[U, U]:
    product = s0.astype(s2.dtype) * s1
    total = product + s2
    return total, total < product


@vector("v_mad_i64_i32 v_mad_co_i64_i32", "i32 i32 i64 -> i64 mask", saturates=True)
def v_mad_i64_i32(s0: U, s1: U, s2: U) -> tuple[U, U]:
    """The carry is bit 64 of the exact sum: its sign, as the sum of two signed 64-bit numbers needs 65 bits."""
    product = s0.astype(s2.dtype) * s1
    total = product + s2
    overflow = ((product ^ total) & (s2 ^ total)) < 0
    return total, (total < 0) ^ overflow


for _name, _body in (("min", np.minimum), ("max", np.maximum)):
    for _kind in ("i32", "u32"):
        vector(f"v_{_name}_{_kind}", f"{_kind} {_kind} -> {_kind}")(_body)


@vector("v_bfrev_b32", "u32 -> u32", undefined=bits())
def v_bfrev_b32(s0: U) -> U:
    octets = np.unpackbits(np.ascontiguousarray(s0)[..., None].view(np.uint8), axis=-1, bitorder="little")
    return np.packbits(octets[..., ::-1], axis=-1, bitorder="little").view(np.uint32)[..., 0]


@vector("v_bcnt_u32_b32", "u32 u32 -> u32")
def v_bcnt_u32_b32(s0: U, s1: U) -> U:
    return np.bitwise_count(s0).astype(np.uint32) + s1


@vector("v_ffbl_b32 v_ctz_i32_b32", "u32 -> u32")
def v_ffbl_b32(s0: U) -> U:
    """Position of the lowest one, all ones when there is none."""
    lowest = s0 & (~s0 + np.uint32(1))
    return np.where(s0 == 0, np.uint32(0xFFFFFFFF), np.bitwise_count(lowest - np.uint32(1)).astype(np.uint32))


@vector("v_ffbh_u32 v_clz_i32_u32", "u32 -> u32")
def v_ffbh_u32(s0: U) -> U:
    """Leading zeros, all ones when the source is zero."""
    bits = np.frexp(s0.astype(np.float64))[1].astype(np.uint32)  # exact: every u32 is a float64
    return np.where(s0 == 0, np.uint32(0xFFFFFFFF), np.uint32(32) - bits)


@vector("v_lshlrev_b16", "u16 u16 -> u16", undefined=bits(0))
def v_lshlrev_b16(s0: U, s1: U) -> U:
    return s1 << (s0 & np.uint16(15))


@vector("v_lshrrev_b16", "u16 u16 -> u16", undefined=bits(0))
def v_lshrrev_b16(s0: U, s1: U) -> U:
    return s1 >> (s0 & np.uint16(15))


@vector("v_ashrrev_i16", "u16 i16 -> i16", undefined=bits(0))
def v_ashrrev_i16(s0: U, s1: U) -> U:
    return s1 >> (s0 & np.uint16(15)).astype(np.int16)


@vector("v_add_u16 v_add_nc_u16", "u16 u16 -> u16", undefined=sums(), saturates=True)
def v_add_u16(s0: U, s1: U) -> U:
    return s0 + s1


@vector("v_sub_u16 v_sub_nc_u16", "u16 u16 -> u16", undefined=sums(), saturates=True)
def v_sub_u16(s0: U, s1: U) -> U:
    return s0 - s1


@vector("v_mul_lo_u16", "u16 u16 -> u16", undefined=sums(), refuses_clamp=True)
def v_mul_lo_u16(s0: U, s1: U) -> U:
    return s0 * s1
