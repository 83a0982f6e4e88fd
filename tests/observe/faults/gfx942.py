"""Small kernels for gfx942: two waves of 64 lanes; what is right, and what has which fault."""

BEGIN = """
  s_load_dwordx4 s[8:11], s[0:1], 0x0
  v_and_b32_e32 v0, 0x3ff, v0
  v_lshlrev_b32_e32 v2, 2, v0
  v_xor_b32_e32 v3, 0x100, v2
  v_mov_b32_e32 v4, 0
  v_mov_b32_e32 v7, 0x400
  v_mov_b32_e32 v8, 0
  v_mov_b32_e32 v9, 1
  v_mov_b32_e32 v10, v0
  s_mov_b32 m0, -1
  v_readfirstlane_b32 s13, v2
  s_lshr_b32 s13, s13, 8
  s_lshl_b32 s20, s2, 9
  v_add_u32_e32 v5, s20, v2
  s_waitcnt lgkmcnt(0)
"""
END = """
  s_waitcnt vmcnt(0) lgkmcnt(0)
  global_store_dword v5, v4, s[8:9]
  s_endpgm
"""
W = "s_waitcnt lgkmcnt(0)"
V = "s_waitcnt vmcnt(0)"
WV = "s_waitcnt vmcnt(0) lgkmcnt(0)"
B = "s_barrier"
ONE, ALL = "s_mov_b64 exec, 1", "s_mov_b64 exec, -1"
SET = [
    "s_cmp_lg_u32 s13, 0",
    "s_cbranch_scc1 .Lset",
    "ds_write_b32 v7, v8",
    "ds_write_b32 v7, v8 offset:4",
    W,
    ".Lset:",
    B,
]
ROLE = ["s_cmp_lg_u32 s13, 0", "s_cbranch_scc1 .Lcons"]
KERNELS = {}


def kernel(kind, name, lines, *ids, **options):
    """One more; `options`: ``grid``, ``extra`` directives."""
    KERNELS[name] = kind, lines, set(ids), options


NB, ND = "races-no-barrier", "races-not-done-at-barrier"
# --- LDS flags and locks
poll_plain = [
    ".Lcons:",
    "ds_read_b32 v11, v7",
    W,
    "v_readfirstlane_b32 s14, v11",
    "s_cmp_eq_u32 s14, 0",
    "s_cbranch_scc1 .Lcons",
]
kernel(
    "LDS flags and locks",
    "lds flag polled by plain reads",
    SET
    + ROLE
    + ["ds_write_b32 v2, v10", W, ONE, "ds_write_b32 v7, v9", ALL, "s_branch .Lend"]
    + poll_plain
    + ["ds_read_b32 v4, v3", ".Lend:"],
)
kernel(
    "LDS flags and locks",
    "lds flag written first",
    SET
    + ROLE
    + [ONE, "ds_write_b32 v7, v9", ALL, W, "ds_write_b32 v2, v10", W, "s_branch .Lend"]
    + poll_plain
    + ["ds_read_b32 v4, v3", ".Lend:"],
    NB,
)
kernel(
    "LDS flags and locks",
    "lds flag, data read before the poll",
    SET
    + ROLE
    + ["ds_write_b32 v2, v10", W, ONE, "ds_write_b32 v7, v9", ALL, "s_branch .Lend", ".Lcons:", "ds_read_b32 v4, v3"]
    + [x.replace(".Lcons", ".Lp") for x in poll_plain]
    + [".Lend:"],
    NB,
)
lock = [
    ".Llock:",
    ONE,
    "ds_cmpst_rtn_b32 v11, v7, v8, v9",
    W,
    "v_readfirstlane_b32 s14, v11",
    "s_cmp_lg_u32 s14, 0",
    "s_cbranch_scc1 .Llock",
    ALL,
]
crit = ["v_mov_b32_e32 v12, 0x500", ONE, "ds_read_b32 v4, v12", W, "v_add_u32_e32 v4, 1, v4", "ds_write_b32 v12, v4", W]
free = ["ds_write_b32 v7, v8", ALL]
init2 = [
    "v_mov_b32_e32 v12, 0x500",
    "s_cmp_lg_u32 s13, 0",
    "s_cbranch_scc1 .Li",
    "ds_write_b32 v12, v8",
    "ds_write_b32 v7, v8",
    W,
    ".Li:",
    B,
]
kernel("LDS flags and locks", "lds spin lock", init2 + lock + crit + free)
kernel(
    "LDS flags and locks",
    "lds spin lock freed by an atomic",
    init2 + lock + crit + ["ds_wrxchg_rtn_b32 v11, v7, v8", W, ALL],
)
kernel(
    "LDS flags and locks",
    "lds spin lock, read after it is freed",
    init2 + lock + crit + free + [W, "ds_read_b32 v4, v12"],
    NB,
)
kernel(
    "LDS flags and locks",
    "lds lock taken by an exchange",
    [
        *init2,
        ".Llock:",
        ONE,
        "ds_wrxchg_rtn_b32 v11, v7, v9",
        W,
        "v_readfirstlane_b32 s14, v11",
        "s_cmp_lg_u32 s14, 0",
        "s_cbranch_scc1 .Llock",
        ALL,
        *crit,
        *free,
    ],
)
kernel(
    "LDS flags and locks",
    "lds lock not branched on",
    [*init2, ONE, "ds_wrxchg_rtn_b32 v11, v7, v9", W, ALL, *crit, *free],
    NB,
)


# --- double buffers
def loop(n, body, tag="L"):
    return [
        f"s_mov_b32 s22, {n}",
        f".L{tag}:",
        *body,
        "s_sub_u32 s22, s22, 1",
        "s_cmp_lg_u32 s22, 0",
        f"s_cbranch_scc1 .L{tag}",
    ]


flip = ["s_xor_b32 s23, s23, 0x200", "v_add_u32_e32 v14, s23, v2", "v_add_u32_e32 v15, s23, v3"]
db = ["s_mov_b32 s23, 0"]
kernel(
    "double buffers, direct-to-LDS",
    "two buffers, one barrier a round",
    db + loop(4, [*flip, "ds_write_b32 v14, v10", W, B, "ds_read_b32 v11, v15", W, "v_add_u32_e32 v10, v10, v11"]),
)
kernel(
    "double buffers, direct-to-LDS",
    "two buffers, read waited for after the next barrier",
    [
        *db,
        "v_mov_b32_e32 v11, 0",
        *loop(
            4,
            [
                *flip,
                "ds_write_b32 v14, v10",
                "s_waitcnt lgkmcnt(0)",
                B,
                "v_add_u32_e32 v10, v10, v11",
                "ds_read_b32 v11, v15",
            ],
        ),
    ],
)
kernel(
    "double buffers, direct-to-LDS",
    "two buffers, reads two rounds in flight",
    [
        *db,
        "v_mov_b32_e32 v11, 0",
        "v_mov_b32_e32 v12, 0",
        *loop(4, [*flip, "ds_write_b32 v14, v10", "s_nop 0", B, "ds_read_b32 v11, v15", W]),
    ],
    ND,
)
dma = ["s_mov_b32 s23, 0", "s_lshl_b32 s24, s13, 8"]


def fill():
    return [
        "s_xor_b32 s23, s23, 0x200",
        "s_add_u32 s25, s23, s24",
        "s_mov_b32 m0, s25",
        "s_nop 0",
        "global_load_lds_dword v2, s[10:11]",
    ]


kernel(
    "double buffers, direct-to-LDS",
    "direct to LDS, two buffers",
    dma
    + loop(4, [*fill(), V, B, "v_add_u32_e32 v15, s23, v3", "ds_read_b32 v11, v15", W, "v_add_u32_e32 v4, v4, v11"]),
)
kernel(
    "double buffers, direct-to-LDS",
    "direct to LDS, one ahead, waits for the older",
    dma
    + fill()
    + loop(
        3,
        [
            *fill(),
            "s_waitcnt vmcnt(1)",
            B,
            "s_xor_b32 s26, s23, 0x200",
            "v_add_u32_e32 v15, s26, v3",
            "ds_read_b32 v11, v15",
            W,
            B,
            "v_add_u32_e32 v4, v4, v11",
        ],
    ),
)
kernel(
    "double buffers, direct-to-LDS",
    "direct to LDS, one ahead, waits for none",
    dma
    + fill()
    + loop(
        3,
        [
            *fill(),
            "s_waitcnt vmcnt(2)",
            B,
            "s_xor_b32 s26, s23, 0x200",
            "v_add_u32_e32 v15, s26, v3",
            "ds_read_b32 v11, v15",
            W,
            B,
            "v_add_u32_e32 v4, v4, v11",
        ],
    ),
    ND,
)
kernel(
    "double buffers, direct-to-LDS",
    "direct to LDS, one ahead, overwritten while read",
    dma
    + fill()
    + loop(
        3,
        [
            *fill(),
            "s_waitcnt vmcnt(1)",
            B,
            "s_xor_b32 s26, s23, 0x200",
            "v_add_u32_e32 v15, s26, v3",
            "ds_read_b32 v11, v15",
            W,
            "v_add_u32_e32 v4, v4, v11",
        ],
    ),
    NB,
)
kernel(
    "double buffers, direct-to-LDS",
    "direct to LDS, own place, no wait",
    dma + fill() + ["v_add_u32_e32 v15, s25, v2", "v_subrev_u32_e32 v15, s24, v15", "ds_read_b32 v4, v15"],
    "races-own-in-flight",
)
# --- aliasing
kernel(
    "reuse of the LDS",
    "reused under a barrier",
    [
        "ds_write_b32 v2, v10",
        W,
        B,
        "ds_read_b32 v4, v3",
        W,
        B,
        "v_lshlrev_b32_e32 v12, 1, v2",
        "v_mov_b32_e32 v11, v4",
        "ds_write_b64 v12, v[10:11]",
        W,
        "ds_read_b64 v[16:17], v12",
        W,
    ],
)
kernel(
    "reuse of the LDS",
    "reused without a barrier",
    [
        "ds_write_b32 v2, v10",
        W,
        B,
        "ds_read_b32 v4, v3",
        W,
        "v_lshlrev_b32_e32 v12, 1, v2",
        "v_mov_b32_e32 v11, v4",
        "ds_write_b64 v12, v[10:11]",
        W,
    ],
    NB,
)
kernel(
    "reuse of the LDS",
    "bpermute touches no LDS",
    [
        "ds_bpermute_b32 v4, v3, v10",
        "ds_permute_b32 v11, v2, v10",
        "ds_swizzle_b32 v12, v10 offset:swizzle(SWAP,16)",
        W,
    ],
)
kernel(
    "reuse of the LDS",
    "append gives each wave its slot",
    [
        "s_mov_b32 m0, 0x400",
        "s_cmp_lg_u32 s13, 0",
        "s_cbranch_scc1 .Li",
        "ds_write_b32 v7, v8",
        W,
        ".Li:",
        B,
        "ds_append v11",
        W,
        "v_mbcnt_lo_u32_b32 v12, -1, 0",
        "v_mbcnt_hi_u32_b32 v12, -1, v12",
        "v_add_u32_e32 v11, v11, v12",
        "v_lshlrev_b32_e32 v11, 2, v11",
        "ds_write_b32 v11, v10",
        W,
        B,
        "ds_read_b32 v4, v3",
    ],
)
kernel(
    "reuse of the LDS",
    "append, slots read without a barrier",
    [
        "s_mov_b32 m0, 0x400",
        "s_cmp_lg_u32 s13, 0",
        "s_cbranch_scc1 .Li",
        "ds_write_b32 v7, v8",
        W,
        ".Li:",
        B,
        "ds_append v11",
        W,
        "v_mbcnt_lo_u32_b32 v12, -1, 0",
        "v_mbcnt_hi_u32_b32 v12, -1, v12",
        "v_add_u32_e32 v11, v11, v12",
        "v_lshlrev_b32_e32 v11, 2, v11",
        "ds_write_b32 v11, v10",
        W,
        "ds_read_b32 v4, v3",
    ],
    NB,
)
# --- EXEC
half = [
    "v_and_b32_e32 v12, 0xff, v2",
    "s_cmp_lg_u32 s13, 0",
    "s_cselect_b32 s26, 0, -1",
    "s_cselect_b32 s27, -1, 0",
    "s_mov_b64 exec, s[26:27]",
]
kernel(
    "partial EXEC, barriers",
    "each wave half of the lanes of one place",
    [*half, "ds_write_b32 v12, v10", ALL, W, B, "ds_read_b32 v4, v12"],
)
kernel(
    "partial EXEC, barriers",
    "EXEC restored too early",
    [*half, ALL, "ds_write_b32 v12, v10", W, B, "ds_read_b32 v4, v12"],
    NB,
)
kernel(
    "partial EXEC, barriers",
    "write2 apart",
    ["ds_write2_b32 v2, v10, v9 offset1:128", W, "ds_read2_b32 v[16:17], v2 offset1:128", W],
)
kernel(
    "partial EXEC, barriers", "write2, the second in the other wave's", ["ds_write2_b32 v2, v10, v9 offset1:64", W], NB
)
kernel(
    "partial EXEC, barriers",
    "write2st64, the second in the other wave's",
    ["ds_write2st64_b32 v2, v10, v9 offset1:1", W],
    NB,
)
kernel(
    "partial EXEC, barriers",
    "last steps of a reduction by one wave",
    [
        "ds_write_b32 v2, v10",
        W,
        B,
        "s_cmp_lg_u32 s13, 0",
        "s_cbranch_scc1 .Lend",
        "ds_read_b32 v4, v3",
        W,
        "v_add_u32_e32 v10, v10, v4",
        "ds_write_b32 v2, v10",
        W,
        "v_xor_b32_e32 v12, 4, v2",
        "ds_read_b32 v4, v12",
        ".Lend:",
    ],
)
kernel(
    "partial EXEC, barriers",
    "reduction, first step without a barrier",
    ["ds_write_b32 v2, v10", W, "s_cmp_lg_u32 s13, 0", "s_cbranch_scc1 .Lend", "ds_read_b32 v4, v3", W, ".Lend:"],
    NB,
)
kernel(
    "partial EXEC, barriers",
    "barrier inside a branch of one wave",
    ["ds_write_b32 v2, v10", W, "s_cmp_lg_u32 s13, 0", "s_cbranch_scc1 .Lend", B, ".Lend:", "ds_read_b32 v4, v2"],
    "barrier-uneven",
)
kernel(
    "partial EXEC, barriers",
    "barriers of both branches",
    [
        "ds_write_b32 v2, v10",
        W,
        "s_cmp_lg_u32 s13, 0",
        "s_cbranch_scc1 .Lo",
        B,
        "s_branch .Lend",
        ".Lo:",
        B,
        ".Lend:",
        "ds_read_b32 v4, v3",
    ],
    "barrier-different",
)
kernel(
    "partial EXEC, barriers",
    "atomic with a returned value overlaps a plain write",
    [
        "v_and_b32_e32 v12, 0xff, v2",
        "s_cmp_lg_u32 s13, 0",
        "s_cbranch_scc1 .Lo",
        "ds_write_b32 v12, v10",
        "s_branch .Lend",
        ".Lo:",
        "ds_add_rtn_u32 v4, v12, v9",
        ".Lend:",
    ],
    NB,
)
# --- uninitialised
kernel(
    "uninitialised",
    "tail lanes loaded under EXEC, all stored",
    ["s_mov_b64 exec, 0xffff", "global_load_dword v11, v2, s[10:11]", ALL, V, "v_mov_b32_e32 v4, v11"],
    "uninitialised-stored",
)
kernel(
    "uninitialised",
    "tail lanes loaded under EXEC, zero elsewhere",
    [
        "v_mov_b32_e32 v11, 0",
        "s_mov_b64 exec, 0xffff",
        "global_load_dword v11, v2, s[10:11]",
        ALL,
        V,
        "v_mov_b32_e32 v4, v11",
    ],
)
kernel(
    "uninitialised",
    "half of a register loaded, the other cleared",
    ["global_load_short_d16 v11, v2, s[10:11]", V, "v_mov_b32_e32 v4, v11"],
)
kernel(
    "uninitialised",
    "half of a register loaded, masked",
    ["global_load_short_d16 v11, v2, s[10:11]", V, "v_and_b32_e32 v4, 0xffff, v11"],
)
kernel(
    "uninitialised",
    "inactive lanes of a factor",
    [
        "s_mov_b64 exec, 0xffff",
        "v_mov_b32_e32 v12, 0",
        "v_mov_b32_e32 v13, 0",
        ALL,
        "s_nop 4",
        "v_mfma_f32_4x4x4_16b_f16 v[16:19], v[12:13], v[12:13], 0",
        "s_nop 4",
    ],
    "uninitialised-matrix",
)
kernel(
    "uninitialised",
    "inactive lanes of a factor filled",
    [
        "s_mov_b64 exec, 0xffff",
        "v_mov_b32_e32 v12, 0",
        "v_mov_b32_e32 v13, 0",
        "s_not_b64 exec, exec",
        "v_mov_b32_e32 v12, 1.0",
        "v_mov_b32_e32 v13, 1.0",
        ALL,
        "s_nop 4",
        "v_mfma_f32_4x4x4_16b_f16 v[16:19], v[12:13], v[12:13], 0",
        "s_nop 4",
        "v_mov_b32_e32 v4, v16",
    ],
)
kernel(
    "uninitialised",
    "readlane of a lane that was never written",
    [
        "s_mov_b64 exec, 1",
        "v_mov_b32_e32 v11, 5",
        ALL,
        "s_nop 4",
        "v_readlane_b32 s14, v11, 7",
        "s_nop 4",
        "s_cmp_eq_u32 s14, 0",
        "s_cbranch_scc1 .Lx",
        "v_mov_b32_e32 v4, 1",
        ".Lx:",
    ],
    "uninitialised-branch",
)
kernel(
    "uninitialised",
    "readlane of the lane that was written",
    [
        "s_mov_b64 exec, 0x80",
        "v_mov_b32_e32 v11, 5",
        ALL,
        "s_nop 4",
        "v_readlane_b32 s14, v11, 7",
        "s_nop 4",
        "s_cmp_eq_u32 s14, 0",
        "s_cbranch_scc1 .Lx",
        "v_mov_b32_e32 v4, 1",
        ".Lx:",
    ],
)
kernel(
    "uninitialised",
    "LDS partly written, read whole by another lane",
    ["s_mov_b64 exec, 0xff", "ds_write_b32 v2, v10", ALL, W, B, "ds_read_b32 v4, v2"],
    "uninitialised-stored",
)
# --- DPP and hazards
kernel(
    "hazards",
    "DPP after its write, two apart",
    ["v_mov_b32_e32 v11, v10", "s_nop 1", "v_mov_b32_dpp v4, v11 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1"],
)
kernel(
    "hazards",
    "DPP row_bcast right after its write",
    ["v_mov_b32_e32 v11, v10", "v_mov_b32_dpp v4, v11 row_bcast:15 row_mask:0xa bank_mask:0xf"],
    "hazards-contradicted",
)
kernel(
    "hazards",
    "lane select too early",
    ["v_readfirstlane_b32 s14, v9", "v_readlane_b32 s15, v10, s14", "v_mov_b32_e32 v4, s15"],
    "hazards",
)
kernel(
    "hazards",
    "lane select in time",
    ["v_readfirstlane_b32 s14, v9", "s_nop 3", "v_readlane_b32 s15, v10, s14", "s_nop 1", "v_mov_b32_e32 v4, s15"],
)
kernel(
    "hazards",
    "cmpx then DPP",
    ["v_cmpx_eq_u32_e32 vcc, v10, v10", "v_mov_b32_dpp v4, v3 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1", ALL],
    "hazards",
)
kernel(
    "hazards",
    "writelane then readlane",
    [
        "s_mov_b32 s14, 3",
        "v_writelane_b32 v11, s14, 5",
        "v_readlane_b32 s15, v11, 5",
        "s_nop 1",
        "v_mov_b32_e32 v4, s15",
    ],
    "hazards",
)
kernel(
    "hazards",
    "div_fmas too early",
    ["v_mov_b32_e32 v11, 1.0", "v_cmp_eq_u32_e32 vcc, v10, v9", "v_div_fmas_f32 v4, v11, v11, v11"],
    "hazards",
)
kernel(
    "hazards",
    "div_fmas in time",
    ["v_mov_b32_e32 v11, 1.0", "v_cmp_eq_u32_e32 vcc, v10, v9", "s_nop 3", "v_div_fmas_f32 v4, v11, v11, v11"],
)
fac = [
    "v_mov_b32_e32 v12, 1.0",
    "v_mov_b32_e32 v13, 1.0",
    "v_mov_b32_e32 v16, 0",
    "v_mov_b32_e32 v17, 0",
    "v_mov_b32_e32 v18, 0",
    "v_mov_b32_e32 v19, 0",
    "s_nop 1",
]
mf = "v_mfma_f32_16x16x16_f16 v[16:19], v[12:13], v[12:13], v[16:19]"
kernel("hazards", "product stored to the LDS too early", [*fac, mf, "ds_write_b32 v2, v16"], "hazards")
kernel("hazards", "product stored to the LDS in time", [*fac, mf, "s_nop 7", "s_nop 2", "ds_write_b32 v2, v16"])
kernel("hazards", "chain of products", [*fac, mf, mf, mf, "s_nop 7", "s_nop 2", "v_mov_b32_e32 v4, v17"])
kernel(
    "hazards",
    "factor overwritten behind a product",
    [*fac, mf, "v_mov_b32_e32 v12, 2.0", "s_nop 7", "s_nop 2", "v_mov_b32_e32 v4, v17"],
)
kernel(
    "hazards",
    "C overwritten behind a product of other D",
    [
        *fac,
        "v_mfma_f32_16x16x16_f16 v[20:23], v[12:13], v[12:13], v[16:19]",
        "v_mov_b32_e32 v16, 2.0",
        "s_nop 7",
        "s_nop 2",
        "v_mov_b32_e32 v4, v20",
    ],
    "hazards",
)
kernel(
    "hazards",
    "product of a product too early",
    [
        *fac,
        mf,
        "v_mfma_f32_16x16x16_f16 v[20:23], v[16:17], v[12:13], 0",
        "s_nop 7",
        "s_nop 2",
        "v_mov_b32_e32 v4, v20",
    ],
    "hazards",
)
kernel(
    "hazards",
    "store data overwritten",
    [
        "v_lshlrev_b32_e32 v15, 4, v0",
        "v_mov_b32_e32 v16, 0",
        "v_mov_b32_e32 v17, 0",
        "v_mov_b32_e32 v18, 0",
        "v_mov_b32_e32 v19, 0",
        "ds_write_b32 v2, v9",
        "global_store_dwordx4 v15, v[16:19], s[10:11]",
        "v_mov_b32_e32 v17, 7",
    ],
    "hazards",
    grid=1,
)
# --- waits
kernel(
    "waits",
    "loads counted, older used",
    [
        "global_load_dword v11, v2, s[10:11]",
        "global_load_dword v12, v2, s[10:11] offset:64",
        "s_waitcnt vmcnt(1)",
        "v_mov_b32_e32 v4, v11",
    ],
)
kernel(
    "waits",
    "loads counted, younger used",
    [
        "global_load_dword v11, v2, s[10:11]",
        "global_load_dword v12, v2, s[10:11] offset:64",
        "s_waitcnt vmcnt(1)",
        "v_mov_b32_e32 v4, v12",
    ],
    "waits-read-in-flight",
)
kernel(
    "waits",
    "load under EXEC, the others written before its wait",
    [
        "v_mov_b32_e32 v11, 0",
        "s_mov_b64 exec, 0xff",
        "global_load_dword v11, v2, s[10:11]",
        "s_not_b64 exec, exec",
        "v_mov_b32_e32 v11, 3",
        ALL,
        V,
        "v_mov_b32_e32 v4, v11",
    ],
)
kernel(
    "waits",
    "address of a load overwritten",
    [
        "v_mov_b32_e32 v12, v2",
        "global_load_dword v11, v12, s[10:11]",
        "v_mov_b32_e32 v12, 0",
        V,
        "v_mov_b32_e32 v4, v11",
    ],
)
kernel(
    "waits",
    "store data overwritten while in flight",
    ["v_mov_b32_e32 v12, v2", "global_store_dword v5, v12, s[8:9]", "v_mov_b32_e32 v12, 0"],
)
kernel(
    "waits",
    "scalar load used through SCC",
    ["s_load_dword s14, s[10:11], 0x0", "s_cmp_eq_u32 s14, 0", "s_cbranch_scc1 .Lx", "v_mov_b32_e32 v4, 1", ".Lx:", W],
    "waits-read-in-flight",
)
kernel(
    "waits",
    "flat load needs both counters",
    [
        "v_mov_b32_e32 v13, s11",
        "v_add_co_u32_e32 v12, vcc, s10, v2",
        "v_addc_co_u32_e32 v13, vcc, 0, v13, vcc",
        "flat_load_dword v11, v[12:13]",
        "s_waitcnt vmcnt(0)",
        "v_mov_b32_e32 v4, v11",
    ],
    "waits-read-in-flight",
)
kernel(
    "waits",
    "flat load with both",
    [
        "v_mov_b32_e32 v13, s11",
        "v_add_co_u32_e32 v12, vcc, s10, v2",
        "v_addc_co_u32_e32 v13, vcc, 0, v13, vcc",
        "flat_load_dword v11, v[12:13]",
        WV,
        "v_mov_b32_e32 v4, v11",
    ],
)
kernel(
    "waits",
    "load of a loop used in the next round",
    ["v_mov_b32_e32 v11, 0", *loop(3, ["v_add_u32_e32 v4, v4, v11", "global_load_dword v11, v2, s[10:11]"])],
    "waits-read-in-flight",
)
kernel(
    "waits",
    "load of a loop waited for in the next round",
    ["v_mov_b32_e32 v11, 0", *loop(3, [V, "v_add_u32_e32 v4, v4, v11", "global_load_dword v11, v2, s[10:11]"])],
)
# --- global memory between workgroups (data at s[10:11]: 0: flag, 64..: payload)
pay = ["v_add_u32_e32 v12, 0x400, v2"]
wg = ["s_cmp_lg_u32 s2, 0", "s_cbranch_scc1 .Lcons"]
rel = ["buffer_wbl2 sc1", V]
poll = [
    ".Lcons:",
    "global_load_dword v11, v8, s[10:11] sc1",
    V,
    "v_readfirstlane_b32 s14, v11",
    "s_cmp_eq_u32 s14, 0",
    "s_cbranch_scc1 .Lcons",
]
inv, rd = ["buffer_inv sc1"], ["global_load_dword v4, v12, s[10:11]", ".Lend:"]


def mp(a, b, c):
    return (
        pay
        + wg
        + ["global_store_dword v12, v10, s[10:11]"]
        + a
        + ["s_barrier"]
        + ["s_cmp_lg_u32 s13, 0", "s_cbranch_scc1 .Lend", ONE]
        + b
        + [ALL, "s_branch .Lend"]
        + c
    )


FLAG = ["global_store_dword v8, v9, s[10:11] sc1"]
kernel("messages between workgroups", "message between workgroups", mp(rel, FLAG, poll + inv + rd), grid=2)
kernel(
    "messages between workgroups",
    "message, flag by atomic",
    mp(rel, ["global_atomic_or v8, v9, s[10:11] sc1"], poll + inv + rd),
    grid=2,
)
kernel(
    "messages between workgroups",
    "message, not waited for",
    mp(["buffer_wbl2 sc1"], FLAG, poll + inv + rd),
    "races-not-released",
    grid=2,
)
kernel(
    "messages between workgroups",
    "message, flag of the wrong scope",
    mp(rel, ["global_store_dword v8, v9, s[10:11]"], poll + inv + rd),
    "races",
    grid=2,
)
kernel(
    "messages between workgroups",
    "message, poll of the wrong scope",
    mp(rel, FLAG, [x.replace(" sc1", "") for x in poll] + inv + rd),
    "races",
    grid=2,
)
kernel(
    "messages between workgroups",
    "message, payload read before the poll",
    mp(
        rel,
        FLAG,
        [".Lcons:", "global_load_dword v4, v12, s[10:11]"]
        + [x.replace(".Lcons", ".Lp") for x in poll]
        + inv
        + [".Lend:"],
    ),
    "races",
    grid=2,
)
kernel(
    "messages between workgroups",
    "message, poll does not decide",
    mp(rel, FLAG, [".Lcons:", "global_load_dword v11, v8, s[10:11] sc1", V, *inv, *rd]),
    "races",
    grid=2,
)
kernel(
    "messages between workgroups",
    "message, no invalidate",
    [*pay, "global_load_dword v13, v12, s[10:11]", V, *mp(rel, FLAG, poll + rd)[1:]],
    "races-stale",
    "races-between-workgroups",
    grid=2,
)
kernel(
    "messages between workgroups",
    "message, wave 1 not behind a barrier",
    pay
    + wg
    + ["global_store_dword v12, v10, s[10:11]"]
    + rel
    + ["s_cmp_lg_u32 s13, 0", "s_cbranch_scc1 .Lend", ONE]
    + FLAG
    + [ALL, "s_branch .Lend"]
    + poll
    + inv
    + rd,
    "races",
    grid=2,
)
tick = [
    "global_store_dword v5, v10, s[10:11] offset:1024",
    *rel,
    B,
    "s_mov_b32 s30, 0",
    ONE,
    "s_cmp_lg_u32 s13, 0",
    "s_cbranch_scc1 .Lw",
    "global_atomic_add v11, v8, v9, s[10:11] sc0 sc1",
    V,
    "ds_write_b32 v7, v11",
    W,
    ".Lw:",
    ALL,
    B,
    "ds_read_b32 v11, v7",
    W,
    "v_readfirstlane_b32 s14, v11",
    "s_cmp_lg_u32 s14, 3",
    "s_cbranch_scc1 .Lend",
]
kernel(
    "messages between workgroups",
    "ticket through the LDS, last workgroup sums",
    tick
    + ["buffer_inv sc1"]
    + [
        x
        for n in range(4)
        for x in (f"global_load_dword v11, v2, s[10:11] offset:{1024 + 512 * n}", V, "v_add_u32_e32 v4, v4, v11")
    ]
    + [".Lend:"],
    grid=4,
)
kernel(
    "messages between workgroups",
    "ticket, others read as well",
    tick[:-1]
    + ["buffer_inv sc1"]
    + [
        x
        for n in range(4)
        for x in (f"global_load_dword v11, v2, s[10:11] offset:{1024 + 512 * n}", V, "v_add_u32_e32 v4, v4, v11")
    ]
    + [".Lend:"],
    "races",
    grid=4,
)
kernel(
    "messages between workgroups",
    "ticket, store not waited for",
    tick[:1]
    + tick[3:]
    + ["buffer_inv sc1"]
    + [
        x
        for n in range(4)
        for x in (f"global_load_dword v11, v2, s[10:11] offset:{1024 + 512 * n}", V, "v_add_u32_e32 v4, v4, v11")
    ]
    + [".Lend:"],
    "races-not-released",
    grid=4,
)
# --- bounds
kernel(
    "bounds",
    "LDS past the allocation by one lane",
    ["v_add_u32_e32 v12, 0x604, v2", "ds_write_b32 v12, v10"],
    "bounds-lds",
)
kernel(
    "bounds",
    "global past the end by an inactive lane",
    ["v_mov_b32_e32 v12, 0x7ffff000", "s_mov_b64 exec, 0", "global_load_dword v4, v12, s[10:11]", ALL, V],
)
kernel(
    "bounds",
    "negative offset before the buffer",
    ["v_mov_b32_e32 v12, 0", "global_load_dword v4, v12, s[10:11] offset:-4", V],
    "bounds-outside-buffer",
)
