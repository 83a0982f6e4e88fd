"""Names: operations of gfx11 and gfx12 that are those of gfx9 under another name, and waits and hints.

Source: the opcodes' texts in the three RDNA manuals, read beside those of CDNA3.
"""

from __future__ import annotations

from tests.slow.machine import atomics, buffer_formats, flat, lds, scalar_memory, vector_memory
from tests.slow.machine.storage import MEMORY

UNITS = (buffer_formats, scalar_memory, vector_memory, flat, lds, atomics)
"""Importing them fills the table of memory operations."""

ALIASES = {
    # Scalar.
    "s_add_co_u32": "s_add_u32", "s_add_co_ci_u32": "s_addc_u32", "s_sub_co_u32": "s_sub_u32",
    "s_sub_co_ci_u32": "s_subb_u32", "s_add_co_i32": "s_add_i32", "s_addk_co_i32": "s_addk_i32",
    "s_sub_co_i32": "s_sub_i32", "s_and_not1_b32": "s_andn2_b32", "s_and_not1_b64": "s_andn2_b64",
    "s_or_not1_b32": "s_orn2_b32", "s_or_not1_b64": "s_orn2_b64", "v_add_nc_u32": "v_add_u32",
    "v_sub_nc_u32": "v_sub_u32", "v_subrev_nc_u32": "v_subrev_u32", "v_add_co_ci_u32": "v_addc_co_u32",
    "v_sub_co_ci_u32": "v_subb_co_u32", "v_subrev_co_ci_u32": "v_subbrev_co_u32", "v_ctz_i32_b32": "v_ffbl_b32",
    "v_clz_i32_u32": "v_ffbh_u32", "v_add_nc_u16": "v_add_u16", "v_sub_nc_u16": "v_sub_u16",
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
"""gfx11 and gfx12 spelling: gfx9 spelling of the same operation."""

for _word, _old in (("and_not0", "andn1"), ("and_not1", "andn2"), ("or_not0", "orn1"), ("or_not1", "orn2")):
    for _size in ("b32", "b64"):
        ALIASES[f"s_{_word}_saveexec_{_size}"] = f"s_{_old}_saveexec_{_size}"
        if _old[0] == "a":
            ALIASES[f"s_{_word}_wrexec_{_size}"] = f"s_{_old}_wrexec_{_size}"

# Memory.
_PARTS = {"b32": "dword", "b64": "dwordx2", "b96": "dwordx3", "b128": "dwordx4", "b256": "dwordx8",
          "b512": "dwordx16", "u8": "ubyte", "i8": "sbyte", "u16": "ushort", "i16": "sshort", "b8": "byte",
          "b16": "short"}  # fmt: skip

_RENAMED = {
    **{f"{unit}_{way}_{new}": f"{unit}_{way}_{old}"
       for unit in ("global", "flat", "scratch", "buffer") for way in ("load", "store") for new, old in _PARTS.items()},
    **{f"{unit}_{way}_d16_{half}{new}": f"{unit}_{way}_{_PARTS[new]}_d16{'_hi' if half else ''}"
       for unit in ("global", "flat", "scratch", "buffer") for way in ("load", "store")
       for half in ("", "hi_") for new in ("u8", "i8", "b8", "b16")},
    **{f"s_load_{new}": f"s_load_{old}" for new, old in _PARTS.items()},
    **{f"ds_{new}_{what}": f"ds_{old}_{what}"
       for new, old in (("load", "read"), ("store", "write"), ("load_2addr", "read2"), ("store_2addr", "write2"),
                        ("load_2addr_stride64", "read2st64"), ("store_2addr_stride64", "write2st64"))
       for what in (*_PARTS, "u16_d16", "u16_d16_hi", "u8_d16", "u8_d16_hi", "i8_d16", "i8_d16_hi", "b16_d16_hi",
                    "b8_d16_hi")},
}  # fmt: skip
ALIASES |= {new: old for new, old in _RENAMED.items() if old in MEMORY}
# gfx12 loads three scalar dwords too; gfx9 has no such instruction.
ALIASES["s_load_b96"] = "s_load_dwordx3"

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
ALIASES |= {
    f"s_buffer_load_b{32 * count}": f"s_buffer_load_dword{f'x{count}' if count > 1 else ''}"
    for count in (1, 2, 3, 4, 8, 16)
}

# CDNA5.
ALIASES |= {
    "s_get_pc_i64": "s_getpc_b64",
    "s_set_pc_i64": "s_setpc_b64",
    "s_swap_pc_i64": "s_swappc_b64",
    "s_call_i64": "s_call_b64",
    "s_get_shader_cycles_u64": "s_memtime",
}
ALIASES |= {
    f"{unit}_load_monitor_b{size}": f"{unit}_load_{old}"
    for unit in ("flat", "global")
    for size, old in ((32, "dword"), (64, "dwordx2"), (128, "dwordx4"))
}

# The other way round: gfx9's names of operations that stand beside those of gfx11.
OLDER = {f"ds_{old}_addtid_b32": f"ds_{new}_addtid_b32" for old, new in (("read", "load"), ("write", "store"))}
OLDER |= {
    f"ds_wrxchg2{old}_rtn_b{size}": f"ds_storexchg_2addr{new}_rtn_b{size}"
    for old, new in (("", ""), ("st64", "_stride64"))
    for size in (32, 64)
}
# RDNA2's names of operations that stand beside those of RDNA3.
OLDER |= {f"global_{way}_dword_addtid": f"global_{way}_addtid_b32" for way in ("load", "store")}
ALIASES |= OLDER

ALIASES |= {f"v_{word}_legacy_f32": f"v_{word}_dx9_zero_f32" for word in ("fma", "fmac")}
_SIZES = (("", 32), ("_x2", 64))
_FLOATS = {f"f{word}{wide}": f"{word}_f{size}" for word in ("min", "max", "cmpswap") for wide, size in _SIZES}
for _unit in ("global", "flat", "buffer"):
    ALIASES |= {f"{_unit}_atomic_{old}": f"{_unit}_atomic_{new}" for old, new in _FLOATS.items()}
    ALIASES[f"{_unit}_atomic_csub"] = f"{_unit}_atomic_sub_clamp_u32"

WAITS = {
    "s_waitcnt_vscnt", "s_waitcnt_depctr", "s_clause", "s_delay_alu", "s_set_inst_prefetch_distance", "s_wait_alu",
    "s_inst_prefetch", "s_wait_loadcnt", "s_wait_storecnt", "s_wait_dscnt", "s_wait_kmcnt", "s_wait_expcnt",
    "s_wait_samplecnt", "s_wait_bvhcnt", "s_wait_idle", "s_wait_loadcnt_dscnt", "s_wait_storecnt_dscnt",
    "s_sched_barrier",
    "s_version", "s_waitcnt_vmcnt", "s_waitcnt_expcnt", "s_waitcnt_lgkmcnt", "s_wait_event", "s_sleep_var", "s_gl1_inv",
    "buffer_gl0_inv", "buffer_gl1_inv", "global_inv", "global_wb", "global_wbinv", "s_prefetch_inst",
    "s_prefetch_inst_pc_rel", "s_prefetch_data", "s_buffer_prefetch_data", "s_prefetch_data_pc_rel", "v_pipeflush",
    "s_ttracedata_imm", "s_barrier_signal", "s_atc_probe", "s_atc_probe_buffer", "s_dcache_discard",
    "s_dcache_discard_x2", "s_setkill", "s_monitor_sleep", "s_wait_asynccnt", "s_wait_tensorcnt", "s_wait_xcnt",
    "s_setprio_inc_wg",
}  # fmt: skip
"""Waits, caches, hints: nothing that a program in order could see. A barrier's signal is seen at its wait."""
