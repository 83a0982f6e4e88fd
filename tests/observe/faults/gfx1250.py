"""Small kernels for gfx1250: four waves of 32 lanes; what is right, and what has which fault."""

from mfmasim.machine.tensor import Descriptor

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
BEGIN += """
  s_mov_b32 m0, 0
  v_add_co_u32 v40, vcc_lo, s10, v2
  v_mov_b32_e32 v41, s11
  v_add_co_ci_u32_e64 v41, null, 0, v41, vcc_lo
"""
NAMED = ".amdhsa_named_barrier_count 2"
A, T = "s_wait_asynccnt 0x0", "s_wait_tensorcnt 0x0"
load = "global_load_async_to_lds_b32 v2, v2, s[10:11]"
kernel("asynchronous copies", "async copy, waited for, barrier", [load, A, B, "ds_load_b32 v4, v3", D])
kernel("asynchronous copies", "async copy, barrier without the wait", [load, B, A, "ds_load_b32 v4, v3", D], ND)
kernel(
    "asynchronous copies",
    "async copy, loadcnt waited for",
    [load, "s_wait_loadcnt 0x0", B, "ds_load_b32 v4, v3", D, A],
    "races",
)
kernel(
    "asynchronous copies",
    "async copies, older of two",
    [
        "v_add_nc_u32_e32 v42, 0x200, v2",
        load,
        load.replace("v2, v2", "v42, v2"),
        "s_wait_asynccnt 0x1",
        B,
        "ds_load_b32 v4, v3",
        D,
        A,
    ],
)
kernel(
    "asynchronous copies",
    "async copies, younger of two",
    [
        "v_add_nc_u32_e32 v42, 0x200, v2",
        load,
        load.replace("v2, v2", "v42, v2"),
        "s_wait_asynccnt 0x1",
        B,
        "ds_load_b32 v4, v3 offset:512",
        D,
        A,
    ],
    "races",
)
kernel(
    "asynchronous copies",
    "async store out of the LDS, source overwritten",
    [
        "ds_store_b32 v2, v10",
        D,
        "global_store_async_from_lds_b32 v5, v2, s[8:9]",
        "ds_store_b32 v2, v9",
        D,
        A,
        "v_mov_b32_e32 v4, v10",
    ],
    "races",
)
kernel(
    "asynchronous copies",
    "async store out of the LDS, then overwritten",
    [
        "ds_store_b32 v2, v10",
        D,
        "global_store_async_from_lds_b32 v5, v2, s[8:9]",
        A,
        "ds_store_b32 v2, v9",
        D,
        "v_mov_b32_e32 v4, v10",
    ],
)
kernel(
    "asynchronous copies",
    "async store before the LDS store is done",
    ["ds_store_b32 v2, v10", "global_store_async_from_lds_b32 v5, v2, s[8:9]", A, "v_mov_b32_e32 v4, v10"],
    "races",
)
wave0 = ["s_cmp_lg_u32 s13, 0", "s_cbranch_scc1 .Lo"]


def desc(tile=128):
    return [
        f"s_mov_b32 s{40 + n}, {w:#x}"
        for n, w in enumerate(
            Descriptor(
                data_size=2, tensor_dim0=128, tensor_dim1=1, tile_dim0=tile, tile_dim1=1, tensor_dim0_stride=128
            ).words()[:12]
        )
    ] + ["s_add_co_u32 s42, s42, s10", "s_add_co_ci_u32 s43, s43, s11"]


tl = "tensor_load_to_lds s[40:43], s[44:51]"
kernel("tensor instructions", "tensor load by one wave", desc() + wave0 + [tl, T, ".Lo:", B, "ds_load_b32 v4, v3", D])
kernel(
    "tensor instructions",
    "tensor load, barrier before the wait",
    desc() + wave0 + [tl, ".Lo:", B, T, "ds_load_b32 v4, v3", D],
    "races",
)
kernel(
    "tensor instructions",
    "tensor load over what is read",
    [*desc(), "ds_store_b32 v2, v10", D, B, "ds_load_b32 v4, v3", D, *wave0, tl, T, ".Lo:"],
    NB,
)
kernel(
    "tensor instructions",
    "tensor load, asynccnt waited for",
    desc() + wave0 + [tl, A, ".Lo:", B, "ds_load_b32 v4, v3", D, T],
    "races",
)
kernel(
    "tensor instructions",
    "tensor store out, source overwritten",
    [
        *desc(),
        "ds_store_b32 v2, v10",
        D,
        B,
        *wave0,
        "tensor_store_from_lds s[40:43], s[44:51]",
        ".Lo:",
        "s_nop 0",
        B,
        "ds_store_b32 v2, v9",
        D,
        T,
    ],
    "races",
    grid=1,
)
kernel(
    "tensor instructions",
    "tensor store out, waited for",
    [
        *desc(),
        "ds_store_b32 v2, v10",
        D,
        B,
        *wave0,
        "tensor_store_from_lds s[40:43], s[44:51]",
        T,
        ".Lo:",
        B,
        "ds_store_b32 v2, v9",
        D,
    ],
    grid=1,
)
# named barriers: wave 0 produces for wave 1 (barrier 1), wave 1 answers on barrier 2
join = [
    "s_mov_b32 m0, 0x20001",
    "s_cmp_lg_u32 s13, 0",
    "s_cbranch_scc1 .Li",
    "s_barrier_init m0",
    ".Li:",
    B,
    "s_cmp_gt_u32 s13, 1",
    "s_cbranch_scc1 .Lend",
    "s_barrier_join 1",
]


def nb(prod, cons):
    return [*join, "s_cmp_lg_u32 s13, 0", "s_cbranch_scc1 .Lc", *prod, "s_branch .Lend", ".Lc:", *cons, ".Lend:"]


kernel(
    "named barriers",
    "named barrier",
    nb(
        ["ds_store_b32 v2, v10", D, "s_barrier_signal 1", "s_barrier_wait 1"],
        ["s_barrier_signal 1", "s_barrier_wait 1", "ds_load_b32 v4, v3", D],
    ),
    extra=NAMED,
)
kernel(
    "named barriers",
    "named barrier, store in flight",
    nb(
        ["ds_store_b32 v2, v10", "s_barrier_signal 1", "s_barrier_wait 1", D],
        ["s_barrier_signal 1", "s_barrier_wait 1", "ds_load_b32 v4, v3", D],
    ),
    "races",
    extra=NAMED,
)
kernel(
    "named barriers",
    "named barrier, stored after the signal",
    nb(
        ["s_barrier_signal 1", "ds_store_b32 v2, v10", D, "s_barrier_wait 1"],
        ["s_barrier_signal 1", "s_barrier_wait 1", "ds_load_b32 v4, v3", D],
    ),
    "races",
    extra=NAMED,
)
kernel(
    "named barriers",
    "named barrier, read before the wait",
    nb(
        ["ds_store_b32 v2, v10", D, "s_barrier_signal 1", "s_barrier_wait 1"],
        ["s_barrier_signal 1", "ds_load_b32 v4, v3", D, "s_barrier_wait 1"],
    ),
    "races",
    extra=NAMED,
)
kernel(
    "named barriers",
    "named barrier, a third wave reads",
    [
        "s_nop 0",
        *join[:7],
        "s_cmp_eq_u32 s13, 3",
        "s_cbranch_scc1 .Lend",
        "s_cmp_eq_u32 s13, 2",
        "s_cbranch_scc1 .Lthird",
        *join[8:],
        "s_cmp_lg_u32 s13, 0",
        "s_cbranch_scc1 .Lc",
        "ds_store_b32 v2, v10",
        D,
        "s_barrier_signal 1",
        "s_barrier_wait 1",
        "s_branch .Lend",
        ".Lc:",
        "s_barrier_signal 1",
        "s_barrier_wait 1",
        "ds_load_b32 v4, v3",
        D,
        "s_branch .Lend",
        ".Lthird:",
        "v_subrev_nc_u32_e32 v11, 0x100, v2",
        "ds_load_b32 v4, v11",
        D,
        ".Lend:",
    ],
    NB,
    extra=NAMED,
)
# barrier in the LDS: v7 its address; pending count 4 (waves)
lb = ["v_mov_b32_e32 v16, 3", "v_mov_b32_e32 v17, 0"]
kernel(
    "waits by several counters",
    "xcnt",
    [
        "global_load_b32 v11, v2, s[10:11]",
        "s_wait_xcnt 0x0",
        "v_mov_b32_e32 v12, v2",
        "s_wait_loadcnt 0x0",
        "v_mov_b32_e32 v4, v11",
    ],
)
z16 = [f"v_mov_b32_e32 v{n}, 0" for n in range(16, 48)]
kernel(
    "hazards",
    "WMMA then its D",
    [*z16, "v_wmma_f32_16x16x32_f16 v[16:23], v[24:31], v[32:39], v[16:23]", "v_mov_b32_e32 v4, v16"],
    "hazards",
)
kernel(
    "hazards",
    "WMMA then its D in time",
    z16
    + ["v_wmma_f32_16x16x32_f16 v[16:23], v[24:31], v[32:39], v[16:23]"]
    + ["v_nop"] * 8
    + ["v_mov_b32_e32 v4, v16"],
)
kernel(
    "hazards",
    "WMMA stored to memory at once",
    [*z16, "v_wmma_f32_16x16x32_f16 v[16:23], v[24:31], v[32:39], v[16:23]", "global_store_b32 v5, v16, s[8:9]"],
)
kernel(
    "high registers",
    "high registers",
    [
        "s_set_vgpr_msb 0x40",
        "v_mov_b32_e32 v4, v10",
        "s_set_vgpr_msb 0x1",
        "v_mov_b32_e32 v4, v4",
        "s_set_vgpr_msb 0x0",
    ],
)
kernel(
    "high registers",
    "high register never written",
    ["s_set_vgpr_msb 0x1", "v_mov_b32_e32 v4, v60", "s_set_vgpr_msb 0x0"],
    "uninitialised-stored",
)
kernel(
    "named barriers",
    "named barrier, the consumer comes late",
    nb(
        ["ds_store_b32 v2, v10", D, "s_barrier_signal 1", "s_barrier_wait 1"],
        [
            "s_barrier_signal 1",
            "s_mov_b32 s30, 40",
            ".Ldelay:",
            "s_sub_co_u32 s30, s30, 1",
            "s_cmp_lg_u32 s30, 0",
            "s_cbranch_scc1 .Ldelay",
            "s_barrier_wait 1",
            "ds_load_b32 v4, v3",
            D,
        ],
    ),
    extra=NAMED,
)


def ring(p, c):
    """Three rounds of a producer and a consumer."""
    return nb(
        ["s_mov_b32 s30, 3", ".Lring:", *p, "s_sub_co_u32 s30, s30, 1", "s_cmp_lg_u32 s30, 0", "s_cbranch_scc1 .Lring"],
        [
            "s_mov_b32 s30, 3",
            ".Lring2:",
            *c,
            "s_sub_co_u32 s30, s30, 1",
            "s_cmp_lg_u32 s30, 0",
            "s_cbranch_scc1 .Lring2",
        ],
    )


SW = ["s_barrier_signal 1", "s_barrier_wait 1"]
kernel(
    "named barriers",
    "named barrier, a ring",
    ring(["ds_store_b32 v2, v10", D, *SW, *SW], [*SW, "ds_load_b32 v4, v3", D, *SW]),
    extra=NAMED,
)
kernel(
    "named barriers",
    "named barrier, a ring without the way back",
    ring(["ds_store_b32 v2, v10", D, *SW], [*SW, "ds_load_b32 v4, v3", D]),
    NB,
    extra=NAMED,
)
kernel(
    "named barriers",
    "named barrier, a ring, read in flight",
    ring(["ds_store_b32 v2, v10", D, *SW, *SW], [*SW, "ds_load_b32 v4, v3", *SW, D]),
    NB,
    extra=NAMED,
)
