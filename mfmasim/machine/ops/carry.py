"""Sums and differences of 32 bits with a carry: SCC on the scalar unit, a lane mask on the vector unit.

Source: CDNA3 and RDNA4 ISA manuals, SOP2 (S_ADD_U32, S_ADDC_U32 and kin) and VOP2/VOP3 (V_ADD_CO_U32 and kin).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mfmasim.machine.registry import scalar, vector

U = Any  # an array of the type that the signature names


@scalar("s_add_u32 s_add_co_u32", "u32 u32 -> u32 scc")
@vector("v_add_co_u32", "u32 u32 -> u32 mask")
def add(s0: U, s1: U) -> tuple[U, U]:
    total = s0 + s1
    return total, total < s0


@scalar("s_sub_u32 s_sub_co_u32", "u32 u32 -> u32 scc")
@vector("v_sub_co_u32", "u32 u32 -> u32 mask")
def subtract(s0: U, s1: U) -> tuple[U, U]:
    return s0 - s1, s1 > s0


@vector("v_subrev_co_u32", "u32 u32 -> u32 mask")
def subtract_reversed(s0: U, s1: U) -> tuple[U, U]:
    return s1 - s0, s0 > s1


@scalar("s_addc_u32 s_add_co_ci_u32", "u32 u32 scc -> u32 scc")
@vector("v_addc_co_u32 v_add_co_ci_u32", "u32 u32 mask -> u32 mask")
def add_with_carry(s0: U, s1: U, carry: U) -> tuple[U, U]:
    wide = s0.astype(np.uint64) + s1 + carry
    return wide.astype(np.uint32), wide >> np.uint64(32) != 0


@scalar("s_subb_u32 s_sub_co_ci_u32", "u32 u32 scc -> u32 scc")
@vector("v_subb_co_u32 v_sub_co_ci_u32", "u32 u32 mask -> u32 mask")
def subtract_with_borrow(s0: U, s1: U, borrow: U) -> tuple[U, U]:
    return s0 - s1 - borrow.astype(np.uint32), s1.astype(np.uint64) + borrow > s0


@vector("v_subbrev_co_u32 v_subrev_co_ci_u32", "u32 u32 mask -> u32 mask")
def subtract_reversed_with_borrow(s0: U, s1: U, borrow: U) -> tuple[U, U]:
    return s1 - s0 - borrow.astype(np.uint32), s0.astype(np.uint64) + borrow > s1
