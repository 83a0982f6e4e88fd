"""Names: operations of gfx11 and gfx12 that are those of gfx9 under another name, and waits and hints."""

from __future__ import annotations

from tests.slow.machine import (
    atomics,  # noqa: F401  (adds to the tables)
    flat,
    names_rdna,
)
from tests.slow.machine.memory import MEMORY

ALIASES = {
    # gfx11 and gfx12 spelling: gfx9 spelling of the same operation
    "s_add_co_u32": "s_add_u32", "s_add_co_ci_u32": "s_addc_u32", "s_sub_co_u32": "s_sub_u32",
    "s_sub_co_ci_u32": "s_subb_u32", "s_add_co_i32": "s_add_i32", "s_addk_co_i32": "s_addk_i32",
    "s_sub_co_i32": "s_sub_i32", "s_and_not1_b32": "s_andn2_b32", "s_and_not1_b64": "s_andn2_b64",
    "s_or_not1_b32": "s_orn2_b32", "s_or_not1_b64": "s_orn2_b64", "v_add_nc_u32": "v_add_u32",
    "v_sub_nc_u32": "v_sub_u32", "v_subrev_nc_u32": "v_subrev_u32", "v_add_co_ci_u32": "v_addc_co_u32",
    "v_sub_co_ci_u32": "v_subb_co_u32", "v_subrev_co_ci_u32": "v_subbrev_co_u32", "v_ctz_i32_b32": "v_ffbl_b32",
    "v_clz_i32_u32": "v_ffbh_u32", "v_add_nc_u16": "v_add_u16", "v_sub_nc_u16": "v_sub_u16",
}  # fmt: skip

_PARTS = {"b32": "dword", "b64": "dwordx2", "b96": "dwordx3", "b128": "dwordx4", "b256": "dwordx8",
          "b512": "dwordx16", "u8": "ubyte", "i8": "sbyte", "u16": "ushort", "i16": "sshort", "b8": "byte",
          "b16": "short"}  # fmt: skip

_RENAMED = {
    **{f"global_load_{new}": f"global_load_{old}" for new, old in _PARTS.items()},
    **{f"global_store_{new}": f"global_store_{old}" for new, old in _PARTS.items()},
    **{f"global_load_d16_{half}{new}": f"global_load_{old}_d16{'_hi' if half else ''}"
       for half in ("", "hi_") for new, old in (("u8", "ubyte"), ("i8", "sbyte"), ("b16", "short"))},
    **{f"global_store_d16_hi_{new}": f"global_store_{_PARTS[new]}_d16_hi" for new in ("b8", "b16")},
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
ALIASES |= flat.ALIASES | names_rdna.ALIASES

WAITS = {
    "s_waitcnt_vscnt", "s_waitcnt_depctr", "s_clause", "s_delay_alu", "s_set_inst_prefetch_distance", "s_wait_alu",
    "s_inst_prefetch", "s_wait_loadcnt", "s_wait_storecnt", "s_wait_dscnt", "s_wait_kmcnt", "s_wait_expcnt",
    "s_wait_samplecnt", "s_wait_bvhcnt", "s_wait_idle", "s_wait_loadcnt_dscnt", "s_wait_storecnt_dscnt",
    "s_sched_barrier",
}  # fmt: skip
"""Waits and scheduling hints of gfx10 to gfx12."""
