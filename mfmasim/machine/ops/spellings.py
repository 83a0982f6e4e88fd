"""The same operation under the names of gfx11 and gfx12. Imported last: it adds names to operations that exist.

Source: RDNA3 and RDNA4 ISA manuals, chapter 16, each beside the entry of the CDNA3 manual. Only names whose operation
is the same to the last bit stand here; memory operations have both names in their own tables.
"""

from __future__ import annotations

from mfmasim.machine.registry import OPERATIONS

#   gfx9                  gfx11, gfx12
SAME: tuple[tuple[str, str], ...] = (
    ("s_ff1_i32_b32",     "s_ctz_i32_b32"),
    ("s_ff1_i32_b64",     "s_ctz_i32_b64"),
    ("s_flbit_i32_b32",   "s_clz_i32_u32"),
    ("s_flbit_i32_b64",   "s_clz_i32_u64"),
    ("s_flbit_i32",       "s_cls_i32"),
    ("s_flbit_i32_i64",   "s_cls_i32_i64"),
    ("v_ffbh_i32",        "v_cls_i32"),
    ("v_add_i32",         "v_add_nc_i32"),
    ("v_add_i16",         "v_add_nc_i16"),
    ("v_sub_i32",         "v_sub_nc_i32"),
    ("v_sub_i16",         "v_sub_nc_i16"),
    ("v_mad_u64_u32",     "v_mad_co_u64_u32"),
    ("v_mad_i64_i32",     "v_mad_co_i64_i32"),
    ("v_mul_legacy_f32",  "v_mul_dx9_zero_f32"),
    ("v_fma_f16",         "v_fmac_f16 v_fmaak_f16 v_fmamk_f16"),
    ("v_cmp_tru_f16",     "v_cmp_t_f16 v_cmpx_t_f16"),
    ("v_cmp_tru_f32",     "v_cmp_t_f32 v_cmpx_t_f32"),
    ("v_cmp_tru_f64",     "v_cmp_t_f64 v_cmpx_t_f64"),
)  # fmt: skip


def _register() -> None:
    for old, names in SAME:
        for name in names.split():
            if name in OPERATIONS:
                msg = f"operation {name} is registered twice"
                raise ValueError(msg)
            OPERATIONS[name] = OPERATIONS[old]


_register()
