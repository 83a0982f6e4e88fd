"""Assembly lines for atomics on the LDS and on memory."""

from __future__ import annotations

from tests.machine import lines
from tests.machine.lines_segments import _APERTURES
from tests.slow.machine.atomics import ATOMICS


def _numbers(row, rng, operands):
    """Data registers of the kind that the operation works on."""
    name = row.name
    pool = [18, 20, 22, 24] if "f32" in name or "pk_add" in name else [10, 12, 14, 16, 38, 40]
    if "f64" in name or "64" in name or "_x2" in name:
        pool = [26, 28, 30, 32, 38]
    if "pk_add_f16" in name:
        pool = [34, 35, 36, 37]
    out = []
    for slot in operands:
        start = rng.choice(pool)
        if slot.count > 1:
            start = min(start // 2 * 2, 42 - slot.count)
        out.append(lines.span("v", start, slot.count))
    return out


_LANE = ["v_mbcnt_lo_u32_b32 v103, -1, 0", "v_mbcnt_hi_u32_b32 v103, -1, v103"]


def _places(rng, size):
    """v104: byte in the wave's own part of a space, one of few or the lane's own; v103 is the lane's number."""
    lane = _LANE
    kind = rng.choice(["own", "four", "one"])
    step = {4: 2, 8: 3}[size]
    if kind == "one":
        return [*lane, "v_mov_b32_e32 v104, 64"]
    return [
        *lane,
        *([] if kind == "own" else ["v_and_b32_e32 v104, 3, v103"]),
        f"v_lshlrev_b32_e32 v104, {step}, {'v103' if kind == 'own' else 'v104'}",
    ]


def _ds_atomic(row, rng, size):
    """LDS: the wave's own part; two dwords a lane are read afterwards, and what came back."""
    data = _numbers(row, rng, row.src[1:])
    before = [
        *_places(rng, size),
        "v_readlane_b32 s87, v42, 0",
        "s_and_b32 s87, s87, 0x6000",
        "v_add_u32_e32 v104, s87, v104",
    ]
    offset = rng.choice([0, 0, 8, 1024])
    if rng.random() < 0.15:
        before.append(f"v_mov_b32_e32 v104, {rng.choice(['0x6000', '0x12340', '-2048'])}")
    elif rng.random() < 0.3:
        # A base below zero in the first wave: the sum with the offset wraps.
        before.append(f"v_subrev_u32_e32 v104, {offset:#x}, v104")
    count = row.dst[0].count if row.dst else 0
    texts = [lines.span("v", lines.D, count)] * bool(row.dst) + ["v104", *data]
    after = [
        "s_waitcnt lgkmcnt(0)",
        *_LANE,
        "v_lshlrev_b32_e32 v103, 3, v103",
        "v_add_u32_e32 v103, s87, v103",
        f"ds_read_b64 v[106:107], v103 offset:{offset}",
        f"ds_read_b64 v[108:109], v103 offset:{offset + 64}",
        "s_waitcnt lgkmcnt(0)",
    ]
    results = [f"v{lines.D + k}" for k in range(count)] + [f"v{n}" for n in range(106, 110)]
    return lines.Probe(row.name, f"{row.name} {', '.join(texts)} offset:{offset}", before, after, results)


def _second_place(row, rng):
    """DS_*_SRC2: the data are dwords away from the lane's place, by the offset or by the address, or outside."""
    shared = ["v_and_b32_e32 v103, 7, v103"] * (rng.random() < 0.3)
    before = [
        *_LANE,
        *shared,
        "v_readlane_b32 s87, v42, 0",
        "s_and_b32 s87, s87, 0x6000",
        "v_lshl_add_u32 v104, v103, 3, s87",
    ]
    away = 2 * rng.choice([0, 1, 5, 100, -1, -3, 8000, -8000])
    offset = away & 0x7FFF
    if rng.random() < 0.4:
        offset |= 0x8000
        away = 2 * rng.choice([0, 1, 7, -2])
        before.append(f"v_or_b32_e32 v104, {(away & 0x7FFF) << 17:#x}, v104")
    after = [
        "s_waitcnt lgkmcnt(0)",
        *_LANE,
        "v_lshl_add_u32 v103, v103, 3, s87",
        "ds_read_b64 v[106:107], v103",
        "s_waitcnt lgkmcnt(0)",
    ]
    return lines.Probe(row.name, f"{row.name} v104 offset:{offset}", before, after, ["v106", "v107"])


def _memory_atomic(row, rng, size):
    """Memory of the wave, by address, base and offset, flat address (also into the LDS) or resource."""
    unit = row.name.split("_")[0]
    data = _numbers(row, rng, [slot for slot in row.src if slot.file == "data"])
    returns = bool(row.dst) and rng.random() < 0.6
    count = row.dst[0].count if returns else 0
    to = f"{lines.span('v', lines.D, count)}, " if returns else ""
    before = [*_places(rng, size), "v_readlane_b32 s86, v45, 0", "s_sub_u32 s86, s86, 32"]
    own = [*_LANE, "v_lshlrev_b32_e32 v103, 3, v103", "v_add_u32_e32 v103, s86, v103"]
    after = [
        "s_waitcnt vmcnt(0) lgkmcnt(0)",
        *own,
        f"global_load_dwordx2 v[110:111], v103, {lines.GLOBAL_BASE}",
        f"global_load_dwordx2 v[112:113], v103, {lines.GLOBAL_BASE} offset:64",
        "s_waitcnt vmcnt(0)",
    ]
    results = [f"v{lines.D + k}" for k in range(count)] + [f"v{n}" for n in range(110, 114)]
    glc = f" {lines.target.returning}" if returns else ""
    if unit == "buffer":
        width = _width_of(data[0])
        start = int(data[0].split(":")[0].strip("v["))
        before += [
            "s_add_u32 s80, s12, s86",
            "s_addc_u32 s81, s13, 0",
            "s_and_b32 s81, s81, 0xffff",
            f"s_movk_i32 s82, {rng.choice([2048, 64, 66, 0])}",
            "s_mov_b32 s83, 0",
        ]
        # vdata is destination and source.
        before += [f"v_mov_b32_e32 v{lines.D + k}, v{start + k}" for k in range(width)]
        text = f"{row.name} {lines.span('v', lines.D, width)}, v104, s[80:83], 0 offen{glc}"
        return lines.Probe(row.name, text, before, after, results)
    if unit == "global" and rng.random() < 0.5:
        before.append("v_add_u32_e32 v104, s86, v104")
        return lines.Probe(
            row.name, f"{row.name} {to}v104, {data[0]}, {lines.GLOBAL_BASE}{glc}", before, after, results
        )
    if unit == "flat" and rng.random() < 0.4:
        before += [
            "v_readlane_b32 s87, v42, 0",
            "s_and_b32 s87, s87, 0x6000",
            "v_add_u32_e32 v104, s87, v104",
            *_APERTURES["lds"],
        ]
        after += ["ds_read_b64 v[114:115], v42", "s_waitcnt lgkmcnt(0)"]
        results += ["v114", "v115"]
    else:
        before += [
            "v_add_u32_e32 v104, s86, v104",
            "v_mov_b32_e32 v105, s13",
            "v_add_co_u32_e32 v104, vcc, s12, v104",
            "v_addc_co_u32_e32 v105, vcc, 0, v105, vcc",
        ]
    off = ", off" if unit == "global" else ""
    return lines.Probe(row.name, f"{row.name} {to}v[104:105], {data[0]}{off}{glc}", before, after, results)


def _width_of(text):
    """Registers of a span."""
    if "[" not in text:
        return 1
    first, last = text.strip("v[]").split(":")
    return int(last) - int(first) + 1


def probe(encoding, row, rng, _number):
    """One random line for an atomic, None for another row."""
    if encoding == "DS" and "_src2_" in row.name:
        return _second_place(row, rng)
    if encoding == "DS" and row.name.replace("_rtn", "") in ATOMICS:
        return _ds_atomic(row, rng, ATOMICS[row.name.replace("_rtn", "")][0])
    if "_atomic_" in row.name and encoding != "SMEM":
        return _memory_atomic(row, rng, ATOMICS[row.name.split("_", 2)[2]][0])
    return None
