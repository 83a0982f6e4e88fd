"""Operations of RDNA3, RDNA3.5 and RDNA4 that are gfx9's under another name: new name to old.

Source: the opcodes' texts in the three ISA manuals, read beside those of CDNA3.
"""

from __future__ import annotations

ALIASES = {
    # Scalar.
    "s_ctz_i32_b32": "s_ff1_i32_b32", "s_ctz_i32_b64": "s_ff1_i32_b64", "s_clz_i32_u32": "s_flbit_i32_b32",
    "s_clz_i32_u64": "s_flbit_i32_b64", "s_cls_i32": "s_flbit_i32", "s_cls_i32_i64": "s_flbit_i32_i64",
    # Vector.
    "v_cls_i32": "v_ffbh_i32", "v_mul_dx9_zero_f32": "v_mul_legacy_f32", "v_add_nc_i16": "v_add_i16",
    "v_sub_nc_i16": "v_sub_i16", "v_add_nc_i32": "v_add_i32", "v_sub_nc_i32": "v_sub_i32",
    "v_cvt_nearest_i32_f32": "v_cvt_rpi_i32_f32", "v_cvt_floor_i32_f32": "v_cvt_flr_i32_f32",
    "v_cvt_pk_rtz_f16_f32": "v_cvt_pkrtz_f16_f32", "v_dot2acc_f32_f16": "v_dot2c_f32_f16",
    "v_dot2acc_f32_bf16": "v_dot2c_f32_bf16", "v_mad_co_u64_u32": "v_mad_u64_u32",
    "v_mad_co_i64_i32": "v_mad_i64_i32",
    **{f"v_cvt_pk_norm_{to}_{of}": f"v_cvt_pknorm_{to}_{of}" for to in ("i16", "u16") for of in ("f16", "f32")},
    **{f"v_{cmp}_t_{kind}": f"v_{cmp}_tru_{kind}" for cmp in ("cmp", "cmpx") for kind in ("f16", "f32", "f64")},
}  # fmt: skip

for _word, _old in (("and_not0", "andn1"), ("and_not1", "andn2"), ("or_not0", "orn1"), ("or_not1", "orn2")):
    for _size in ("b32", "b64"):
        ALIASES[f"s_{_word}_saveexec_{_size}"] = f"s_{_old}_saveexec_{_size}"
        if _old[0] == "a":
            ALIASES[f"s_{_word}_wrexec_{_size}"] = f"s_{_old}_wrexec_{_size}"

# Memory: the units' own names are translated elsewhere; here the atomics.
_ATOMICS = {
    **{f"{word}_{kind}": f"{old}{wide}"
       for word, old in (("swap", "swap"), ("cmpswap", "cmpswap"), ("and", "and"), ("or", "or"), ("xor", "xor"))
       for kind, wide in (("b32", ""), ("b64", "_x2"))},
    **{f"{word}_{kind}": f"{word}{wide}" for word in ("add", "sub", "inc", "dec")
       for kind, wide in (("u32", ""), ("u64", "_x2"))},
    **{f"{word}_{sign}{size}": f"{'s' if sign == 'i' else 'u'}{word}{wide}" for word in ("min", "max")
       for sign in "iu" for size, wide in ((32, ""), (64, "_x2"))},
}  # fmt: skip
for _unit in ("global", "flat", "buffer"):
    ALIASES |= {f"{_unit}_atomic_{new}": f"{_unit}_atomic_{old}" for new, old in _ATOMICS.items()}
    ALIASES[f"{_unit}_atomic_csub_u32"] = f"{_unit}_atomic_sub_clamp_u32"
ALIASES |= {f"ds_storexchg_rtn_b{size}": f"ds_wrxchg_rtn_b{size}" for size in (32, 64)}
ALIASES |= {f"s_buffer_load_b{32 * count}": f"s_buffer_load_dword{f'x{count}' if count > 1 else ''}"
            for count in (1, 2, 3, 4, 8, 16)}  # fmt: skip

# The other way round: gfx9's names of operations that stand beside those of gfx11.
OLDER = {f"ds_{old}_addtid_b32": f"ds_{new}_addtid_b32" for old, new in (("read", "load"), ("write", "store"))}
OLDER |= {f"ds_wrxchg2{old}_rtn_b{size}": f"ds_storexchg_2addr{new}_rtn_b{size}"
          for old, new in (("", ""), ("st64", "_stride64")) for size in (32, 64)}  # fmt: skip
ALIASES |= OLDER

NOTHING = {
    "s_version", "s_waitcnt_vmcnt", "s_waitcnt_expcnt", "s_waitcnt_lgkmcnt", "s_wait_event", "s_sleep_var", "s_gl1_inv",
    "buffer_gl0_inv", "buffer_gl1_inv", "global_inv", "global_wb", "global_wbinv", "s_prefetch_inst",
    "s_prefetch_inst_pc_rel", "s_prefetch_data", "s_buffer_prefetch_data", "s_prefetch_data_pc_rel", "v_pipeflush",
    "s_ttracedata_imm", "s_barrier_signal", "s_wait_bvhcnt", "s_setkill", "s_monitor_sleep",
}  # fmt: skip
"""Waits, caches, hints: nothing that a program in order could see. A barrier's signal is seen at its wait."""
