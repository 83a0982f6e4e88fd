"""Assembly lines of CDNA5's own operations: conversions of many values, lanes of a group, tables."""

from __future__ import annotations

import re
from types import SimpleNamespace

from mfmasim.isa.family import family
from tests.machine import (
    lines,
    lines_atomics,
    lines_floats,
    lines_lanes,
    lines_memory,
    lines_rdna_memory,
    lines_scalar,
    lines_segments,
)
from tests.machine.lines import V_FLOAT, V_INTEGER, V_RANDOM, D, Probe, S, _sgpr, _vgpr, span

SCALE = 92
"""Where a scale near 1 is made."""
FIRST, LAST = 10, 41
"""Registers with inputs."""
HINTS = {
    "s_monitor_sleep": "1",
    "s_setprio_inc_wg": "1",
    **{f"s_wait_{name}cnt": "0" for name in ("async", "tensor", "x")},
}
"""Hints and waits, whose operand the assembler wants."""


def _block(slot, rng):
    """Consecutive registers of inputs, at an even one."""
    return span(
        "v", rng.randrange(FIRST, LAST + 2 - slot.count, 2) if slot.count > 1 else rng.choice(V_RANDOM), slot.count
    )


def _results(row):
    slot = row.dst[0]
    return span("v", D, slot.count), [f"v{D + k}" for k in range(slot.count)]


def _codes(rng):
    """A register of E8M0 scales between 2**-7 and 2**8, one in each byte."""
    source = rng.choice(V_RANDOM)
    return [f"v_and_b32_e32 v{SCALE}, 0x0f0f0f0f, v{source}", f"v_add_u32_e32 v{SCALE}, 0x78787878, v{SCALE}"]


def _float(rng):
    """A register of f32 scales of about that size."""
    source = rng.choice(V_RANDOM)
    return [f"v_and_b32_e32 v{SCALE}, 0x07ffffff, v{source}", f"v_add_u32_e32 v{SCALE}, 0x3c000000, v{SCALE}"]


def _converted(row, rng):
    """v_cvt_scale_pk8_*, v_cvt_scalef32_pk8_*, and those of 16 values."""
    widening = row.name.startswith("v_cvt_scale_")
    before = _codes(rng) if widening else _float(rng)
    scale = rng.choice([f"v{SCALE}"] * 3 + [f"v{rng.choice(V_RANDOM)}", _sgpr(row.src[-1], rng)])
    sources = [_block(row.src[0], rng)]
    if "_sr_" in row.name:
        sources.append(f"v{rng.choice(V_RANDOM)}")
    text, results = _results(row)
    tail = ""
    if widening and rng.random() < 0.8:
        # Of 8-bit codes in blocks of 16 the odd numbers and those from 4 on are reserved.
        small = not row.name.endswith("8")
        tail = f" scale_sel:{rng.choice(range(8) if small else (*range(8), 8, 10))}"
    return Probe(row.name, f"{row.name} {', '.join([text, *sources, scale])}{tail}", before, [], results)


def _grouped(row, rng):
    """v_permlane_bcast, up, down, xor: the lane or distance, and the lanes of a group."""
    width = rng.choice((1, 2, 4, 8, 16, 32))
    amount = rng.choice([str(rng.randrange(34)), f"s{rng.choice(lines.S_POOL)}", "63"])
    return Probe(row.name, f"{row.name} v{D}, v{rng.choice(V_RANDOM)}, {amount}, {width}", results=[f"v{D}"])


def _index(row, rng):
    source = rng.choice([f"v{rng.choice(V_INTEGER)}", f"v{rng.choice(V_RANDOM)}", f"s{rng.choice(lines.S_POOL)}", "5"])
    return Probe(row.name, f"{row.name} v{D}, {source}, {rng.choice((1, 2, 4, 8, 16, 32))}", results=[f"v{D}"])


def _table(row, rng):
    text, results = _results(row)
    sources = [_block(slot, rng) if slot.file == "v" or slot.count > 1 else _vgpr(slot, rng) for slot in row.src]
    return Probe(row.name, f"{row.name} {text}, {', '.join(sources)}", results=results)


def _byte(row, rng):
    """v_cvt_sr_fp8_f16 and v_cvt_f16_fp8, which name a byte."""
    tail = rng.choice(["", *(f" byte_sel:{k}" for k in range(4))])
    half = rng.choice("lh")
    if "_sr_" in row.name:
        source = rng.choice(["", "-"]) + f"v{rng.choice([*V_FLOAT, *V_RANDOM])}.{half}"
        return Probe(row.name, f"{row.name} v{D}, {source}, v{rng.choice(V_RANDOM)}{tail}", results=[f"v{D}"])
    return Probe(row.name, f"{row.name}_e64 v{D}.{half}, v{rng.choice(V_RANDOM)}{tail}", results=[f"v{D}"])


FAMILIES = (
    (r"v_cvt_scale(f32)?_(sr_)?pk(8|16)_\w+", _converted),
    (r"v_permlane_(bcast|up|down|xor)_b32", _grouped),
    (r"v_permlane_idx_gen_b32", _index),
    (r"v_perm_pk16_\w+", _table),
    (r"v_cvt_sr_[fb][pf]8_f16|v_cvt_f16_[fb][pf]8", _byte),
)


def _three_packed(row, rng):
    """Three packed integers; clamp makes negative results zero."""
    found = lines_lanes._packed(row, rng)
    if rng.random() < 0.4 and "clamp" not in found.line:
        found.line += " clamp"
    return found


def _packed(row, rng):
    return lines_floats._packed(row, rng)


def _beyond(row, _rng):
    """A jump over one instruction, and one to the next."""
    before = [f"s_mov_b32 s{S}, 5", f"{row.name} 4", f"s_mov_b32 s{S}, 6"]
    return Probe(row.name, f"{row.name} 0", before, [], [f"s{S}"])


# VOPD3: sources of the two halves in different banks, and destinations of one parity, which VOPD does not allow.
PLACES = {"x": (10, 14, 18, 22, 26, 34), "y": (12, 16, 20, 24, 28, 36)}
OTHERS = ("v_mul_f32", "v_add_f32", "v_lshlrev_b32", "v_sub_nc_u32", "v_fma_f32")


def _half_of_dual(row, side, rng):
    """The text of one half; negated or plain registers, and as the first source of X scalars or constants."""
    texts = [span("v", D + 2 * (side == "y"), row.dst[0].count)]
    for number, slot in enumerate(slot for slot in row.src if slot.printed and not slot.tied):
        if slot.type == "vcc":
            texts.append(rng.choice(["vcc_lo", "s20", "s38"]))
            continue
        text = span("v", rng.choice(PLACES[side]), slot.count)
        if number == 0 and side == "x" and rng.random() < 0.3:
            text = rng.choice(["1.0", "-4", "0.5", *(["s21", "s30"] if slot.count == 1 else [])])
        texts.append(f"-{text}" if slot.type[0] == "f" and text[0] == "v" and rng.random() < 0.4 else text)
    tail = f" bitop3:{rng.randrange(1, 256):#x}" if "bitop2" in row.flags else ""
    return f"v_dual_{row.name.removeprefix('v_')} {', '.join(texts)}{tail}"


def _dual(row, encoding, rng):
    """A pair with this operation on its side."""
    rows = {one.name: one for table in ("VOPD3X", "VOPD3Y") for one in family("gfx1250").rows[table].values()}
    other = rows[rng.choice(OTHERS)]
    pair = (row, other) if encoding == "VOPD3X" else (other, row)
    text = " :: ".join(_half_of_dual(half, side, rng) for half, side in zip(pair, "xy", strict=True))
    before = [f"v_mov_b32_e32 v{D + k}, v{38 + k}" for k in range(4)]
    results = [f"v{D + 2 * k + part}" for k, half in enumerate(pair) for part in range(half.dst[0].count)]
    return Probe(f"v_dual_{row.name.removeprefix('v_')}", text, before, [], results)


OLDER = {
    "s_get_pc_i64": ("s_getpc_b64", lines_scalar._counter),
    "s_set_pc_i64": ("s_setpc_b64", lines_scalar._counter),
    "s_swap_pc_i64": ("s_swappc_b64", lines_scalar._counter),
    "s_call_i64": ("s_call_b64", lines_lanes._call),
    "s_get_shader_cycles_u64": ("s_memtime", lines_lanes._clock),
}
"""Operations that have another name than before, the older name, and what draws its lines."""


def _renamed(row, rng, number):
    name, make = OLDER[row.name]
    found = make(SimpleNamespace(name=name), rng, f"{row.name}{number}")
    found.name = row.name
    if row.name == "s_get_shader_cycles_u64":
        found.line = found.line.replace(name, row.name)
        found.after = [line.replace(name, row.name) for line in found.after]
    return found


def _buffer(encoding, row, rng, number):
    """A line of another generation, with a resource of this one: base, size, stride, and how it is checked."""
    found = next(p for family in BUFFERS if (p := family.probe(encoding, row, rng, number)) is not None)
    records = rng.choice([96 * 64 * 2, 96 * 64 * 2, 0, 100, 102, 2048, 1021])
    scale = rng.randrange(2)
    stride, check = rng.choice([(0, 0), (64 >> 2 * scale, 0), (64 >> 2 * scale, 1)])
    found.before += [
        "s_and_b32 s81, s81, 0xffff",
        f"s_or_b32 s81, s81, {(records & 0x7F) << 25:#x}",
        f"s_mov_b32 s82, {records >> 7}",
        f"s_mov_b32 s83, {stride << 12 | scale << 26 | check << 29:#x}",
    ]
    return found


BUFFERS = (lines_rdna_memory, lines_segments, lines_atomics, lines_memory)
PACKED = (
    (r"v_pk_(min3|max3|add_min|add_max)_[iu]16", _three_packed),
    (r"v_pk_\w+_bf16|v_pk_(min3|max3)_num_f16|v_fma_mix\w*_bf16", _packed),
)


def probe(encoding, row, rng, number):
    """A line for CDNA5, None for other rows."""
    if encoding == "VOP3P":
        return next((make(row, rng) for pattern, make in PACKED if re.fullmatch(pattern, row.name)), None)
    if encoding in ("VOPD3X", "VOPD3Y"):
        return _dual(row, encoding, rng)
    if encoding == "MUBUF" and lines.target.cdna5:
        return _buffer(encoding, row, rng, number)
    if row.name in OLDER:
        return _renamed(row, rng, number)
    if row.name == "s_add_pc_i64":
        return _beyond(row, rng)
    if encoding == "SOPP" and row.name in HINTS:
        return Probe(row.name, f"{row.name} {HINTS[row.name]}")
    return next((make(row, rng) for pattern, make in FAMILIES if re.fullmatch(pattern, row.name)), None)
