"""Rows of VOP3P, WMMA and VOPD on RDNA."""

from __future__ import annotations

from tests.isa.probe_rdna_vector import V, shape
from tests.isa.probe_vector import signed
from tests.isa.probing import operands, register, row
from tests.isa.rdna import DPP8, DPP16, with_dpp8, with_dpp16, words
from tests.isa.signatures import signature
from tests.isa.signatures_rdna import RDNA_RULES, wmma_signature

# What flipping one bit of the usual instruction says; the upper selectors are usually set.
FLIPS = {
    "clamp": {"clamp": 1},
    **{f"op_sel{i}": {"op_sel": 1 << i} for i in range(3)},
    **{f"neg_lo{i}": {"neg_lo": 1 << i} for i in range(3)},
    **{f"neg_hi{i}": {"neg_hi": 1 << i} for i in range(3)},
    "op_sel_hi0": {"op_sel_hi": 2},
}


def _bases(encodings, op):
    for third in (V + 120, 0):
        fields = {"vdst": 20, "src0": V + 40, "src1": V + 80, "src2": third, "op_sel_hi": 3, "op_sel_hi2": 1}
        yield fields, words(encodings, "VOP3P", op, **fields)


def packed_rows(prober, encodings):
    """(VOP3P rows, WMMA rows); those of CDNA5 are `probe_cdna5.matrix_rows`."""
    packed, matrix = [], []
    count = encodings.by_name["VOP3P"].opcodes
    prober.ask([code for op in range(count) for _, code in _bases(encodings, op)])
    found = {op: next(((f, c) for f, c in _bases(encodings, op) if prober.text(c)), None) for op in range(count)}
    found = {op: base for op, base in found.items() if base}
    prober.ask([words(encodings, "VOP3P", op, **(f | flip)) for op, (f, _) in found.items() for flip in FLIPS.values()])
    prober.ask([code for op, (fields, _) in found.items() for code in _dpp(encodings, op, fields)])
    for op, (fields, code) in found.items():
        start = prober.text(code)
        name, parts = operands(start)
        answers = {flag: prober.text(words(encodings, "VOP3P", op, **(fields | flip))) for flag, flip in FLIPS.items()}
        got = {flag: text for flag, text in answers.items() if text and text != start}
        flags = ["clamp"] if "clamp" in got else []
        if name.startswith(("v_wmma", "v_swmmac")):
            if count > 128:
                continue
            dst, src = shape(parts)
            if "op_sel0" in got and "index_key" in got["op_sel0"]:
                flags.append("index_key:" + bits_of(got, "op_sel"))
            elif "op_sel0" in got:
                flags.append("op_sel")
            flags += [f"{n}:{bits_of(got, n)}" for n in ("neg_lo", "neg_hi") if bits_of(got, n)]
            flags += ["op_sel_hi"] if answers["op_sel_hi0"] is None else []
            dst, src = wmma_signature(name, dst[0], src)
            matrix.append(row(op, name, dst, src, " ".join(flags)))
            continue
        mixed = "neg_hi0" in got and "|" in got["neg_hi0"]
        flags += ["op_sel"] if "op_sel0" in got else []
        flags += ["op_sel_hi"] if answers["op_sel_hi0"] is None else []
        if mixed:
            flags.append("mix:bf16" if name.endswith("bf16") else "mix")
        else:
            signs = [f"{n}:{bits_of(got, n)}" for n in ("neg_lo", "neg_hi") if bits_of(got, n)]
            flags += signs or (["no_neg"] if count > 128 else [])
        flags += ["e64dpp"] if any(prober.ask(_dpp(encodings, op, fields))) else []
        dst, src = signature(name, *shape(parts), RDNA_RULES)
        packed.append(row(op, name, dst, signed(src, {0, 1, 2}) if mixed else src, " ".join(flags)))
    return packed, matrix


def _dpp(encodings, op, fields):
    return [
        with_dpp16(words(encodings, "VOP3P", op, **fields | {"src0": DPP16})),
        with_dpp8(words(encodings, "VOP3P", op, **fields | {"src0": DPP8})),
    ]


def bits_of(got, name):
    return "".join(str(i) for i in range(3) if f"{name}{i}" in got)


# The Y half writes a register of the other parity.
_DUAL = {"src0x": V + 40, "src1x": 80, "vdstx": 20, "src0y": V + 41, "src1y": 81, "vdsty": 10}


def vopd_rows(prober, encodings):
    """(X rows, Y rows): the halves of a dual instruction have the names of their own operations."""
    x_codes = [[words(encodings, "VOPD", op, **(_DUAL | f)) for f in ({}, {"src1x": 0})] for op in range(16)]
    y_codes = [[words(encodings, "VOPD", 0, **(_DUAL | f), opy=op) for f in ({}, {"src1y": 0})] for op in range(32)]
    return _halves(prober, x_codes, 0, 0), _halves(prober, y_codes, 1, 1)


def _halves(prober, codes, half, shift):
    rows = []
    prober.ask([code for pair in codes for code in pair])
    for op, pair in enumerate(codes):
        text = prober.text(pair[0]) or prober.text(pair[1])
        if not text:
            continue
        name, parts = operands(text.split(" :: ")[half])
        name = name.replace("v_dual_", "v_")
        regs = {r[1] - shift: r[2] for part in parts if (r := register(part))}
        src = [regs[n] for n in (40, 80) if n in regs]
        src = [1, 1, 1] if "mk_" in name or "ak_" in name else src
        masked = name.startswith("v_cndmask")
        dst, src = signature(name, [1], src + [1] * masked, RDNA_RULES)
        rows.append(row(op, name, dst, src))
    return rows
