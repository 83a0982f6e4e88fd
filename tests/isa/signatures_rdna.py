"""Operand types of RDNA instructions that their names do not tell; `signatures.py` says what a rule is.

Source: RDNA3, RDNA3.5 and RDNA4 ISA manuals, chapter "Instructions", the pseudocode of each operation.
"""

from __future__ import annotations

import re

from tests.isa.signatures import RULES, _sized

RDNA_RULES = [
    (r"s_addk_co_i32", "i32", "=i32 simm16"),
    (r"s_version", "", "simm16"),
    (r"s_subvector_loop_\w+", "b32", "=b32 label"),
    (r"s_waitcnt_\w+", "", "b32 simm16"),
    (r"s_sendmsg_rtn_(b32|b64)", r"\1", "msg"),
    (r"s_barrier_(?:signal(?:_isfirst)?|init|join)|s_wakeup_barrier", "", "c:b32"),
    (r"s_get_barrier_state", "b32", "c:b32"),
    (r"s_fmac_(f16|f32)", r"\1", r"\1 \1 =\1"),
    (r"s_fmaak_f32", "f32", "f32 f32 K"),
    (r"s_fmamk_f32", "f32", "f32 K f32"),
    (r"s_cvt_pk_rtz_f16_f32", "pk_f16", "f32 f32"),
    (r"s_\w+_(?:saveexec|wrexec)_b(32|64)", r"b\1 exec\1!", r"b\1 exec\1!"),
    (r"s_(cmp)_\w+_(f16|f32)", "", r"\2 \2"),
    (r"v_cmpx_class_(f16|f32|f64)", "exec!", r"\1 b32"),
    (r"v_cmpx_\w+_([iuf]\d+)", "exec!", r"\1 \1"),
    (r"v_swap(?:rel)?_(b16|b32)", r"\1 src0:\1", r"\1 =\1"),
    (r"v_permlanex?16_b32", "b32", "v:b32 s:b32 s:b32 =b32"),
    (r"v_permlanex?16_var_b32", "b32", "v:b32 v:b32 =b32"),
    (r"v_permlane64_b32", "b32", "v:b32"),
    (r"v_movrels(?:d|d_2)?_b32", "b32", "v:b32"),
    (r"v_cndmask_b16", "b16", "b16 b16 vcc"),
    (r"v_dot2acc_f32_(b?f16)", "f32", r"pk_\1 pk_\1 =f32"),
    (r"v_fmac_(?:dx9_zero|legacy)_f32", "f32", "f32 f32 =f32"),
    (r"v_(?:add|sub|subrev)_co_ci_u32", "u32 vcc", "u32 u32 vcc"),
    (r"v_mad_co_([iu]64)_([iu]32)", r"\1 vcc", r"\2 \2 \1"),
    (r"v_cvt_pk_(?:norm|rtz)_([iuf]16)_(\w+)", r"pk_\1", r"\2 \2"),
    (r"v_dot2_(f16|bf16)_(?:f16|bf16)", r"\1", r"pk_\1 pk_\1 \1"),
    (r"v_dot4_f32_\w+", "f32", "b32 b32 f32"),
    (r"v_dot[48]_([iu]32)_\w+", r"\1", r"b32 b32 \1"),
    (r"v_s_\w+_(f16|f32)", r"s:\1", r"s:\1"),
    # CDNA5 ISA manual.
    (r"v_fma_mix_f32_bf16", "f32", "f32 f32 f32"),
    (r"v_fma_mix(?:lo|hi)_bf16", "bf16", "f32 f32 f32 =bf16"),
    (r"v_cvt_pk_f16_[fb][pf]8", "pk_f16", "b16"),
    (r"v_cvt_f16_[fb][pf]8", "f16", "b32"),
    (r"v_cvt_pk_[fb][pf]8_f16", "b32", "pk_f16 =b32"),
    (r"v_cvt_sr_[fb][pf]8_f16", "b32", "f16 u32 =b32"),
    (r"v_cvt_sr_pk_(f16|bf16)_f32", r"pk_\1", "f32 f32 u32"),
    (r"v_cvt_scale_pk(?:8|16)_(f16|bf16|f32)_\w+", r"%\1", "v:%b b32"),
    (r"v_cvt_scalef32_sr_pk(?:8|16)_\w+?_(f16|bf16|f32)", "%b", r"v:%\1 u32 f32"),
    (r"v_cvt_scalef32_pk(?:8|16)_\w+?_(f16|bf16|f32)", "%b", r"v:%\1 f32"),
    (r"s_set_pc_i64|s_rfe_i64", "", "s:i64"),
    (r"v_perm_pk16_b4_u4", "%b", "b32 b32 b64"),
    (r"v_perm_pk16_b6_u4", "%b", "b32 b64 b64"),
    (r"v_perm_pk16_b8_u4", "%b", "b64 b64 b64"),
    (r"v_mad_nc_([iu]64)_([iu]32)", r"\1", r"\2 \2 \1"),
    (r"v_fmamk_f64", "f64", "f64 K f64"),
    (r"v_fmaak_f64", "f64", "f64 f64 K"),
    (r"v_permlane_(?:bcast|up|down|xor)_b32", "b32", "v:b32 s:b32 s:b32"),
    (r"v_permlane_idx_gen_b32", "b32", "v:b32 s:b32"),
    (r"v_pk_(?:add_(?:min|max)|m(?:in|ax)3(?:_num)?)_(\w+)", r"pk_\1", r"pk_\1 pk_\1 pk_\1"),
    *RULES,
]

# Of a field that holds one half of a register, the type is as wide as the half.
HALF = {"b32": "b16", "u32": "u16", "i32": "i16"}

WMMA = re.compile(r"v_(?P<kind>wmma|swmmac)_(?P<d>b?[fi]\d+)_\d+x\d+x\d+_(?P<a>[a-z]+\d+?)(?:_(?P<b>[a-z]+8))?")


def wmma_signature(name, dst_width, src_widths):
    """Types of a WMMA or SWMMAC: element formats, repeated to fill the measured registers."""
    match = WMMA.fullmatch(name)
    assert match, name
    a = match["a"]
    d_token, a_token, b_token = (
        _sized(kind, width)
        for kind, width in zip((match["d"], a, match["b"] or a), (dst_width, *src_widths[:2]), strict=True)
    )
    if match["kind"] == "swmmac":
        return [d_token], [a_token, b_token, "b32", f"={d_token}"]
    return [d_token], [a_token, b_token, d_token]
