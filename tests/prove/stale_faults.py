"""Faults of what operations write beside their destinations, of address modifiers, of case functions that forget."""

from __future__ import annotations

import numpy as np

from tests.prove.hostile import Hostile
from tests.prove.hostile_kernels import PASSED, STORE, WAVE

ONE = """
  v_mov_b32 v4, 0
  global_store_b32 v4, v3, s[10:11]
"""
"""A store to the array's first element on gfx12."""


def _caught(n: int, k: int) -> tuple[int, int]:
    """A function that catches what is not followed."""
    try:
        return n, int(n.bit_length() == 14)
    except ArithmeticError:
        return n, k - 1


def _caught_quotient(n: int, k: int) -> tuple[int, int]:
    """A function that catches a division that is not followed."""
    try:
        found = (n - 12_000) // (k - 5)
    except ArithmeticError:
        found = 0
    return n, 1 if found == -87 else 0


FAULTS = (
    Hostile("the first wave at a barrier, after a compare that holds", "bounds", {}, "s_cmp_eq_u32 0, 0\n"
            "s_barrier_signal_isfirst -1\n s_cselect_b32 s5, 0, 0x100\n s_barrier_wait -1\n s_add_co_u32 s10, s10, s5\n"
            "s_add_co_ci_u32 s11, s11, 0\n" + ONE, block=128, arch="gfx1201"),
    Hostile("no member left, after a compare that holds", "bounds", {}, "s_cmp_eq_u32 0, 0\n s_barrier_leave\n"
            "s_cselect_b32 s5, 0, 0x100\n s_add_co_u32 s10, s10, s5\n s_add_co_ci_u32 s11, s11, 0\n" + ONE,
            block=32, arch="gfx1250"),
    Hostile("the state of the barrier as an offset", "bounds", {}, "s_mov_b32 s5, 0\n s_get_barrier_state s5, -1\n"
            "s_wait_kmcnt 0x0\n s_lshl_b32 s5, s5, 2\n s_add_co_u32 s10, s10, s5\n s_add_co_ci_u32 s11, s11, 0\n" + ONE,
            block=128, arch="gfx1201"),
    Hostile("a scaled offset of a scalar load", "bounds", {"n": 9}, "s_load_b32 s5, s[8:9], s12 scale_offset\n"
            "s_wait_kmcnt 0x0\n", n=1, needs="n >= 1 and n <= 9", read=lambda n, k: 4, arch="gfx1250"),
    Hostile("the lane's number in an address", "bounds", {}, "global_store_addtid_b32 v3, s[10:11]\n", block=32,
            written=lambda n, k: 1, arch="gfx1201"),
    Hostile("a load from the scratch to the LDS", "lds races", {}, WAVE + "s_mov_b32 m0, 0\n"
            "scratch_store_dword off, v6, off\n s_waitcnt vmcnt(0)\n scratch_load_lds_dword off, off\n"
            "s_waitcnt vmcnt(0)\n", block=128, lds=512,
            options={"extra": ".amdhsa_private_segment_fixed_size 16"}),
    Hostile("quads of lanes of two waves", "bounds", {}, WAVE + "s_lshl_b32 s5, s6, 8\n s_wqm_b32 s5, s5\n"
            "v_add_u32 v4, s5, v1\n" + STORE, block=128, written=lambda n, k: 128),
    *(
        Hostile(f"a case function: {name}", "bounds", {"n": 12_345}, PASSED, passed=passed)
        for name, passed in (
            ("plain number", lambda n, k: (n, 1 if int(n) == 12_345 else 0)),
            ("text", lambda n, k: (n, 1 if str(n) == "12345" else 0)),
            ("format", lambda n, k: (n, 1 if f"{n:x}" == "3039" else 0)),
            ("range", lambda n, k: (n, 1 if len(range(n)) == 12_345 else 0)),
            ("array's element", lambda n, k: (n, 1 if np.array([12_345])[0] == n else 0)),
            ("array's length", lambda n, k: (n, 1 if np.zeros(n).size == 12_345 else 0)),
            ("NumPy's scalar", lambda n, k: (n, 1 if n - np.int64(12_344) == 1 else 0)),
            ("float", lambda n, k: (n, 1 if n == 12_345.0 else 0)),
            ("caught refusal", _caught),
            ("length of a list", lambda n, k: (n, 1 if len([0] * n) == 12_345 else 0)),
            ("sum of a list", lambda n, k: (n, 1 if sum([1] * n) == 12_345 else 0)),
            ("array of a list", lambda n, k: (n, 1 if np.array([1] * n).size == 12_345 else 0)),
            ("caught quotient", _caught_quotient),
            ("quotient and rest", lambda n, k: (n, 1 if n // 5 == 2469 and n % 5 == 0 else 0)),
            ("square", lambda n, k: (n, 1 if n * n == 12_345 * 12_345 else 0)),
            ("two quotients", lambda n, k: (n, 1 if n // 7 + n // 11 == 1763 + 1122 and n % 3 == 0 else 0)),
        )
    ),
)  # fmt: skip
