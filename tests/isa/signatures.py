"""Operand types of an instruction, read off its mnemonic and off the register widths that LLVM prints.

The ISA manuals name an operation after its types (`v_cvt_f32_f16` gives f32 and takes f16), so the name decides, the
measured width checks it, and the table below holds what names do not tell (source: CDNA3 and CDNA4 ISA manuals,
chapter 12, the pseudocode of each operation).
"""

from __future__ import annotations

import re

DWORDS = {"i64": 2, "u64": 2, "f64": 2, "b64": 2, "b96": 3, "b128": 4, "b256": 8, "b512": 16, "pk_f32": 2, "pk_b32": 2}
TYPE = re.compile(r"^(?:[iufb](?:4|8|16|32|64)|[fb]f8|fp8|fp6|bf6|fp4|bf16|xf32|f8f6f4|i24|u24|ubyte\d)$")
PLAIN = {"i24": "i32", "u24": "u32", "b8": "b32", "u4": "b32", "i4": "b32"}

# Whole signatures: (pattern of the mnemonic, destinations, sources). `vcc` is a lane mask: VCC in the short
# encodings and the third operand of the long one. `=` reads the destination; `!` is not printed.
RULES = [
    (r"s_(cmpk_\w+)_(i32|u32)", "", r"\2 simm16"),
    (r"s_(movk)_i32", "i32", "simm16"),
    (r"s_(cmovk)_i32", "i32", "simm16 =i32"),
    (r"s_(addk|mulk)_i32", "i32", "=i32 simm16"),
    (r"s_getreg_b32", "b32", "hwreg"),
    (r"s_setreg_b32", "", "hwreg b32"),
    (r"s_setreg_imm32_b32", "", "hwreg K"),
    (r"s_call_([bi]64)", r"\1", "label"),
    (r"s_cbranch_i_fork", "", "b64 label"),
    (r"s_cbranch_g_fork", "", "b64 b64"),
    (r"s_incperflevel", "", "simm16"),
    (r"s_rfe_restore_b64", "", "b64 b32"),
    (r"s_movrels_(b32|b64)", r"\1", r"s:\1"),
    (r"s_getpc_b64", "b64", ""),
    (r"s_setpc_b64|s_rfe_b64", "", "s:b64"),
    (r"s_swappc_b64", "b64", "s:b64"),
    (r"s_cbranch_join", "", "s:b32"),
    (r"s_set_gpr_idx_idx", "", "b32"),
    (r"s_(?:and|or|xor|andn2|orn2|nand|nor|xnor|andn1|orn1)_saveexec_b64", "b64 exec!", "b64 exec!"),
    (r"s_andn[12]_wrexec_b64", "b64 exec!", "b64 exec!"),
    (r"s_bitset[01]_(b32|b64)", r"\1", r"u32 =\1"),
    (r"s_cmov_(b32|b64)", r"\1", r"\1 =\1"),
    (r"s_bitcmp[01]_(b32|b64)", "", r"\1 u32"),
    (r"s_setvskip", "", "b32 b32"),
    (r"s_set_gpr_idx_on", "", "b32 gpr_idx"),
    (r"s_(cmp)_\w+_(i32|u32|u64)", "", r"\2 \2"),
    (r"s_bfe_(u64|i64)", r"\1", r"\1 u32"),
    (r"s_(?:lshl|lshr|ashr)_(\w\d+)", r"\1", r"\1 u32"),
    (r"s_bfm_(\w\d+)", r"\1", "u32 u32"),
    (r"s_pack_\w+", "b32", "b32 b32"),
    (r"s_sext_i32_i(?:8|16)", "i32", "b32"),
    (r"v_nop", "", ""),
    (r"v_cndmask_b32", "b32", "b32 b32 vcc"),
    (r"v_(?:add|sub|subrev)_co_u32", "u32 vcc", "u32 u32"),
    (r"v_(?:addc|subb|subbrev)_co_u32", "u32 vcc", "u32 u32 vcc"),
    (r"v_(?:madmk|fmamk)_(f16|f32)", r"\1", r"\1 K \1"),
    (r"v_(?:madak|fmaak)_(f16|f32)", r"\1", r"\1 \1 K"),
    (r"v_(?:mac|fmac)_(f16|f32|f64)", r"\1", r"\1 \1 =\1"),
    (r"v_pk_fmac_f16", "pk_f16", "pk_f16 pk_f16 =pk_f16"),
    (r"v_dot2c_f32_(b?f16)", "f32", r"pk_\1 pk_\1 =f32"),
    (r"v_dot2c_i32_i16", "i32", "pk_i16 pk_i16 =i32"),
    (r"v_dot[48]c_i32_(i[48])", "i32", "b32 b32 =i32"),
    (r"v_ldexp_f16", "f16", "f16 f16"),
    (r"v_ldexp_(f32|f64)", r"\1", r"\1 i32"),
    (r"v_cmp_class_(f16|f32|f64)", "vcc", r"\1 b32"),
    (r"v_cmpx_class_(f16|f32|f64)", "vcc exec!", r"\1 b32"),
    (r"v_cmp_\w+_([iuf]\d+)", "vcc", r"\1 \1"),
    (r"v_cmpx_\w+_([iuf]\d+)", "vcc exec!", r"\1 \1"),
    (r"v_swap_b32|v_permlane\d+_swap_b32", "b32 src0:b32", "b32 =b32"),
    (r"v_readfirstlane_b32", "s:b32", "v:b32"),
    (r"v_readlane_b32", "s:b32", "v:b32 s:u32"),
    (r"v_writelane_b32", "b32", "s:b32 s:u32 =b32"),
    (r"v_(?:lshlrev|lshrrev|ashrrev)_(\w16)", r"\1", r"u16 \1"),
    (r"v_(?:lshlrev|lshrrev|ashrrev)_(\w\d+)", r"\1", r"u32 \1"),
    (r"v_sat_pk_u8_i16", "b32", "pk_i16"),
    (r"v_cvt_f32_ubyte\d", "f32", "b32"),
    (r"v_cvt_off_f32_i4", "f32", "b32"),
    (r"v_cvt_(f32|pk_f32)_([fb][pf]8)", r"\1", "b32"),
    (r"v_prng_b32", "b32", "b32"),
    (r"v_mad_([iu]32)_[iu]24", r"\1", r"\1 \1 \1"),
    (r"v_mad_([iu]32)_([iu]16)", r"\1", r"\2 \2 \1"),
    (r"v_mad_([iu]64)_([iu]32)", r"\1 vcc", r"\2 \2 \1"),
    (r"v_lshl_add_u64", "u64", "u64 u32 u64"),
    (r"v_bfe_([iu]32)", r"\1", r"\1 u32 u32"),
    (r"v_bfm_b32", "b32", "u32 u32"),
    (r"v_(?:lerp|sad|sad_hi|msad)_u8", "u32", "b32 b32 u32"),
    (r"v_sad_u16", "u32", "b32 b32 u32"),
    (r"v_m?qsad_pk_u16_u8", "b64", "b64 b32 b64"),
    (r"v_mqsad_u32_u8", "b128", "b64 b32 v:b128"),
    (r"v_cvt_pk_u8_f32", "b32", "f32 u32 b32"),
    (r"v_cvt_pkaccum_u8_f32", "b32", "f32 u32 =b32"),
    (r"v_div_scale_(f32|f64)", r"\1 vcc", r"\1 \1 \1"),
    (r"v_div_fmas_(f32|f64)", r"\1", r"\1 \1 \1 vcc!"),
    (r"v_(?:bcnt|mbcnt_lo|mbcnt_hi)_u32_b32", "u32", "b32 u32"),
    (r"v_trig_preop_f64", "f64", "f64 u32"),
    (r"v_cvt_pk(?:norm|rtz)?_([iuf]16|bf16)_(\w+)", r"pk_\1", r"\2 \2"),
    (r"v_cvt_pk_[fb][pf]8_f32", "b32", "f32 f32 =b32"),
    (r"v_cvt_sr_[fb][pf]8_f32", "b32", "f32 u32 =b32"),
    (r"v_cvt_sr_b?f16_f32", "b32", "f32 u32 =b32"),
    (r"v_alignb\w+_b32", "b32", "b32 b32 u32"),
    (r"v_lshl_(add|or)_([ub]32)", r"\2", r"\2 u32 \2"),
    (r"v_add_lshl_u32", "u32", "u32 u32 u32"),
    (r"v_ashr_pk_[iu]8_i32", "b32", "i32 i32 u32 =b32"),
    (r"v_(?:fma|mad)_mix_f32", "f32", "f32 f32 f32"),
    (r"v_(?:fma|mad)_mix(?:lo|hi)_f16", "f16", "f32 f32 f32 =f16"),
    (r"v_dot2_([fiu]32)_(\w+)", r"\1", r"pk_\2 pk_\2 \1"),
    (r"v_dot[48]_([iu]32)_[iu][48]", r"\1", r"b32 b32 \1"),
    (r"v_pk_(?:lshlrev|lshrrev|ashrrev)_(\w+)", r"pk_\1", r"pk_u16 pk_\1"),
    (r"v_pk_(?:mad|fma|minimum3|maximum3)_(\w+)", r"pk_\1", r"pk_\1 pk_\1 pk_\1"),
    (r"v_pk_\w*?([a-z]+\d+)", r"pk_\1", r"pk_\1 pk_\1"),
    (r"v_accvgpr_mov_b32", "a:b32", "a:b32"),
    (r"v_accvgpr_read_b32", "b32", "a:b32"),
    (r"v_accvgpr_write_b32", "a:b32", "b32"),
    # Scaled conversions of CDNA4: the last operand but the tied one is the scale (f32, of which the exponent
    # counts), in the stochastic forms the one before it is the random dword.
    (r"v_cvt_scalef32_pk_(f32|f16|bf16)_\w+", r"pk_\1", "b32 f32"),
    (r"v_cvt_scalef32_pk32_(f32|f16|bf16)_\w+", r"%\1", "v:%b f32"),
    (r"v_cvt_scalef32_f32_\w+", "f32", "b32 f32"),
    (r"v_cvt_scalef32_f16_\w+", "f16", "b32 f32 =f16"),
    (r"v_cvt_scalef32_sr_pk32_\w+?_(f32|f16|bf16)", "%b", r"v:%\1 u32 f32"),
    (r"v_cvt_scalef32_pk32_\w+?_(f32|f16|bf16)", "%b", r"v:%\1 f32"),
    (r"v_cvt_scalef32_2xpk16_\w+?_f32", "%b", "v:%f32 v:%f32 f32"),
    (r"v_cvt_scalef32_sr_pk_fp4_(f32|f16|bf16)", "b32", r"pk_\1 u32 f32 =b32"),
    (r"v_cvt_scalef32_sr_[fb][pf]8_(\w+)", "b32", r"\1 u32 f32 =b32"),
    (r"v_cvt_scalef32_pk_\w+_f32", "b32", "f32 f32 f32 =b32"),
    (r"v_cvt_scalef32_pk_\w+_(b?f16)", "b32", r"pk_\1 f32 =b32"),
]


def dwords(kind):
    """Registers that one value of a type fills."""
    return DWORDS.get(kind, 1)


def _sized(kind, width):
    """`kind`, repeated so that it fills the measured number of registers."""
    natural = dwords(kind)
    return kind if width == natural else f"{kind}*{width // natural}"


def _measured_type(token, width):
    """Resolve `%b` (raw bits) and `%f16` (as many as fit) by the measured width; check all others."""
    head, _, kind = token.rpartition(":")
    if kind.startswith("%"):
        kind = "b32" if kind == "%b" else kind[1:]
    if head in ("a", "s", "v") or not kind.startswith(("=", "vcc", "simm", "K", "hwreg", "label", "gpr", "exec")):
        kind = _sized(kind, width)
    return f"{head}:{kind}" if head else kind


def _default(name, n_dst, n_src):
    """By the type words of the name: the first is the destination's, the last the sources'."""
    words = [word for word in name.split("_") if TYPE.match(word)]
    kinds = [PLAIN.get(word, word) for word in words] or ["b32"]
    return [kinds[0]] * n_dst, [kinds[-1]] * n_src


def _explicit(tokens):
    return [t for t in tokens if not (t.startswith("=") or t.endswith("!"))]


def signature(name, dst_widths, src_widths, rules=RULES):
    """Types of an instruction's operands.

    Args:
        name: base mnemonic.
        dst_widths: registers of each printed destination.
        src_widths: registers of each printed source, in the order src0, src1, src2.
        rules: whole signatures by name, tried in order.

    Returns:
        (destination tokens, source tokens).
    """
    for pattern, dst, src in rules:
        match = re.fullmatch(pattern, name)
        if match:
            dst_tokens, src_tokens = match.expand(dst).split(), match.expand(src).split()
            break
    else:
        dst_tokens, src_tokens = _default(name, len(dst_widths), len(src_widths))
        src_tokens = [
            t if dwords(t) == w else ("u32", "b64", "", "b128")[w - 1]
            for t, w in zip(src_tokens, src_widths, strict=False)
        ]
    explicit_dst, explicit_src = _explicit(dst_tokens), _explicit(src_tokens)
    assert len(explicit_dst) == len(dst_widths), (name, dst_tokens, dst_widths)
    assert len(explicit_src) == len(src_widths), (name, src_tokens, src_widths)

    def sized(tokens, measured):
        measured = iter(measured)
        out = []
        for token in tokens:
            if token.startswith("=") or token.endswith("!"):
                out.append(token)
            else:
                out.append(_measured_type(token, next(measured)))
        return out

    return sized(dst_tokens, dst_widths), sized(src_tokens, src_widths)


MATRIX = re.compile(
    r"v_(?P<kind>mfma|mfma_scale|smfmac)_(?P<d>[fi]\d+)_\d+x\d+x\d+_?(?:\d+b_)?(?P<a>[a-z]+\d+(?:f6f4)?)(?:_(?P<b>[a-z]+8))?(?:_1k)?"
)


def matrix_signature(name, dst_width, src_widths):
    """Types of a matrix instruction: element formats, repeated to fill the measured registers."""
    match = MATRIX.fullmatch(name)
    assert match, name
    d, a = match["d"], match["a"]
    b = match["b"] or a
    # A name such as bf8_fp8 gives A first and B second.
    d_token, a_token, b_token = _sized(d, dst_width), _sized(a, src_widths[0]), _sized(b, src_widths[1])
    if match["kind"] == "smfmac":
        return [d_token], [a_token, b_token, "b32", f"={d_token}"]
    return [d_token], [a_token, b_token, d_token]
