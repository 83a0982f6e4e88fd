"""Small kernels of further kinds, each a line of instructions; registers as in the tables of each architecture."""

from types import SimpleNamespace

from tests.observe.faults import gfx942, gfx1201, gfx1250, tickets

# fmt: off
TABLES = [(arch, SimpleNamespace(BEGIN=base.BEGIN, END=base.END, KERNELS={})) for arch, base in (
    ("gfx90a", gfx942), ("gfx942", gfx942), ("gfx950", gfx942), ("gfx1100", dict(tickets.TABLES)["gfx1100"]),
    ("gfx1201", gfx1201), ("gfx1250", gfx1250),
)]
SCRATCH = ".amdhsa_private_segment_fixed_size 64\n.amdhsa_enable_private_segment 1"
"""64 bytes for each work-item."""


def add(arch, kind, *kernels, before="", **options):
    """Kernels of one kind: name, instructions, and what is found.

    `before` stands before the instructions of each; `options` as of the other tables.
    """
    table = dict(TABLES)[arch].KERNELS
    for name, text, *ids in kernels:
        lines = [line for line in f"{before}; {text}".replace("\n", " ").split("; ") if line.strip()]
        assert name not in table, name
        table[name] = kind, lines, set(ids), options


GLOBAL, NOT_DONE = "races-global-no-barrier", "races-global-not-done"
READ, WRITTEN = "waits-read-in-flight", "waits-written-in-flight"

# --- gfx942
add(
    "gfx942", "typed buffers",
    ("typed load", "buffer_load_format_x v11, v10, s[16:19], 0 idxen; s_waitcnt vmcnt(0); v_mov_b32_e32 v4, v11"),
    ("typed load, not waited for", "buffer_load_format_x v11, v10, s[16:19], 0 idxen; v_mov_b32_e32 v4, v11", READ),
    ("typed load beyond num_records", """v_add_u32_e32 v12, 0x2000, v10;
     buffer_load_format_x v4, v12, s[16:19], 0 idxen;
     s_waitcnt vmcnt(0)"""),
    ("num_records larger than the buffer", """s_mov_b32 s18, 0x4000; v_add_u32_e32 v12, 0x1800, v10;
     buffer_load_format_x v4, v12, s[16:19], 0 idxen; s_waitcnt vmcnt(0)""", "bounds"),
    ("typed store of two waves to one element", """v_and_b32_e32 v12, 63, v10;
     buffer_store_format_x v10, v12, s[16:19], 0 idxen""", GLOBAL),
    ("typed store, an element each", "buffer_store_format_x v10, v10, s[16:19], 0 idxen"),
    ("typed stores of bytes", """s_and_b32 s17, s17, 0xffff; s_or_b32 s17, s17, 0x10000; s_mov_b32 s19, 0xcfac;
     buffer_store_format_x v10, v10, s[16:19], 0 idxen"""),
    ("typed stores of bytes that overlap", """s_and_b32 s17, s17, 0xffff; s_or_b32 s17, s17, 0x10000;
     s_mov_b32 s19, 0xcfac; v_max_u32_e32 v12, 1, v10; v_add_u32_e32 v12, -1, v12; v_and_b32_e32 v12, 62, v12;
     buffer_store_format_x v10, v12, s[16:19], 0 idxen""", GLOBAL),
    ("resource never written", """buffer_load_dword v4, v10, s[64:67], 0 idxen;
     s_waitcnt vmcnt(0)""", "uninitialised", "bounds"),
    before="""s_mov_b32 s16, s10; s_or_b32 s17, s11, 0x40000; s_mov_b32 s18, 0x1000; s_mov_b32 s19, 0x27fac""",
    grid=1,
)
add(
    "gfx942", "buffer swizzles",  # 8 bytes a lane, in elements of 4: those at offset 4 of 64 lanes lie together
    ("swizzled stores, linear reads after a barrier", """buffer_store_dword v10, v10, s[16:19], 0 idxen offset:4;
     s_waitcnt vmcnt(0); s_barrier; global_load_dword v4, v3, s[10:11] offset:256; s_waitcnt vmcnt(0)"""),
    ("swizzled stores, linear reads", """buffer_store_dword v10, v10, s[16:19], 0 idxen offset:4; s_waitcnt vmcnt(0);
     global_load_dword v4, v3, s[10:11] offset:256; s_waitcnt vmcnt(0)""", GLOBAL),
    ("swizzled stores beside each other", """buffer_store_dword v10, v10, s[16:19], 0 idxen;
     buffer_store_dword v10, v10, s[16:19], 0 idxen offset:4"""),
    ("swizzled stores, other half without swizzle", """buffer_store_dword v10, v10, s[16:19], 0 idxen offset:4;
     s_cmp_lg_u32 s13, 1; s_cbranch_scc1 .Lx; global_store_dword v2, v10, s[10:11]; .Lx:""", GLOBAL),
    before="""s_mov_b32 s16, s10; s_or_b32 s17, s11, 0x80080000; s_mov_b32 s18, 0x800;
    s_mov_b32 s19, 0x627000""",
    grid=1,
)
add(
    "gfx942", "float atomics",
    ("sums of denormals", "v_mov_b32_e32 v11, 1; global_atomic_add_f32 v8, v11, s[10:11]; s_waitcnt vmcnt(0)"),
    ("sum and a plain store", """v_mov_b32_e32 v11, 1; global_atomic_add_f32 v8, v11, s[10:11];
     s_mov_b64 exec, 1; global_store_dword v8, v10, s[10:11]; s_mov_b64 exec, -1""", "races"),
    ("result of a sum, not waited for", """global_atomic_add_f32 v11, v8, v9, s[10:11] sc0;
     v_mov_b32_e32 v4, v11""", READ),
    ("packed sum, not waited for", "global_atomic_pk_add_f16 v11, v2, v9, s[10:11] sc0; v_mov_b32_e32 v4, v11", READ),
    ("packed sums", """global_atomic_pk_add_bf16 v11, v8, v9, s[10:11] sc0; s_waitcnt vmcnt(0);
     v_and_b32_e32 v4, 0, v11"""),
    ("sum in the LDS", """s_cmp_lg_u32 s13, 0; s_cbranch_scc1 .Lx; ds_write_b32 v7, v8; s_waitcnt lgkmcnt(0);
     .Lx:; s_barrier;
     ds_add_f32 v7, v9; s_waitcnt lgkmcnt(0); s_barrier; ds_read_b32 v4, v7; s_waitcnt lgkmcnt(0)"""),
    ("sum in the LDS, in flight at the barrier", """s_cmp_lg_u32 s13, 0; s_cbranch_scc1 .Lx; ds_write_b32 v7, v8;
     s_waitcnt lgkmcnt(0); .Lx:; s_barrier; ds_add_f32 v7, v9; s_barrier; ds_read_b32 v4, v7; s_waitcnt lgkmcnt(0)""",
     "races-not-done-at-barrier"),
    ("sum in the LDS, never set", """ds_add_f32 v7, v9; s_waitcnt lgkmcnt(0); s_barrier; ds_read_b32 v4, v7;
     s_waitcnt lgkmcnt(0)""",
     "uninitialised"),
)
add(
    "gfx942", "modes",
    ("mode changed and read", """s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 5; s_nop 1;
     s_getreg_b32 s14, hwreg(HW_REG_MODE);
     v_mov_b32_e32 v4, s14"""),
    ("mode read too early", """s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 5; s_getreg_b32 s14, hwreg(HW_REG_MODE);
     v_mov_b32_e32 v4, s14""", "hazards"),
    ("mode set twice too early", """s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 5;
     s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 0""", "hazards"),
    ("denormals switched off and on", """v_mov_b32_e32 v11, 1; s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 0;
     v_add_f32_e32 v12, v11, v11; s_nop 1; s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 15;
     v_add_f32_e32 v4, v12, v11"""),
    ("rounding of a value never written", """s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 10;
     v_add_f32_e32 v4, v60, v9""",
     "uninitialised"),
)
add(
    "gfx942", "scratch",
    ("scratch, stored and loaded", """scratch_store_dword off, v10, off offset:4;
     scratch_load_dword v4, off, off offset:4; s_waitcnt vmcnt(0)"""),
    ("scratch, not waited for", """scratch_store_dword off, v10, off offset:4;
     scratch_load_dword v11, off, off offset:4;
     v_mov_b32_e32 v4, v11""", READ),
    ("scratch never stored", "scratch_load_dword v4, off, off offset:8; s_waitcnt vmcnt(0)", "uninitialised"),
    ("scratch, next dword", """scratch_store_dword off, v10, off offset:4;
     scratch_load_dword v4, off, off offset:8; s_waitcnt vmcnt(0)""",
     "uninitialised"),
    ("scratch beyond its end", "scratch_store_dword off, v10, off offset:64", "bounds"),
    ("scratch of the lane's own", """v_and_b32_e32 v12, 60, v2; scratch_store_dword v12, v10, off;
     scratch_load_dword v4, v12, off;
     s_waitcnt vmcnt(0)"""),
    ("scratch index never written", "scratch_store_dword v61, v10, off", "uninitialised", "bounds"),
    extra=SCRATCH,
)
add(
    "gfx942", "scalar loads",
    ("scalar load of another line", """s_load_dword s14, s[10:11], 0x0; s_waitcnt lgkmcnt(0);
     global_store_dword v2, v10, s[10:11] offset:1024;
     s_waitcnt vmcnt(0); s_barrier; s_load_dword s15, s[10:11], 0x400; s_waitcnt lgkmcnt(0);
     v_mov_b32_e32 v4, s15"""),
    ("scalar load of another dword of the line", """s_load_dword s14, s[10:11], 0x404; s_waitcnt lgkmcnt(0);
     s_barrier;
     s_mov_b64 exec, 1; v_mov_b32_e32 v12, 0x420; s_cmp_lg_u32 s13, 0; s_cbranch_scc1 .Lx;
     global_store_dword v12, v9, s[10:11];
     s_waitcnt vmcnt(0); .Lx:; s_mov_b64 exec, -1; s_barrier; s_load_dword s15, s[10:11], 0x420; s_waitcnt lgkmcnt(0);
     v_mov_b32_e32 v4, s15""", "races-stale-scalar"),
    ("scalar load after an invalidation", """s_load_dword s14, s[10:11], 0x404; s_waitcnt lgkmcnt(0); s_barrier;
     s_mov_b64 exec, 1; v_mov_b32_e32 v12, 0x420; s_cmp_lg_u32 s13, 0; s_cbranch_scc1 .Lx;
     global_store_dword v12, v9, s[10:11];
     s_waitcnt vmcnt(0); .Lx:; s_mov_b64 exec, -1; s_barrier; s_dcache_inv; s_load_dword s15, s[10:11], 0x420;
     s_waitcnt lgkmcnt(0);
     v_mov_b32_e32 v4, s15"""),
    ("scalar load while the store is in flight", """s_cmp_lg_u32 s13, 0; s_cbranch_scc1 .Lx;
     global_store_dword v2, v10, s[10:11]; .Lx:; s_barrier; s_load_dword s15, s[10:11], 0x0; s_waitcnt lgkmcnt(0);
     v_mov_b32_e32 v4, s15""", "races"),
    ("scalar load in flight at the barrier before the store", """s_load_dword s15, s[10:11], 0x0; s_barrier;
     s_cmp_lg_u32 s13, 0;
     s_cbranch_scc1 .Lx; global_store_dword v2, v10, s[10:11]; .Lx:; s_waitcnt lgkmcnt(0);
     v_mov_b32_e32 v4, s15""", "races"),
    ("scalar load waited for before the barrier and the store", """s_load_dword s15, s[10:11], 0x0;
     s_waitcnt lgkmcnt(0); s_barrier;
     s_cmp_lg_u32 s13, 0; s_cbranch_scc1 .Lx; global_store_dword v2, v10, s[10:11]; .Lx:; v_mov_b32_e32 v4, s15"""),
    ("scalar loads out of order", """s_load_dword s14, s[10:11], 0x0; s_load_dword s15, s[10:11], 0x40;
     s_waitcnt lgkmcnt(1); v_mov_b32_e32 v4, s14""",
     READ),
    ("destination of a scalar load overwritten", """s_load_dword s14, s[10:11], 0x0; s_mov_b32 s14, 0;
     s_waitcnt lgkmcnt(0); v_mov_b32_e32 v4, s14""",
     "waits"),
    ("scalar load beyond the end", "s_load_dwordx4 s[16:19], s[10:11], 0x3ff8; s_waitcnt lgkmcnt(0)", "bounds"),
    grid=1,
)
add(
    "gfx942", "hazards",
    ("DPP of a register just written", """v_mov_b32_e32 v11, v10;
     v_mov_b32_dpp v4, v11 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf""",
     "hazards"),
    ("DPP two wait states later", """v_mov_b32_e32 v11, v10; s_nop 1;
     v_mov_b32_dpp v4, v11 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf"""),
    ("lane select just written", """v_readfirstlane_b32 s14, v9; v_readlane_b32 s15, v10, s14;
     v_mov_b32_e32 v4, s15""", "hazards"),
    ("lane select four wait states later", """v_readfirstlane_b32 s14, v9; s_nop 3; v_readlane_b32 s15, v10, s14;
     v_mov_b32_e32 v4, s15"""),
    ("address in SGPRs just written by the vector ALU", """v_mov_b32_e32 v12, s10; v_mov_b32_e32 v13, s11;
     v_readfirstlane_b32 s14, v12;
     v_readfirstlane_b32 s15, v13; global_load_dword v4, v2, s[14:15]; s_waitcnt vmcnt(0)""", "hazards"),
    ("address in SGPRs five wait states later", """v_mov_b32_e32 v12, s10; v_mov_b32_e32 v13, s11;
     v_readfirstlane_b32 s14, v12;
     v_readfirstlane_b32 s15, v13; s_nop 4; global_load_dword v4, v2, s[14:15]; s_waitcnt vmcnt(0)"""),
    ("VCC before v_div_fmas", "v_cmp_eq_u32_e32 vcc, 0, v10; v_div_fmas_f32 v4, v9, v9, v9", "hazards"),
    ("VCC four wait states before v_div_fmas", """v_cmp_eq_u32_e32 vcc, 0, v10; s_nop 3;
     v_div_fmas_f32 v4, v9, v9, v9"""),
    ("result of an exponential used at once", "v_exp_f32_e32 v11, v10; v_add_f32_e32 v4, v11, v11", "hazards"),
    ("result of an exponential a wait state later", "v_exp_f32_e32 v11, v10; s_nop 0; v_add_f32_e32 v4, v11, v11"),
    ("EXEC by v_cmpx before DPP", """v_mov_b32_e32 v11, v10; v_cmpx_eq_u32_e32 vcc, v10, v10;
     v_mov_b32_dpp v4, v11 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf""", "hazards"),
    ("part of a register by SDWA used at once", """v_mov_b32_e32 v11, 0;
     v_mov_b32_sdwa v11, v10 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0;
     v_add_u32_e32 v4, v11, v11""", "hazards"),
)
add(
    "gfx942", "reuse of the LDS",
    ("second half of a pair of stores", """ds_write2st64_b32 v2, v10, v10 offset0:0 offset1:1; s_waitcnt lgkmcnt(0);
     ds_read_b32 v4, v3; s_waitcnt lgkmcnt(0)""", "races-no-barrier"),
    ("pairs of stores apart", """v_lshlrev_b32_e32 v12, 1, v2; ds_write2_b32 v12, v10, v10 offset1:1;
     s_waitcnt lgkmcnt(0); s_barrier;
     ds_read2_b32 v[14:15], v12 offset0:1; s_waitcnt lgkmcnt(0); v_mov_b32_e32 v4, v14"""),
    ("DMA over a read in flight", """ds_write_b32 v2, v10; s_waitcnt lgkmcnt(0); s_barrier; ds_read_b32 v11, v2;
     s_lshl_b32 s14, s13, 8;
     s_mov_b32 m0, s14; s_nop 0; global_load_lds_dword v2, s[10:11]; s_waitcnt vmcnt(0) lgkmcnt(0);
     v_mov_b32_e32 v4, v11""",
     "races-own-in-flight"),
    ("DMA after the read", """ds_write_b32 v2, v10; s_waitcnt lgkmcnt(0); s_barrier; ds_read_b32 v11, v2;
     s_waitcnt lgkmcnt(0); s_lshl_b32 s14, s13, 8;
     s_mov_b32 m0, s14; s_nop 0; global_load_lds_dword v2, s[10:11]; s_waitcnt vmcnt(0) lgkmcnt(0);
     v_mov_b32_e32 v4, v11"""),
    ("DMA over another wave's read in flight", """ds_write_b32 v2, v10; s_waitcnt lgkmcnt(0); s_barrier;
     ds_read_b32 v11, v3; s_barrier;
     s_lshl_b32 s14, s13, 8; s_mov_b32 m0, s14; s_nop 0; global_load_lds_dword v2, s[10:11];
     s_waitcnt vmcnt(0) lgkmcnt(0);
     v_mov_b32_e32 v4, v11""", "races-not-done-at-barrier"),
    ("bytes of one dword by two waves", """v_lshlrev_b32_e32 v12, 1, v10; v_and_b32_e32 v12, 127, v12;
     v_add_u32_e32 v12, s13, v12;
     ds_write_b8 v12, v10; s_waitcnt lgkmcnt(0); s_barrier; ds_read_u8 v4, v12; s_waitcnt lgkmcnt(0)"""),
    ("halves of one dword that overlap by a byte", """v_lshlrev_b32_e32 v12, 2, v10; v_and_b32_e32 v12, 255, v12;
     v_add_u32_e32 v12, s13, v12;
     ds_write_b16 v12, v10; s_waitcnt lgkmcnt(0)""", "races-no-barrier"),
)
add(
    "gfx942", "waits",
    ("half of a register in flight", """v_mov_b32_e32 v11, 0; ds_write_b32 v2, v10; s_waitcnt lgkmcnt(0);
     ds_read_u16_d16_hi v11, v2;
     v_and_b32_e32 v4, 0xffff, v11; s_waitcnt lgkmcnt(0)""", READ),
    ("load into a register that the LDS is loading", """ds_write_b32 v2, v10; s_waitcnt lgkmcnt(0);
     ds_read_b32 v11, v2;
     global_load_dword v11, v2, s[10:11]; s_waitcnt vmcnt(0) lgkmcnt(0); v_mov_b32_e32 v4, v11""", "waits"),
    ("permuted values in flight", "ds_bpermute_b32 v11, v3, v10; v_mov_b32_e32 v4, v11", READ),
    ("index of a load in flight", """global_load_dword v12, v8, s[10:11]; global_load_dword v4, v12, s[10:11];
     s_waitcnt vmcnt(0)""", READ),
    ("stored value in flight", """global_load_dword v11, v2, s[10:11]; global_store_dword v5, v11, s[8:9];
     s_waitcnt vmcnt(0)""", READ),
    ("written to the LDS in flight", """global_load_dword v11, v2, s[10:11]; ds_write_b32 v2, v11;
     s_waitcnt vmcnt(0) lgkmcnt(0)""", READ),
    ("fourth register of a load in flight", """v_lshlrev_b32_e32 v12, 4, v10;
     global_load_dwordx4 v[12:15], v12, s[10:11]; v_mov_b32_e32 v4, v15;
     s_waitcnt vmcnt(0)""", READ),
    ("load, store, wait for all but the store", """global_load_dword v11, v2, s[10:11];
     global_store_dword v5, v10, s[8:9]; s_waitcnt vmcnt(1);
     v_mov_b32_e32 v4, v11"""),
    ("load, store, load, wait for two", """global_load_dword v11, v2, s[10:11]; global_store_dword v5, v10, s[8:9];
     global_load_dword v12, v2, s[10:11]; s_waitcnt vmcnt(2); v_mov_b32_e32 v4, v11"""),
    ("load, store, load, wait for three", """global_load_dword v11, v2, s[10:11]; global_store_dword v5, v10, s[8:9];
     global_load_dword v12, v2, s[10:11]; s_waitcnt vmcnt(3); v_mov_b32_e32 v4, v11""", READ),
)
# --- gfx1201
GATHER = "global_load_b32 v4, v3, s[10:11] offset:1024; s_wait_loadcnt 0x0"
BARRIER = "s_barrier_signal -1; s_barrier_wait -1"
add(
    "gfx1201", "messages between waves",
    ("global message of a workgroup", f"""global_store_b32 v2, v10, s[10:11] offset:1024; s_wait_storecnt 0x0;
     {BARRIER}; global_inv scope:SCOPE_SE; s_wait_loadcnt 0x0; {GATHER}"""),
    ("global message, store in flight", f"""global_store_b32 v2, v10, s[10:11] offset:1024; {BARRIER};
     global_inv scope:SCOPE_SE; s_wait_loadcnt 0x0; {GATHER}""", NOT_DONE),
    ("global message without a barrier", f"""global_store_b32 v2, v10, s[10:11] offset:1024; s_wait_storecnt 0x0;
     {GATHER}""", GLOBAL),
    ("global message, read in flight at the barrier", f"""global_load_b32 v4, v3, s[10:11] offset:1024; {BARRIER};
     global_store_b32 v2, v10, s[10:11] offset:1024; s_wait_loadcnt 0x0""", NOT_DONE),
    ("global message, read waited for", f"{GATHER}; {BARRIER}; global_store_b32 v2, v10, s[10:11] offset:1024"),
    ("global message, signalled before the store", f"""s_barrier_signal -1;
     global_store_b32 v2, v10, s[10:11] offset:1024; s_wait_storecnt 0x0;
     s_barrier_wait -1; {GATHER}""", GLOBAL),
    grid=1,
)
MAKE = "s_cmp_gt_u32 s13, 1; s_cbranch_scc1 .Lmade; ds_store_b32 v2, v10; {}; .Lmade:"
TAKE = "s_cmp_lt_u32 s13, 2; s_cbranch_scc1 .Ltaken; ds_load_b32 v4, v12; s_wait_dscnt 0x0; .Ltaken:"
SIGNAL, WAIT = BARRIER.split("; ")
MADE = MAKE.format("s_wait_dscnt 0x0")
add(
    "gfx1201", "producers and consumers",  # waves 0 and 1 make what waves 2 and 3 take
    ("made, taken", f"{MADE}; {BARRIER}; {TAKE}"),
    ("taken between signal and wait", f"{MADE}; {SIGNAL}; {TAKE}; {WAIT}", "races-no-barrier"),
    ("made after the signal", f"{SIGNAL}; {MADE}; {WAIT}; {TAKE}", "races-no-barrier"),
    ("in flight at the signal", f"""{MAKE.format(SIGNAL)}; s_cmp_lt_u32 s13, 2; s_cbranch_scc1 .Lx; {SIGNAL};
     .Lx:; {WAIT}; {TAKE}""", "races-not-done-at-barrier", "barrier"),
    ("made again before it is taken", f"""{MADE}; {BARRIER}; {TAKE};
     {MADE.replace('.Lmade', '.Lagain').replace('v10', 'v9')}""", "races-no-barrier"),
    ("made again after a second barrier", f"""{MADE}; {BARRIER}; {TAKE}; {BARRIER};
     {MADE.replace('.Lmade', '.Lagain').replace('v10', 'v9')}"""),
    ("signalled twice", f"{MADE}; {SIGNAL}; {SIGNAL}; {WAIT}; {WAIT}; {TAKE}", "barrier"),
    before="v_xor_b32_e32 v12, 0x100, v2", grid=1,
)
add(
    "gfx1201", "waits by several counters",
    ("scalar loads out of order on RDNA4", """s_load_b32 s14, s[10:11], 0x0; s_load_b32 s15, s[10:11], 0x40;
     s_wait_kmcnt 0x1; v_mov_b32_e32 v4, s14""", READ),
    ("FLAT load waited for as memory alone", """v_add_co_u32 v12, vcc_lo, s10, v2; v_mov_b32_e32 v13, s11;
     v_add_co_ci_u32_e64 v13, null, 0, v13, vcc_lo; flat_load_b32 v11, v[12:13]; s_wait_loadcnt 0x0;
     v_mov_b32_e32 v4, v11""",
     READ),
    ("FLAT load waited for by both", """v_add_co_u32 v12, vcc_lo, s10, v2; v_mov_b32_e32 v13, s11;
     v_add_co_ci_u32_e64 v13, null, 0, v13, vcc_lo; flat_load_b32 v11, v[12:13]; s_wait_loadcnt_dscnt 0x0;
     v_mov_b32_e32 v4, v11"""),
    ("message waited for", """s_sendmsg_rtn_b32 s14, sendmsg(MSG_RTN_GET_REALTIME); s_wait_kmcnt 0x0;
     v_mov_b32_e32 v11, s14; v_and_b32_e32 v4, 0, v11"""),
)
add(
    "gfx1201", "hazards",
    ("result of an exponential on RDNA4", "v_exp_f32_e32 v11, v10; v_add_f32_e32 v4, v11, v11"),
    ("SGPR of a readfirstlane used at once", "v_readfirstlane_b32 s14, v9; v_mov_b32_e32 v4, s14"),
)
# --- gfx1250
PASS = "s_wait_asynccnt 0x0; s_barrier_signal -1; s_barrier_wait -1; ds_load_b32 v4, v3; s_wait_dscnt 0x0"
add(
    "gfx1250", "asynchronous copies",
    ("async store of what is being loaded", """global_load_async_to_lds_b32 v2, v2, s[10:11];
     global_store_async_from_lds_b32 v12, v2, s[10:11]; s_wait_asynccnt 0x0""", "races-own-in-flight"),
    ("async load, wait, async store", """global_load_async_to_lds_b32 v2, v2, s[10:11]; s_wait_asynccnt 0x0;
     global_store_async_from_lds_b32 v12, v2, s[10:11]; s_wait_asynccnt 0x0"""),
    ("LDS store before an async store", """ds_store_b32 v2, v10; global_store_async_from_lds_b32 v12, v2, s[10:11];
     s_wait_asynccnt 0x0; s_wait_dscnt 0x0""", "races-own-in-flight"),
    ("LDS store waited for before an async store", """ds_store_b32 v2, v10; s_wait_dscnt 0x0;
     global_store_async_from_lds_b32 v12, v2, s[10:11]; s_wait_asynccnt 0x0"""),
    ("LDS overwritten under an async store", """ds_store_b32 v2, v10; s_wait_dscnt 0x0;
     global_store_async_from_lds_b32 v12, v2, s[10:11];
     ds_store_b32 v2, v9; s_wait_asynccnt 0x0; s_wait_dscnt 0x0""", "races-own-in-flight"),
    ("async load past the LDS", """v_add_nc_u32_e32 v12, 0x700, v2;
     global_load_async_to_lds_b32 v12, v2, s[10:11]; s_wait_asynccnt 0x0""", "bounds"),
    ("async load past the buffer", """v_add_nc_u32_e32 v12, 0x3f00, v2;
     global_load_async_to_lds_b32 v2, v12, s[10:11]; s_wait_asynccnt 0x0""", "bounds"),
    before="v_add_nc_u32_e32 v12, 0x800, v2", grid=1,
)
SET = f"""s_cmp_lg_u32 s13, 0; s_cbranch_scc1 .Lset; v_mov_b32_e32 v16, 3; v_mov_b32_e32 v17, 3;
     ds_store_b64 v7, v[16:17]; s_wait_dscnt 0x0;
 .Lset:; {BARRIER}; v_mov_b32_e32 v18, 1; v_mov_b32_e32 v19, 0; s_mov_b32 s15, 3"""
"""A barrier for four arrivals, one of each wave; s15 has its first phase."""
ARRIVE = """s_mov_b32 exec_lo, 1; ds_atomic_barrier_arrive_rtn_b64 v[20:21], v7, v[18:19]; s_wait_dscnt 0x0;
     v_readfirstlane_b32 s15, v20;
 s_mov_b32 exec_lo, -1"""
POLL = """s_mov_b32 exec_lo, 1; .Lpoll:; ds_load_b64 v[24:25], v7; s_wait_dscnt 0x0;
     v_readfirstlane_b32 s14, v24; s_xor_b32 s14, s14, s15;
 s_lshr_b32 s14, s14, 29; s_cmp_eq_u32 s14, 0; s_cbranch_scc1 .Lpoll; s_mov_b32 exec_lo, -1"""
STORE, LOAD = "ds_store_b32 v2, v10; s_wait_dscnt 0x0", "ds_load_b32 v4, v3; s_wait_dscnt 0x0"
ASYNC = "global_load_async_to_lds_b32 v2, v2, s[10:11]"
LATER = "s_mov_b32 exec_lo, 1; ds_atomic_async_barrier_arrive_b64 v7; s_mov_b32 exec_lo, -1"
add(
    "gfx1250", "barriers in the LDS",
    ("arrived, polled", f"{SET}; {STORE}; {ARRIVE}; {POLL}; {LOAD}"),
    ("arrived behind a store in flight, in order", f"{SET}; ds_store_b32 v2, v10; {ARRIVE}; {POLL}; {LOAD}"),
    ("arrived before the store", f"{SET}; {ARRIVE}; {STORE}; {POLL}; {LOAD}", "races"),
    ("arrived, not polled", f"{SET}; {STORE}; {ARRIVE}; {LOAD}", "races"),
    ("arrived with a copy in flight", f"{SET}; {ASYNC}; {ARRIVE}; {POLL}; {LOAD}; s_wait_asynccnt 0x0", "races"),
    ("arrived after the copy", f"{SET}; {ASYNC}; s_wait_asynccnt 0x0; {ARRIVE}; {POLL}; {LOAD}"),
    ("the copy arrives", f"{SET}; {ASYNC}; {LATER}; {POLL}; {LOAD}; s_wait_asynccnt 0x0"),
    ("the copy arrives, not polled", f"{SET}; {ASYNC}; {LATER}; {LOAD}; s_wait_asynccnt 0x0", "races"),
    ("the copy begins after the arrival", f"{SET}; {LATER}; {ASYNC}; {POLL}; {LOAD}; s_wait_asynccnt 0x0", "races"),
    ("arrived at what nothing set", f"""v_mov_b32_e32 v18, 1; v_mov_b32_e32 v19, 0; {ARRIVE};
     v_mov_b32_e32 v4, v20""", "uninitialised"),
    ("read back too early by the next round", f"""{SET}; {STORE}; {ARRIVE}; {POLL}; {LOAD}; ds_store_b32 v2, v9;
     s_wait_dscnt 0x0""", "races"),
    grid=1,
)
JOIN = f"""s_lshr_b32 s14, s13, 1; s_add_co_u32 s14, s14, 1; s_or_b32 s15, s14, 0x20000; s_mov_b32 m0, s15;
     s_bitcmp1_b32 s13, 0; s_cbranch_scc1 .Li;
 s_barrier_init m0; .Li:; {BARRIER}; s_mov_b32 m0, s14; s_barrier_join m0"""
"""Waves 0 and 1 meet at barrier 1, waves 2 and 3 at barrier 2."""
MEET = "s_mov_b32 m0, s15; s_barrier_signal m0; s_barrier_wait 1"
add(
    "gfx1250", "named barriers",
    ("two named barriers of two waves", f"{JOIN}; {STORE}; {MEET}; {LOAD}"),
    ("two named barriers, store in flight", f"{JOIN}; ds_store_b32 v2, v10; {MEET}; {LOAD}", "races"),
    ("two named barriers, data of the other pair", f"""{JOIN}; v_xor_b32_e32 v12, 0x100, v2; {STORE}; {MEET};
     ds_load_b32 v4, v12; s_wait_dscnt 0x0""", "races"),
    ("two named barriers, then all waves", f"""{JOIN}; v_xor_b32_e32 v12, 0x100, v2; {STORE}; {MEET}; {BARRIER};
     ds_load_b32 v4, v12; s_wait_dscnt 0x0"""),
    grid=1, extra=".amdhsa_named_barrier_count 2",
)
