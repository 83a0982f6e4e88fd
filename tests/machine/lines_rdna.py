"""Assembly lines of gfx11's and gfx12's vector operations: 32 bits, VOP3, DPP16, DPP8, halves of registers, VOPD.

The operands come from the decoder's rows; which combinations are legal is the assembler's business, which takes the
good ones. Where the judge looks at `lines.target` the lines are for an architecture with waves of 32 or 64 lanes.
"""

from __future__ import annotations

import re

from tests.machine import lines, lines_vector
from tests.machine.lines import (
    INLINE,
    INLINE_FLOAT,
    LITERALS,
    V_HALF,
    V_INTEGER,
    V_RANDOM,
    D,
    Probe,
    S,
    _sgpr,
    _signs,
    _vgpr,
    span,
)

CONTROLS = (
    "quad_perm:[3,2,1,0]", "quad_perm:[1,1,2,0]", "row_shl:1", "row_shl:15", "row_shr:3", "row_shr:8", "row_ror:5",
    "row_mirror", "row_half_mirror", "row_share:0", "row_share:11", "row_xmask:1", "row_xmask:13",
)  # fmt: skip
NO_CLAMP = ("v_perm", "v_swap", "v_mov", "v_readlane", "v_writelane", "v_readfirstlane", "v_cmp", "v_dot2_f16_f16",
            "v_dot2_bf16", "v_dot4", "v_dot8", "v_cvt_f32_fp8", "v_cvt_f32_bf8", "v_cvt_pk_f32", "v_cndmask",
            "v_cvt_sr", "v_cvt_pk")  # fmt: skip
"""Where the manuals say that the clamp modifier is ignored, or nothing about it."""
NO_SCALE = ("v_dot", "v_cvt_f32_fp8", "v_cvt_f32_bf8", "v_cvt_pk", "v_cvt_sr", "v_perm", "v_mov", "v_cndmask")


def mask(number=S):
    """A lane mask in scalar registers."""
    return span("s", number, lines.target.lanes // 32)


def _vcc():
    return "vcc" if lines.target.lanes == 64 else "vcc_lo"


def mask_registers(first):
    """The dwords of a lane mask, to look at."""
    return [f"{first}_lo", f"{first}_hi"] if first in ("vcc", "exec") else [f"s{S}", f"s{S + 1}"]


def _half(slot, rng):
    """A half of a register; in 32 bits only v0..v127 have them."""
    pool = V_HALF if slot.type in ("f16", "bf16") else V_INTEGER
    return f"v{rng.choice([*pool, *V_RANDOM])}.{rng.choice('lh')}"


def _vector(slot, rng):
    return _half(slot, rng) if slot.file == "h" else _vgpr(slot, rng)


def _any(slot, rng, *, literal):
    """A first source: any register or constant."""
    point = rng.random()
    if slot.file != "s" and (slot.file == "v" or point < 0.5):
        return _vector(slot, rng)
    if slot.file == "s" or point < 0.7:
        return _sgpr(slot, rng)
    if point < 0.75 and slot.count == 1:
        return rng.choice(["null", "m0", "src_scc"])
    if literal and point < 0.85:
        value = rng.choice(LITERALS)
        return "0x" + value[-4:] if slot.type.endswith("16") else value
    return str(rng.choice(INLINE)) if rng.random() < 0.5 or slot.type[0] not in "fbp" else rng.choice(INLINE_FLOAT)


def _destinations(row, to_mask):
    texts, results = [], []
    for slot in row.dst:
        if slot.type == "exec":
            results += ["exec_lo", "exec_hi"] if lines.target.lanes == 64 else ["exec_lo"]
        elif slot.type == "vcc":
            texts.append(to_mask)
            results += mask_registers("vcc" if to_mask.startswith("vcc") else "s")
        elif slot.file == "s":
            texts.append(span("s", S, slot.count))
            results += [f"s{S + i}" for i in range(slot.count)]
        elif slot.file != "src0":
            half = ".h" if slot.file == "h" else ""
            texts.append(span("v", D, slot.count) + half)
            results += [f"v{D + i}" for i in range(slot.count)]
    return texts, results


def _sources(row):
    return [slot for slot in row.src if slot.printed and not slot.tied and slot.type != "exec"]


def _halved(texts, rng):
    """The same line with the destination in the other half, now and then."""
    return [text.replace(f"v{D}.h", f"v{D}.{rng.choice('lh')}") for text in texts]


def _before():
    """Values in the masks that are not written as a whole."""
    return [f"s_mov_b32 s{S}, s30", f"s_mov_b32 s{S + 1}, s31"]


def _short(row, rng):
    texts, results = _destinations(row, _vcc())
    number = 0
    for slot in _sources(row):
        if slot.type == "vcc":
            texts.append(_vcc())
        elif slot.type == "K":
            value = rng.choice(LITERALS)
            texts.append("0x" + value[-4:] if row.name.endswith("16") else value)
        else:
            texts.append(_any(slot, rng, literal=True) if number == 0 else _vector(slot, rng))
            number += 1
    return Probe(row.name, f"{row.name}_e32 {', '.join(_halved(texts, rng))}", results=results)


def _tail(row, rng):
    """Clamp and output modifier where they mean something."""
    tail = ""
    if rng.random() < 0.4 and not row.name.startswith(NO_CLAMP) and lines.clamps(row):
        tail += " clamp"
    scales = row.dst and row.dst[0].type in ("f16", "f32", "f64") and not row.name.startswith(NO_SCALE)
    if scales and rng.random() < 0.3:
        tail += rng.choice([" mul:2", " mul:4", " div:2"])
    return tail


def _long(row, rng, *, dpp=False):
    texts, results = _destinations(row, mask())
    for number, slot in enumerate(_sources(row)):
        if slot.type == "vcc":
            texts.append(mask(rng.randrange(20, 50, 2)))
        else:
            text = _vector(slot, rng) if dpp and number < 2 else _any(slot, rng, literal=rng.random() < 0.1)
            # Signs of packed sources are none of VOP3's.
            texts.append(text if row.name.startswith("v_dot2") else _signs(text, slot, rng))
    tail = _tail(row, rng)
    if "permlane16" in row.name or "permlanex16" in row.name:
        tail = f" op_sel:[{rng.randrange(2)},{rng.randrange(2)}]"
    if re.fullmatch(r"v_cvt(_f32_[fb]p?f?8|_sr_[fb]p?f?8_f32)", row.name):
        tail += rng.choice(["", *(f" byte_sel:{k}" for k in range(4))])
    form = "_e64" if lines.encoding in ("VOP1", "VOP2", "VOPC") else ""
    if lines.target.gfx10 and "permlane" not in row.name:
        tail += lines_vector.selected_halves(row, rng)
    return Probe(
        row.name, f"{row.name}{form}{'_dpp' if dpp else ''} {', '.join(_halved(texts, rng))}{tail}", results=results
    )


def _crossing(rng):
    """A DPP16 or DPP8 control."""
    if rng.random() < 0.35:
        order = [rng.randrange(8) for _ in range(8)]
        return f"dpp8:[{','.join(map(str, order))}]" + rng.choice(["", " fi:1"])
    masks = f"row_mask:{rng.choice([15, 15, 10, 7]):#x} bank_mask:{rng.choice([15, 15, 5, 14]):#x}"
    # What FI makes of a lane outside of its row, table and text of the manual say differently: not drawn together.
    control = rng.choice(CONTROLS)
    inside = not control.startswith(("row_shl", "row_shr"))
    return f"{control} {masks}" + rng.choice(["", " bound_ctrl:1", *([" fi:1"] if inside else [])])


def _short_dpp(row, rng):
    texts, results = _destinations(row, _vcc())
    for slot in _sources(row):
        text = _vcc() if slot.type == "vcc" else _vector(slot, rng)
        texts.append(text if slot.type == "vcc" or row.name.startswith("v_dot2") else _signs(text, slot, rng))
    return Probe(row.name, f"{row.name}_dpp {', '.join(_halved(texts, rng))} {_crossing(rng)}", results=results)


def _long_dpp(row, rng):
    found = _long(row, rng, dpp=True)
    found.line += f" {_crossing(rng)}"
    return found


def _sdwa(row, rng):
    texts, results = _destinations(row, rng.choice([_vcc(), mask()]) if lines.encoding == "VOPC" else _vcc())
    return lines_vector.sdwa(row, rng, texts, results, _vcc())


def _with_itself(row, rng):
    """A comparison of equal values."""
    texts, results = _destinations(row, mask())
    register = _vector(row.src[0], rng)
    return Probe(row.name, f"{row.name}_e64 {', '.join([*texts, register, register])}", results=results)


FORMS = {
    "VOP1": (_short, _long, _short_dpp, _short, _long, _long_dpp),
    "VOP2": (_short, _long, _short_dpp, _short, _long, _long_dpp),
    "VOPC": (_short, _long, _short_dpp, _long, _with_itself, _long_dpp),
    "VOP3": (_long, _long, _long_dpp),
}


# VOPD: the two destinations are of different parity; sources lie in different banks.

_PAIRS = ((18, 19, 21, 22), (22, 25, 20, 23), (10, 11, 13, 16), (38, 13, 39, 14))
_K = "0x3fb8aa3b"


def _operation(name, which, rng, registers):
    """One half of a pair: its text. Source 0 and 1 of the two halves come from different banks."""
    first, second = registers[which], registers[2 + which]
    source = f"v{first}" if which or rng.random() < 0.6 else rng.choice(["s20", "1.0", "-4", "0.5", "s29"])
    to = f"v{D + which}"
    word = name.removeprefix("v_dual_")
    if word == "mov_b32":
        return f"{name} {to}, {source}"
    if word in ("fmaak_f32", "fmamk_f32"):
        parts = [source, f"v{second}", _K] if word == "fmaak_f32" else [source, _K, f"v{second}"]
        return f"{name} {to}, {', '.join(parts)}"
    return f"{name} {to}, {source}, v{second}"


def dual(name, side, rng):
    """A pair with `name` on one side and any operation on the other."""
    other = rng.choice(lines.duals["VOPDY" if side == "VOPDX" else "VOPDX"])
    names = [f"v_dual_{word}" for word in ((name, other) if side == "VOPDX" else (other, name))]
    names = [word.replace("_dual_v_", "_dual_") for word in names]
    registers = rng.choice(_PAIRS)
    text = " :: ".join(_operation(word, k, rng, registers) for k, word in enumerate(names))
    before = [f"v_mov_b32_e32 v{D}, v40", f"v_mov_b32_e32 v{D + 1}, v41"]
    return Probe(f"v_dual_{name.removeprefix('v_')}", text, before, [], [f"v{D}", f"v{D + 1}"])


# Everything.


def probe(encoding, row, rng, number):
    """A line for gfx11 and gfx12, None for other architectures and rows."""
    if not lines.target.rdna:
        return None
    lines.encoding = encoding
    if encoding in ("VOPDX", "VOPDY"):
        return dual(row.name, encoding, rng)
    if encoding == "VINTERP":
        return _interpolation(row, rng)
    special = _registers(row, rng)
    if special is not None:
        return special
    if encoding in ("VOP3SD", "VOP3"):
        return FORMS["VOP3"][number % 3](row, rng)
    if encoding in FORMS and row.name != "v_nop":
        forms = FORMS[encoding]
        if "sdwa" in row.flags:  # RDNA2, whose long forms have no DPP
            forms = (*forms[:5], _sdwa)
        found = forms[number % 6](row, rng)
        found.before = _before() + found.before if f"s{S}" in found.results else found.before
        return found
    return None


def _interpolation(row, rng):
    """VINTERP: neg, clamp, halves of the 16-bit operands."""
    texts = []
    for slot in (*row.dst, *row.src):
        register = D if slot in row.dst and not texts else rng.choice([*range(18, 26), *range(34, 42)])
        text = f"v{register}{rng.choice(['.l', '.h']) if slot.file == 'h' else ''}"
        texts.append(f"-{text}" if texts and rng.random() < 0.3 else text)
    tail = f"{' clamp' if rng.random() < 0.3 else ''} wait_exp:{rng.randrange(8)}"
    return Probe(row.name, f"{row.name} {', '.join(texts)}{tail}", [], [], [f"v{D}"])


def _registers(row, rng):
    """Moves by index, swaps, permutes of a wave."""
    if ("movrel" in row.name and row.name.startswith("v_")) or row.name == "v_swaprel_b32":
        far = "2" in row.name.split("_")[1:3] or row.name == "v_swaprel_b32" or "sd_2" in row.name
        index = rng.randrange(4) | (rng.randrange(4) << 16 if far else 0)
        before = ["s_mov_b32 s71, m0", f"s_mov_b32 m0, {index:#x}"]
        before += [f"v_mov_b32_e32 v{D + k}, v{10 + k}" for k in range(8)]
        source = f"v{rng.choice([12, 20, D + 2])}"
        text = f"{row.name}_e32 v{D}, {source}"
        return Probe(row.name, text, before, ["s_mov_b32 m0, s71"], [f"v{D + k}" for k in range(8)])
    if "permlane16_b32" in row.name or "permlanex16_b32" in row.name:
        scalars = [rng.choice(["s20", "s30", "s38", "-1", "0x76543210", "1"]) for _ in range(2)]
        scalars = scalars if sum(text.startswith("0x") for text in scalars) < 2 else ["s38", "s39"]
        tail = f" op_sel:[{rng.randrange(2)},{rng.randrange(2)}]"
        text = f"{row.name} v{D}, v{rng.choice([10, 38])}, {', '.join(scalars)}{tail}"
        return Probe(row.name, text, results=[f"v{D}"])
    lane = rng.choice([*(f"s{k}" for k in lines.S_POOL), "m0", "0", "5", "31", "33", "63"])
    if row.name.startswith("v_s_"):
        source = _signs(_sgpr(row.src[0], rng), row.src[0], rng)
        return Probe(row.name, f"{row.name} s{S}, {source}{_tail(row, rng)}", _before(), [], [f"s{S}", f"s{S + 1}"])
    if row.name == "v_readlane_b32":
        return Probe(row.name, f"{row.name} s{S}, v{rng.choice([10, 18, 38])}, {lane}", results=[f"s{S}"])
    if row.name == "v_writelane_b32":
        return Probe(row.name, f"{row.name} v{D}, {rng.choice(['s20', 's29', '1.0', '-4'])}, {lane}", results=[f"v{D}"])
    if row.name in ("v_dot4_i32_iu8", "v_dot8_i32_iu4"):
        texts = [_any(slot, rng, literal=False) for slot in _sources(row)]
        tail = f" neg_lo:[{rng.randrange(2)},{rng.randrange(2)},0]"
        return Probe(row.name, f"{row.name} v{D}, {', '.join(texts)}{tail}", results=[f"v{D}"])
    if row.name.startswith("v_dot4_f32"):
        texts = [_vgpr(slot, rng) for slot in _sources(row)]
        tail = f" neg_lo:[0,0,{rng.randrange(2)}] neg_hi:[0,0,{rng.randrange(2)}]"
        return Probe(row.name, f"{row.name} v{D}, {', '.join(texts)}{tail}", results=[f"v{D}"])
    if row.name in ("v_swap_b32", "v_swap_b16"):
        half = [rng.choice("lh") for _ in range(2)] if row.name.endswith("16") else []
        one, two = (f"v{D + k}" + (f".{half[k]}" if half else "") for k in range(2))
        return Probe(row.name, f"{row.name} {one}, {two}", results=[f"v{D}", f"v{D + 1}"])
    return None
