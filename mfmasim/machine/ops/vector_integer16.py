"""16-bit integers, three-source minima and maxima, and packing with saturation.

Source: CDNA3/CDNA4 ISA manuals, VOP1/VOP2/VOP3. Arrays broadcast to (waves, lanes).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from mfmasim.architectures import Arch
from mfmasim.arrays import U
from mfmasim.isa import Instruction
from mfmasim.machine.opcodes.registry import shaped, vector
from mfmasim.machine.opcodes.undefined_rules import sums


@vector("v_add_i32 v_add_nc_i32", "i32 i32 -> i32", undefined=sums(), saturates=True)
@vector("v_add_i16 v_add_nc_i16", "i16 i16 -> i16", undefined=sums(), saturates=True)
def v_add(s0: U, s1: U) -> U:
    return s0 + s1


@vector("v_sub_i32 v_sub_nc_i32", "i32 i32 -> i32", undefined=sums(), saturates=True)
@vector("v_sub_i16 v_sub_nc_i16", "i16 i16 -> i16", undefined=sums(), saturates=True)
def v_sub(s0: U, s1: U) -> U:
    return s0 - s1


@vector("v_subrev_u16", "u16 u16 -> u16", undefined=sums(), saturates=True)
def v_subrev_u16(s0: U, s1: U) -> U:
    return s1 - s0


@vector("v_mad_u16", "u16 u16 u16 -> u16", undefined=sums(), saturates=True, keeps_high=True)
@vector("v_mad_i16", "i16 i16 i16 -> i16", saturates=True, keeps_high=True)
@vector("v_mad_legacy_u16", "u16 u16 u16 -> u16", undefined=sums(), saturates=True)
@vector("v_mad_legacy_i16", "i16 i16 i16 -> i16", saturates=True)
def v_mad_16(s0: U, s1: U, s2: U) -> U:
    return s0 * s1 + s2


@vector("v_mad_u32_u16", "u16 u16 u32 -> u32", saturates=True)
def v_mad_u32_u16(s0: U, s1: U, s2: U) -> U:
    return s0.astype(np.uint32) * s1 + s2


@vector("v_mad_i32_i16", "i16 i16 i32 -> i32", saturates=True)
def v_mad_i32_i16(s0: U, s1: U, s2: U) -> U:
    return s0.astype(np.int32) * s1 + s2


@vector("v_mul_hi_u32_u24", "u32 u32 -> u32")
def v_mul_hi_u32_u24(s0: U, s1: U) -> U:
    low = np.uint64(0xFFFFFF)
    return ((s0 & low) * (s1 & low) >> np.uint64(32)).astype(np.uint32)


@vector("v_mul_hi_i32_i24", "i32 i32 -> i32")
def v_mul_hi_i32_i24(s0: U, s1: U) -> U:
    eight = np.int32(8)
    return (((s0 << eight) >> eight).astype(np.int64) * ((s1 << eight) >> eight) >> np.int64(32)).astype(np.int32)


@vector("v_bfm_b32", "u32 u32 -> u32")
def v_bfm_b32(s0: U, s1: U) -> U:
    one, limit = np.uint32(1), np.uint32(31)
    return ((one << (s0 & limit)) - one) << (s1 & limit)


@vector("v_ffbh_i32 v_cls_i32", "u32 -> u32")
def v_ffbh_i32(s0: U) -> U:
    """Leading bits equal to the sign; all ones when every bit is."""
    folded = np.where(s0 >> np.uint32(31), ~s0, s0)
    bits = np.frexp(folded.astype(np.float64))[1].astype(np.uint32)  # exact: every u32 is a float64
    return np.where(folded == 0, np.uint32(0xFFFFFFFF), np.uint32(32) - bits)


@vector("v_prng_b32", "u32 -> u32")
def v_prng_b32(s0: U) -> U:
    """One step of a linear feedback shift register."""
    return (s0 << np.uint32(1)) ^ ((s0 >> np.uint32(31)) * np.uint32(197))


for _kind in ("u16", "i16"):
    for _name, _pick in (("min", np.minimum), ("max", np.maximum)):
        vector(f"v_{_name}_{_kind}", f"{_kind} {_kind} -> {_kind}")(_pick)


def _min3(s0: U, s1: U, s2: U) -> U:
    return np.minimum(np.minimum(s0, s1), s2)


def _max3(s0: U, s1: U, s2: U) -> U:
    return np.maximum(np.maximum(s0, s1), s2)


def _med3(s0: U, s1: U, s2: U) -> U:
    return np.maximum(np.minimum(s0, s1), np.minimum(np.maximum(s0, s1), s2))


def _minmax(s0: U, s1: U, s2: U) -> U:
    return np.maximum(np.minimum(s0, s1), s2)


def _maxmin(s0: U, s1: U, s2: U) -> U:
    return np.minimum(np.maximum(s0, s1), s2)


for _kind in ("u32", "i32"):
    for _name, _three in (("minmax", _minmax), ("maxmin", _maxmin)):
        vector(f"v_{_name}_{_kind}", f"{_kind} {_kind} {_kind} -> {_kind}")(_three)
for _kind in ("u32", "i32", "u16", "i16"):
    for _name, _three in (("min3", _min3), ("max3", _max3), ("med3", _med3)):
        vector(f"v_{_name}_{_kind}", f"{_kind} {_kind} {_kind} -> {_kind}")(_three)


def _low_high(low: U, high: U) -> U:
    """Two byte arrays as the low and high byte of a half."""
    return (low.astype(np.uint16) & np.uint16(0xFF)) | (high.astype(np.uint16) << np.uint16(8))


def _ashr_pk(low: int, high: int, instruction: Instruction, _arch: Arch) -> Callable[..., U]:
    """Two bytes, saturated to `low` and `high`, into one half of the destination; the other half stays."""
    shift = np.uint32(16 * (instruction.modifiers.get("op_sel", 0) >> 3 & 1))
    keep = np.uint32(0xFFFF0000) >> shift

    def run(s0: U, s1: U, s2: U, old: U) -> U:
        count = (s2 & np.uint32(31)).astype(np.int32)
        half = _low_high(np.clip(s0 >> count, low, high), np.clip(s1 >> count, low, high))
        return (half.astype(np.uint32) << shift) | (old & keep)

    return run


shaped("v_ashr_pk_i8_i32", "i32 i32 u32 u32 -> u32")(partial(_ashr_pk, -128, 127))
shaped("v_ashr_pk_u8_i32", "i32 i32 u32 u32 -> u32")(partial(_ashr_pk, 0, 255))


@vector("v_sat_pk_u8_i16", "u32 -> u16")
def v_sat_pk_u8_i16(s0: U) -> U:
    low, high = s0.astype(np.uint16).view(np.int16), (s0 >> np.uint32(16)).astype(np.uint16).view(np.int16)
    return _low_high(np.clip(low, 0, 255), np.clip(high, 0, 255))
