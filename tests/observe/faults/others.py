"""Small kernels of further architectures, as those of `further`, whose table they join."""

from tests.observe.faults.further import READ, add

SET_RDNA3 = "s_cmp_lg_u32 s13, 0; s_cbranch_scc1 .Lx; ds_store_b32 v7, v8; s_waitcnt lgkmcnt(0); .Lx:; s_barrier; "
# fmt: off
add("gfx950", "transposed reads",
    ("tr read after a barrier", """ds_write_b64 v12, v[14:15]; s_waitcnt lgkmcnt(0); s_barrier;
     ds_read_b64_tr_b16 v[16:17], v12; s_waitcnt lgkmcnt(0); v_mov_b32_e32 v4, v16"""),
    ("tr read, not waited for", """ds_write_b64 v12, v[14:15]; s_waitcnt lgkmcnt(0); s_barrier;
     ds_read_b64_tr_b16 v[16:17], v12; v_mov_b32_e32 v4, v17; s_waitcnt lgkmcnt(0)""", READ),
    ("tr read of the other wave's part, no barrier", """ds_write_b64 v12, v[14:15]; s_waitcnt lgkmcnt(0);
     v_xor_b32_e32 v13, 0x200, v12; ds_read_b64_tr_b16 v[16:17], v13; s_waitcnt lgkmcnt(0);
     v_mov_b32_e32 v4, v16""", "races-no-barrier"),
    ("tr read of what nothing wrote", """s_cmp_lg_u32 s13, 0; s_cbranch_scc1 .Lx; ds_write_b64 v12, v[14:15];
     s_waitcnt lgkmcnt(0); .Lx:; s_barrier; ds_read_b64_tr_b16 v[16:17], v12; s_waitcnt lgkmcnt(0);
     v_mov_b32_e32 v4, v16""", "uninitialised"),
    before="v_lshlrev_b32_e32 v12, 3, v10; v_mov_b32_e32 v14, v10; v_mov_b32_e32 v15, v10")
add("gfx950", "double buffers, direct-to-LDS",
    ("x4 load to LDS", """s_mul_i32 s14, s13, 0x400; s_mov_b32 m0, s14; s_nop 0;
     global_load_lds_dwordx4 v12, s[10:11]; s_waitcnt vmcnt(0); s_barrier; ds_read_b32 v4, v3;
     s_waitcnt lgkmcnt(0)"""),
    ("x4 load to LDS, barrier before the wait", """s_mul_i32 s14, s13, 0x400; s_mov_b32 m0, s14; s_nop 0;
     global_load_lds_dwordx4 v12, s[10:11]; s_barrier; s_waitcnt vmcnt(0); ds_read_b32 v4, v3;
     s_waitcnt lgkmcnt(0)""", "races-not-done-at-barrier"),
    ("x4 load to LDS past its end", """s_mov_b32 m0, 0x700; s_nop 0; global_load_lds_dwordx4 v12, s[10:11];
     s_waitcnt vmcnt(0)""", "bounds"),
    before="v_lshlrev_b32_e32 v12, 4, v10", grid=1)
add("gfx950", "hazards",
    ("permlane32_swap", """v_mov_b32_e32 v11, v10; v_mov_b32_e32 v12, v9; s_nop 1;
     v_permlane32_swap_b32_e32 v11, v12; v_add_u32_e32 v4, v11, v12"""),
    ("permlane32_swap of what was just written", """v_mov_b32_e32 v11, v10; v_mov_b32_e32 v12, v9;
     v_permlane32_swap_b32_e32 v11, v12; v_add_u32_e32 v4, v11, v12""", "hazards"),
)
add("gfx90a", "accumulation registers",
    ("load to an AGPR", "global_load_dword a4, v2, s[10:11]; s_waitcnt vmcnt(0); v_accvgpr_read_b32 v4, a4"),
    ("load to an AGPR, not waited for", """global_load_dword a4, v2, s[10:11]; v_accvgpr_read_b32 v4, a4;
     s_waitcnt vmcnt(0)""", READ),
    ("LDS write from an AGPR in flight", """global_load_dword a4, v2, s[10:11]; ds_write_b32 v2, a4;
     s_waitcnt vmcnt(0) lgkmcnt(0)""", READ),
    ("AGPR never written", "v_accvgpr_read_b32 v4, a7; s_nop 1; v_mov_b32_e32 v11, v4", "uninitialised"),
    grid=1)
add("gfx1100", "waits by several counters",
    ("vscnt does not end loads", """global_load_b32 v11, v2, s[10:11]; s_waitcnt_vscnt null, 0x0;
     v_mov_b32_e32 v4, v11""", READ),
    ("store and load, vmcnt 0", """global_load_b32 v11, v2, s[10:11]; global_store_b32 v5, v10, s[8:9];
     s_waitcnt vmcnt(0); v_mov_b32_e32 v4, v11"""),
    ("LDS after vmcnt", """ds_store_b32 v2, v10; s_waitcnt lgkmcnt(0); ds_load_b32 v11, v2; s_waitcnt vmcnt(0);
     v_mov_b32_e32 v4, v11""", READ),
    ("scalar and LDS share a counter", """s_load_b32 s14, s[10:11], 0x0; ds_load_b32 v11, v2;
     s_waitcnt lgkmcnt(1); v_mov_b32_e32 v4, s14; s_waitcnt lgkmcnt(0)""", READ),
    ("dual instruction reads in flight", """global_load_b32 v11, v2, s[10:11];
     v_dual_mov_b32 v4, v11 :: v_dual_mov_b32 v13, v9; s_waitcnt vmcnt(0)""", READ),
    ("dual instruction after the wait", """global_load_b32 v11, v2, s[10:11]; s_waitcnt vmcnt(0);
     v_dual_mov_b32 v4, v11 :: v_dual_mov_b32 v13, v9"""),
    ("dual instruction writes in flight", """v_mov_b32_e32 v12, 0; global_load_b32 v12, v2, s[10:11];
     v_dual_mov_b32 v12, v9 :: v_dual_mov_b32 v13, v10; s_waitcnt vmcnt(0); v_mov_b32_e32 v4, v12""", "waits"),
    grid=1)
add("gfx1100", "messages between waves",
    ("global message", """global_store_b32 v2, v10, s[10:11] offset:1024; s_waitcnt_vscnt null, 0x0; s_barrier;
     buffer_gl0_inv; global_load_b32 v4, v3, s[10:11] offset:1024; s_waitcnt vmcnt(0)"""),
    ("global message, vmcnt in place of vscnt", """global_store_b32 v2, v10, s[10:11] offset:1024;
     s_waitcnt vmcnt(0); s_barrier; buffer_gl0_inv; global_load_b32 v4, v3, s[10:11] offset:1024;
     s_waitcnt vmcnt(0)""", "races-global-not-done"),
    grid=1)
add("gfx1100", "atomic operations",
    ("add and read by others", SET_RDNA3 + """ds_add_u32 v7, v9; s_waitcnt lgkmcnt(0); s_barrier;
     ds_load_b32 v4, v7; s_waitcnt lgkmcnt(0)"""),
    ("exchange without a barrier", "ds_storexchg_rtn_b32 v4, v7, v10; s_waitcnt lgkmcnt(0)", "uninitialised"),
    ("append, count read", SET_RDNA3 + """s_mov_b32 m0, 0x400; ds_append v11; s_waitcnt lgkmcnt(0); s_barrier;
     ds_load_b32 v4, v7; s_waitcnt lgkmcnt(0)"""),
    ("append, count read without a barrier", SET_RDNA3 + """s_mov_b32 m0, 0x400; ds_append v11;
     s_waitcnt lgkmcnt(0); ds_load_b32 v4, v7; s_waitcnt lgkmcnt(0)""", "races-no-barrier"),
    grid=1)


def zeros(first, last):
    """Zeros in a range of registers."""
    return "; ".join(f"v_mov_b32_e32 v{n}, 0" for n in range(first, last)) + "; "


PRODUCT = "v_wmma_f32_16x16x32_f16 v[16:23], v[24:31], v[32:39], v[40:47]"
AFTER = "v_nop; " * 8 + "v_mov_b32_e32 v4, v16"
add("gfx1250", "hazards",
    ("C overwritten while in use", f"{zeros(16, 48)}{PRODUCT}; v_mov_b32_e32 v40, v10; {AFTER}", "hazards"),
    ("A overwritten while in use", f"{zeros(16, 48)}{PRODUCT}; v_mov_b32_e32 v24, v10; {AFTER}", "hazards"),
    ("another register written", f"{zeros(16, 48)}{PRODUCT}; v_mov_b32_e32 v50, v10; {AFTER}"),
    ("factor never written", f"{zeros(16, 24)}{zeros(32, 48)}{PRODUCT.replace('v[24:31]', 'v[224:231]')}; {AFTER}",
     "uninitialised-matrix"),
    grid=1)
add("gfx1250", "waits",
    ("two loads into one register", """global_load_b32 v11, v2, s[10:11];
     global_load_b32 v11, v2, s[10:11] offset:512; s_wait_loadcnt 0x0; v_mov_b32_e32 v4, v11""", "waits"),
    ("async load read as a register load", """global_load_async_to_lds_b32 v2, v2, s[10:11]; s_wait_loadcnt 0x0;
     ds_load_b32 v4, v2; s_wait_dscnt 0x0; s_wait_asynccnt 0x0""", "races-own-in-flight"),
    ("one of two async loads", """v_add_nc_u32_e32 v12, 0x200, v2; global_load_async_to_lds_b32 v2, v2, s[10:11];
     global_load_async_to_lds_b32 v12, v2, s[10:11]; s_wait_asynccnt 0x1; ds_load_b32 v4, v2; s_wait_dscnt 0x0;
     s_wait_asynccnt 0x0"""),
    ("the other of two async loads", """v_add_nc_u32_e32 v12, 0x200, v2;
     global_load_async_to_lds_b32 v2, v2, s[10:11]; global_load_async_to_lds_b32 v12, v2, s[10:11];
     s_wait_asynccnt 0x1; ds_load_b32 v4, v12; s_wait_dscnt 0x0; s_wait_asynccnt 0x0""", "races-own-in-flight"),
    ("64-bit scalar load in flight", """s_load_b64 s[14:15], s[10:11], 0x0; s_mov_b32 s16, s15; s_wait_kmcnt 0x0;
     v_mov_b32_e32 v4, s16""", READ),
    grid=1)
add("gfx942", "LDS flags and locks",
    ("flag polled with sleep", """s_cmp_lg_u32 s13, 0; s_cbranch_scc1 .Lc; ds_write_b32 v2, v10;
     s_waitcnt lgkmcnt(0); s_mov_b64 exec, 1; ds_write_b32 v7, v9; s_waitcnt lgkmcnt(0); s_mov_b64 exec, -1;
     s_branch .Le; .Lc:; s_sleep 1; ds_read_b32 v11, v7; s_waitcnt lgkmcnt(0); v_readfirstlane_b32 s14, v11;
     s_cmp_eq_u32 s14, 0; s_cbranch_scc1 .Lc; ds_read_b32 v4, v3; s_waitcnt lgkmcnt(0); .Le:"""),
    ("flag polled with sleep, data after the flag", """s_cmp_lg_u32 s13, 0; s_cbranch_scc1 .Lc;
     s_mov_b64 exec, 1; ds_write_b32 v7, v9; s_waitcnt lgkmcnt(0); s_mov_b64 exec, -1; ds_write_b32 v2, v10;
     s_waitcnt lgkmcnt(0); s_branch .Le; .Lc:; s_sleep 1; ds_read_b32 v11, v7; s_waitcnt lgkmcnt(0);
     v_readfirstlane_b32 s14, v11; s_cmp_eq_u32 s14, 0; s_cbranch_scc1 .Lc; ds_read_b32 v4, v3;
     s_waitcnt lgkmcnt(0); .Le:""", "races"),
    ("flag compared by vcc", """s_cmp_lg_u32 s13, 0; s_cbranch_scc1 .Lc; ds_write_b32 v2, v10;
     s_waitcnt lgkmcnt(0); s_mov_b64 exec, 1; ds_write_b32 v7, v9; s_waitcnt lgkmcnt(0); s_mov_b64 exec, -1;
     s_branch .Le; .Lc:; ds_read_b32 v11, v7; s_waitcnt lgkmcnt(0); v_cmp_eq_u32_e32 vcc, 0, v11;
     s_cbranch_vccnz .Lc; ds_read_b32 v4, v3; s_waitcnt lgkmcnt(0); .Le:"""),
    before="""s_cmp_lg_u32 s13, 0; s_cbranch_scc1 .Lset; ds_write_b32 v7, v8; s_waitcnt lgkmcnt(0); .Lset:;
     s_barrier""", grid=1)
