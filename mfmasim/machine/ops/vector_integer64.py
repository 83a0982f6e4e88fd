"""Integers of 64 bits, and sums that are compared at once. Source: CDNA5 ISA manual, VOP2 and VOP3.

CLAMP saturates sums and differences of 64 bits, and turns negative results of V_ADD_MAX and V_ADD_MIN, whose sum always
saturates, into zeros (RELU).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from mfmasim.architectures import Arch
from mfmasim.arrays import U
from mfmasim.isa import Instruction
from mfmasim.machine.opcodes.registry import shaped, vector
from mfmasim.machine.opcodes.undefined_rules import sums


@vector("v_add_nc_u64", "u64 u64 -> u64", undefined=sums(), saturates=True)
def v_add_nc_u64(s0: U, s1: U) -> U:
    return s0 + s1


@vector("v_sub_nc_u64", "u64 u64 -> u64", undefined=sums(), saturates=True)
def v_sub_nc_u64(s0: U, s1: U) -> U:
    return s0 - s1


@vector("v_mul_u64", "u64 u64 -> u64", undefined=sums())
def v_mul_u64(s0: U, s1: U) -> U:
    return s0 * s1


@vector("v_mad_u32", "u32 u32 u32 -> u32", undefined=sums())
def v_mad_u32(s0: U, s1: U, s2: U) -> U:
    return s0 * s1 + s2


@vector("v_mad_nc_u64_u32", "u32 u32 u64 -> u64", undefined=sums(), saturates=True)
def v_mad_nc_u64_u32(s0: U, s1: U, s2: U) -> U:
    return s0.astype(s2.dtype) * s1 + s2


@vector("v_mad_nc_i64_i32", "i32 i32 i64 -> i64", saturates=True)
def v_mad_nc_i64_i32(s0: U, s1: U, s2: U) -> U:
    return s0.astype(s2.dtype) * s1 + s2


for _word, _body in (("min", np.minimum), ("max", np.maximum)):
    for _kind in ("i64", "u64"):
        vector(f"v_{_word}_{_kind}", f"{_kind} {_kind} -> {_kind}")(_body)


def _sum_then(choose: Callable[[U, U], U], whole: Any, instruction: Instruction, _arch: Arch) -> Callable[[U, U, U], U]:
    """The saturated sum of the first two, and the third: the larger or the smaller one."""
    limits, relu = np.iinfo(whole), bool(instruction.modifiers.get("clamp"))

    def run(s0: U, s1: U, s2: U) -> U:
        total = np.clip(s0.astype(np.int64) + s1, limits.min, limits.max)
        out = choose(total, s2.astype(np.int64))
        return (np.maximum(out, 0) if relu else out).astype(whole)

    return run


for _word, _choose in (("min", np.minimum), ("max", np.maximum)):
    for _kind, _whole in (("i32", np.int32), ("u32", np.uint32)):
        shaped(f"v_add_{_word}_{_kind}", f"{_kind} {_kind} {_kind} -> {_kind}")(partial(_sum_then, _choose, _whole))
