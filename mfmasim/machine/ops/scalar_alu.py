"""Scalar arithmetic, logic, moves and compares (SOP1, SOP2, SOPC, SOPK).

Source: CDNA3 ISA manual, SOP1/SOP2/SOPC/SOPK instructions. Every array has shape (waves,).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from mfmasim.arrays import U
from mfmasim.isa import Instruction
from mfmasim.machine.binding.operands import scalar_reader, scalar_writer
from mfmasim.machine.events.interface import Bound, Machine
from mfmasim.machine.opcodes.registry import direct, scalar
from mfmasim.machine.opcodes.undefined_rules import bits, sums

ONE32, ONE64 = np.uint32(1), np.uint64(1)
ZERO_I32 = np.int32(0)
FLAGS = np.broadcast_to(np.False_, 1), np.broadcast_to(np.True_, 1)
"""SCC of waves that are alike; nothing can write to these arrays."""


@scalar("s_mov_b32", "u32 -> u32", undefined=bits())
def s_mov_b32(s0: U) -> U:
    return s0


@scalar("s_mov_b64", "u64 -> u64", undefined=bits())
def s_mov_b64(s0: U) -> U:
    return s0


@scalar("s_movk_i32", "u32 -> u32", undefined=bits())
def s_movk_i32(s0: U) -> U:
    return s0


@scalar("s_not_b32", "u32 -> u32 scc", undefined=bits())
def s_not_b32(s0: U) -> tuple[U, U]:
    return ~s0, ~s0 != 0


@scalar("s_not_b64", "u64 -> u64 scc", undefined=bits())
def s_not_b64(s0: U) -> tuple[U, U]:
    return ~s0, ~s0 != 0


@scalar("s_add_i32 s_addk_i32 s_add_co_i32 s_addk_co_i32", "i32 i32 -> i32 scc", undefined=sums())
def s_add_i32(s0: U, s1: U) -> tuple[U, U]:
    total = s0 + s1  # wraps
    if total.size == 1:
        return total, FLAGS[total.item() != s0.item() + s1.item()]
    # It did so when the sum moved the other way than the sign of s1 says.
    return total, np.not_equal(total < s0, s1 < ZERO_I32)


@scalar("s_sub_i32 s_sub_co_i32", "i32 i32 -> i32 scc", undefined=sums())
def s_sub_i32(s0: U, s1: U) -> tuple[U, U]:
    difference = s0 - s1
    return difference, np.not_equal(difference > s0, s1 < ZERO_I32)


@scalar("s_add_nc_u64", "u64 u64 -> u64", undefined=sums())
def s_add_nc_u64(s0: U, s1: U) -> U:
    return s0 + s1


@scalar("s_sub_nc_u64", "u64 u64 -> u64", undefined=sums())
def s_sub_nc_u64(s0: U, s1: U) -> U:
    return s0 - s1


@scalar("s_mul_u64", "u64 u64 -> u64", undefined=sums())
def s_mul_u64(s0: U, s1: U) -> U:
    return s0 * s1


@scalar("s_mul_i32 s_mulk_i32", "u32 u32 -> u32", undefined=sums())
def s_mul_i32(s0: U, s1: U) -> U:
    return s0 * s1


@scalar("s_mul_hi_u32", "u32 u32 -> u32")
def s_mul_hi_u32(s0: U, s1: U) -> U:
    return (s0.astype(np.uint64) * s1 >> np.uint64(32)).astype(np.uint32)


@scalar("s_mul_hi_i32", "i32 i32 -> i32")
def s_mul_hi_i32(s0: U, s1: U) -> U:
    return (s0.astype(np.int64) * s1 >> np.int64(32)).astype(np.int32)


@scalar("s_and_b32", "u32 u32 -> u32 scc", undefined=bits())
@scalar("s_and_b64", "u64 u64 -> u64 scc", undefined=bits())
def s_and(s0: U, s1: U) -> tuple[U, U]:
    out = s0 & s1
    return out, out != 0


@scalar("s_or_b32", "u32 u32 -> u32 scc", undefined=bits())
@scalar("s_or_b64", "u64 u64 -> u64 scc", undefined=bits())
def s_or(s0: U, s1: U) -> tuple[U, U]:
    out = s0 | s1
    return out, out != 0


@scalar("s_xor_b32", "u32 u32 -> u32 scc", undefined=bits(mixes=True))
@scalar("s_xor_b64", "u64 u64 -> u64 scc", undefined=bits(mixes=True))
def s_xor(s0: U, s1: U) -> tuple[U, U]:
    out = s0 ^ s1
    return out, out != 0


@scalar("s_andn2_b32 s_and_not1_b32", "u32 u32 -> u32 scc", undefined=bits())
@scalar("s_andn2_b64 s_and_not1_b64", "u64 u64 -> u64 scc", undefined=bits())
def s_andn2(s0: U, s1: U) -> tuple[U, U]:
    out = s0 & ~s1
    return out, out != 0


@scalar("s_orn2_b32 s_or_not1_b32", "u32 u32 -> u32 scc", undefined=bits())
@scalar("s_orn2_b64 s_or_not1_b64", "u64 u64 -> u64 scc", undefined=bits())
def s_orn2(s0: U, s1: U) -> tuple[U, U]:
    out = s0 | ~s1
    return out, out != 0


@scalar("s_lshl_b32", "u32 u32 -> u32 scc", undefined=bits(1))
def s_lshl_b32(s0: U, s1: U) -> tuple[U, U]:
    out = s0 << (s1 & np.uint32(31))
    return out, out != 0


@scalar("s_lshr_b32", "u32 u32 -> u32 scc", undefined=bits(1))
def s_lshr_b32(s0: U, s1: U) -> tuple[U, U]:
    out = s0 >> (s1 & np.uint32(31))
    return out, out != 0


@scalar("s_ashr_i32", "i32 u32 -> i32 scc", undefined=bits(1))
def s_ashr_i32(s0: U, s1: U) -> tuple[U, U]:
    out = s0 >> (s1 & np.uint32(31)).astype(np.int32)
    return out, out != 0


@scalar("s_lshl_b64", "u64 u32 -> u64 scc", undefined=bits(1))
def s_lshl_b64(s0: U, s1: U) -> tuple[U, U]:
    out = s0 << (s1 & np.uint32(63)).astype(np.uint64)
    return out, out != 0


@scalar("s_lshr_b64", "u64 u32 -> u64 scc", undefined=bits(1))
def s_lshr_b64(s0: U, s1: U) -> tuple[U, U]:
    out = s0 >> (s1 & np.uint32(63)).astype(np.uint64)
    return out, out != 0


@scalar("s_lshl1_add_u32", "u32 u32 -> u32 scc", undefined=sums())
def s_lshl1_add_u32(s0: U, s1: U) -> tuple[U, U]:
    return _shift_add(s0, s1, 1)


@scalar("s_lshl2_add_u32", "u32 u32 -> u32 scc", undefined=sums())
def s_lshl2_add_u32(s0: U, s1: U) -> tuple[U, U]:
    return _shift_add(s0, s1, 2)


@scalar("s_lshl3_add_u32", "u32 u32 -> u32 scc", undefined=sums())
def s_lshl3_add_u32(s0: U, s1: U) -> tuple[U, U]:
    return _shift_add(s0, s1, 3)


@scalar("s_lshl4_add_u32", "u32 u32 -> u32 scc", undefined=sums())
def s_lshl4_add_u32(s0: U, s1: U) -> tuple[U, U]:
    return _shift_add(s0, s1, 4)


def _shift_add(s0: U, s1: U, shift: int) -> tuple[U, U]:
    wide = (s0.astype(np.uint64) << np.uint64(shift)) + s1
    return wide.astype(np.uint32), wide >> np.uint64(32) != 0


@scalar("s_min_i32", "i32 i32 -> i32 scc")
@scalar("s_min_u32", "u32 u32 -> u32 scc")
def s_min(s0: U, s1: U) -> tuple[U, U]:
    return np.minimum(s0, s1), s0 < s1


@scalar("s_max_i32", "i32 i32 -> i32 scc")
@scalar("s_max_u32", "u32 u32 -> u32 scc")
def s_max(s0: U, s1: U) -> tuple[U, U]:
    return np.maximum(s0, s1), s0 >= s1


@scalar("s_cselect_b32", "u32 u32 scc -> u32", undefined=bits())
@scalar("s_cselect_b64", "u64 u64 scc -> u64", undefined=bits())
def s_cselect(s0: U, s1: U, scc: U) -> U:
    return np.where(scc, s0, s1)


@scalar("s_sext_i32_i8", "i32 -> i32", undefined=bits())
def s_sext_i32_i8(s0: U) -> U:
    return s0.astype(np.int8).astype(np.int32)


@scalar("s_sext_i32_i16", "i32 -> i32", undefined=bits())
def s_sext_i32_i16(s0: U) -> U:
    return s0.astype(np.int16).astype(np.int32)


@scalar("s_brev_b32", "u32 -> u32", undefined=bits())
def s_brev_b32(s0: U) -> U:
    octets = np.unpackbits(np.ascontiguousarray(s0).reshape(-1, 1).view(np.uint8), axis=-1, bitorder="little")
    return np.packbits(octets[:, ::-1], axis=-1, bitorder="little").view(np.uint32).reshape(np.shape(s0))


COMPARES: dict[str, Callable[[U, U], U]] = {
    "eq": np.equal, "lg": np.not_equal, "gt": np.greater, "ge": np.greater_equal, "lt": np.less, "le": np.less_equal,
}  # fmt: skip
for _word, _body in COMPARES.items():
    for _kind in ("i32", "u32"):
        scalar(f"s_cmp_{_word}_{_kind} s_cmpk_{_word}_{_kind}", f"{_kind} {_kind} -> scc")(_body)
for _word in ("eq", "lg"):
    scalar(f"s_cmp_{_word}_u64", "u64 u64 -> scc")(COMPARES[_word])


@scalar("s_bitcmp0_b32", "u32 u32 -> scc", undefined=bits(1))
def s_bitcmp0_b32(s0: U, s1: U) -> U:
    return (s0 >> (s1 & np.uint32(31)) & ONE32) == 0


@scalar("s_bitcmp1_b32", "u32 u32 -> scc", undefined=bits(1))
def s_bitcmp1_b32(s0: U, s1: U) -> U:
    return (s0 >> (s1 & np.uint32(31)) & ONE32) != 0


def _bind_cmov(kind: str, instruction: Instruction, _machine: Machine) -> Bound:
    """Move only where SCC is 1."""
    read = scalar_reader(instruction.src[0], kind, instruction)
    old = scalar_reader(instruction.dst[0], kind, instruction)
    write = scalar_writer(instruction.dst[0], kind, instruction)
    return lambda g: write(g, np.where(g.scc, read(g), old(g)))


for _name, _kind in (("s_cmov_b32", "u32"), ("s_cmov_b64", "u64")):
    direct(_name, reads="scc", undefined=bits(keeps=True))(partial(_bind_cmov, _kind))
