"""Rows of the matrix, VOPD3 and tensor instructions of CDNA5."""

from __future__ import annotations

import re

from tests.isa.probe_rdna_vector import V, shape
from tests.isa.probe_vector import signed
from tests.isa.probing import operands, register, row
from tests.isa.rdna import null, words
from tests.isa.signatures import _sized, signature
from tests.isa.signatures_rdna import RDNA_RULES

_MATRIX = re.compile(
    r"v_(wmma|swmmac)_(?P<d>bf16f32|b?[fi]\d+)_\d+x\d+x\d+_(?P<a>[a-z]+\d+?|f8f6f4)(?:_(?P<b>[bf][fp]8))?"
)
_FLIPS = {
    "clamp": {"clamp": 1}, "op_sel0": {"op_sel": 1}, "op_sel2": {"op_sel": 4},
    **{f"neg_lo{i}": {"neg_lo": 1 << i} for i in range(3)}, **{f"neg_hi{i}": {"neg_hi": 1 << i} for i in range(3)},
}  # fmt: skip
# RDNA4's, which LLVM's tools know on gfx1250 too and the manual does not list.
_RDNA4 = range(0x40, 0x5B)
# The upper selectors are ones, or the upper one says that B is used again, or all are the format of B.
_UPPER = ({"op_sel_hi": 3}, {"op_sel_hi": 3, "op_sel_hi2": 1}, {})


def matrix_rows(prober, encodings):
    """WMMA and SWMMAC."""
    rows = []
    usual = {"vdst": 20, "src0": V + 40, "src1": V + 80, "src2": V + 120}
    bases = {op: [usual | upper for upper in _UPPER] for op in range(256)}
    prober.ask([words(encodings, "VOP3P", op, **fields) for op, tries in bases.items() for fields in tries])
    for op, tries in bases.items():
        if op in _RDNA4:
            continue
        texts = ((fields, prober.text(words(encodings, "VOP3P", op, **fields))) for fields in reversed(tries))
        fields, start = next(((f, t) for f, t in texts if t and t.startswith(("v_wmma", "v_swmmac"))), ({}, ""))
        if not start:
            continue
        flips = [fields | flip for flip in _FLIPS.values()]
        answers = prober.ask([words(encodings, "VOP3P", op, **flipped) for flipped in flips])
        got = {flag: text for flag, text in zip(_FLIPS, answers, strict=True) if text and text != start}
        name, parts = operands(start)
        dst, src = shape(parts)
        flags = ["clamp"] if "clamp" in got else []
        flags += ["scaled"] if name.endswith(("_f8f6f4", "_f4")) else []
        flags += ["formats"] if "matrix_a_fmt" in got.get("op_sel0", "") else []
        flags += ["index_key:0"] if "index_key" in got.get("op_sel0", "") else []
        flags += ["reuse"] if "matrix_a_reuse" in got.get("op_sel2", "") else []
        flags += [f"{n}:{bits}" for n in ("neg_lo", "neg_hi") if (bits := _bits(got, n))]
        rows.append(row(op, name, *_types(name, dst[0], src), " ".join(flags)))
    return sorted(rows + _scale_rows(prober, encodings))


def _scale_rows(prober, encodings):
    """What brings the scales of the WMMA that follows."""
    fields = {"src0": V + 40, "src1": V + 80, "src2": V}
    texts = prober.ask([words(encodings, "VOP3P", op, **fields) for op in range(256)])
    found = [(op, *operands(text)) for op, text in enumerate(texts) if text and "_ld_scale" in text]
    kinds = {1: "b32", 2: "b64"}
    return [row(op, name, [], [kinds[register(part)[2]] for part in parts], "scales") for op, name, parts in found]


def _bits(got, name):
    return "".join(str(i) for i in range(3) if f"{name}{i}" in got)


def _types(name, dst_width, src_widths):
    """Types of a matrix instruction: element formats, repeated to fill the measured registers."""
    match = _MATRIX.fullmatch(name)
    assert match, name
    a = "fp4" if match["a"] == "f4" else match["a"]
    result, _, addend = match["d"].partition("f32") if match["d"] == "bf16f32" else (match["d"], "", "")
    result, addend = (result, "f32") if match["d"] == "bf16f32" else (match["d"], match["d"])
    first, second = (_sized(kind, width) for kind, width in zip((a, match["b"] or a), src_widths[:2], strict=True))
    to = _sized(result, dst_width)
    if match[1] == "swmmac":
        return [to], [first, second, {1: "b32", 2: "b64"}[src_widths[2]], f"={to}"]
    return [to], [first, second, _sized(addend, src_widths[2])]


def listed(rows):
    """Without the operations of dual instructions that LLVM's tools know and the manual does not list."""
    return [entry for entry in rows if not entry[1].startswith("v_dot2acc_")]


_DUAL = {
    "src0x": V + 40, "src1x": 80, "src2x": 120, "vdstx": 20, "src0y": V + 41, "src1y": 81, "src2y": 121, "vdsty": 10,
}  # fmt: skip
_ADD = 4
"""Opcode of v_add_f32 in both halves."""


def vopd3_rows(prober, encodings):
    """(X rows, Y rows) of dual instructions with three sources."""
    return _half(prober, encodings, "x"), _half(prober, encodings, "y")


def _half(prober, encodings, half):
    rows = []
    tries = ({}, {f"src2{half}": 20}, {f"src2{half}": 0}, {f"src1{half}": 0, f"src2{half}": 0})
    other = "y" if half == "x" else "x"
    rest = _DUAL | {f"src2{other}": 0}
    for op in range(64):
        x, y = (op, _ADD) if half == "x" else (_ADD, op)
        codes = [words(encodings, "VOPD3", x, **(rest | extra), opy=y) for extra in tries]
        fields, text = next(((f, t) for f, t in zip(tries, prober.ask(codes), strict=True) if t), ({}, None))
        if not text:
            continue
        signs = [{f"neg{half}": 1 << i} for i in range(3)]
        flipped = [words(encodings, "VOPD3", x, **(rest | fields | sign), opy=y) for sign in signs]
        negated = {i for i, answer in enumerate(prober.ask(flipped)) if answer and answer != text}
        name, parts = operands(text.split(" :: ")[half == "y"])
        name = name.replace("v_dual_", "v_")
        shift = half == "y"
        regs = {r[1] - shift: r[2] for part in parts if (r := register(part))}
        src = [regs[n] for n in (40, 80, 120) if n in regs]
        to = regs[20 - 10 * shift - shift]
        dst, src = signature(name, [to], src + [1] * name.startswith("v_cndmask"), RDNA_RULES)
        src = signed(src, negated)
        rows.append(row(op, name, dst, src, "bitop2" * (name == "v_bitop2_b32")))
    return rows


def tensor_rows(prober, encodings):
    """VIMAGE: the tensor data mover's instructions, which read a descriptor from two or four groups of SGPRs."""
    rows = []
    # LLVM wants the fields of images as its assembler fills them.
    groups = {"vaddr0": 20, "vaddr1": 40, "vaddr2": 60, "vaddr3": 80, "vaddr4": null(prober.arch), "dim": 1, "dmask": 1}
    for op, text in enumerate(prober.ask([words(encodings, "VIMAGE", op, **groups) for op in range(256)])):
        if text:
            rows.append(row(op, operands(text)[0], [], ["vaddr0:b128", "vaddr1:b256", "vaddr2:b128", "vaddr3:b128"]))
    return rows
