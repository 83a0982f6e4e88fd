"""Assembly lines for flat, scratch and buffer accesses, loads to the LDS and transposed reads."""

from __future__ import annotations

from tests.machine import lines, lines_rdna_buffers
from tests.machine.lines_lanes import _result


def _data(slot, rng):
    return lines._vgpr(slot, rng) if slot.count < 3 else lines.span("v", 4 * rng.randrange(3, 10), slot.count)


def _bytes(row):
    """Bytes a lane moves, and the registers that hold them."""
    what = row.name.split("_", 2)[2]
    small = {"ubyte": 1, "sbyte": 1, "byte": 1, "ushort": 2, "sshort": 2, "short": 2}.get(what.split("_")[0])
    count = (row.dst or row.src[-1:])[0].count
    return small or 4 * count, count


_APERTURES = {"global": [], "lds": ["s_mov_b64 s[70:71], src_shared_base", "v_mov_b32_e32 v105, s71"],
              "scratch": ["s_mov_b64 s[70:71], src_private_base", "v_mov_b32_e32 v105, s71"]}  # fmt: skip


def _fill_scratch():
    """Something in the first 64 bytes of the scratch of the lanes that are active."""
    stores = [f"scratch_store_dwordx4 v103, v[{10 + 4 * i}:{13 + 4 * i}], off offset:{16 * i}" for i in range(4)]
    return ["v_mov_b32_e32 v103, 0", *stores]


def _read_scratch(first=104, count=4):
    loads = [
        f"scratch_load_dwordx4 v[{first + 4 * i}:{first + 3 + 4 * i}], v103, off offset:{16 * i}" for i in range(count)
    ]
    return ["v_mov_b32_e32 v103, 0", *loads, "s_waitcnt vmcnt(0)"]


def _flat(row, rng):
    """FLAT: the lanes go to one space, or even and odd ones to two."""
    size, count = _bytes(row)
    space = rng.choice(["global", "lds", "scratch", "mixed"])
    offset = rng.choice(range(0, 33 - size, size)) if size <= 16 else 0
    before = [*_fill_scratch(), "v_mov_b32_e32 v104, v6", "v_mov_b32_e32 v105, v7"]
    if space in ("lds", "mixed"):
        before += [f"v_mov_b32_e32 v104, {lines.LDS_OWN}", *_APERTURES["lds"]]
    elif space == "scratch":
        before += [f"v_mov_b32_e32 v104, {rng.choice([0, 4, 12, 32, 64])}", *_APERTURES["scratch"]]
    if space == "mixed":
        before += [
            "s_mov_b64 s[72:73], exec",
            "s_mov_b32 s74, 0x55555555",
            "s_mov_b32 s75, s74",
            "s_and_b64 exec, exec, s[74:75]",
            "v_mov_b32_e32 v104, v6",
            "v_mov_b32_e32 v105, v7",
            "s_mov_b64 exec, s[72:73]",
        ]
    tail = f" offset:{offset}" if offset else ""
    wait = ["s_waitcnt vmcnt(0) lgkmcnt(0)"]
    if row.dst:
        return _result(row, f"{lines.span('v', lines.D, count)}, v[104:105]{tail}", before, wait, count)
    after = [*wait, f"ds_read_b128 v[104:107], {lines.LDS_OWN}", f"ds_read_b128 v[108:111], {lines.LDS_OWN} offset:16"]
    after += [f"global_load_dwordx4 v[{112 + 4 * i}:{115 + 4 * i}], v[6:7], off offset:{16 * i}" for i in range(2)]
    after += _read_scratch(120, 2)
    results = [f"v{n}" for n in range(104, 128)]
    return lines.Probe(row.name, f"{row.name} v[104:105], {_data(row.src[-1], rng)}{tail}", before, after, results)


def _scratch(row, rng):
    """SCRATCH: immediate, SGPR, VGPR or both; sometimes outside."""
    count = _bytes(row)[1]
    offset = rng.choice([0, 4, 8, 16, 1, 40, -4, 90, 4000])
    base = rng.choice(["off, {}off", "v104, {}off", "off, {}s70", "v104, {}s70"])
    before = [
        *_fill_scratch(),
        f"s_mov_b32 s70, {rng.choice([0, 8, 16])}",
        f"v_and_b32_e32 v104, {rng.choice([4, 28, 7, 60])}, v10",
    ]
    tail = f" offset:{offset}" if offset else ""
    if row.dst:
        text = f"{lines.span('v', lines.D, count)}, {base.format('')}{tail}"
        return _result(row, text, before, ["s_waitcnt vmcnt(0)"], count)
    text = f"{base.format(_data(row.src[-1], rng) + ', ')}{tail}"
    return lines.Probe(row.name, f"{row.name} {text}", before, _read_scratch(), [f"v{n}" for n in range(104, 120)])


def _resource(rng):
    """(lines that build a resource in s[80:83] over the items' memory, address registers, modifiers, kind)."""
    if lines.target.rdna:
        return lines_rdna_buffers.resource(rng)
    kind = rng.choice(["raw", "raw", "short", "structured", "tid", "swizzled"])
    records, flags, stride = 96 * 64 * 2, 0, 0
    before, address, tail = [], "off", ""
    if kind in ("raw", "short"):
        # Each lane its own 64 bytes; with few records the upper lanes are out of range.
        records = rng.choice([0, 100, 102, 2048, 4093]) if kind == "short" else records
        before, address, tail = ["v_subrev_u32_e32 v104, s86, v45"], "v104", "offen"
        # Without an index neither the stride nor a swizzle counts.
        stride = rng.choice([0, 0, 64, 0x4040, 0x8040, 0xC040])
    elif kind == "structured":
        stride, records = 64, rng.choice([3, 70, 192])
        before = ["v_subrev_u32_e32 v104, s86, v45", "v_lshrrev_b32_e32 v104, 6, v104", "v_and_b32_e32 v105, 0, v45"]
        address, tail = rng.choice([("v104", "idxen"), ("v[104:105]", "idxen offen")])
    elif kind == "tid":
        stride, flags, records = 64, 1 << 23, rng.choice([0, 50])
        if rng.random() < 0.3:
            # With an index register the lane is an index only of a swizzled buffer.
            before = ["v_subrev_u32_e32 v104, s86, v45", "v_lshrrev_b32_e32 v104, 6, v104"]
            address, tail = "v104", "idxen"
    else:
        # Groups of lanes share consecutive dwords.
        stride, flags, records = 64, rng.randrange(4) << 21, 192
        before = ["v_subrev_u32_e32 v104, s86, v45", "v_lshrrev_b32_e32 v104, 6, v104"]
        address, tail = "v104", "idxen"
    high = stride | (0x8000 if kind == "swizzled" else 0)
    # The wave's own part of the memory: the two interpreters run the waves in different orders.
    setup = [
        "v_readlane_b32 s86, v45, 0",
        "s_sub_u32 s86, s86, 32",
        "s_add_u32 s80, s12, s86",
        "s_addc_u32 s81, s13, 0",
        "s_and_b32 s81, s81, 0xffff",
        f"s_or_b32 s81, s81, {high << 16:#x}",
        f"s_mov_b32 s82, {records}",
        f"s_mov_b32 s83, {flags:#x}",
        f"s_mov_b32 s84, {rng.choice([0, 0, 4])}",
    ]
    return setup + before, address, tail, kind


def _memory_of_all():
    """What the lanes' memory holds afterwards."""
    return [
        f"global_load_dwordx4 v[{104 + 4 * i}:{107 + 4 * i}], v[6:7], off offset:{16 * i - 32}" for i in range(4)
    ] + ["s_waitcnt vmcnt(0)"]


def _buffer(row, rng):
    size, count = _bytes(row)
    before, address, tail, kind = _resource(rng)
    # In shared memory the lanes of a store must not meet: dwords at most where the layout is swizzled.
    offset = rng.choice(range(0, 33 - max(size, 4), 4)) if kind != "swizzled" else 0
    soffset = rng.choice(["0", "s84", "4"]) if kind != "swizzled" and offset < 12 else "0"
    text = f"{address}, s[80:83], {soffset} {tail} offset:{offset}"
    if row.dst:
        if "lds" in row.flags and rng.random() < 0.4:
            before += _lds_base(rng)
            after = ["s_waitcnt vmcnt(0)", "s_mov_b32 m0, s85", *_whole_lds()]
            return lines.Probe(row.name, f"{row.name} {text} lds", before, after, _LDS_RESULTS)
        return _result(row, f"{lines.span('v', lines.D, count)}, {text}", before, ["s_waitcnt vmcnt(0)"], count)
    return lines.Probe(
        row.name,
        f"{row.name} {_data(row.src[-1], rng)}, {text}",
        before,
        _memory_of_all(),
        [f"v{n}" for n in range(104, 120)],
    )


_NORM, _WIDE = range(6), (4, 5, 7)
_KINDS = {
    0: (0,), 1: _NORM, 2: (*_NORM, 7), 3: _NORM, 4: _WIDE, 5: (*_NORM, 7), 6: (7,), 7: (7,), 8: (0, 1, 4, 5), 9: _NORM,
    10: _NORM, 11: _WIDE, 12: (*_NORM, 7), 13: _WIDE, 14: _WIDE,
}  # fmt: skip
_SPLIT = [data << 3 | number for data, numbers in _KINDS.items() for number in numbers]
"""Data and number format of gfx9's resources."""


def _typed(row, rng):
    """Typed accesses: any format, destination selects of every kind."""
    before, address, tail, kind = _resource(rng)
    numbers = 78 if lines.target.gfx10 else 64
    number = rng.randrange(numbers) if lines.target.rdna else rng.choice(_SPLIT)
    selects = 0
    for k in range(4):
        selects |= rng.choice([4 + k, 4 + k, 4 + k, 0, 1, rng.randrange(4, 8)]) << 3 * k
    before += ["s_lshr_b32 s83, s83, 19", "s_lshl_b32 s83, s83, 19"]
    before += [f"s_or_b32 s83, s83, {number << 12 | selects:#x}"]
    own = rng.randrange(numbers) if lines.target.rdna else (split := rng.choice(_SPLIT)) >> 3 | (split & 7) << 4
    form = f"format:{own} " if "format" in row.flags else ""
    offset = rng.choice([0, 4, 16]) if kind != "swizzled" else 0
    text = f"{address}, s[80:83], 0 {form}{tail} offset:{offset}"
    registers = (row.dst or row.src[-1:])[0].count
    if row.dst:
        return _result(row, f"{lines.span('v', lines.D, registers)}, {text}", before, ["s_waitcnt vmcnt(0)"], registers)
    return lines.Probe(
        row.name,
        f"{row.name} {_data(row.src[-1], rng)}, {text}",
        before,
        _memory_of_all(),
        [f"v{n}" for n in range(104, 120)],
    )


_LDS_RESULTS = [f"v{n}" for n in range(104, 116)]


def _lds_base(rng):
    """M0 at a part of the LDS that only this wave uses (s87); sometimes with bits that a narrower M0 ignores."""
    start = rng.choice([0, 64, 66, 512, 0x10000, 0x40000])
    return [
        "s_mov_b32 s85, m0",
        "v_readlane_b32 s87, v42, 0",
        "s_and_b32 s87, s87, 0x6000",
        "s_add_u32 s87, s87, 0x1100",
        f"s_add_u32 m0, s87, {start:#x}",
    ]


def _whole_lds():
    """Dwords of the LDS where loads to it go, by the lane's place in the wave."""
    lane = [
        "v_mbcnt_lo_u32_b32 v103, -1, 0",
        "v_mbcnt_hi_u32_b32 v103, -1, v103",
        "v_lshlrev_b32_e32 v102, 4, v103",
        "v_lshlrev_b32_e32 v103, 2, v103",
        "v_add_u32_e32 v102, s87, v102",
        "v_add_u32_e32 v103, s87, v103",
    ]
    reads = [f"ds_read_b32 v{104 + k}, v103 offset:{at}" for k, at in enumerate((0, 64, 512, 256, 1024, 524, 76, 128))]
    return [*lane, *reads, "ds_read_b128 v[112:115], v102 offset:64", "s_waitcnt lgkmcnt(0)"]


def _to_lds(row, rng):
    """GLOBAL and SCRATCH loads to the LDS; the two waves of a workgroup write the same places in turn."""
    what = row.name.split("_", 3)[3]
    size = {"ubyte": 1, "sbyte": 1, "ushort": 2, "sshort": 2, "dwordx3": 12, "dwordx4": 16}.get(what, 4)
    before = _lds_base(rng)
    offset = rng.choice([0, 0, 12, 4])
    if row.name.startswith("global"):
        text = rng.choice([f"{lines.GLOBAL_PAIR}, off", f"{lines.GLOBAL_OFFSET}, {lines.GLOBAL_BASE}"])
        offset = rng.choice([offset, -4, -16]) if size != 3 else offset
    else:
        before += _fill_scratch()
        text = "off, off"
    after = ["s_waitcnt vmcnt(0)", "s_mov_b32 m0, s85", *_whole_lds()]
    return lines.Probe(row.name, f"{row.name} {text} offset:{offset}", before, after, _LDS_RESULTS)


def _transposed(row, rng):
    """Transposed reads, all lanes active or not, inside or outside."""
    address = rng.choice([lines.LDS_OWN, lines.LDS_OWN, lines.LDS_STRIDED, lines.LDS_OUTSIDE])
    count = row.dst[0].count
    step = 16 if count == 3 else 8
    before = rng.choice([[], ["s_mov_b64 exec, s[60:61]"]])
    text = f"{lines.span('v', lines.D, count)}, {address} offset:{step * rng.randrange(2)}"
    return _result(row, text, before, ["s_waitcnt lgkmcnt(0)"], count)


def _scalar_buffer(row, rng):
    """Scalar loads from the resource of the scalar inputs, in range, in part or not at all."""
    count = row.dst[0].count
    stride, records = rng.choice([(0, 128), (0, 22), (0, 0), (16, 8), (16, 1)])
    before = [
        "s_mov_b32 s88, s6",
        "s_and_b32 s89, s7, 0xffff",
        f"s_or_b32 s89, s89, {stride << 16:#x}",
        f"s_movk_i32 s90, {records}",
        "s_mov_b32 s91, 0",
    ]
    if lines.target.cdna5:
        before = [
            "s_mov_b32 s88, s6",
            f"s_or_b32 s89, s7, {(records & 127) << 25:#x}",
            f"s_mov_b32 s90, {records >> 7}",
            f"s_mov_b32 s91, {stride << 12:#x}",
        ]
    offset = rng.choice(["0x0", "0x14", "0x13", "s62", "s62 offset:0x8"])
    results = [f"s{72 + i}" for i in range(count)]
    text = f"{lines.span('s', 72, count)}, s[88:91], {offset}"
    return lines.Probe(row.name, f"{row.name} {text}", before, ["s_waitcnt lgkmcnt(0)"], results)


def probe(encoding, row, rng, _number):
    """One random line for a row of these families, None for another."""
    if encoding == "FLAT" and row.name.startswith(("flat_load", "flat_store")):
        return _flat(row, rng)
    if encoding == "SCRATCH" and "lds" not in row.name:
        return _scratch(row, rng)
    if "load_lds" in row.name:
        return _to_lds(row, rng)
    if encoding in ("MUBUF", "MTBUF") and row.opcode.typed:
        return _typed(row, rng)
    if encoding == "MUBUF" and row.name.startswith(("buffer_load", "buffer_store")):
        return _buffer(row, rng)
    if "_tr_b" in row.name and encoding == "DS":
        return _transposed(row, rng)
    if row.name.startswith("s_buffer_load"):
        return _scalar_buffer(row, rng)
    return None
