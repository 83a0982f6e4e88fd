"""Rows of VOP3, and what the long form of a short opcode takes."""

from __future__ import annotations

import re

from tests.isa.probing import FIELD_OF, V, accepted, dwords, flipped, operands, register, row
from tests.isa.signatures import signature

VOP3_BITS = {
    "clamp": (0, 15), "omod": (1, 27), **{f"sel{i}": (0, 11 + i) for i in range(4)},
    **{f"abs{i}": (0, 8 + i) for i in range(3)}, **{f"neg{i}": (1, 29 + i) for i in range(3)},
}  # fmt: skip


# Sources of a VOP3 probe, from all vector registers to none: LLVM wants unused fields to be zero in some operations,
# and a lane select to be scalar.
VOP3_SOURCES = ((V + 40, V + 80, V + 120), (V + 40, V + 80, 0), (V + 40, 80, 0), (V + 40, 0, 0), (40, 80, 0), (0, 0, 0))


def vop3_bases(op):
    return [(0x34 << 26 | op << 16 | 20, a | b << 9 | c << 18) for a, b, c in VOP3_SOURCES]


def vop3_base_of(prober, op):
    """The fullest probe that LLVM accepts, or None."""
    return next((base for base in vop3_bases(op) if prober.text(dwords(*base))), None)


def prefetch_vop3(prober, opcodes):
    bases = [base for op in opcodes for base in vop3_bases(op)]
    prober.ask([dwords(*base) for base in bases])
    prober.ask([dwords(first, second & ~(0x1FF << 9 * i) | 40 << 9 * i) for first, second in bases for i in range(3)])
    prober.ask([code for base in bases if prober.text(dwords(*base)) for code in flipped(base, VOP3_BITS)])


def signed(tokens, negatable):
    """Mark the explicit sources that take neg and abs."""
    out, index = [], 0
    for token in tokens:
        implicit = token.startswith("=") or token.endswith("!")
        if not implicit and index in negatable:
            out.append("-" + token)
        else:
            out.append(token)
        index += not implicit
    return out


def shape(name, parts):
    """(destination widths, source widths) of a vector instruction in its printed form."""
    regs = [register(part) for part in parts]
    fields = {FIELD_OF[r[1]]: r[2] for r in regs if r and r[1] in FIELD_OF}
    dst = [fields["dst"]] if "dst" in fields else []
    src = [fields[f] for f in ("src0", "src1", "src2") if f in fields]
    return dst, src


def vector_signature(name, parts, long_form):
    dst, src = shape(name, parts)
    has_mask_dst = name.startswith(("v_cmp", "v_div_scale", "v_mad_u64", "v_mad_i64")) or "_co_u32" in name
    has_mask_src = name.startswith(("v_cndmask", "v_addc_co", "v_subb_co", "v_subbrev_co"))
    if name.startswith("v_cmp"):
        dst = []
    if name.startswith(("v_swap", "v_permlane")):
        dst, src = [1, 1], [1]
    if name.startswith(("v_readfirstlane", "v_readlane")):
        dst = [1]
    if re.match(r"v_(mad|fma)(mk|ak)_", name):
        src = [1, 1, 1]
    if has_mask_src and long_form:
        src = src[:-1]
    return signature(name, dst + [2] * has_mask_dst, src + [2] * has_mask_src)


def vector_only(prober, base, tokens):
    """Mark the sources of a VOP3 probe that LLVM refuses as scalar registers."""
    out, index = [], 0
    for token in tokens:
        implicit = token.startswith("=") or token.endswith("!") or token == "vcc"
        if not implicit and index < 3 and ":" not in token:
            cleared = base[1] & ~(0x1FF << 9 * index)
            if not prober.text(dwords(base[0], cleared | 40 << 9 * index)):
                token = "v:" + token  # noqa: PLW2901
        out.append(token)
        index += not implicit
    return out


def long_flags(prober, base, name):
    got = accepted(prober, base, VOP3_BITS)
    carry = name.startswith(("v_div_scale", "v_mad_u64", "v_mad_i64")) or "_co_u32" in name
    if carry:
        got -= {f"sel{i}" for i in range(4)} | {f"abs{i}" for i in range(3)}
    flags = []
    if name.startswith("v_bitop3"):
        return (["op_sel:" + "".join(str(i) for i in range(4) if f"sel{i}" in got)] if "sel0" in got else []) + [
            "bitop3"
        ], set()
    if name.startswith("v_permlane"):
        return ["bc_fi"], set()
    flags += [flag for flag in ("clamp", "omod") if flag in got]
    sel = "".join(str(i) for i in range(4) if f"sel{i}" in got)
    if sel:
        flags.append(f"op_sel:{sel}")
    negatable = {i for i in range(3) if f"neg{i}" in got}
    absolute = {i for i in range(3) if f"abs{i}" in got}
    assert carry or negatable == absolute, (name, negatable, absolute)
    return flags, negatable


def vop3_rows(prober):
    """Operations that exist only in VOP3; opcodes from 0x1c0 to 0x37f."""
    prefetch_vop3(prober, range(0x1C0, 0x380))
    rows = []
    for op in range(0x1C0, 0x380):
        base = vop3_base_of(prober, op)
        if not base:
            continue
        name, parts = operands(prober.text(dwords(*base)))
        if name.startswith("v_interp"):
            continue  # of pixel shaders; their short encoding is not decoded either
        flags, negatable = long_flags(prober, base, name)
        dst, src = vector_signature(name, parts, long_form=True)
        src = vector_only(prober, base, src)
        rows.append(row(op, name, dst, signed(src, negatable), " ".join(flags)))
    return rows
