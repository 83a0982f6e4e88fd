"""Sums and differences of 32 bits with a carry: SCC on the scalar unit, a lane mask on the vector unit.

Source: CDNA3 and RDNA4 ISA manuals, SOP2 (S_ADD_U32, S_ADDC_U32 and kin) and VOP2/VOP3 (V_ADD_CO_U32 and kin).
"""

from __future__ import annotations

import numpy as np

from mfmasim.arrays import U
from mfmasim.machine.opcodes.registry import scalar, vector
from mfmasim.machine.opcodes.undefined_rules import sums


@scalar("s_add_u32 s_add_co_u32", "u32 u32 -> u32 scc", undefined=sums())
@vector("v_add_co_u32", "u32 u32 -> u32 mask", undefined=sums(), saturates=True)
def add(s0: U, s1: U) -> tuple[U, U]:
    total = s0 + s1
    return total, total < s0


@scalar("s_sub_u32 s_sub_co_u32", "u32 u32 -> u32 scc", undefined=sums())
@vector("v_sub_co_u32", "u32 u32 -> u32 mask", undefined=sums(), saturates=True)
def subtract(s0: U, s1: U) -> tuple[U, U]:
    return s0 - s1, s1 > s0


@vector("v_subrev_co_u32", "u32 u32 -> u32 mask", undefined=sums(), saturates=True)
def subtract_reversed(s0: U, s1: U) -> tuple[U, U]:
    return s1 - s0, s0 > s1


@scalar("s_addc_u32 s_add_co_ci_u32", "u32 u32 scc -> u32 scc", undefined=sums())
@vector("v_addc_co_u32 v_add_co_ci_u32", "u32 u32 mask -> u32 mask", undefined=sums(), saturates=True)
def add_with_carry(s0: U, s1: U, carry: U) -> tuple[U, U]:
    total = s0 + s1 + carry.astype(s0.dtype)
    return total, np.where(carry, total <= s0, total < s0)


@scalar("s_subb_u32 s_sub_co_ci_u32", "u32 u32 scc -> u32 scc", undefined=sums())
@vector("v_subb_co_u32 v_sub_co_ci_u32", "u32 u32 mask -> u32 mask", undefined=sums(), saturates=True)
def subtract_with_borrow(s0: U, s1: U, borrow: U) -> tuple[U, U]:
    return s0 - s1 - borrow.astype(s0.dtype), np.where(borrow, s1 >= s0, s1 > s0)


@vector("v_subbrev_co_u32 v_subrev_co_ci_u32", "u32 u32 mask -> u32 mask", undefined=sums(), saturates=True)
def subtract_reversed_with_borrow(s0: U, s1: U, borrow: U) -> tuple[U, U]:
    out: tuple[U, U] = subtract_with_borrow(s1, s0, borrow)
    return out
