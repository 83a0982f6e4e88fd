"""Rows of VOP1, VOP2 and VOPC, with their SDWA and DPP forms."""

from __future__ import annotations

from tests.isa.probe_vector import long_flags, prefetch_vop3, shape, signed, vector_signature, vop3_base_of
from tests.isa.probing import V, accepted, dwords, flipped, operands, row

SDWA_BITS = {"clamp": (1, 13), "omod": (1, 14), "sext0": (1, 19), "neg0": (1, 20), "sext1": (1, 27), "neg1": (1, 28)}
DPP_BITS = {"neg0": (1, 20), "neg1": (1, 22)}


def sdwa_base(head, encoding, sources):
    return head(249), 40 | (0 if encoding == "VOPC" else 6 << 8) | 6 << 16 | (6 << 24 if sources > 1 else 0)


def dpp_base(head, control):
    return head(250), 40 | control << 8 | 0xFF << 24


# row_newbcast is the only control of 64-bit operands.
DPP_CONTROLS = ((0x1B, "dpp"), (0x151, "dpp64"))


def short_probes(head, encoding):
    """Every probe that `short_forms` may ask for."""
    codes = []
    for sources in (1, 2):
        base = sdwa_base(head, encoding, sources)
        codes += [dwords(*base), *flipped(base, SDWA_BITS)]
    for control, _ in DPP_CONTROLS:
        base = dpp_base(head, control)
        codes += [dwords(*base), *flipped(base, DPP_BITS)]
    return codes


def sdwa_flags(prober, head, encoding, name, sources, negatable):
    """Flags of the SDWA form, after checking that neg and sext go where the long form has neg."""
    base = sdwa_base(head, encoding, sources)
    # A packed operation selects halves already; LLVM ignores part of what its SDWA form would say.
    if not prober.text(dwords(*base)) or name == "v_pk_fmac_f16":
        return []
    flags, got = [], accepted(prober, base, SDWA_BITS)
    for i in range(sources):
        ints = f"sext{i}" in got
        assert ints or f"neg{i}" in got, name
        if ints == (i in negatable):
            flags.append(f"sdwa_{'sext' if ints else 'neg'}{i}")
    if encoding != "VOPC" and "dst_sel" not in prober.text(dwords(*base)):
        flags.append("sdwa_dword")
    return ["sdwa" + "".join(f":{f}" for f in ("clamp", "omod") if f in got), *flags]


def short_forms(prober, head, encoding, name, sources, negatable):
    """Flags of the SDWA and DPP forms, after checking that neg and sext go where the long form has neg."""
    flags = sdwa_flags(prober, head, encoding, name, sources, negatable)
    for control, flag in DPP_CONTROLS:
        base = dpp_base(head, control)
        if prober.text(dwords(*base)):
            got = accepted(prober, base, DPP_BITS)
            assert {i for i in range(2) if f"neg{i}" in got} == {i for i in negatable if i < 2}, (name, got, negatable)
            flags.append(flag)
            break
    return flags


def with_sdwa(prober, encoding, rows):
    """Rows of RDNA2's short encodings with the flags of their SDWA form."""
    _, _, head_of = HEADS[encoding]
    prober.ask([code for op, *_ in rows for code in short_probes(head_of(op), encoding)])
    found = []
    for op, name, dst, src, flags in rows:
        own = [t for t in src.split() if not (t.startswith("=") or t.endswith("!") or t in ("vcc", "K"))]
        signed_ones = {i for i, token in enumerate(own) if token.startswith("-")}
        forms = sdwa_flags(prober, head_of(op), encoding, name, min(len(own), 2), signed_ones) if own else []
        found.append((op, name, dst, src, " ".join([flags, *forms])))
    return found


HEADS = {
    "VOP2": (62, 0x100, lambda op: lambda src: op << 25 | 20 << 17 | 80 << 9 | src),
    "VOPC": (256, 0x000, lambda op: lambda src: 0x3E << 25 | op << 17 | 80 << 9 | src),
    "VOP1": (256, 0x140, lambda op: lambda src: 0x3F << 25 | 20 << 17 | op << 9 | src),
}


def short_rows(prober, encoding):
    """VOP1, VOP2 and VOPC, with what their VOP3, SDWA and DPP forms accept."""
    count, promoted, head_of = HEADS[encoding]
    prefetch_vop3(prober, range(promoted, promoted + count))
    prober.ask([dwords(head_of(op)(V + 40), 0x77) for op in range(count)])
    prober.ask([dwords(0x3F << 25 | op << 9, 0) for op in range(count)])
    prober.ask([code for op in range(count) for code in short_probes(head_of(op), encoding)])
    rows = []
    for op in range(count):
        head = head_of(op)
        text = prober.text(dwords(head(V + 40), 0x77))
        if not text and encoding == "VOP1":
            text = prober.text(dwords(0x3F << 25 | op << 9, 0))
        if not text:
            continue
        mnemonic, parts = operands(text)
        name = mnemonic.removesuffix("_e32")
        flags, negatable = ["e32" if mnemonic.endswith("_e32") else "bare"], set()
        base = vop3_base_of(prober, promoted + op)
        if encoding == "VOP1" and name in ("v_nop", "v_clrexcp"):
            base = (0x34 << 26 | (promoted + op) << 16, 0)
            base = base if prober.text(dwords(*base)) else None
        sources = len(shape(name, parts)[1])
        if base:
            long_name, _ = operands(prober.text(dwords(*base)))
            assert long_name in (name + "_e64", name), (long_name, name)
            got, negatable = long_flags(prober, base, name)
            flags.append(":".join(["e64", *got]) if "op_sel" not in " ".join(got) else "e64 " + " ".join(got))
        dst, src = vector_signature(name, parts, long_form=False)
        flags += (
            short_forms(prober, head, encoding, name, sources, negatable) if parts and name[:9] != "v_accvgpr" else []
        )
        rows.append(row(op, name, dst, signed(src, negatable), " ".join(flags)))
    return rows
