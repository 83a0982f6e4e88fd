"""The table of `tests.prove.hostile`: one fault each."""

from __future__ import annotations

import numpy as np

from tests.prove.hostile import Hostile

STORE = "\n  global_store_dword v4, v3, s[10:11]\n"
INDEX = "\n  s_lshl_b32 s5, s2, 6\n  v_add_u32 v5, s5, v0\n  v_lshlrev_b32 v4, 2, v5\n"
WAVE = "\n  v_lshrrev_b32 v6, 6, v0\n  v_readfirstlane_b32 s6, v6\n"
"""s6: the wave's number."""
GUARD = "\n v_cmp_gt_u32 vcc, s6, v0\n s_and_saveexec_b64 s[20:21], vcc\n s_cbranch_execz meet\n"
"""Work-items below s6; all others skip what follows."""
MEET = "\nmeet:\n s_or_b64 exec, exec, s[20:21]\n"
PRODUCT = "s_mul_i32 s7, s12, s14\n v_cmp_gt_u32 vcc, s7, v5\n s_and_saveexec_b64 s[20:21], vcc\n"
"""Work-items whose element lies below n k."""
BITS = (
    "v_xor_b32 v8, 0x100, v1\n s_mov_b32 s7, 0\nloop:\n ds_write_b32 v1, v3\n s_waitcnt lgkmcnt(0)\n s_barrier\n"
    "s_add_u32 s7, s7, 1\n s_cmp_lt_u32 s7, s5\n s_cbranch_scc1 loop\n"
)
"""s5 turns, of which each ends with a barrier; v8: where the other wave stores."""
RESOURCE = "s_mov_b32 s20, s10\n s_and_b32 s21, s11, 0xffff\n s_lshl_b32 s22, s12, 2\n s_mov_b32 s23, 0x27000\n"
"""A buffer resource of n elements of the array that is written."""
SELECTED = "v_bfrev_b32 v7, 1\n v_cndmask_b32 v4, v7, v1, vcc\n buffer_store_dword v3, v4, s[20:23], 0 offen\n"
"""Stores at 4 v0 where the mask is set, elsewhere at 2^31: beyond the resource."""
BARRIERS = " s_barrier\n" * 20
THREE = (
    "s_mul_i32 s5, s4, {step}\n s_add_u32 s5, s5, s3\n s_mul_i32 s5, s5, s12\n s_add_u32 s5, s5, s2\nv_mov_b32 v3, s4\n"
)
"""s5: (z step + y) n + x of the workgroup; v3: z."""
OUTSIDE = "\n  v_add_u32 v4, 256, v1\n"

PASSED = "s_lshl_b32 s5, s14, 8\n v_add_u32 v4, s5, v1\n" + STORE
"""Stores 256 k bytes further than the array begins."""


def scalar_quotient(x: str, y: str, q: str, rest: str, corrections: int = 2) -> str:
    """LLVM's quotient and rest of scalar registers; v30 and s30 to s33 are used besides."""
    text = (
        f"v_cvt_f32_u32 v30, {y}\n s_sub_i32 s30, 0, {y}\n v_rcp_iflag_f32 v30, v30\n s_nop 0\n"
        f"v_mul_f32 v30, 0x4f7ffffe, v30\n v_cvt_u32_f32 v30, v30\n s_nop 0\n v_readfirstlane_b32 s31, v30\n"
        f"s_mul_i32 s30, s30, s31\n s_mul_hi_u32 s30, s31, s30\n s_add_i32 s31, s31, s30\n"
        f"s_mul_hi_u32 {q}, {x}, s31\n s_mul_i32 s30, {q}, {y}\n s_sub_i32 {rest}, {x}, s30\n"
    )
    for _ in range(corrections):
        text += f"s_add_i32 s32, {q}, 1\n s_sub_i32 s33, {rest}, {y}\n s_cmp_ge_u32 {rest}, {y}\n"
        text += f"s_cselect_b32 {q}, s32, {q}\n s_cselect_b32 {rest}, s33, {rest}\n"
    return text


def vector_quotient(x: str, y: str, q: str, rest: str) -> str:
    """The same of vector registers; v30 to v33 are used besides."""
    text = (
        f"v_cvt_f32_u32 v30, {y}\n v_sub_u32 v31, 0, {y}\n v_rcp_iflag_f32 v30, v30\n s_nop 0\n"
        f"v_mul_f32 v30, 0x4f7ffffe, v30\n v_cvt_u32_f32 v30, v30\n v_mul_lo_u32 v31, v31, v30\n"
        f"v_mul_hi_u32 v31, v30, v31\n v_add_u32 v30, v30, v31\n v_mul_hi_u32 {q}, {x}, v30\n"
        f"v_mul_lo_u32 v31, {q}, {y}\n v_sub_u32 {rest}, {x}, v31\n"
    )
    for _ in range(2):
        text += f"v_add_u32 v32, 1, {q}\n v_cmp_ge_u32 vcc, {rest}, {y}\n v_sub_u32 v33, {rest}, {y}\n"
        text += f"v_cndmask_b32 {q}, {q}, v32, vcc\n v_cndmask_b32 {rest}, {rest}, v33, vcc\n"
    return text


def up(n: int, k: int) -> int:
    """Workgroups of 64 work-items for n elements."""
    return -(-n // 64)


def first(n: int, k: int) -> int:
    """As many elements as n says."""
    return n


FAULTS = (
    Hostile("the last tile has no guard", "bounds", {"n": 65}, INDEX + STORE, grid=up, written=first),
    Hostile("a guard is too large by one", "bounds", {"n": 33},
            INDEX + "v_cmp_le_u32 vcc, v5, s12\n s_and_saveexec_b64 s[20:21], vcc\n" + STORE, grid=up, written=first),
    Hostile("a signed guard admits a negative index", "bounds", {"n": 70, "k": 2},
            INDEX + "v_subrev_u32 v5, s14, v5\n v_lshlrev_b32 v4, 2, v5\n v_cmp_gt_i32 vcc, s12, v5\n"
            "s_and_saveexec_b64 s[20:21], vcc\n" + STORE, grid=up, written=first),
    Hostile("a 64-bit address of a negative stride", "bounds", {"n": 2, "k": 1},
            "s_sub_u32 s5, 0, s14\n s_mul_i32 s5, s5, s2\n s_lshl_b32 s5, s5, 2\n v_add_u32 v4, s5, v1\n"
            "v_ashrrev_i32 v5, 31, v4\n v_mov_b32 v6, s11\n v_add_co_u32 v4, vcc, s10, v4\n"
            "v_addc_co_u32 v5, vcc, v6, v5, vcc\n global_store_dword v[4:5], v3, off\n",
            grid=first, written=lambda n, k: n * k + 64),
    Hostile("a selected address of the lanes beyond n", "bounds", {"n": 5},
            "v_cmp_gt_u32 vcc, s12, v0\n v_mov_b32 v5, 256\n v_cndmask_b32 v4, v5, v1, vcc\n" + STORE, n=64),
    Hostile("a minimum that may be the size", "bounds", {"n": 64},
            "s_min_u32 s5, s12, 64\n s_lshl_b32 s5, s5, 2\n v_mov_b32 v4, s5\n" + STORE, n=5),
    Hostile("a loop counts down by 3", "bounds", {"n": 7},
            "s_mov_b32 s5, s12\nloop:\n s_sub_u32 s6, s5, 2\n s_lshl_b32 s6, s6, 2\n v_mov_b32 v4, s6\n" + STORE +
            "s_sub_u32 s5, s5, 3\n s_cmp_gt_i32 s5, 0\n s_cbranch_scc1 loop\n", n=9, written=first),
    Hostile("a loop in steps of 3 stores whole steps", "bounds", {"n": 4},
            "s_mov_b32 s5, 0\nloop:\n s_lshl_b32 s6, s5, 2\n v_mov_b32 v4, s6\n"
            "global_store_dwordx3 v4, v[6:8], s[10:11]\n s_add_u32 s5, s5, 3\n s_cmp_lt_u32 s5, s12\n"
            "s_cbranch_scc1 loop\n", n=9, written=first),
    Hostile("one tile too many by a shift", "bounds", {"n": 64},
            "s_add_u32 s7, s12, 64\n s_lshr_b32 s7, s7, 6\n s_mov_b32 s5, 0\nloop:\n s_lshl_b32 s6, s5, 8\n"
            "v_add_u32 v4, s6, v1\n" + STORE + "s_add_u32 s5, s5, 1\n s_cmp_lt_u32 s5, s7\n s_cbranch_scc1 loop\n",
            written=first, needs="n >= 64 and n % 64 == 0"),
    Hostile("no barrier in the last turn", "lds races", {"n": 3},
            "s_mov_b32 s5, 0\n v_xor_b32 v8, 0x100, v1\nloop:\n ds_write_b32 v1, v3\n s_waitcnt lgkmcnt(0)\n"
            "s_add_u32 s5, s5, 1\n s_cmp_eq_u32 s5, s12\n s_cbranch_scc1 last\n s_barrier\nlast:\n"
            "ds_read_b32 v9, v8\n s_waitcnt lgkmcnt(0)\n s_barrier\n s_cmp_lt_u32 s5, s12\n s_cbranch_scc1 loop\n",
            block=128, lds=512),
    Hostile("one wave skips a barrier", "lds races", {}, WAVE +
            "v_xor_b32 v8, 0x100, v1\n s_cmp_eq_u32 s6, 0\n s_cbranch_scc1 skip\n s_barrier\nskip:\n"
            "ds_write_b32 v1, v3\n s_waitcnt lgkmcnt(0)\n s_barrier\n ds_read_b32 v9, v8\n s_waitcnt lgkmcnt(0)\n",
            block=128, lds=512),
    Hostile("a wave goes through a loop once more", "lds races", {"n": 11}, WAVE +
            "s_add_u32 s7, s12, s6\n s_mov_b32 s5, 0\nloop:\n s_barrier\n v_mov_b32 v8, 0\n ds_read_b32 v9, v8\n"
            "s_waitcnt lgkmcnt(0)\n s_add_u32 s5, s5, 1\n s_cmp_lg_u32 s5, s7\n s_cbranch_scc1 loop\n s_barrier\n"
            "s_cmp_eq_u32 s6, 1\n s_cbranch_scc1 end\n ds_write_b32 v8, v3\n s_waitcnt lgkmcnt(0)\nend:\n",
            block=128, lds=512, n=10, needs="n >= 10"),
    Hostile("a wave of data goes through a loop once more", "lds races", {"n": 3}, WAVE +
            "s_mul_i32 s7, s6, 256\n s_add_u32 s16, s8, s7\n s_addc_u32 s17, s9, 0\n s_load_dword s7, s[16:17], 0x0\n"
            "s_waitcnt lgkmcnt(0)\n s_mov_b32 s5, 0\nloop:\n s_barrier\n v_mov_b32 v8, 0\n ds_read_b32 v9, v8\n"
            "s_waitcnt lgkmcnt(0)\n s_add_u32 s5, s5, 1\n s_cmp_lt_u32 s5, s7\n s_cbranch_scc1 loop\n s_barrier\n"
            "s_cmp_eq_u32 s6, 1\n s_cbranch_scc1 end\n ds_write_b32 v8, v3\n s_waitcnt lgkmcnt(0)\nend:\n",
            block=128, lds=512, read=lambda n, k: 128, data=np.repeat(np.array([7, 8], np.uint32), 64)),
    Hostile("a barrier that the data of a wave skips", "lds races", {},
            "v_xor_b32 v8, 0x100, v1\n global_load_dword v7, v1, s[8:9]\n s_waitcnt vmcnt(0)\n"
            "v_cmp_ne_u32 vcc, 0, v7\n s_cbranch_vccz skip\n s_barrier\nskip:\n"
            "ds_write_b32 v1, v3\n s_waitcnt lgkmcnt(0)\n s_barrier\n ds_read_b32 v9, v8\n s_waitcnt lgkmcnt(0)\n",
            block=128, lds=512, read=lambda n, k: 128, data=np.repeat(np.array([0, 1], np.uint32), 64)),
    Hostile("the first lane of an empty mask", "bounds", {"n": 1},
            "v_mov_b32 v5, 0x1000\n v_cmp_lt_u32 vcc, v0, s15\n v_add_u32 v6, 1, v0\n v_cmp_gt_u32 vcc, s12, v6\n"
            "s_mov_b64 s[20:21], exec\n s_and_b64 exec, exec, vcc\n v_mov_b32 v5, 0\n v_readfirstlane_b32 s5, v5\n"
            "s_mov_b64 exec, s[20:21]\n v_add_u32 v4, s5, v1\n" + STORE, n=70),
    Hostile("a mask of two bits clears an address", "bounds", {}, "s_and_b32 s11, s11, 0x8001\n v_mov_b32 v4, v1\n" +
            STORE),
    Hostile("the LDS has as many bytes as the size says", "bounds", {"n": 1},
            "ds_write_b32 v1, v3\n s_waitcnt lgkmcnt(0)\n", n=256, shared=lambda n, k: 4 * n),
    Hostile("a case function shifts its size", "bounds", {"n": 4096},
            "s_lshl_b32 s5, s14, 8\n v_add_u32 v4, s5, v1\n" + STORE, passed=lambda n, k: (n, n >> 12)),
    Hostile("a case function masks its size", "bounds", {"n": 4096},
            "s_lshl_b32 s5, s14, 8\n v_add_u32 v4, s5, v1\n" + STORE, needs="n >= 1", n=64,
            passed=lambda n, k: (n, 0 if n & 0x1000 == 0 else 1)),
    Hostile("a case function asks whether its size is large", "bounds", {"n": 10},
            "s_lshl_b32 s5, s14, 8\n v_add_u32 v4, s5, v1\n" + STORE, n=640,
            passed=lambda n, k: (n, 0 if n > 100 else 1)),
    Hostile("a guarded line is too long by one", "bounds", {"n": 2, "k": 5},
            "s_mul_i32 s5, s2, s14\n v_add_u32 v5, s5, v0\n v_lshlrev_b32 v4, 2, v5\n v_cmp_ge_u32 vcc, s14, v0\n"
            "s_and_saveexec_b64 s[20:21], vcc\n" + STORE, n=2, k=70, grid=first, written=lambda n, k: n * k),
    Hostile("a case function passes a NumPy integer", "bounds", {"n": 70},
            "s_lshl_b32 s5, s14, 2\n v_add_u32 v4, s5, v1\n" + STORE, written=lambda n, k: 128,
            passed=lambda n, k: (n, np.int64(n))),
    Hostile("two ways to the same launch", "bounds", {"n": 10}, "v_mov_b32 v4, v1\n" + STORE, n=640, written=first,
            passed=lambda n, k: (n, 1 if n > 100 else k // k)),
    Hostile("the last tile of a product has no guard", "bounds", {"n": 5, "k": 13}, INDEX + STORE,
            grid=lambda n, k: -(-n * k // 64), written=lambda n, k: n * k),
    Hostile("a product is rounded down", "bounds", {"n": 9, "k": 8}, INDEX + PRODUCT + STORE, n=8, k=8,
            needs="n >= 8 and k >= 8", grid=lambda n, k: -(-n * k // 64), written=lambda n, k: n * k // 64 * 64),
    Hostile("a size is rounded to multiples of another", "bounds", {"n": 65, "k": 2},
            INDEX + "v_cmp_gt_u32 vcc, s12, v5\n s_and_saveexec_b64 s[20:21], vcc\n" + STORE, grid=up, n=64,
            needs="n >= 64 and k >= 1 and n >= k", written=lambda n, k: n // k * k),
    Hostile("a number is repeated too seldom", "bounds", {"n": 10}, "global_load_dword v9, v1, s[8:9]\n",
            first=lambda n, k: [np.uint32(1)] * n),
    Hostile("a structure is too short", "bounds", {}, "global_load_dword v9, v1, s[8:9]\n",
            first=lambda n, k: [np.uint32(1), None, np.uint32(3)]),
    Hostile("one of two allowed sizes", "bounds", {"n": 128}, "s_lshl_b32 s5, s12, 2\n v_mov_b32 v4, s5\n" + STORE,
            needs="n in (63, 128)", n=63),
    Hostile("either of two conditions", "bounds", {"n": 70}, "s_lshl_b32 s5, s12, 2\n v_mov_b32 v4, s5\n" + STORE,
            needs="n < 64 or n > 65", n=63),
    Hostile("a negative parameter", "bounds", {"k": -1}, "s_lshl_b32 s5, s14, 2\n v_add_u32 v4, s5, v1\n" + STORE,
            needs="k >= -8 and k <= 8", written=lambda n, k: 80),
    Hostile("waves write one another's lines in other turns", "global races", {"n": 9}, WAVE +
            "v_mov_b32 v3, v0\n"
            "s_mov_b32 s5, 0\nloop:\n s_cmp_lt_u32 s5, 3\n s_cbranch_scc1 next\n s_add_u32 s7, s5, s6\n"
            "s_lshl_b32 s7, s7, 8\n v_and_b32 v4, 0xff, v1\n v_add_u32 v4, s7, v4\n" + STORE +
            " s_waitcnt vmcnt(0)\nnext:\n s_add_u32 s5, s5, 1\n s_cmp_lg_u32 s5, s12\n s_cbranch_scc1 loop\n",
            needs="n >= 5 and n <= 60", n=12, block=128, written=lambda n, k: 64 * n + 64),
    Hostile("waves write the line of a turn's minimum", "global races", {"n": 9}, WAVE +
            "v_mov_b32 v3, v0\n"
            "s_mov_b32 s5, 0\nloop:\n s_cmp_lt_u32 s5, 3\n s_cbranch_scc1 next\n s_min_u32 s7, s5, 7\n"
            "s_add_u32 s7, s7, s6\n s_lshl_b32 s7, s7, 8\n v_and_b32 v4, 0xff, v1\n v_add_u32 v4, s7, v4\n" + STORE +
            " s_waitcnt vmcnt(0)\nnext:\n s_add_u32 s5, s5, 1\n s_cmp_lg_u32 s5, s12\n s_cbranch_scc1 loop\n",
            needs="n >= 5 and n <= 60", n=12, block=128, written=lambda n, k: 640),
    Hostile("exchanged registers", "bounds", {}, "v_mov_b32 v4, v1\n v_mov_b32 v5, 0x1000\n v_swap_b32 v5, v4\n" +
            STORE),
    Hostile("exchanged halves of waves", "bounds", {}, "v_mov_b32 v4, v1\n v_mov_b32 v5, 0x1000\n"
            "v_permlane32_swap_b32 v5, v4\n" + STORE, arch="gfx950"),
    Hostile("an endless loop", "bounds", {"k": 101}, "s_cmp_lt_u32 s14, 101\n s_cbranch_scc1 end\nloop:\n" + OUTSIDE +
            STORE + "s_branch loop\nend:\n"),
    Hostile("an endless loop of a condition", "bounds", {"k": 101},
            "s_cmp_lt_u32 s14, 101\n s_cbranch_scc1 end\nloop:\n" + OUTSIDE +
            STORE + "s_cmp_lg_u32 s14, 5\n s_cbranch_scc1 loop\nend:\n"),
    Hostile("records beyond the array", "bounds", {"n": 3}, "s_mov_b32 s20, s10\n s_mov_b32 s21, s11\n"
            "s_lshl_b32 s22, s12, 2\n s_add_u32 s22, s22, 4\n s_mov_b32 s23, 0x27000\n"
            "buffer_store_dword v3, v1, s[20:23], 0 offen\n", written=first),
    Hostile("a stride in the resource", "bounds", {}, "s_mov_b32 s20, s10\n s_or_b32 s21, s11, 0x100000\n"
            "s_mov_b32 s22, 64\n s_mov_b32 s23, 0x27000\n v_mov_b32 v4, v0\n"
            "buffer_store_dword v3, v4, s[20:23], 0 idxen\n"),
    Hostile("an LDS address of M0", "lds races", {}, "s_mov_b32 m0, 0\n v_mov_b32 v4, v1\n ds_write_addtid_b32 v4\n"
            "s_waitcnt lgkmcnt(0)\n", block=128, lds=512),
    Hostile("a short constant is signed", "bounds", {"k": 1},
            "s_sub_u32 s5, s14, 2\n s_cmpk_lg_i32 s5, -1\n s_cbranch_scc1 end\n" + OUTSIDE + STORE + "end:\n",
            needs="k >= 1 and k <= 100", k=5),
    Hostile("a short negative sum", "bounds", {"k": 1},
            "s_mov_b32 s5, s14\n s_addk_i32 s5, -2\n s_lshl_b32 s5, s5, 2\n v_add_u32 v4, s5, v1\n" + STORE,
            needs="k >= 1 and k <= 100", written=lambda n, k: 64 + k, k=5),
    Hostile("EXEC of a combined operation", "bounds", {}, "v_mov_b32 v4, 0x1000\n s_mov_b64 s[20:21], 1\n"
            "s_mov_b64 exec, 1\n s_andn1_wrexec_b64 s[20:21], -1\n v_mov_b32 v4, v1\n s_mov_b64 exec, -1\n" + STORE),
    Hostile("EXEC of a combined operation of all", "bounds", {}, "v_mov_b32 v4, 0x1000\n s_mov_b64 s[20:21], 1\n"
            "s_andn2_wrexec_b64 s[20:21], 2\n v_mov_b32 v4, v1\n s_mov_b64 exec, -1\n" + STORE),
    Hostile("workgroups share the last element", "global races", {"n": 64},
            INDEX + "v_mov_b32 v3, s2\n s_sub_u32 s6, s12, 1\n v_min_u32 v4, s6, v5\n"
            "v_lshlrev_b32 v4, 2, v4\n" + STORE,
            grid=lambda n, k: n // 64 + 1, written=first),
    Hostile("lines shorter than what is stored", "global races", {"n": 3, "k": 60},
            "v_mov_b32 v3, s2\n s_mul_i32 s5, s2, s14\n s_lshl_b32 s5, s5, 2\n v_add_u32 v4, s5, v1\n" + STORE,
            needs="k >= 60", k=64, n=3, grid=lambda n, k: 3, written=lambda n, k: 2 * k + 64),
    Hostile("a wait on one of two paths", "waits", {"k": 3}, "global_load_dword v7, v1, s[8:9]\n s_cmp_lt_u32 s14, 3\n"
            "s_cbranch_scc0 late\n s_waitcnt vmcnt(0)\nlate:\n v_mov_b32 v4, v1\n v_add_u32 v3, v7, v7\n" + STORE),
    Hostile("the slot of an odd turn", "lds races", {"n": 5}, "s_mov_b32 s5, 0\n v_xor_b32 v8, 0x100, v1\nloop:\n"
            "s_and_b32 s6, s5, 1\n s_mul_i32 s6, s6, 512\n v_add_u32 v5, s6, v1\n v_add_u32 v6, s6, v8\n"
            "ds_write_b32 v5, v3\n s_waitcnt lgkmcnt(0)\n s_barrier\n ds_read_b32 v9, v6\n s_waitcnt lgkmcnt(0)\n"
            "s_add_u32 s5, s5, 1\n s_cmp_lt_u32 s5, s12\n s_cbranch_scc1 loop\n ds_write_b32 v1, v3\n"
            "s_waitcnt lgkmcnt(0)\n", block=128, lds=1024),
    Hostile("a pointer of memory", "bounds", {}, "s_load_dwordx2 s[10:11], s[8:9], 0x0\n s_waitcnt lgkmcnt(0)\n"
            "v_mov_b32 v4, v1\n" + STORE, data=np.zeros(64, np.uint32)),
    Hostile("inner turns of every other outer turn", "lds races", {"n": 8}, WAVE +
            "s_mov_b32 s5, 0\n v_xor_b32 v8, 0x100, v1\nouter:\n s_mov_b32 s7, 0\ninner:\n ds_write_b32 v1, v3\n"
            "s_waitcnt lgkmcnt(0)\n s_add_u32 s7, s7, 1\n s_cmp_le_u32 s7, s5\n s_cbranch_scc1 inner\n"
            "ds_read_b32 v9, v8\n s_waitcnt lgkmcnt(0)\n s_barrier\n s_add_u32 s5, s5, 1\n s_cmp_lt_u32 s5, s12\n"
            "s_cbranch_scc1 outer\n", block=128, lds=512),
    Hostile("an address beyond the arguments", "bounds", {},
            "s_load_dword s5, s[0:1], 0x1000\n s_waitcnt lgkmcnt(0)\n"),
    Hostile("two loads to one line of the LDS", "lds races", {"k": 3},
            "s_mov_b32 m0, 0\n global_load_lds_dword v1, s[8:9]\n s_waitcnt vmcnt(0)\n s_cmp_lg_u32 s14, 3\n"
            "s_cbranch_scc1 end\n v_and_b32 v4, 0xff, v1\n ds_read_b32 v5, v4\n s_waitcnt lgkmcnt(0)\nend:\n",
            block=128, lds=512, read=lambda n, k: 128),
    Hostile("an array shorter than a wave at one size", "bounds", {"n": 1},
            "global_load_dwordx4 v[4:7], v1, s[8:9]\n s_waitcnt vmcnt(0)\n", read=lambda n, k: 65 + n,
            needs="n >= 1", n=64),
    Hostile("an offset above 4 GiB", "bounds", {"k": 1 << 29},
            "v_mov_b32 v8, s14\n v_mov_b32 v9, 0\n v_lshlrev_b64 v[4:5], 3, v[8:9]\n"
            "v_mov_b32 v7, s11\n v_add_co_u32 v4, vcc, s10, v4\n v_addc_co_u32 v5, vcc, v7, v5, vcc\n"
            "global_store_dword v[4:5], v3, off\n", needs="k >= 1 and k % 536870912 == 0", k=1 << 29),
    Hostile("a product of 32 bits that wraps is a guard", "bounds", {"k": 1 << 30},
            "s_mul_i32 s5, s14, 4\n s_cmp_lg_u32 s5, 0\n s_cbranch_scc1 end\n" + OUTSIDE + STORE + "end:\n"),
    Hostile("a sign decides a guard", "bounds", {"k": (1 << 31) - 1},
            "s_add_u32 s5, s14, 2\n s_cmp_ge_i32 s5, 0\n s_cbranch_scc1 end\n" + OUTSIDE + STORE + "end:\n"),
    Hostile("a wave of 32 lanes counts 64", "bounds", {"n": 33},
            "v_lshlrev_b32 v4, 3, v0\n" + "global_store_b32 v4, v3, s[10:11]\n", arch="gfx1151", block=32, n=33,
            written=lambda n, k: 32),
    Hostile("a scalar that is written only where a lane is on", "bounds", {"k": 1},
            "s_mov_b32 s5, 1024\n s_sub_u32 s6, s14, 1\n" + GUARD + "s_mov_b32 s5, 0\n" + MEET +
            "v_mov_b32 v4, s5\n" + STORE, k=5),
    Hostile("an offset that is written only where a lane is on", "bounds", {"k": 1},
            "v_mov_b32 v4, 1024\n s_sub_u32 s6, s14, 1\n" + GUARD + "v_mov_b32 v4, v1\n" + MEET + STORE, k=65),
    Hostile("a store of a guard counts for the wait behind it", "waits", {"k": 1},
            "global_load_dword v9, v1, s[8:9]\n v_mov_b32 v4, v1\n s_sub_u32 s6, s14, 1\n" + GUARD + STORE + MEET +
            "s_waitcnt vmcnt(1)\n v_add_u32 v3, v9, v3\n" + STORE, k=65),
    Hostile("a store to the LDS behind a guard", "lds races", {"k": 1}, "v_mov_b32 v4, v1\n s_sub_u32 s6, s14, 1\n"
            "v_xor_b32 v8, 0x100, v1\n ds_write_b32 v1, v3\n" + GUARD + "s_waitcnt lgkmcnt(0)\n" + MEET +
            "s_barrier\n ds_read_b32 v9, v8\n s_waitcnt lgkmcnt(0)\n", k=129, block=128, lds=512),
    Hostile("a guarded load counts for the wait behind it", "waits", {"k": 1},
            "global_load_dword v9, v1, s[8:9]\n s_sub_u32 s6, s14, 1\n" + GUARD +
            "global_load_dword v10, v1, s[8:9]\n" +
            MEET + "s_waitcnt vmcnt(1)\n v_add_u32 v3, v9, v3\n v_mov_b32 v4, v1\n" + STORE, k=65),
    Hostile("a guarded wait", "waits", {"k": 1},
            "global_load_dword v9, v1, s[8:9]\n s_sub_u32 s6, s14, 1\n" + GUARD + "s_waitcnt vmcnt(0)\n" +
            MEET + "v_add_u32 v3, v9, v3\n v_mov_b32 v4, v1\n" + STORE, k=65),
    Hostile("a wave without lanes goes on in another copy", "bounds", {"k": 1}, "s_sub_u32 s6, s14, 1\n" +
            GUARD.replace("execz meet", "execnz some") + "s_or_b64 exec, exec, s[20:21]\n v_mov_b32 v4, 1024\n"
            "s_branch end\nsome:\n v_mov_b32 v9, 0\n s_or_b64 exec, exec, s[20:21]\n v_mov_b32 v4, v1\nend:\n" + STORE,
            k=65),
    Hostile("a wave without lanes meets others behind a store", "bounds", {"k": 1}, "s_sub_u32 s6, s14, 1\n"
            "v_mov_b32 v4, 1024\n" + GUARD.replace("execz meet", "execnz some") + "s_or_b64 exec, exec, s[20:21]\n"
            + STORE + "s_branch end\nsome:\n v_mov_b32 v4, v1\n s_or_b64 exec, exec, s[20:21]\n" + STORE + "end:\n",
            k=65),
    Hostile("a guard ends where a loop begins", "bounds", {"k": 1},
            "s_mov_b32 s5, 0\n s_mov_b32 s7, 1024\n s_sub_u32 s6, s14, 1\n" + GUARD + "s_mov_b32 s7, 0\nmeet:\n"
            "s_or_b64 exec, exec, s[20:21]\n v_mov_b32 v4, s7\n" + STORE +
            "s_add_u32 s5, s5, 1\n s_cmp_lt_u32 s5, s12\n s_cbranch_scc1 meet\n", k=65),
    Hostile("a carry of guarded lanes is one of all", "bounds", {"k": 1},
            "s_sub_u32 s6, s14, 1\n v_mov_b32 v8, -1\n v_mov_b32 v9, 1\n" + GUARD +
            "v_add_co_u32 v8, vcc, v8, v9\n v_mov_b32 v10, 0\n" + MEET.replace("meet:\n", "") +
            "v_addc_co_u32 v5, vcc, 0, 0, vcc\n"
            "meet:\n s_or_b64 exec, exec, s[20:21]\n v_sub_u32 v5, 1, v5\n v_lshl_add_u32 v4, v5, 10, v1\n" + STORE,
            k=65),
    Hostile("a scalar that one wave alone writes", "bounds", {}, WAVE +
            "s_mov_b32 s5, 1024\n s_cmp_eq_u32 s6, 1\n s_cbranch_scc0 skip\n s_mov_b32 s5, 0\nskip:\n"
            "v_mov_b32 v4, s5\n" + STORE, block=128),
    Hostile("an offset that one wave alone writes", "bounds", {}, WAVE +
            "v_mov_b32 v4, 1024\n s_cmp_eq_u32 s6, 1\n s_cbranch_scc0 skip\n v_mov_b32 v4, v1\nskip:\n" + STORE,
            block=128, written=lambda n, k: 128),
    Hostile("a wait that one wave alone executes", "waits", {}, WAVE +
            "global_load_dword v9, v1, s[8:9]\n s_cmp_eq_u32 s6, 1\n s_cbranch_scc0 skip\n s_waitcnt vmcnt(0)\n"
            "skip:\n v_add_u32 v3, v9, v3\n v_mov_b32 v4, v1\n" + STORE,
            block=128, read=lambda n, k: 128, written=lambda n, k: 128),
    Hostile("waves a barrier apart that read too early", "lds races", {}, WAVE +
            "v_xor_b32 v8, 0x100, v1\n s_cmp_eq_u32 s6, 1\n s_cbranch_scc0 late\n s_barrier\nlate:\n"
            "ds_write_b32 v1, v3\n s_waitcnt lgkmcnt(0)\n s_barrier\n ds_read_b32 v9, v8\n s_waitcnt lgkmcnt(0)\n"
            "s_cmp_eq_u32 s6, 0\n s_cbranch_scc0 end\n s_barrier\nend:\n", block=128, lds=512),
    Hostile("a guard of rows admits one more", "bounds", {"n": 33},
            "s_lshl_b32 s5, s2, 6\n v_add_u32 v5, s5, v0\n v_mul_lo_u32 v4, v5, s14\n v_lshlrev_b32 v4, 2, v4\n"
            "v_cmp_le_u32 vcc, v5, s12\n s_and_saveexec_b64 s[20:21], vcc\n" + STORE,
            grid=up, written=lambda n, k: n * k, k=3),
    Hostile("an element behind the smaller of two sizes", "bounds", {"n": 5, "k": 9},
            "s_min_u32 s5, s12, s14\n s_lshl_b32 s5, s5, 2\n v_mov_b32 v4, s5\n" + STORE, written=first, n=64),
    Hostile("a load of a turn that one wave alone takes counts for the wait behind it", "waits", {},
            "v_mov_b32 v5, v0\n v_mov_b32 v4, v1\n s_mov_b64 s[20:21], exec\n global_load_dword v9, v1, s[8:9]\n"
            "again:\n global_load_dword v10, v1, s[8:9]\n v_add_u32 v5, 64, v5\n v_cmp_gt_u32 vcc, 0x81, v5\n"
            "s_and_b64 exec, exec, vcc\n s_cbranch_execnz again\n s_mov_b64 exec, s[20:21]\n s_waitcnt vmcnt(3)\n"
            "v_add_u32 v3, v9, v3\n" + STORE, block=128, read=lambda n, k: 128, written=lambda n, k: 128),
    Hostile("a scalar of a turn that one wave alone takes", "bounds", {},
            "s_mov_b32 s5, 0\n v_mov_b32 v5, v0\n s_mov_b64 s[20:21], exec\nagain:\n s_add_u32 s5, s5, 1024\n"
            "v_add_u32 v5, 64, v5\n v_cmp_gt_u32 vcc, 0x81, v5\n s_and_b64 exec, exec, vcc\n s_cbranch_execnz again\n"
            "s_mov_b64 exec, s[20:21]\n s_sub_u32 s5, 0x800, s5\n v_mov_b32 v4, s5\n" + STORE,
            block=128),
    Hostile("a case function asks for sizes beyond the samples", "bounds", {"n": 300_000}, PASSED, n=100_000,
            needs="n >= 100000", passed=lambda n, k: (n, 0 if n < 200_000 else 1)),
    Hostile("a case function compares two sizes", "bounds", {"n": 150, "k": 301}, PASSED, n=150, k=200,
            needs="n >= 100 and n <= 200 and k >= 200 and k <= 400", passed=lambda n, k: (n, 1 if k > 2 * n else 0)),
    Hostile("a case function asks for one size", "bounds", {"n": 12_345}, PASSED,
            passed=lambda n, k: (n, 1 if n == 12_345 else 0)),
    Hostile("a question behind a question", "bounds", {"n": 777, "k": 555}, PASSED,
            passed=lambda n, k: (n, 1 if n == 777 and k == 555 else 0)),
    Hostile("a lane that one wave alone writes", "bounds", {}, WAVE + "v_mov_b32 v4, 0x1000\n s_mov_b64 exec, 1\n"
            "s_cmp_eq_u32 s6, 1\n s_cbranch_scc0 skip\n v_writelane_b32 v4, 0, 0\nskip:\n" + STORE, block=128,
            written=lambda n, k: 128),
    Hostile("a lane that is written only where a lane is on", "bounds", {"k": 1},
            "v_mov_b32 v4, 0x1000\n s_sub_u32 s6, s14, 1\n s_mov_b32 s7, 0\n" + GUARD + "v_writelane_b32 v4, s7, 0\n"
            + MEET + "s_mov_b64 exec, 1\n" + STORE, k=65),
    Hostile("a mask that one wave alone writes", "bounds", {}, WAVE + "v_mov_b32 v4, v1\n v_mov_b32 v5, 0x1000\n"
            "s_mov_b64 vcc, -1\n s_cmp_eq_u32 s6, 1\n s_cbranch_scc0 skip\n v_cmp_ne_u32 vcc, v0, v0\nskip:\n"
            "v_cndmask_b32 v4, v4, v5, vcc\n" + STORE, block=128, written=lambda n, k: 128),
    Hostile("a wait before a barrier that one wave alone executes", "lds races", {}, WAVE +
            "v_xor_b32 v8, 0x100, v1\n ds_write_b32 v1, v3\n s_cmp_eq_u32 s6, 1\n s_cbranch_scc0 skip\n"
            "s_waitcnt lgkmcnt(0)\nskip:\n s_barrier\n ds_read_b32 v9, v8\n s_waitcnt lgkmcnt(0)\n",
            block=128, lds=512),
    Hostile("a wave's barrier more in each turn", "lds races", {"n": 5}, WAVE + "v_xor_b32 v8, 0x100, v1\n"
            "s_mov_b32 s5, 0\nloop:\n ds_write_b32 v1, v3\n s_waitcnt lgkmcnt(0)\n s_barrier\n ds_read_b32 v9, v8\n"
            "s_waitcnt lgkmcnt(0)\n s_cmp_eq_u32 s6, 1\n s_cbranch_scc0 skip\n s_barrier\nskip:\n s_barrier\n"
            "s_add_u32 s5, s5, 1\n s_cmp_lt_u32 s5, s12\n s_cbranch_scc1 loop\n", block=128, lds=512),
    Hostile("a sum with a minimum of the turn", "bounds", {"n": 64, "k": 1000},
            "s_mov_b32 s5, 0\nloop:\n s_cmp_eq_u32 s5, s14\n s_cbranch_scc1 out\n s_add_u32 s7, s5, 1\n"
            "s_min_u32 s7, s7, 48\n s_add_u32 s8, s7, s5\n s_add_u32 s5, s5, 1\n s_cmp_lt_u32 s8, s12\n"
            "s_cbranch_scc1 loop\n s_lshl_b32 s8, s8, 2\n v_mov_b32 v4, s8\n" + STORE + "out:\n",
            needs="n >= 64 and n <= 80", k=1000, written=lambda n, k: n + 1),
    Hostile("a guarded block that turns all lanes on", "bounds", {"k": 1},
            "s_mov_b64 s[22:23], exec\n s_sub_u32 s6, s14, 1\n v_mov_b32 v4, 1024\n" + GUARD +
            "s_or_b64 exec, exec, s[22:23]\n v_mov_b32 v4, v1\n" + MEET + STORE, k=65),
    Hostile("a guarded block with a copy of EXEC that a branch skips", "bounds", {"k": 1},
            "s_mov_b64 s[22:23], -1\n s_sub_u32 s6, s14, 1\n v_mov_b32 v4, 1024\n" + GUARD +
            "s_cbranch_execz inner\n s_mov_b64 s[22:23], exec\ninner:\n s_or_b64 exec, exec, s[22:23]\n"
            "v_mov_b32 v4, v1\n" + MEET + STORE, k=65),
    Hostile("a guard within a guard that nothing ends", "bounds", {"n": 5},
            "s_sub_u32 s6, s14, 1\n v_mov_b32 v4, 1024\n" + GUARD + "v_cmp_gt_u32 vcc, s12, v0\n"
            "s_and_b64 exec, exec, vcc\nmeet:\n v_mov_b32 v4, v1\n s_mov_b64 exec, -1\n" + STORE, k=65),
    Hostile("a guard within a guard that ends both", "bounds", {"k": 1},
            "s_mov_b64 s[22:23], exec\n s_sub_u32 s6, s14, 1\n v_mov_b32 v4, 1024\n" + GUARD +
            "s_and_saveexec_b64 s[24:25], vcc\n s_cbranch_execz inner\n v_mov_b32 v5, 0\ninner:\n"
            "s_or_b64 exec, s[24:25], s[22:23]\n v_mov_b32 v4, v1\n" + MEET + STORE, k=65),
    Hostile("a selection that keeps data in some lanes", "bounds", {},
            "global_load_dword v9, v1, s[8:9]\n s_waitcnt vmcnt(0)\n v_cmp_lt_u32 vcc, 31, v0\n"
            "v_cndmask_b32 v4, v1, v9, vcc\n" + STORE),
    Hostile("the first lane of a wave that is off", "bounds", {},
            "v_lshrrev_b32 v6, 6, v0\n v_sub_u32 v5, 1, v6\n v_lshlrev_b32 v5, 12, v5\n v_cmp_lt_u32 vcc, 63, v0\n"
            "s_mov_b64 s[20:21], exec\n s_and_b64 exec, exec, vcc\n v_readfirstlane_b32 s5, v5\n"
            "s_mov_b64 exec, s[20:21]\n v_add_u32 v4, s5, v1\n" + STORE, block=128, written=lambda n, k: 128),
    Hostile("bits in common in the upper lanes", "global races", {"n": 65},
            "s_lshl_b32 s5, s2, 6\n v_or_b32 v5, s5, v0\n v_mov_b32 v3, v0\n v_lshlrev_b32 v4, 2, v5\n" + STORE,
            block=128, grid=up, written=lambda n, k: 64 * up(n, k) + 64),
    Hostile("a register that lanes beyond a guard keep", "bounds", {"n": 5},
            "v_mov_b32 v4, 1024\n v_cmp_gt_u32 vcc, s12, v0\n s_and_saveexec_b64 s[20:21], vcc\n v_mov_b32 v4, v1\n"
            "s_mov_b64 exec, s[20:21]\n" + STORE, n=64),
    Hostile("a quotient of the last number is the size", "bounds", {"n": 3, "k": 4},
            scalar_quotient("s2", "s14", "s20", "s21") + "s_lshl_b32 s20, s20, 2\n v_mov_b32 v4, s20\n" + STORE,
            grid=lambda n, k: n * k + 1, block=1, written=first),
    Hostile("a rest may be the largest index but one", "bounds", {"n": 8, "k": 3},
            scalar_quotient("s12", "s14", "s20", "s21") + "s_lshl_b32 s21, s21, 2\n v_mov_b32 v4, s21\n" + STORE,
            n=9, k=3, needs="n >= 1 and k >= 2", written=lambda n, k: k - 1),
    Hostile("a divisor that may be 0", "bounds", {"n": 5, "k": 0},
            scalar_quotient("s12", "s14", "s20", "s21") + "s_lshl_b32 s20, s20, 2\n v_mov_b32 v4, s20\n" + STORE,
            n=5, needs="n >= 1 and k >= 0", written=lambda n, k: n + 1),
    Hostile("a quotient of each lane by a size", "bounds", {"n": 1, "k": 1},
            "v_add_u32 v5, s12, v0\n v_mov_b32 v6, s14\n" + vector_quotient("v5", "v6", "v20", "v21")
            + "v_lshlrev_b32 v4, 2, v20\n" + STORE, k=2, written=lambda n, k: n + 62),
    Hostile("workgroups of one quotient", "global races", {"n": 2, "k": 2},
            "v_mov_b32 v3, s2\n" + scalar_quotient("s2", "s14", "s20", "s21")
            + "s_lshl_b32 s20, s20, 2\n v_mov_b32 v4, s20\n" + STORE,
            grid=lambda n, k: n * k, block=1, n=1, written=first),
    Hostile("a shift that joins two workgroups", "global races", {"n": 2},
            "v_mov_b32 v3, s2\n s_lshr_b32 s5, s2, 1\n s_lshl_b32 s5, s5, 8\n v_add_u32 v4, s5, v1\n" + STORE,
            n=1, grid=first, written=lambda n, k: 64 * n),
    Hostile("low bits of a workgroup's number", "global races", {"n": 5},
            "v_mov_b32 v3, s2\n s_and_b32 s5, s2, 3\n s_lshl_b32 s5, s5, 8\n v_add_u32 v4, s5, v1\n" + STORE,
            n=1, grid=first, written=lambda n, k: 256),
    Hostile("sums that a workgroup also stores", "global races", {"n": 2},
            "v_mov_b32 v4, 0\n global_atomic_add v4, v3, s[10:11]\n s_waitcnt vmcnt(0)\n s_cmp_eq_u32 s2, 1\n"
            "s_cbranch_scc0 out\n" + STORE + "out:\n", n=1, grid=first),
    Hostile("sums beyond the array", "bounds", {"n": 63},
            "v_mov_b32 v4, v1\n global_atomic_add v4, v3, s[10:11]\n", written=first),
    Hostile("a sum of eight bytes at the end", "bounds", {"n": 1},
            "v_mov_b32 v4, 0\n global_atomic_add_x2 v4, v[2:3], s[10:11]\n", n=2, written=first),
    Hostile("lanes that add to another array's address", "bounds", {"n": 1},
            "v_mov_b32 v6, s8\n v_mov_b32 v7, s9\n s_mov_b64 s[20:21], exec\n s_mov_b64 exec, 0xffff\n"
            "v_mov_b32 v6, s10\n v_mov_b32 v7, s11\n s_mov_b64 exec, s[20:21]\n v_add_co_u32 v6, vcc, v6, v1\n"
            "v_addc_co_u32 v7, vcc, 0, v7, vcc\n global_load_dword v8, v[6:7], off\n", n=64, read=first),
    Hostile("an alternative of the contract that is too large", "bounds", {"k": 65}, PASSED,
            needs="n >= 1 and k in (0, 65)", k=0, written=lambda n, k: 64),
    Hostile("a list and an open size", "bounds", {"n": 66, "k": 2},
            "s_mul_i32 s5, s12, s14\n s_lshl_b32 s5, s5, 2\n v_mov_b32 v4, s5\n" + STORE,
            needs="n >= 1 and k in (1, 2) and n <= 70 * k", k=1, written=lambda n, k: 131),
    Hostile("a row beyond the heads of a batch", "bounds", {"n": 3, "k": 2}, THREE.format(step="s14")
            + "s_add_u32 s5, s5, 1\n s_lshl_b32 s5, s5, 2\n v_mov_b32 v4, s5\n" + STORE,
            n=2, k=2, block=1, grid=lambda n, k: (n, k, n), written=lambda n, k: n * k * n),
    Hostile("a batch is as far from the next one as a head", "global races", {"n": 3, "k": 2}, THREE.format(step="1")
            + "s_lshl_b32 s5, s5, 2\n v_mov_b32 v4, s5\n" + STORE,
            n=1, k=1, block=1, grid=lambda n, k: (n, k, n), written=lambda n, k: n * k * n + n * n + k * n),
    Hostile("a guard that admits the one beyond a minimum", "global races", {"n": 64},
            "s_lshl_b32 s5, s2, 6\n v_add_u32 v5, s5, v0\n s_sub_u32 s6, s12, 1\n v_min_u32 v6, s6, v5\n"
            "v_cmp_ge_u32 vcc, s12, v5\n s_and_saveexec_b64 s[20:21], vcc\n v_lshlrev_b32 v4, 2, v6\n"
            "v_mov_b32 v3, v5\n" + STORE, n=63, grid=lambda n, k: n // 64 + 1, written=first),
    Hostile("vector instructions that are skipped", "bounds", {"n": 1},
            "v_mov_b32 v4, v1\n s_setvskip -1, 0\n v_mov_b32 v4, 0\n s_setvskip 0, 0\n" + STORE, written=first),
    Hostile("waves that are barriers apart in a second loop", "lds races", {"n": 40}, WAVE +
            "s_mov_b32 s5, 0\nfirst:\n s_add_u32 s5, s5, 1\n s_cmp_lt_u32 s5, s12\n s_cbranch_scc1 first\n"
            "s_cmp_eq_u32 s6, 1\n s_cbranch_scc0 skip\n" + BARRIERS + "skip:\n v_xor_b32 v8, 0x100, v1\n"
            "s_mov_b32 s5, 0\nloop:\n ds_write_b32 v1, v3\n ds_read_b32 v9, v8\n s_waitcnt lgkmcnt(0)\n s_barrier\n"
            "s_add_u32 s5, s5, 1\n s_cmp_lt_u32 s5, s12\n s_cbranch_scc1 loop\n s_cmp_eq_u32 s6, 0\n"
            "s_cbranch_scc0 end\n" + BARRIERS + "end:\n", block=128, lds=512, n=4),
    Hostile("a wave's barrier in each turn of a loop without accesses", "lds races", {"n": 20}, WAVE +
            "v_and_b32 v8, 0xff, v1\n v_mov_b32 v3, s6\n s_mov_b32 s5, 0\nloop:\n s_cmp_eq_u32 s6, 1\n"
            "s_cbranch_scc0 skip\n s_barrier\nskip:\n s_add_u32 s5, s5, 1\n s_cmp_lt_u32 s5, s12\n"
            "s_cbranch_scc1 loop\n s_cmp_eq_u32 s6, 1\n s_cbranch_scc0 next\n ds_write_b32 v8, v3\n"
            "s_waitcnt lgkmcnt(0)\nnext:\n" + BARRIERS + "s_cmp_eq_u32 s6, 0\n s_cbranch_scc0 end\n"
            "ds_write_b32 v8, v3\n s_waitcnt lgkmcnt(0)\nend:\n", block=128, lds=512, n=4),
    Hostile("a case function looks its size up", "bounds", {"n": 12_345}, PASSED,
            passed=lambda n, k: (n, {12_345: 1}.get(n, 0))),
    Hostile("lanes select one of two arrays", "bounds", {}, "v_cmp_gt_u32 vcc, 32, v0\n v_mov_b32 v4, s8\n"
            "v_mov_b32 v5, s10\n v_cndmask_b32 v4, v4, v5, vcc\n v_mov_b32 v6, s9\n v_mov_b32 v5, s11\n"
            "v_cndmask_b32 v5, v6, v5, vcc\n v_add_co_u32 v4, vcc, v4, v1\n v_addc_co_u32 v5, vcc, 0, v5, vcc\n"
            "global_load_dword v7, v[4:5], off offset:16\n s_waitcnt vmcnt(0)\n"),
    Hostile("lanes beyond the workgroup", "bounds", {}, "s_mov_b64 exec, -1\n v_mov_b32 v4, v1\n" + STORE, block=40,
            written=lambda n, k: 40),
    Hostile("a store between signal and wait", "lds races", {}, "v_xor_b32 v8, 0x80, v1\n s_barrier_signal -1\n"
            "ds_store_b32 v1, v3\n s_wait_dscnt 0x0\n s_barrier_wait -1\n ds_load_b32 v9, v8\n s_wait_dscnt 0x0\n",
            block=64, lds=256, arch="gfx1201"),
    Hostile("a signed compare of 64 bits with a constant", "bounds", {}, "v_mov_b32 v5, 0\n v_mov_b32 v4, s14\n"
            "v_cmp_lt_i64 vcc, -1, v[4:5]\n s_and_saveexec_b64 s[20:21], vcc\n" + OUTSIDE + STORE),
    Hostile("waves with as many turns as their number and the size have bits", "lds races", {"n": 3}, WAVE +
            "s_add_u32 s5, s12, s6\n s_bcnt1_i32_b32 s5, s5\n" + BITS + "v_mov_b32 v3, s6\n ds_write_b32 v8, v3\n",
            block=128, lds=512, n=1),
    Hostile("selections by opposite bits of a size", "bounds", {"n": 8},
            "s_bitcmp1_b32 s12, 3\n s_cselect_b32 s5, 64, 0\n s_bitcmp0_b32 s12, 3\n s_cselect_b32 s6, 64, 0\n"
            "s_sub_u32 s5, s5, s6\n s_lshl_b32 s5, s5, 2\n v_add_u32 v4, s5, v1\n" + STORE),
    Hostile("sums of the same numbers with another carry", "bounds", {"n": 1},
            "s_brev_b32 s5, s12\n s_add_u32 s6, s5, s5\n s_addc_u32 s7, 0, 0\n s_add_u32 s6, s5, 0\n"
            "s_addc_u32 s8, 0, 0\n s_sub_u32 s5, s7, s8\n s_lshl_b32 s5, s5, 8\n v_add_u32 v4, s5, v1\n" + STORE, n=2),
    Hostile("a negative number below a limit", "bounds", {"n": 1},
            "s_brev_b32 s5, s12\n s_cmp_lt_i32 s5, 64\n s_cbranch_scc0 out\n s_lshr_b32 s5, s5, 24\n"
            "s_lshl_b32 s5, s5, 2\n v_add_u32 v4, s5, v1\n" + STORE + "out:\n", n=2),
    Hostile("the bits of a turn's number", "bounds", {"n": 2},
            "s_mov_b32 s7, 0\n s_mov_b32 s8, 0\nloop:\n s_bcnt1_i32_b32 s5, s7\n s_sub_u32 s6, s5, s8\n"
            "s_mov_b32 s8, s5\n s_add_u32 s7, s7, 1\n s_cmp_lt_u32 s7, s12\n s_cbranch_scc1 loop\n"
            "s_lshl_b32 s5, s6, 8\n v_add_u32 v4, s5, v1\n" + STORE, n=1),
    Hostile("a workgroup more than there are tiles", "bounds", {"n": 2, "k": 3},
            scalar_quotient("s2", "s14", "s20", "s21") + "s_lshl_b32 s5, s20, 8\n v_add_u32 v4, s5, v1\n" + STORE,
            grid=lambda n, k: n * k + 1, written=lambda n, k: 64 * n),
    Hostile("a wave's rows that lie beyond the array, in lanes of its neighbours", "bounds", {"n": 64}, WAVE + RESOURCE
            + "s_mov_b32 s22, 0x7fffffff\n s_lshl_b32 s7, s6, 6\n s_cmp_le_i32 s7, s12\n s_cselect_b64 vcc, -1, 0\n"
            + SELECTED, block=128, n=128, written=first),
    Hostile("offsets that a resource without an end admits", "bounds", {}, WAVE + RESOURCE + "s_mov_b32 s22, -1\n"
            "s_lshl_b32 s7, s6, 6\n s_cmp_lt_i32 s7, s12\n s_cselect_b64 vcc, -1, 0\n" + SELECTED, block=128,
            written=first),
    Hostile("the other waves store the rows of the first", "global races", {"n": 64, "k": 2}, WAVE + RESOURCE
            + "s_cmp_lt_i32 s6, s14\n s_cselect_b64 vcc, -1, 0\n v_and_b32 v1, 0xff, v1\n v_mov_b32 v3, s6\n"
            + SELECTED, block=128, written=first),
    Hostile("both waves store to the LDS by FLAT addresses", "lds races", {"n": 64}, WAVE + "v_mov_b32 v3, s6\n"
            "v_and_b32 v8, 0xff, v1\n s_mov_b64 s[20:21], src_shared_base\n v_mov_b32 v9, s21\n"
            "flat_store_dword v[8:9], v3\n s_waitcnt vmcnt(0) lgkmcnt(0)\n", block=128, lds=512),
    Hostile("both waves store to the array by FLAT addresses", "global races", {"n": 64}, WAVE + "v_mov_b32 v3, s6\n"
            "v_and_b32 v8, 0xff, v1\n v_mov_b32 v9, s11\n v_add_co_u32 v8, vcc, s10, v8\n"
            "v_addc_co_u32 v9, vcc, 0, v9, vcc\n flat_store_dword v[8:9], v3\n s_waitcnt vmcnt(0) lgkmcnt(0)\n",
            block=128),
    Hostile("masks of waves the wrong way round", "bounds", {"n": 64}, WAVE + RESOURCE + "s_lshl_b32 s7, s6, 6\n"
            "s_mov_b32 s22, 0x7fffffff\n s_cmp_lt_i32 s7, s12\n s_cselect_b64 vcc, 0, -1\n" + SELECTED, block=128,
            written=first),
)  # fmt: skip
