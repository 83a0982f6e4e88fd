"""Assembly lines of the operations that need operands of their own kind: MODE fields."""

from __future__ import annotations

from mfmasim.formats.conversions import conversion
from tests.machine import lines
from tests.slow.machine.conversions import CONVERSIONS
from tests.slow.machine.vop3p import PACKED

MODE = "hwreg(HW_REG_MODE)"
RESTORE = f"s_setreg_imm32_b32 {MODE}, 0x3f0"


def _field(rng):
    if lines.target.rdna:
        # Rounding and denormals, on gfx11 DX10_CLAMP and IEEE as well; the other bits differ by architecture.
        offset = rng.randrange(8 if lines.target.gfx12 else 10)
        return f"hwreg(HW_REG_MODE, {offset}, {rng.randrange(1, (9 if lines.target.gfx12 else 11) - offset)})"
    offset = rng.randrange(0, 24)
    return f"hwreg(HW_REG_MODE, {offset}, {rng.randrange(1, 33 - offset)})"


def _mode(row, rng):
    """Read a field of MODE, or write one and look at all of it and at what an addition makes of it."""
    if row.name == "s_getreg_b32":
        value = f"s_setreg_b32 {MODE}, s{rng.choice(lines.S_POOL)}"
        return lines.Probe(row.name, f"{row.name} s70, {_field(rng)}", [value], [RESTORE], ["s70"])
    value = f"s{rng.choice(lines.S_POOL)}" if row.name == "s_setreg_b32" else rng.choice(lines.LITERALS)
    after = [f"s_getreg_b32 s70, {MODE}", f"v_add_f32_e32 v100, v{rng.choice(lines.V_FLOAT)}, v40", RESTORE]
    return lines.Probe(row.name, f"{row.name} {_field(rng)}, {value}", [], after, ["s70", "v100"])


def _bits(rng, count):
    return "[" + ",".join(str(rng.randrange(2)) for _ in range(count)) + "]"


def _packed(row, rng):
    """VOP3P: halves in any order, signs of each, clamp. The addend of a dot product has none of them."""
    texts = [lines._source(slot, rng, vector=0.7) for slot in row.src if not slot.tied]
    dot, tail = row.name.startswith("v_dot"), ""
    names = [name for name in ("op_sel", "op_sel_hi", "neg_lo", "neg_hi") if name in row.flags]
    if row.name.endswith(("i16", "u16", "i8", "u8", "i4", "u4")) or row.name == "v_pk_mov_b32":
        # LLVM takes no choice of halves for integer dot products either.
        names = ["op_sel"] if row.name == "v_pk_mov_b32" else []
    if dot and rng.random() < 0.3:
        names = []  # gfx942 takes no choice of halves for any dot product (LLVM, validateOpSel)
    for name in names:
        if rng.random() < 0.6:
            bits = _bits(rng, 2 if dot else len(texts))
            tail += f" {name}:{bits[:-1] + (',0]' if name != 'op_sel_hi' else ',1]') if dot else bits}"
    if "mix" in row.flags:
        texts = [rng.choice([text, text, f"-{text}", f"|{text}|"]) if text[0] != "-" else text for text in texts]
    if "clamp" in row.flags and rng.random() < 0.4 and row.name != "v_pk_mov_b32":
        tail += " clamp"
    results = [f"v{lines.D + i}" for i in range(row.dst[0].count)]
    return lines.Probe(
        row.name, f"{row.name} {lines.span('v', lines.D, len(results))}, {', '.join(texts)}{tail}", results=results
    )


def _accumulating(row, rng, number):
    """VOP2 of packed elements, which is tied to its destination; no DPP, whose first source may not be reached."""
    sources = [slot for slot in row.src if not slot.tied]
    texts = [lines._vgpr(slot, rng) for slot in sources]
    if number % 2 and "e64" in row.flags:
        if sources[0].signed:
            texts = [rng.choice([text, f"-{text}", f"|{text}|", f"-|{text}|"]) for text in texts]
        tail = " clamp" if "clamp" in row.flags["e64"] and rng.random() < 0.5 else ""
        return lines.Probe(row.name, f"{row.name}_e64 v100, {', '.join(texts)}{tail}", results=["v100"])
    texts[0] = lines._source(sources[0], rng)
    return lines.Probe(row.name, f"{row.name}_e32 v100, {', '.join(texts)}", results=["v100"])


def _conversion(row, rng):
    """VOP3 conversions: the parts that op_sel chooses, signs where the row takes them, many registers."""
    facts = conversion("gfx950", row.name).row
    texts = []
    for number, slot in enumerate(slot for slot in row.src if not slot.tied):
        if slot.count > 2:
            first = rng.choice(range(10, 40 - slot.count + 1, 2)) if slot.count <= 30 else 10
            texts.append(lines.span("v", first, slot.count))
            continue
        text = lines._source(slot, rng, vector=0.8)
        texts.append(lines._signs(text, slot, rng) if facts.floats >> number & 1 and slot.signed else text)
    tail = ""
    bits = [rng.randrange(2) if facts.op_sel >> i & 1 else 0 for i in range(4)]
    if any(bits):
        listed = row.flags["op_sel"][0]
        tail += f" op_sel:[{','.join(str(bits[int(i)]) for i in listed)}]"
    if facts.clamp and rng.random() < 0.5:
        tail += " clamp"
    count = row.dst[0].count
    shown = (
        [f"v{lines.D + i}" for i in range(count)][:8]
        if count <= 8
        else [f"v{lines.D + i}" for i in range(0, count, count // 8)]
    )
    return lines.Probe(
        row.name, f"{row.name} {lines.span('v', lines.D, count)}, {', '.join(texts)}{tail}", results=shown
    )


def probe(encoding, row, rng, number):
    """A line for the rows that are these generators' business, else None."""
    if row.name in ("s_getreg_b32", "s_setreg_b32", "s_setreg_imm32_b32"):
        return _mode(row, rng)
    if lines.target.rdna:
        return _packed(row, rng) if row.name in PACKED and encoding == "VOP3P" else None
    if row.name in CONVERSIONS:
        return _conversion(row, rng)
    if row.name.startswith("v_cvt_pk_f32_") and encoding == "VOP1":
        tail = f"_sdwa v[100:101], v{rng.choice(lines.V_RANDOM)} src0_sel:{rng.choice(['WORD_0', 'WORD_1'])}"
        text = tail if number % 2 else f"_e32 v[100:101], {lines._source(row.src[0], rng)}"
        return lines.Probe(row.name, row.name + text, results=["v100", "v101"])
    if row.name in PACKED:
        return _packed(row, rng) if encoding == "VOP3P" else _accumulating(row, rng, number)
    if row.name in ("v_madak_f16", "v_madmk_f16"):
        first, second, half = (
            lines._source(row.src[0], rng),
            lines._vgpr(row.src[1], rng),
            f"0x{rng.randrange(1 << 16):04x}",
        )
        order = (first, half, second) if row.name == "v_madmk_f16" else (first, second, half)
        return lines.Probe(row.name, f"{row.name} v100, {', '.join(order)}", results=["v100"])
    return None
