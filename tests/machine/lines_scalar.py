"""Assembly lines for scalar operations, scalar loads, branches and the program counter."""

from __future__ import annotations

from tests.machine import lines
from tests.machine.lines import S_POOL, SDATA, D, Probe, S, _constant, _sgpr, span


def _scalar_source(slot, rng):
    if slot.file == "s" or rng.random() < 0.55:
        return _sgpr(slot, rng)
    if rng.random() < 0.2:
        special = ["src_scc", "src_vccz", "src_execz"] if "special scalar source" in lines.taken else []
        if lines.target.rdna:
            # A wave of 32 lanes has no 64-bit masks.
            special = ["src_scc", "null"]
            if slot.count == 2 and lines.target.lanes == 32:
                return "null"
        high = "exec_hi" if lines.target.lanes == 64 else "exec_lo"
        return rng.choice(["vcc", "exec"] if slot.count == 2 else ["vcc_lo", high, "m0", *special])
    return _constant(slot, rng, literal=True)


def _scalar(encoding, row, rng, number):
    """SOP1, SOP2, SOPC, SOPK; every fourth line has equal sources, where comparisons tip over."""
    equal = number % 4 == 3
    texts, results, before = [], [], []
    for slot in row.dst:
        if slot.type == "exec":
            results += ["exec_lo", "exec_hi"][: lines.target.lanes // 32]
        elif slot.printed:
            texts.append(span("s", S, slot.count))
            results += [f"s{S + i}" for i in range(slot.count)]
            before += [f"s_mov_b32 s{S + i}, s{rng.choice(S_POOL)}" for i in range(slot.count)]
    for slot in row.src:
        if slot.tied or not slot.printed or slot.type == "exec":
            continue
        if slot.type == "simm16":
            texts.append(f"{rng.choice([0, 1, 31, 32, 0x7FFF, 0x8000, 0xFFFF, 0xFFC0, rng.randrange(1 << 16)]):#x}")
        elif slot.type == "K":
            texts.append(rng.choice(lines.LITERALS))
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


_IMMEDIATES = {"s_nop": "3", "s_waitcnt": "0", "s_setprio": "1", "s_sleep": "2", "s_incperflevel": "1",
               "s_decperflevel": "1", "s_sethalt": "0"}  # fmt: skip


def _program(row, rng, number):
    """SOPP: branches jump over an instruction, the others do nothing."""
    label = f".Lover_{row.name}{number}"
    if row.opcode.flow == "end" or row.name == "s_code_end":
        # Jumped over: what follows in the program is to be executed. Every program ends with one that is not.
        before = [f"v_mov_b32_e32 v{D}, 1", f"s_branch {label}"]
        return Probe(row.name, row.name, before, [f"{label}:"], [f"v{D}"])
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


def probe(encoding, row, rng, number):
    """A line for SOP1, SOP2, SOPC, SOPK, SMEM, SOPP."""
    if row.name in ("s_getpc_b64", "s_setpc_b64", "s_swappc_b64"):
        return _counter(row, rng, number)
    if encoding in ("SOP1", "SOP2", "SOPC", "SOPK"):
        return _scalar(encoding, row, rng, number)
    if encoding == "SMEM" and row.name.startswith("s_load"):
        return _scalar_load(row, rng)
    if encoding == "SOPP" or (encoding == "SMEM" and not row.dst):
        return _program(row, rng, number)
    return None
