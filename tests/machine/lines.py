"""Assembly lines for every operation, drawn from the decoder's rows: operands of all kinds, all forms, all modifiers.

The frame around them (see frame.py) fixes the registers: v10..v41 and s20..s51 are inputs, v100.. and s70.. results.
"""

from __future__ import annotations

from dataclasses import dataclass, field

V_INTEGER, V_FLOAT, V_WIDE, V_HALF = range(10, 18), range(18, 26), range(26, 34), range(34, 38)
V_RANDOM = range(38, 42)
S_POOL = range(20, 52)
SATURATES = {
    "v_add_u32", "v_sub_u32", "v_subrev_u32", "v_add_co_u32", "v_sub_co_u32", "v_subrev_co_u32", "v_addc_co_u32",
    "v_subb_co_u32", "v_subbrev_co_u32", "v_add_u16", "v_sub_u16", "v_subrev_u16", "v_add_i32", "v_sub_i32",
    "v_add_i16", "v_sub_i16", "v_mad_u32_u24", "v_mad_i32_i24", "v_mad_u32_u16", "v_mad_i32_i16", "v_mad_u16",
    "v_mad_i16", "v_sad_u8", "v_sad_u32",
}  # fmt: skip
"""Integer operations that the manual gives a saturating form."""

FORMS = {
    # form: a line that has it
    "special scalar source": "s_cselect_b32 s70, s20, src_execz",
    "integer clamp": "v_add_u32_e64 v100, v10, v11 clamp",
    "sdwa sign-extended result": "v_not_b32_sdwa v100, v10 dst_sel:BYTE_1 dst_unused:UNUSED_SEXT src0_sel:BYTE_0",
    "dpp": "v_mov_b32_dpp v100, v10 row_shl:1 row_mask:0xf bank_mask:0xf",
    "dpp with arithmetic": "v_fmac_f32_dpp v100, v10, v11 quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf",
}
"""Forms that a machine may refuse as a whole; the lines below have only those that it takes."""
LDS_OWN, LDS_STRIDED, LDS_OUTSIDE, GLOBAL_PAIR, GLOBAL_OFFSET = "v42", "v43", "v44", "v[6:7]", "v45"
SDATA, GLOBAL_BASE = "s[6:7]", "s[12:13]"
D, S = 100, 70
INLINE = (0, 1, 2, 5, 31, 32, 33, 63, 64, -1, -2, -16)
INLINE_FLOAT = ("0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0", "0.15915494")
LITERALS = (
    "0x80000000",
    "0x7fffffff",
    "0xffffff80",
    "0x12345678",
    "0x7f800001",
    "0xff800000",
    "0x00400000",
    "0x3f800001",
)


@dataclass
class Probe:
    """One instruction under test, what goes before it, and the registers to look at afterwards."""

    name: str
    line: str
    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    """VGPRs or SGPRs, one dword each."""


def span(file, first, count):
    """LLVM's spelling of consecutive registers."""
    return f"{file}{first}" if count == 1 else f"{file}[{first}:{first + count - 1}]"


def _width(slot):
    return slot.count


def _vgpr(slot, rng):
    if slot.count == 1:
        pools = {"f32": V_FLOAT, "f16": V_HALF, "u16": V_INTEGER, "i16": V_INTEGER}
        pool = rng.choice([pools.get(slot.type, V_INTEGER), V_RANDOM, V_INTEGER, V_FLOAT])
        return f"v{rng.choice(pool)}"
    pools = (V_WIDE, V_FLOAT, V_INTEGER, V_RANDOM)
    starts = [n for pool in rng.choices(pools, (5, 1, 1, 1)) for n in pool if n % 2 == 0 and n + slot.count - 1 in pool]
    return span("v", rng.choice(starts), slot.count)


def _sgpr(slot, rng):
    step = 1 if slot.count == 1 else 2 if slot.count == 2 else 4
    return span("s", rng.choice([n for n in S_POOL if n % step == 0 and n + slot.count - 1 in S_POOL]), slot.count)


def _constant(slot, rng, literal):
    kinds = (
        ["integer"] * 3 + (["float"] * 2 if slot.type[0] in "fb" else ["float"]) + (["literal"] * 2 if literal else [])
    )
    kind = rng.choice(kinds)
    if kind == "integer":
        return str(rng.choice(INLINE))
    if kind == "literal":
        return rng.choice(LITERALS) if slot.type != "f16" else "0x" + rng.choice(LITERALS)[-4:]
    return rng.choice(INLINE_FLOAT)


def _signs(text, slot, rng, chance=0.35):
    if not slot.signed or text[0] == "-" or rng.random() > chance:
        return text
    return rng.choice([f"-{text}", f"|{text}|", f"-|{text}|"])


def _source(slot, rng, *, vector=0.55, literal=False, signs=False):
    """A source of the 9-bit operand space."""
    if slot.file == "a":
        return f"a{rng.randrange(8)}"
    if slot.file == "v":
        return _vgpr(slot, rng)
    if slot.file == "s":
        return rng.choice([_sgpr(slot, rng), str(rng.choice(INLINE))])
    point = rng.random()
    text = (
        _vgpr(slot, rng)
        if point < vector
        else _sgpr(slot, rng)
        if point < vector + 0.2
        else _constant(slot, rng, literal)
    )
    return _signs(text, slot, rng) if signs else text


def _destinations(row, mask):
    """(texts, results): vector results from v100, masks in `mask`, scalars from s70."""
    texts, results = [], []
    for slot in row.dst:
        if slot.type == "exec":
            results += ["exec_lo", "exec_hi"]
        elif slot.type == "vcc":
            texts.append(mask)
            results += ["vcc_lo", "vcc_hi"] if mask == "vcc" else [f"s{S}", f"s{S + 1}"]
        elif slot.file == "s":
            texts.append(span("s", S, slot.count))
            results += [f"s{S + i}" for i in range(slot.count)]
        elif slot.file == "src0":
            continue
        else:
            file = "a" if slot.file == "a" else "v"
            texts.append(span(file, D, slot.count))
            results += [f"{file}{D + i}" for i in range(slot.count)]
    return texts, results


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


def _clamps(row):
    """Whether the clamp modifier has a meaning, and one that is drawn."""
    if row.dst[0].type[0] == "f" or row.dst[0].type.startswith("pk_f"):
        return True
    return row.name in SATURATES and "integer clamp" in taken


taken = set(FORMS)
"""Forms to draw; the test fills it with what the machine takes."""


def _long(row, rng, flags, form):
    """VOP3."""
    texts, results = _destinations(row, span("s", S, 2))
    for slot in row.src:
        if not slot.printed or slot.tied or slot.type == "exec":
            continue
        texts.append(span("s", rng.randrange(20, 50, 2), 2) if slot.type == "vcc" else _source(slot, rng, signs=True))
    tail = ""
    if "clamp" in flags and _clamps(row) and rng.random() < 0.4:
        tail += " clamp"
    if "omod" in flags and rng.random() < 0.3:
        tail += rng.choice([" mul:2", " mul:4", " div:2"])
    if "op_sel" in row.flags and row.name not in _NO_HALVES and rng.random() < 0.7:
        count = sum(s.printed and not s.tied for s in row.src)
        bits = [rng.randrange(2) for _ in range(count + 1)]
        if row.dst[0].type not in ("f16", "u16", "i16", "b16"):
            bits[count] = 0
        tail += f" op_sel:[{','.join(map(str, bits))}]"
    if "bitop3" in row.flags:
        tail = f" bitop3:{rng.randrange(256):#x}" + tail
    return Probe(row.name, f"{row.name}{form} {', '.join(texts)}{tail}", results=results)


_NO_HALVES = {"v_alignbit_b32", "v_alignbyte_b32"}
"""They decode op_sel, but have no 16-bit operand that it could select."""
_SELECTORS = ("BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD")


def _selector(slot, rng):
    """Parts that make sense for a type: halves for f16, the whole for f32, anything for integers."""
    if slot.type == "f16":
        return rng.choice(_SELECTORS[4:])
    return "DWORD" if slot.type[0] == "f" else rng.choice(_SELECTORS)


def _sdwa(row, rng):
    compare = row.dst[0].type == "vcc"
    texts, results = _destinations(row, rng.choice(["vcc", span("s", S, 2)]) if compare else "vcc")
    selectors = []
    for number, slot in enumerate(s for s in row.src if s.printed and not s.tied and s.type != "exec"):
        if slot.type == "vcc":
            texts.append("vcc")
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
        unused = ["UNUSED_PAD", "UNUSED_PRESERVE"] + ["UNUSED_SEXT"] * ("sdwa sign-extended result" in taken)
        head = [f"dst_sel:{kind}", f"dst_unused:{rng.choice(unused)}"]
        if "clamp" in row.flags["sdwa"] and _clamps(row) and rng.random() < 0.3:
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
    if "dpp" in row.flags and {"dpp", "dpp with arithmetic"} <= taken:
        forms.append(_dpp)
    return forms


def _scalar_source(slot, rng):
    if slot.file == "s" or rng.random() < 0.55:
        return _sgpr(slot, rng)
    if rng.random() < 0.2:
        special = ["src_scc", "src_vccz", "src_execz"] if "special scalar source" in taken else []
        return rng.choice(["vcc", "exec"] if slot.count == 2 else ["vcc_lo", "exec_hi", "m0", *special])
    return _constant(slot, rng, literal=True)


def _scalar(encoding, row, rng, number):
    """SOP1, SOP2, SOPC, SOPK; every fourth line has equal sources, where comparisons tip over."""
    equal = number % 4 == 3
    texts, results, before = [], [], []
    for slot in row.dst:
        if slot.type == "exec":
            results += ["exec_lo", "exec_hi"]
        elif slot.printed:
            texts.append(span("s", S, slot.count))
            results += [f"s{S + i}" for i in range(slot.count)]
            before += [f"s_mov_b32 s{S + i}, s{rng.choice(S_POOL)}" for i in range(slot.count)]
    for slot in row.src:
        if slot.tied or not slot.printed or slot.type == "exec":
            continue
        if slot.type == "simm16":
            texts.append(f"{rng.choice([0, 1, 31, 32, 0x7FFF, 0x8000, 0xFFFF, 0xFFC0, rng.randrange(1 << 16)]):#x}")
        elif encoding == "SOPK":
            texts.append(f"s{rng.choice(S_POOL)}")
        else:
            texts.append(_scalar_source(slot, rng))
    if equal and row.name.startswith("s_cmpk"):
        value = rng.randrange(1 << 15)
        before, texts = [f"s_movk_i32 s{S}, {value:#x}"], [f"s{S}", f"{value:#x}"]
    elif equal and encoding in ("SOP2", "SOPC") and row.src[0].count == row.src[1].count:
        texts[-1] = texts[-2] = _sgpr(row.src[0], rng)
    return Probe(row.name, f"{row.name} {', '.join(texts)}", before, [], results)


def _scalar_load(row, rng):
    count = row.dst[0].count
    offset = rng.choice(["0x0", "0x4", "0x14", "0x40", "s62", "s62 offset:0x8", "0x13", "-0x8"])
    results = [f"s{72 + i}" for i in range(count)]
    base = SDATA if offset[0] != "-" else "s[64:65]"
    return Probe(
        row.name, f"{row.name} {span('s', 72, count)}, {base}, {offset}", [], ["s_waitcnt lgkmcnt(0)"], results
    )


def _read_back():
    """The parts of the LDS that a lane owns."""
    return [f"ds_read_b128 v[104:107], {LDS_OWN}", f"ds_read_b128 v[108:111], {LDS_OWN} offset:16",
            f"ds_read2st64_b64 v[112:115], {LDS_STRIDED} offset1:1",
            f"ds_read2st64_b64 v[116:119], {LDS_STRIDED} offset0:2 offset1:3", "s_waitcnt lgkmcnt(0)"]  # fmt: skip


def _lds(row, rng):
    """DS loads and stores, each lane in a place of its own, or outside of the LDS."""
    strided = "st64" in row.name
    address = LDS_STRIDED if strided else LDS_OWN
    if rng.random() < 0.2:
        address = LDS_OUTSIDE
    size = {"b8": 1, "u8": 1, "i8": 1, "b16": 2, "u16": 2, "i16": 2, "b32": 4, "b64": 8, "b96": 12, "b128": 16}[
        next(part for part in reversed(row.name.split("_")) if part[0] in "bui" and part[1:].isdigit())
    ]
    if "offset2" in row.flags:
        most = 4 if strided else 32 // size
        offset = f" offset0:{rng.randrange(most)} offset1:{rng.randrange(most)}"
        if row.name.startswith("ds_write"):
            # Two stores to one place have no defined order: keep all places of all lanes apart.
            step = 512 // (64 * size) if strided else 1
            first = rng.randrange(most)
            offset = f" offset0:{step * first} offset1:{step * ((first + 1 + rng.randrange(most - 1)) % most)}"
    else:
        step = size if size != 12 else 16
        offset = f" offset:{step * rng.randrange(32 // step)}"
    texts, results = [], []
    for slot in row.dst:
        texts.append(span("v", D, slot.count))
        results += [f"v{D + i}" for i in range(slot.count)]
    texts.append(address)
    texts += [
        _vgpr(slot, rng) if slot.count < 3 else span("v", 4 * rng.randrange(3, 10), slot.count) for slot in row.src[1:]
    ]
    if row.dst:
        return Probe(row.name, f"{row.name} {', '.join(texts)}{offset}", [], ["s_waitcnt lgkmcnt(0)"], results)
    return Probe(
        row.name, f"{row.name} {', '.join(texts)}{offset}", [], _read_back(), [f"v{n}" for n in range(104, 120)]
    )


def _global(row, rng):
    """GLOBAL loads and stores in 64 bytes of the lane's own, by address or by base and offset."""
    size = {"ubyte": 1, "sbyte": 1, "byte": 1, "ushort": 2, "sshort": 2, "short": 2}.get(row.name.split("_")[2], 4)
    total = size if size < 4 else 4 * (row.dst or row.src[-1:])[0].count
    offset = rng.choice(range(-32, 33 - total, size))
    tail = rng.choice(
        [f"{GLOBAL_PAIR}, {{}}off offset:{offset}", f"{GLOBAL_OFFSET}, {{}}{GLOBAL_BASE} offset:{offset}"]
    )
    if row.dst:
        count = row.dst[0].count
        results = [f"v{D + i}" for i in range(count)]
        return Probe(
            row.name, f"{row.name} {span('v', D, count)}, {tail.format('')}", [], ["s_waitcnt vmcnt(0)"], results
        )
    slot = row.src[-1]
    data = _vgpr(slot, rng) if slot.count < 3 else span("v", 4 * rng.randrange(3, 10), slot.count)
    after = [
        f"global_load_dwordx4 v[{104 + 4 * i}:{107 + 4 * i}], {GLOBAL_PAIR}, off offset:{16 * i - 32}" for i in range(4)
    ]
    results = [f"v{n}" for n in range(104, 120)]
    return Probe(
        row.name,
        f"{row.name} {tail.format(data + ', ')}",
        ["s_waitcnt vmcnt(0)"],
        [*after, "s_waitcnt vmcnt(0)"],
        results,
    )


_IMMEDIATES = {"s_nop": "3", "s_waitcnt": "0", "s_setprio": "1", "s_sleep": "2", "s_incperflevel": "1",
               "s_decperflevel": "1", "s_sethalt": "0"}  # fmt: skip


def _program(row, rng, number):
    """SOPP: branches jump over an instruction, the others do nothing."""
    label = f".Lover_{row.name}{number}"
    if row.src and any(slot.type == "label" for slot in row.src):
        return Probe(
            row.name,
            f"{row.name} {label}",
            [f"v_mov_b32_e32 v{D}, 1"],
            [f"v_mov_b32_e32 v{D}, 2", f"{label}:"],
            [f"v{D}"],
        )
    return Probe(
        row.name, f"{row.name} {_IMMEDIATES.get(row.name, '')}".rstrip(), [f"v_mov_b32_e32 v{D}, 1"], [], [f"v{D}"]
    )


def _counter(row, rng, number):
    """S_GETPC, S_SETPC, S_SWAPPC: only distances are compared."""
    label, here, line = f".Lover_{row.name}{number}", f".Lhere_{row.name}{number}", f"{row.name} s[{S}:{S + 1}]"
    start = ["s_getpc_b64 s[74:75]", f"{here}:"]
    if row.name == "s_getpc_b64":
        return Probe(
            row.name,
            line,
            start,
            [f"s_sub_u32 s{S}, s{S}, s74", f"s_subb_u32 s{S + 1}, s{S + 1}, s75"],
            [f"s{S}", f"s{S + 1}"],
        )
    jump = [f"s_add_u32 s{S}, s74, {label}-{here}", f"s_addc_u32 s{S + 1}, s75, 0", f"v_mov_b32_e32 v{D}, 1"]
    after = [f"v_mov_b32_e32 v{D}, 2", f"{label}:"]
    if row.name == "s_swappc_b64":
        after += ["s_sub_u32 s76, s76, s74", "s_subb_u32 s77, s77, s75"]
        return Probe(row.name, f"{row.name} s[76:77], s[{S}:{S + 1}]", start + jump, after, [f"v{D}", "s76", "s77"])
    return Probe(row.name, line, start + jump, after, [f"v{D}"])


GENERATORS = []
"""More functions like `probe`, asked first: other files add theirs."""


def probe(encoding, row, rng, number):
    """One random line for a row, or None where no generator knows its encoding."""
    from lines_more_memory import more  # it needs this module

    other = more(encoding, row, rng, number)
    if other is not None:
        return other
    for generator in GENERATORS:
        found = generator(encoding, row, rng, number)
        if found is not None:
            return found
    if row.name in ("s_getpc_b64", "s_setpc_b64", "s_swappc_b64"):
        return _counter(row, rng, number)
    if encoding == "VOPC" and number % 12 == 3 and row.src[0].count == row.src[1].count:
        return _compare_with_itself(row, rng)
    if encoding in ("VOP1", "VOP2", "VOPC", "VOP3"):
        forms = _vector_forms(encoding, row)
        return forms[number % len(forms)](row, rng)
    if encoding == "MAI" and row.name.startswith("v_accvgpr"):
        return _long(row, rng, {}, "")
    if encoding in ("SOP1", "SOP2", "SOPC", "SOPK"):
        return _scalar(encoding, row, rng, number)
    if encoding == "SMEM":
        return (
            _scalar_load(row, rng)
            if row.name.startswith("s_load")
            else _program(row, rng, number)
            if not row.dst
            else None
        )
    if encoding == "SOPP":
        return _program(row, rng, number)
    if encoding == "DS" and row.name.startswith(("ds_read", "ds_write")) and "tr_" not in row.name:
        return _lds(row, rng)
    if encoding == "GLOBAL" and row.name.startswith(("global_load", "global_store")) and "lds" not in row.name:
        return _global(row, rng)
    return None
