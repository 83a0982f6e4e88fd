"""Rows of VOP3P and of the matrix instructions in its opcode space."""

from __future__ import annotations

from tests.isa.probe_vector import shape, signed
from tests.isa.probing import V, accepted, dwords, flipped, operands, row, widths
from tests.isa.signatures import matrix_signature, signature

VOP3P_BITS = {"clamp": (0, 15), "sel": (0, 11), "sel_hi": (1, 27), "hi": (0, 8), "lo": (1, 29)}


def vop3p_rows(prober):
    """(VOP3P rows, MAI rows): packed and mixed arithmetic, and the matrix instructions that share the opcode space."""
    packed, matrix = [], []
    for second in (0x7FFFFFF, 0x1FF):
        full = (V + 40) | (V + 80) << 9 | (V + 120) << 18
        bases = [(0x1A7 << 23 | op << 16 | 20, full & second) for op in range(128)]
        bits = VOP3P_BITS | {"cbsz": (0, 8), "abid": (0, 11)}
        prober.ask([code for base in bases for code in (dwords(*base), *flipped(base, bits))])
    for op in range(128):
        base = (0x1A7 << 23 | op << 16 | 20, (V + 40) | (V + 80) << 9 | (V + 120) << 18)
        text = prober.text(dwords(*base))
        if not text:
            base = (base[0], base[1] & 0x1FF)
            text = prober.text(dwords(*base))
        if not text:
            continue
        name, parts = operands(text)
        if name.startswith(("v_mfma_f", "v_mfma_i", "v_smfmac")):
            dst_width, src_widths = widths(parts, ["dst"])[0], widths(parts, ["src0", "src1", "src2"])
            dst, src = matrix_signature(name, dst_width, src_widths)
            bits = {"cbsz": (0, 8), "abid": (0, 11), "blgp": (1, 29)}
            got = accepted(prober, base, bits)
            flags = [flag for flag in bits if flag in got]
            negated = prober.text(dwords(base[0], base[1] | 1 << 29))
            if negated and "neg:" in negated:
                flags[flags.index("blgp")] = "neg"
            matrix.append(row(op, name, dst, src, " ".join(flags)))
        elif name.startswith("v_accvgpr"):
            dst, src = signature(name, [1], [1])
            matrix.append(row(op, name, dst, src))
        elif not name.startswith("v_mfma_ld"):
            got = accepted(prober, base, VOP3P_BITS)
            mixed = "|" in (prober.text(dwords(base[0] | 1 << 8, base[1])) or "")
            flags = [
                {"sel": "op_sel", "sel_hi": "op_sel_hi", "hi": "neg_hi", "lo": "neg_lo"}.get(f, f)
                for f in VOP3P_BITS
                if f in got
            ]
            if mixed:
                flags = [f for f in flags if not f.startswith("neg")] + ["mix"]
            dst, src = signature(name, *shape(name, parts))
            packed.append(row(op, name, dst, signed(src, {0, 1, 2}) if mixed else src, " ".join(flags)))
    return packed, matrix
