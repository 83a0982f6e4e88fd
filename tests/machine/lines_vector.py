"""Assembly lines for vector operations in all their forms: 32 bits, VOP3, SDWA, DPP."""

from __future__ import annotations

from tests.machine import lines
from tests.machine.lines import (
    _NO_HALVES,
    LITERALS,
    Probe,
    S,
    _destinations,
    _sgpr,
    _signs,
    _source,
    _vgpr,
    clamps,
    span,
)


def _short(row, rng):
    """VOP1, VOP2, VOPC in 32 bits."""
    texts, results = _destinations(row, "vcc")
    number = 0
    for slot in row.src:
        if not slot.printed or slot.tied or slot.type == "exec":
            continue
        if slot.type == "vcc":
            texts.append("vcc")
        elif slot.type == "K":
            texts.append(rng.choice(LITERALS))
        else:
            texts.append(
                _source(slot, rng, literal="K" not in [s.type for s in row.src])
                if number == 0 or slot.file
                else _vgpr(slot, rng)
            )
            number += 1
    form = "" if "bare" in row.flags else "_e32"
    return Probe(row.name, f"{row.name}{form} {', '.join(texts)}", results=results)


def _compare_with_itself(row, rng):
    """A comparison of equal values, where conditions such as > and >= differ."""
    texts, results = _destinations(row, span("s", S, 2))
    register = _vgpr(row.src[0], rng)
    return Probe(row.name, f"{row.name}_e64 {', '.join([*texts, register, register])}", results=results)


def selected_halves(row, rng):
    """OP_SEL of an operation that has it and no names of halves."""
    if "op_sel" not in row.flags or row.name in _NO_HALVES or rng.random() >= 0.7:
        return ""
    count = sum(s.printed and not s.tied for s in row.src)
    bits = [rng.randrange(2) for _ in range(count + 1)]
    if row.dst[0].type not in ("f16", "u16", "i16", "b16"):
        bits[count] = 0
    return f" op_sel:[{','.join(map(str, bits))}]"


def _long(row, rng, flags, form):
    """VOP3."""
    texts, results = _destinations(row, span("s", S, 2))
    for slot in row.src:
        if not slot.printed or slot.tied or slot.type == "exec":
            continue
        texts.append(span("s", rng.randrange(20, 50, 2), 2) if slot.type == "vcc" else _source(slot, rng, signs=True))
    tail = ""
    if "clamp" in flags and clamps(row) and rng.random() < 0.4:
        tail += " clamp"
    if "omod" in flags and rng.random() < 0.3:
        tail += rng.choice([" mul:2", " mul:4", " div:2"])
    tail += selected_halves(row, rng)
    if "bitop3" in row.flags:
        tail = f" bitop3:{rng.randrange(256):#x}" + tail
    return Probe(row.name, f"{row.name}{form} {', '.join(texts)}{tail}", results=results)


_SELECTORS = ("BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD")


def _selector(slot, rng):
    """Parts that make sense for a type: halves for f16, the whole for f32, anything for integers."""
    if slot.type == "f16":
        return rng.choice(_SELECTORS[4:])
    return "DWORD" if slot.type[0] == "f" else rng.choice(_SELECTORS)


def _sdwa(row, rng):
    compare = row.dst[0].type == "vcc"
    found = _destinations(row, rng.choice(["vcc", span("s", S, 2)]) if compare else "vcc")
    return sdwa(row, rng, *found, "vcc")


def sdwa(row, rng, texts, results, mask):
    """A line in SDWA; `texts` are those of the destinations, `mask` that of the implicit lane mask."""
    compare = lines.encoding == "VOPC" or row.dst[0].type == "vcc"
    selectors = []
    for number, slot in enumerate(s for s in row.src if s.printed and not s.tied and s.type != "exec"):
        if slot.type == "vcc":
            texts.append(mask)
            continue
        text = _vgpr(slot, rng) if rng.random() < 0.85 else _sgpr(slot, rng)
        selector = _selector(slot, rng)
        if slot.signed:
            # neg and abs act on a part as wide as the operand's type.
            text = _signs(text, slot, rng) if selector == "DWORD" or slot.type == "f16" else text
        elif rng.random() < 0.3:
            text = f"sext({text})"
        texts.append(text)
        selectors.append(f"src{number}_sel:{selector}")
    head = []
    if not compare:
        kind = _selector(row.dst[0], rng)
        unused = ["UNUSED_PAD", "UNUSED_PRESERVE"] + ["UNUSED_SEXT"] * ("sdwa sign-extended result" in lines.taken)
        head = [f"dst_sel:{kind}", f"dst_unused:{rng.choice(unused)}"]
        if "clamp" in row.flags["sdwa"] and clamps(row) and rng.random() < 0.3:
            head.insert(0, "clamp")
    return Probe(row.name, f"{row.name}_sdwa {', '.join(texts)} {' '.join(head + selectors)}", results=results)


_CONTROLS = (
    "quad_perm:[3,2,1,0]", "quad_perm:[1,1,2,0]", "row_shl:1", "row_shl:15", "row_shr:3", "row_shr:8", "row_ror:5",
    "wave_shl:1", "wave_rol:1", "wave_shr:1", "wave_ror:1", "row_mirror", "row_half_mirror", "row_bcast:15",
    "row_bcast:31", "row_newbcast:7",
)  # fmt: skip


def _dpp(row, rng):
    texts, results = _destinations(row, "vcc")
    for slot in row.src:
        if slot.type == "vcc":
            texts.append("vcc")
        elif slot.printed and not slot.tied and slot.type != "exec":
            texts.append(_signs(_vgpr(slot, rng), slot, rng))
    control = rng.choice(_CONTROLS)
    tail = f"{control} row_mask:{rng.choice([15, 15, 10, 7]):#x} bank_mask:{rng.choice([15, 15, 5, 14]):#x}"
    tail += rng.choice(["", " bound_ctrl:1"])
    return Probe(row.name, f"{row.name}_dpp {', '.join(texts)} {tail}", results=results)


def _vector_forms(encoding, row):
    if encoding == "VOP3":
        return [lambda row, rng: _long(row, rng, row.flags, "")]
    forms = []
    if "bare" in row.flags or "e32" in row.flags:
        forms.append(_short)
    if "e64" in row.flags:
        tail = "" if "bare" in row.flags else "_e64"
        forms.append(lambda row, rng: _long(row, rng, row.flags["e64"], tail))
    if "sdwa" in row.flags:
        forms += [_sdwa, _sdwa]
    if "dpp" in row.flags and {"dpp", "dpp with arithmetic"} <= lines.taken:
        forms.append(_dpp)
    return forms


def probe(encoding, row, rng, number):
    """A line for VOP1, VOP2, VOPC, VOP3 and the moves of accumulators."""
    if encoding == "VOPC" and number % 12 == 3 and row.src[0].count == row.src[1].count:
        return _compare_with_itself(row, rng)
    if encoding in ("VOP1", "VOP2", "VOPC", "VOP3"):
        forms = _vector_forms(encoding, row)
        return forms[number % len(forms)](row, rng)
    if encoding == "MAI" and row.name.startswith("v_accvgpr"):
        return _long(row, rng, {}, "")
    return None
