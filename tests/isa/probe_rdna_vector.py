"""Rows of VOP1, VOP2, VOPC, VOP3 and VOPD on RDNA."""

from __future__ import annotations

import re

from tests.isa.probing import FIELD_OF, operands, register, row
from tests.isa.rdna import DPP8, DPP16, EXEC, V, with_dpp8, with_dpp16, words
from tests.isa.signatures import signature
from tests.isa.signatures_rdna import HALF, RDNA_RULES

PROMOTED = {"VOPC": (0x000, 256), "VOP2": (0x100, 64), "VOP1": (0x180, 128)}
CARRY = re.compile(r"v_div_scale_|v_mad_(co_)?[iu]64_|v_\w+_co_(ci_)?u32")
MASKED = re.compile(r"v_cndmask_|v_\w+_co_ci_u32")
FLIPS = {
    "clamp": {"clamp": 1}, "omod": {"omod": 1}, **{f"sel{i}": {"op_sel": 1 << i} for i in range(4)},
    **{f"abs{i}": {"abs": 1 << i} for i in range(3)}, **{f"neg{i}": {"neg": 1 << i} for i in range(3)},
}  # fmt: skip
# Sources of a VOP3 probe, fullest first: some operations want scalar ones, or none.
VOP3_SOURCES = (
    (V + 40, V + 80, V + 120), (V + 40, V + 80, 60), (V + 40, 80, 60), (V + 40, V + 80, 0), (V + 40, 80, 0),
    (V + 40, 0, 0), (40, 80, 0), (40, 0, 0), (0, 0, 0),
)  # fmt: skip
SELECTS = re.compile(r"op_sel|byte_sel|scale_sel|\.h\b")
FIELD = FIELD_OF | {60: "src2"}


class Vector:
    """Asks about vector instructions of one architecture."""

    def __init__(self, prober, encodings):
        self.prober, self.encodings = prober, encodings

    def text(self, code):
        return self.prober.text(code)

    def short(self, encoding, op, **fields):
        base = (
            {"src0": V + 40}
            | ({} if encoding == "VOPC" else {"vdst": 20})
            | ({} if encoding == "VOP1" else {"src1": 80})
        )
        return words(self.encodings, encoding, op, **(base | fields))

    def long(self, op, sources, **fields):
        named = dict(zip(("src0", "src1", "src2"), sources, strict=True))
        return words(self.encodings, "VOP3", op, **({"vdst": 20} | named | fields))

    def prefetch(self):
        """Ask in a few large batches; later questions find the answers known."""
        codes = []
        for encoding, (base, count) in PROMOTED.items():
            for op in range(count - 2 * (encoding == "VOP2")):
                codes += [self.short(encoding, op), words(self.encodings, encoding, op)]
                codes += [code for _, code in self.half_probes(encoding, op)]
                short = self.short(encoding, op, src0=DPP16)
                codes += [with_dpp16(short), with_dpp8(self.short(encoding, op, src0=DPP8))]
                codes += [with_dpp16(short, src0_neg=1), with_dpp16(short, src1_neg=1)]
            codes += [
                self.long(base + op, s, vdst=EXEC) for op in range(count) for s in VOP3_SOURCES if encoding == "VOPC"
            ]
        codes += [self.long(op, sources) for op in range(1024) for sources in VOP3_SOURCES]
        codes += [self.long(op, VOP3_SOURCES[-1], vdst=0) for op in range(1024)]
        self.prober.ask(codes)
        more = []
        for op in range(1024):
            found = self.long_base(op)
            if found:
                more += [self.long(op, found[0], **(found[1] | flip)) for flip in FLIPS.values()]
                more += [code for _, code in self.scalar_probes(op, *found)] + self.long_dpp(op, *found)
        self.prober.ask(more)

    def long_base(self, op):
        """(sources, fields) of the fullest VOP3 probe that LLVM accepts, or None."""
        for sources in VOP3_SOURCES:
            for fields in ({}, {"vdst": EXEC}, {"vdst": 0}):
                code = self.long(op, sources, **fields)
                if code in self.prober.known and self.text(code):
                    return sources, fields
        return None

    def half_probes(self, encoding, op):
        named = (
            {"src0": V + 168}
            | ({} if encoding == "VOPC" else {"vdst": 148})
            | ({} if encoding == "VOP1" else {"src1": 208})
        )
        return [(field, self.short(encoding, op, **{field: value})) for field, value in named.items()]

    def scalar_probes(self, op, sources, fields):
        out = []
        for i, old in enumerate(sources):
            if old >= V:
                changed = [*sources]
                changed[i] = 40
                out.append((i, self.long(op, changed, **fields)))
        return out

    def long_dpp(self, op, sources, fields):
        code = self.long(op, (DPP16, *sources[1:]), **fields)
        return [with_dpp16(code), with_dpp8(self.long(op, (DPP8, *sources[1:]), **fields))]

    def long_flags(self, op, name, base):
        """(modifiers of the VOP3 form, sources that take neg and abs)."""
        sources, fields = base
        start = self.text(self.long(op, sources, **fields))
        answers = {flag: self.text(self.long(op, sources, **(fields | flip))) for flag, flip in FLIPS.items()}
        got = {flag for flag, answer in answers.items() if answer and answer != start}
        if name == "v_mov_b16":
            # LLVM decodes these and leaves them out; an RX 9070 executes them (bjacob/goc, half_move_hardware.h).
            got |= {"clamp", "omod", "neg0", "abs0"}
        if CARRY.match(name):
            got -= {flag for flag in FLIPS if flag[:3] in ("sel", "abs")}
        flags = [flag for flag in ("clamp", "omod") if flag in got]
        if name.startswith("v_permlane") and name != "v_permlane64_b32":
            grouped = re.match(r"v_permlane_(bcast|up|down|xor|idx_gen)_", name)  # nothing says what OP_SEL does
            return [] if grouped else ["bc_fi" if "_swap_" in name else "permlane"], set()
        selected = {i: answers[f"sel{i}"] for i in range(4) if f"sel{i}" in got and SELECTS.search(answers[f"sel{i}"])}
        signs = {flag for flag in FLIPS if flag[:3] in ("neg", "abs")}
        if name.startswith("v_bitop3"):
            flags, got = ["bitop3"], got - signs
        if selected and "scale_sel" in next(iter(selected.values())):
            flags.append("scale_sel")
        else:
            # Bits that name a byte may stand beside one that chooses a half.
            named = {i: text for i, text in selected.items() if "byte_sel" in text}
            others = {i: text for i, text in selected.items() if i not in named}
            if others:
                allowed, printed = "".join(map(str, others)), printed_bits(others)
                flags.append(f"op_sel:{printed}" + ("" if allowed == printed else f":{allowed}"))
            if named:
                flags.append(f"byte_sel:{''.join(map(str, sorted(named, key=named.get)))}")
        negated = {i for i in range(3) if f"neg{i}" in got}
        assert CARRY.match(name) or negated == {i for i in range(3) if f"abs{i}" in got}, (name, negated, got)
        return flags, negated

    def halves(self, encoding, op):
        """Field to `h` (bit 7 selects the high half) or `l` (bit 7 must be 0)."""
        found = {}
        for field, code in self.half_probes(encoding, op):
            text = self.text(code)
            start = self.text(self.short(encoding, op))
            if text is None:
                found[field] = "l"
            elif ".h" in text and text != start:
                found[field] = "h"
        return found


def printed_bits(selected):
    """The bits of op_sel in the order in which LLVM prints them, from the texts in which one of them is set."""
    bits = []
    for bit, text in selected.items():
        found = re.search(r"op_sel:\[([^\]]*)", text)
        if not found:
            return ""
        shown = found[1].split(",")
        # What no probe set is printed as 0: the destination's bit of a compare, or a source that cannot select.
        bits = bits or [*map(str, range(len(shown) - 1)), "3" if len(shown) != 2 or 1 not in selected else "1"]
        bits[shown.index("1")] = str(bit)
    return "".join(bits)


def shape(parts):
    regs = [register(part) for part in parts]
    fields = {FIELD[r[1]]: r[2] for r in regs if r and r[1] in FIELD}
    return [fields["dst"]] if "dst" in fields else [], [fields[f] for f in ("src0", "src1", "src2") if f in fields]


def typed(name, parts, *, long_form):
    """Operand types of a vector instruction."""
    dst, src = shape(parts)
    carries, masked = bool(CARRY.match(name)), bool(MASKED.match(name))
    if name.startswith("v_cmp"):
        dst = []
    if name.startswith("v_swap") or "_swap_" in name:
        dst, src = [1, 1], [1]
    if re.match(r"v_(mad|fma)(mk|ak)_", name):
        src = dst * 3
    if masked and long_form:
        src = src[:-1]
    mask = name.startswith("v_cmp_")
    return signature(name, dst + [1] * (carries or mask), src + [1] * masked, RDNA_RULES)


def marked(tokens, names, marks, negated=()):
    """Put neg and the half's mark before the explicit operands; `names` are their fields in order."""
    out, index = [], 0
    for token in tokens:
        if token.startswith("=") or token.endswith("!") or token in ("vcc", "K") or ":" in token:
            out.append(("-" if index in negated and ":" in token and token[0] != "=" else "") + token)
            index += ":" in token and token[0] != "="
            continue
        mark = marks.get(names[index]) if index < len(names) else None
        text = f"{mark}:{HALF.get(token, token)}" if mark else token
        out.append(("-" if index in negated else "") + text)
        index += 1
    return out


def short_rows(vector, encoding):
    """VOP1, VOP2 or VOPC, with what their VOP3 and DPP forms accept."""
    rows = []
    promoted, count = PROMOTED[encoding]
    for op in range(count - 2 * (encoding == "VOP2")):
        text = vector.text(vector.short(encoding, op))
        if not text and encoding == "VOP1":
            text = vector.text(words(vector.encodings, encoding, op))
        if not text:
            continue
        mnemonic, parts = operands(text)
        name = mnemonic.removesuffix("_e32")
        flags, negated = ["e32" if mnemonic.endswith("_e32") else "bare"], set()
        base = vector.long_base(promoted + op)
        if base:
            long_name = operands(vector.text(vector.long(promoted + op, base[0], **base[1])))[0]
            assert long_name in (name + "_e64", name), (long_name, name)
            got, negated = vector.long_flags(promoted + op, name, base)
            plain = [flag for flag in got if ":" not in flag]
            flags += [":".join(["e64", *plain]), *(flag for flag in got if ":" in flag)]
            longer = map(vector.text, vector.long_dpp(promoted + op, *base))
            flags += ["e64dpp"] if any(text and "_dpp" in text for text in longer) else []
        dpp16 = vector.text(with_dpp16(vector.short(encoding, op, src0=DPP16)))
        dpp8 = vector.text(with_dpp8(vector.short(encoding, op, src0=DPP8)))
        assert bool(dpp16) == bool(dpp8), name
        flags += ["dpp"] if dpp16 else []
        if dpp16 and not base:
            signs = [
                vector.text(with_dpp16(vector.short(encoding, op, src0=DPP16), **{f"src{i}_neg": 1})) for i in (0, 1)
            ]
            negated = {i for i, answer in enumerate(signs) if answer and answer != dpp16}
        dst, src = typed(name, parts, long_form=False)
        marks = vector.halves(encoding, op) if parts else {}
        rows.append(
            row(op, name, marked(dst, ["vdst"], marks), marked(src, ["src0", "src1"], marks, negated), " ".join(flags))
        )
    return rows


def vop3_rows(vector, short_names):
    """Operations that exist only in VOP3."""
    rows = []
    for op in range(1024):
        base = vector.long_base(op)
        if not base:
            continue
        text = vector.text(vector.long(op, base[0], **base[1]))
        name, parts = operands(text)
        if name.removesuffix("_e64") in short_names or name.startswith("v_interp"):
            continue  # interpolation is of pixel shaders; its short encoding is not decoded either
        flags, negated = vector.long_flags(op, name, base)
        flags += ["e64dpp"] if any(map(vector.text, vector.long_dpp(op, *base))) else []
        dst, src = typed(name, parts, long_form=True)
        marks = {FIELD[r[1]]: "h" for part in parts if ".l" in part and (r := register(part))}
        for i, code in vector.scalar_probes(op, *base):
            if not vector.text(code) and f"src{i}" not in marks:
                marks[f"src{i}"] = "v"
        if name.startswith("v_s_"):
            marks = {}
        rows.append(
            row(
                op,
                name,
                marked(dst, ["dst"], marks),
                marked(src, ["src0", "src1", "src2"], marks, negated),
                " ".join(flags),
            )
        )
    return rows
