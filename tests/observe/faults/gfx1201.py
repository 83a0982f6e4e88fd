"""Small kernels for gfx1201: four waves of 32 lanes; what is right, and what has which fault."""

BEGIN = """
  s_load_b128 s[8:11], s[0:1], 0x0
  v_and_b32_e32 v0, 0x3ff, v0
  v_lshlrev_b32_e32 v2, 2, v0
  v_xor_b32_e32 v3, 0x80, v2
  v_mov_b32_e32 v4, 0
  v_mov_b32_e32 v7, 0x400
  v_mov_b32_e32 v8, 0
  v_mov_b32_e32 v9, 1
  v_mov_b32_e32 v10, v0
  v_readfirstlane_b32 s13, v2
  s_lshr_b32 s13, s13, 7
  s_mov_b32 s2, ttmp9
  s_lshl_b32 s20, ttmp9, 9
  v_add_nc_u32_e32 v5, s20, v2
  s_wait_kmcnt 0x0
"""
END = """
  s_wait_loadcnt_dscnt 0x0
  global_store_b32 v5, v4, s[8:9]
  s_endpgm
"""
D, L, S, KM = "s_wait_dscnt 0x0", "s_wait_loadcnt 0x0", "s_wait_storecnt 0x0", "s_wait_kmcnt 0x0"
SG, WT = "s_barrier_signal -1", "s_barrier_wait -1"
B = SG + "\n" + WT
ONE, ALL = "s_mov_b32 exec_lo, 1", "s_mov_b32 exec_lo, -1"
KERNELS = {}


def kernel(kind, name, lines, *ids, **options):
    """One more; `options`: ``grid``, ``extra`` directives."""
    KERNELS[name] = kind, lines, set(ids), options


NB, ND = "races-no-barrier", "races-not-done-at-barrier"
kernel(
    "split barriers",
    "split barrier, work between",
    ["ds_store_b32 v2, v10", D, SG, "v_add_nc_u32_e32 v10, 1, v10", WT, "ds_load_b32 v4, v3", D],
)
kernel(
    "split barriers",
    "written between signal and wait",
    ["ds_store_b32 v2, v9", D, SG, "ds_store_b32 v2, v10", D, WT, "ds_load_b32 v4, v3", D],
    NB,
)
kernel(
    "split barriers", "read between signal and wait", ["ds_store_b32 v2, v10", D, SG, "ds_load_b32 v4, v3", D, WT], NB
)
kernel(
    "split barriers",
    "signal before the wait of the store",
    ["ds_store_b32 v2, v10", SG, D, WT, "ds_load_b32 v4, v3", D],
    ND,
)
kernel(
    "split barriers", "own place between signal and wait", ["ds_store_b32 v2, v10", D, SG, "ds_load_b32 v4, v2", D, WT]
)
kernel(
    "split barriers",
    "two barriers in a row",
    ["ds_store_b32 v2, v10", D, B, "ds_load_b32 v4, v3", D, B, "ds_store_b32 v2, v4", D],
)
kernel(
    "split barriers",
    "second barrier signalled with reads in flight",
    ["ds_store_b32 v2, v10", D, B, "ds_load_b32 v4, v3", SG, WT, "ds_store_b32 v2, v10", D],
    ND,
)
kernel(
    "waits by several counters",
    "wait for the wrong counter after an LDS load",
    ["ds_store_b32 v2, v10", D, B, "ds_load_b32 v11, v3", L, "v_mov_b32_e32 v4, v11"],
    "waits-read-in-flight",
)
kernel(
    "waits by several counters",
    "both counters in one wait",
    [
        "ds_store_b32 v2, v10",
        "global_load_b32 v12, v2, s[10:11]",
        "s_wait_loadcnt_dscnt 0x0",
        B,
        "ds_load_b32 v11, v3",
        "s_wait_loadcnt_dscnt 0x0",
        "v_add_nc_u32_e32 v4, v11, v12",
    ],
)
kernel(
    "waits by several counters",
    "combined wait, one part too large",
    ["global_load_b32 v12, v2, s[10:11]", "s_wait_loadcnt_dscnt 0x100", "v_mov_b32_e32 v4, v12"],
    "waits-read-in-flight",
)
kernel(
    "waits by several counters",
    "combined wait of stores",
    [
        "global_store_b32 v5, v10, s[8:9]",
        "ds_load_b32 v11, v2",
        "s_wait_storecnt_dscnt 0x0",
        "v_and_b32_e32 v4, 0, v11",
    ],
)
kernel(
    "waits by several counters",
    "scalar load without kmcnt",
    ["s_load_b32 s14, s[10:11], 0x0", L, "v_mov_b32_e32 v4, s14"],
    "waits-read-in-flight",
)
kernel(
    "waits by several counters",
    "sample and bvh counters do not end loads",
    ["global_load_b32 v12, v2, s[10:11]", "s_wait_samplecnt 0x0", "s_wait_bvhcnt 0x0", "v_mov_b32_e32 v4, v12"],
    "waits-read-in-flight",
)
kernel(
    "waits by several counters",
    "one of two loads",
    [
        "global_load_b32 v11, v2, s[10:11]",
        "global_load_b32 v12, v2, s[10:11] offset:64",
        "s_wait_loadcnt 0x1",
        "v_mov_b32_e32 v4, v11",
    ],
)
kernel(
    "waits by several counters",
    "the other of two loads",
    [
        "global_load_b32 v11, v2, s[10:11]",
        "global_load_b32 v12, v2, s[10:11] offset:64",
        "s_wait_loadcnt 0x1",
        "v_mov_b32_e32 v4, v12",
    ],
    "waits-read-in-flight",
)
kernel(
    "waits by several counters",
    "stores do not count as loads",
    [
        "global_load_b32 v11, v2, s[10:11]",
        "global_store_b32 v5, v10, s[8:9]",
        "s_wait_loadcnt 0x0",
        "v_mov_b32_e32 v4, v11",
    ],
)
kernel(
    "waits by several counters",
    "atomic with a result counts as a load",
    [
        "v_mov_b32_e32 v12, 0x800",
        "v_add_nc_u32_e32 v12, v12, v2",
        "global_atomic_add_u32 v11, v12, v9, s[10:11] th:TH_ATOMIC_RETURN",
        "s_wait_storecnt 0x0",
        "v_mov_b32_e32 v4, v11",
    ],
    "waits-read-in-flight",
    grid=1,
)
kernel(
    "waits by several counters",
    "atomic with a result, loadcnt",
    [
        "v_mov_b32_e32 v12, 0x800",
        "v_add_nc_u32_e32 v12, v12, v2",
        "global_atomic_add_u32 v11, v12, v9, s[10:11] th:TH_ATOMIC_RETURN",
        L,
        "v_mov_b32_e32 v4, v11",
    ],
    grid=1,
)
# messages between workgroups
pay = ["v_add_nc_u32_e32 v12, 0x400, v2"]
wg = ["s_cmp_lg_u32 s2, 0", "s_cbranch_scc1 .Lcons"]


def mp(a, b, c):
    return (
        pay
        + wg
        + ["global_store_b32 v12, v10, s[10:11]"]
        + a
        + [B, "s_cmp_lg_u32 s13, 0", "s_cbranch_scc1 .Lend", ONE]
        + b
        + [ALL, "s_branch .Lend"]
        + c
    )


rel = ["global_wb scope:SCOPE_DEV", S]
FLAG = ["global_store_b32 v8, v9, s[10:11] scope:SCOPE_DEV"]
poll = [
    ".Lcons:",
    "global_load_b32 v11, v8, s[10:11] scope:SCOPE_DEV",
    L,
    "v_readfirstlane_b32 s14, v11",
    "s_cmp_eq_u32 s14, 0",
    "s_cbranch_scc1 .Lcons",
]
inv, rd = ["global_inv scope:SCOPE_DEV", L], ["global_load_b32 v4, v12, s[10:11]", ".Lend:"]
kernel("messages between workgroups", "message", mp(rel, FLAG, poll + inv + rd), grid=2)
kernel(
    "messages between workgroups",
    "message, store waited for as a load",
    mp(["global_wb scope:SCOPE_DEV", L], FLAG, poll + inv + rd),
    "races",
    grid=2,
)
kernel(
    "messages between workgroups",
    "message, flag of SE scope",
    mp(rel, [FLAG[0].replace("DEV", "SE")], poll + inv + rd),
    "races",
    grid=2,
)
kernel(
    "messages between workgroups",
    "message, poll of CU scope",
    mp(rel, FLAG, [x.replace("scope:SCOPE_DEV", "") for x in poll] + inv + rd),
    "races",
    grid=2,
)
kernel(
    "messages between workgroups",
    "message of SYS scope",
    [x.replace("SCOPE_DEV", "SCOPE_SYS") for x in mp(rel, FLAG, poll + inv + rd)],
    grid=2,
)
kernel(
    "messages between workgroups",
    "message by an atomic of CU scope",
    mp(rel, ["global_atomic_or_b32 v8, v9, s[10:11]"], poll + inv + rd),
    "races",
    grid=2,
)
kernel(
    "messages between workgroups",
    "message by an atomic of device scope",
    mp(rel, ["global_atomic_or_b32 v8, v9, s[10:11] scope:SCOPE_DEV"], poll + inv + rd),
    grid=2,
)
kernel(
    "messages between workgroups",
    "compare and swap as the poll",
    mp(
        rel,
        FLAG,
        [
            ".Lcons:",
            "v_mov_b32_e32 v16, 2",
            "v_mov_b32_e32 v17, 1",
            ONE,
            "global_atomic_cmpswap_b32 v11, v8, v[16:17], s[10:11] th:TH_ATOMIC_RETURN scope:SCOPE_DEV",
            L,
            ALL,
            "v_readfirstlane_b32 s14, v11",
            "s_cmp_eq_u32 s14, 0",
            "s_cbranch_scc1 .Lcons",
            *inv,
            *rd,
        ],
    ),
    grid=2,
)
# DPP, permlane, WMMA
kernel(
    "hazards",
    "dpp8 and row_share at once",
    [
        "v_mov_b32_e32 v11, v10",
        "v_mov_b32_dpp v4, v11 dpp8:[7,6,5,4,3,2,1,0]",
        "v_mov_b32_dpp v12, v4 row_share:3 row_mask:0xf bank_mask:0xf",
        "v_mov_b32_e32 v4, v12",
    ],
)
kernel(
    "hazards",
    "permlane after cmpx",
    [
        "v_mov_b32_e32 v11, 0",
        "v_cmpx_eq_u32_e32 v10, v10",
        "v_permlane16_b32 v11, v10, s13, s13",
        ALL,
        "v_mov_b32_e32 v4, v11",
    ],
    "hazards",
)
kernel(
    "hazards",
    "permlane after s_mov of EXEC",
    ["v_mov_b32_e32 v11, 0", ALL, "v_permlane16_b32 v11, v10, s13, s13", "v_mov_b32_e32 v4, v11"],
)
zero = [f"v_mov_b32_e32 v{n}, 0" for n in range(16, 40)]
kernel(
    "hazards",
    "product of a product",
    [
        *zero,
        "v_wmma_f32_16x16x16_f16 v[16:23], v[24:27], v[28:31], v[16:23]",
        "v_wmma_f32_16x16x16_f16 v[32:39], v[16:19], v[28:31], v[32:39]",
        "v_mov_b32_e32 v4, v32",
    ],
    "hazards",
)
kernel(
    "hazards",
    "chain of products",
    [
        *zero,
        "v_wmma_f32_16x16x16_f16 v[16:23], v[24:27], v[28:31], v[16:23]",
        "v_wmma_f32_16x16x16_f16 v[16:23], v[24:27], v[28:31], v[16:23]",
        "v_mov_b32_e32 v4, v16",
    ],
)
kernel(
    "hazards",
    "uninitialised factor of WMMA",
    [*zero[:12], "v_wmma_f32_16x16x16_f16 v[16:23], v[24:27], v[40:43], v[16:23]", "v_mov_b32_e32 v4, v16"],
    "uninitialised-matrix",
)
kernel("swizzles", "swizzle by xor", ["ds_swizzle_b32 v11, v10 offset:swizzle(SWAP,16)", D, "v_mov_b32_e32 v4, v11"])
kernel(
    "swizzles",
    "swizzle not waited for",
    ["ds_swizzle_b32 v11, v10 offset:swizzle(SWAP,16)", "v_mov_b32_e32 v4, v11"],
    "waits-read-in-flight",
)
kernel("swizzles", "bpermute_fi", ["ds_bpermute_fi_b32 v11, v3, v10", D, "v_mov_b32_e32 v4, v11"])
kernel(
    "split barriers",
    "isfirst decides who writes",
    [
        "s_barrier_signal_isfirst -1",
        "s_cselect_b32 s14, 1, 0",
        WT,
        "s_cmp_eq_u32 s14, 0",
        "s_cbranch_scc1 .Lx",
        "ds_store_b32 v7, v10",
        ".Lx:",
    ],
)
kernel(
    "reuse of the LDS",
    "LDS store of all waves to one place, same value",
    ["ds_store_b32 v7, v9", D, B, "ds_load_b32 v4, v7", D],
)
kernel(
    "reuse of the LDS",
    "LDS store of all waves to one place",
    ["ds_store_b32 v7, v10", D, B, "ds_load_b32 v4, v7", D],
    NB,
)
kernel(
    "LDS flags and locks",
    "LDS min reduction, initialised by one wave",
    [
        "s_cmp_lg_u32 s13, 0",
        "s_cbranch_scc1 .Lx",
        "ds_store_b32 v7, v9",
        D,
        ".Lx:",
        B,
        "ds_min_u32 v7, v10",
        D,
        B,
        "ds_load_b32 v4, v7",
    ],
)
kernel(
    "LDS flags and locks",
    "LDS min reduction, initialised without a barrier",
    [
        "s_cmp_lg_u32 s13, 0",
        "s_cbranch_scc1 .Lx",
        "ds_store_b32 v7, v9",
        D,
        ".Lx:",
        "ds_min_u32 v7, v10",
        D,
        B,
        "ds_load_b32 v4, v7",
    ],
    NB,
)
kernel(
    "LDS flags and locks",
    "LDS ticket, initialised without a barrier",
    [
        "s_cmp_lg_u32 s13, 0",
        "s_cbranch_scc1 .Lx",
        "ds_store_b32 v7, v8",
        D,
        ".Lx:",
        ONE,
        "ds_add_rtn_u32 v11, v7, v9",
        D,
        ALL,
        "v_readfirstlane_b32 s14, v11",
        "s_cmp_lg_u32 s14, 3",
        "s_cbranch_scc1 .Ly",
        "v_mov_b32_e32 v4, 1",
        ".Ly:",
    ],
    NB,
)
kernel(
    "LDS flags and locks",
    "flags of each wave, all polled by wave 0",
    [
        "v_mov_b32_e32 v12, s13",
        "v_lshl_add_u32 v12, v12, 2, v7",
        ONE,
        "ds_store_b32 v12, v8",
        D,
        ALL,
        B,
        "ds_store_b32 v2, v10",
        D,
        ONE,
        "ds_store_b32 v12, v9",
        D,
        ALL,
        "s_cmp_lg_u32 s13, 0",
        "s_cbranch_scc1 .Lend",
        ".Lp:",
        "ds_load_b128 v[16:19], v7",
        D,
        "v_and_b32_e32 v16, v16, v17",
        "v_and_b32_e32 v18, v18, v19",
        "v_and_b32_e32 v16, v16, v18",
        "v_readfirstlane_b32 s14, v16",
        "s_cmp_eq_u32 s14, 0",
        "s_cbranch_scc1 .Lp",
        "ds_load_b32 v4, v3",
        D,
        ".Lend:",
    ],
)
kernel(
    "LDS flags and locks",
    "flags of each wave, only one polled",
    [
        "v_mov_b32_e32 v12, s13",
        "v_lshl_add_u32 v12, v12, 2, v7",
        ONE,
        "ds_store_b32 v12, v8",
        D,
        ALL,
        B,
        "ds_store_b32 v2, v10",
        D,
        ONE,
        "ds_store_b32 v12, v9",
        D,
        ALL,
        "s_cmp_lg_u32 s13, 0",
        "s_cbranch_scc1 .Lend",
        ".Lp:",
        "ds_load_b32 v16, v7 offset:8",
        D,
        "v_readfirstlane_b32 s14, v16",
        "s_cmp_eq_u32 s14, 0",
        "s_cbranch_scc1 .Lp",
        "ds_load_b32 v4, v3",
        D,
        ".Lend:",
    ],
    NB,
)

kernel(
    "waits by several counters",
    "a register loaded twice, the first not waited for",
    ["global_load_b32 v11, v2, s[10:11]", "global_load_b32 v11, v2, s[10:11] offset:64", L, "v_mov_b32_e32 v4, v11"],
    "waits-overwritten-in-flight",
)
