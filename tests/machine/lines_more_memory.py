"""Assembly lines for packed integers, lanes and memory; `more` answers before the generators of lines.py."""

from __future__ import annotations

import lines
from slow_more_memory import ATOMICS, PACKED

lines.SATURATES |= {"v_sad_hi_u8", "v_sad_u16", "v_msad_u8"}
lines._NO_HALVES |= {"v_ashr_pk_i8_i32", "v_ashr_pk_u8_i32"}  # op_sel selects a half of the destination only


def _packed(row, rng):
    """VOP3P of 16-bit integers: halves in any order, clamp where it can overflow."""
    count = len(row.src)
    texts = [lines._source(slot, rng, vector=0.7) for slot in row.src]
    tail = ""
    if rng.random() < 0.7:
        tail += f" op_sel:[{','.join(str(rng.randrange(2)) for _ in range(count))}]"
    if rng.random() < 0.7:
        tail += f" op_sel_hi:[{','.join(str(rng.randrange(2)) for _ in range(count))}]"
    if row.name.split("_")[2] in ("add", "sub", "mad") and rng.random() < 0.4:
        tail += " clamp"
    return lines.Probe(row.name, f"{row.name} v{lines.D}, {', '.join(texts)}{tail}", results=[f"v{lines.D}"])


def _half_of_destination(row, rng):
    probe = lines._long(row, rng, row.flags, "")
    if rng.random() < 0.5:
        probe.line += " op_sel:[0,0,0,1]"
    return probe


def _result(row, text, before=(), after=(), count=1):
    return lines.Probe(
        row.name, f"{row.name} {text}".rstrip(), list(before), list(after), [f"v{lines.D + i}" for i in range(count)]
    )


_SWIZZLES = ("swizzle(SWAP,1)", "swizzle(REVERSE,32)", "swizzle(BROADCAST,8,3)", "swizzle(QUAD_PERM,3,0,1,2)",
             'swizzle(BITMASK_PERM,"01pip")', "swizzle(BROADCAST,32,17)", "0x8055", "0xe010", "0xe003", "0xe01f",
             "0xc020", "0xc421", "0xc0a3", "0xc7e0", "0xffff", "0x7fff", "0x3c1f")  # fmt: skip


def _lanes(row, rng):
    """Permutes and swizzles: any number is an address, its upper bits do not count."""
    data = f"v{rng.choice([10, 18, 38, 40])}"
    if row.name == "ds_swizzle_b32":
        return _result(row, f"v{lines.D}, {data} offset:{rng.choice(_SWIZZLES)}", after=["s_waitcnt lgkmcnt(0)"])
    offset = rng.choice(["", " offset:4", " offset:253", " offset:65535"])
    address = f"v{rng.choice([38, 39, 41, 10])}"
    return _result(row, f"v{lines.D}, {address}, {data}{offset}", after=["s_waitcnt lgkmcnt(0)"])


def _lane_swap(row, rng):
    before = [f"v_mov_b32_e32 v101, v{rng.choice([10, 38])}", "s_nop 1"]
    return _result(row, f"v{lines.D}, v101", before, count=2)


def _index_mode(row, rng):
    """Indexed moves, from the index as the probe leaves it; M0 is put back."""
    # The index of a workgroup is its own in every other probe.
    before = [
        rng.choice([f"s_mov_b32 s70, {rng.randrange(6)}", "s_and_b32 s70, s36, 5", "s_movk_i32 s70, 0xf6"]),
        "s_mov_b32 s71, m0",
    ]
    which = rng.choice(["SRC0", "SRC0,DST", "DST", "SRC1", "SRC0,SRC1,DST", ""])
    use = ["v_mov_b32_e32 v100, v10", "v_add_u32_e32 v101, v12, v20", "v_lshl_add_u32 v102, v12, 3, v22"]
    use += ["v_fmac_f32_e32 v100, v18, v19"] if "DST" not in which else []
    off, back = ["s_set_gpr_idx_off"], ["s_mov_b32 s72, m0", "s_mov_b32 m0, s71"]
    on = f"s_set_gpr_idx_on s70, gpr_idx({which})"
    results = [*(f"v{100 + i}" for i in range(8)), "s72"]
    text = {
        "s_set_gpr_idx_on": on.partition(" ")[2],
        "s_set_gpr_idx_off": "",
        "s_set_gpr_idx_idx": str(rng.randrange(8)),
        "s_set_gpr_idx_mode": f"gpr_idx({rng.choice(['SRC0', 'SRC1', 'SRC0,SRC1'])})",
    }[row.name]
    first = {"s_set_gpr_idx_on": [], "s_set_gpr_idx_off": [on, *use]}.get(row.name, [on, use[0]])
    then = back if row.name == "s_set_gpr_idx_off" else [*use, *off, *back]
    return lines.Probe(row.name, f"{row.name} {text}".rstrip(), before + first, then, results)


def _movrel(row, rng):
    """Indexed scalar registers; M0 is put back."""
    step = 2 if row.name.endswith("64") else 1
    m0 = step * rng.randrange(8 // step)
    if "movreld" in row.name:
        # Beyond the registers nothing is written; a source there is s0, an address that differs between the two.
        m0 = rng.choice([m0, m0, 80, 0x7FFFFFF0, -80])
    count = step
    before = ["s_mov_b32 s86, m0", f"s_mov_b32 m0, {m0}", *(f"s_mov_b32 s{70 + k}, s{20 + k}" for k in range(10))]
    base = 2 * rng.randrange(10, 18)
    text = {
        "s": f"{lines.span('s', 80, count)}, {lines.span('s', base, count)}",
        "d": f"{lines.span('s', 70, count)}, {lines.span('s', base, count)}",
    }[row.name.split("_")[1][-1]]
    before += ["s_mov_b32 s80, s30", "s_mov_b32 s81, s31"]
    results = [f"s{n}" for n in range(70, 82)]
    return lines.Probe(row.name, f"{row.name} {text}", before, ["s_mov_b32 m0, s86"], results)


def _clock(row, rng, number):
    """A later reading is larger, also across a branch."""
    label = f".Lclock_{row.name}{number}"
    after = ["s_waitcnt lgkmcnt(0)", f"s_branch {label}", "s_nop 0", "s_nop 0", f"{label}:", f"{row.name} s[72:73]",
             "s_waitcnt lgkmcnt(0)", "s_sub_u32 s70, s72, s70", "s_subb_u32 s71, s73, s71", "s_cmp_lg_u32 s70, 0",
             "s_cselect_b32 s70, 1, 0"]  # fmt: skip
    return lines.Probe(row.name, f"{row.name} s[70:71]", [], after, ["s70", "s71"])


def _call(row, rng, number):
    """A call that lands two instructions further, and the address it saved, from the program counter before it."""
    label, here = f".Lcall_{number}", f".Lbefore_{number}"
    before = ["s_getpc_b64 s[74:75]", f"{here}:", f"v_mov_b32_e32 v{lines.D}, 1"]
    after = [f"v_mov_b32_e32 v{lines.D}, 2", f"{label}:", "s_sub_u32 s70, s70, s74", "s_subb_u32 s71, s71, s75"]
    return lines.Probe(row.name, f"{row.name} s[70:71], {label}", before, after, [f"v{lines.D}", "s70", "s71"])


def _trap(row, rng, number):
    """A trap that no wave reaches; that it ends the launch is tested elsewhere."""
    label = f".Ltrap_{number}"
    return _result(row, "2", [f"v_mov_b32_e32 v{lines.D}, 1", f"s_branch {label}"], [f"{label}:"])


NOTHING = {"v_nop", "ds_nop", "v_clrexcp", "s_wakeup", "s_sendmsg", "s_dcache_inv_vol", "s_dcache_wb_vol", "buffer_inv",
           "buffer_wbl2", "buffer_invl2", "buffer_wbinvl1", "buffer_wbinvl1_vol"}  # fmt: skip


def _nothing(row):
    text = {"s_sendmsg": "sendmsg(MSG_INTERRUPT)"}.get(row.name, "")
    return _result(row, text, [f"v_mov_b32_e32 v{lines.D}, 1"])


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
    return [f"scratch_store_dwordx4 off, v[{10 + 4 * i}:{13 + 4 * i}], off offset:{16 * i}" for i in range(4)]


def _read_scratch():
    return [f"scratch_load_dwordx4 v[{104 + 4 * i}:{107 + 4 * i}], off, off offset:{16 * i}" for i in range(4)] + [
        "s_waitcnt vmcnt(0)"
    ]


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
        before += ["s_mov_b64 s[72:73], exec", "s_mov_b32 s74, 0x55555555", "s_mov_b32 s75, s74",
                   "s_and_b64 exec, exec, s[74:75]", "v_mov_b32_e32 v104, v6", "v_mov_b32_e32 v105, v7",
                   "s_mov_b64 exec, s[72:73]"]  # fmt: skip
    tail = f" offset:{offset}" if offset else ""
    wait = ["s_waitcnt vmcnt(0) lgkmcnt(0)"]
    if row.dst:
        return _result(row, f"{lines.span('v', lines.D, count)}, v[104:105]{tail}", before, wait, count)
    after = [*wait, f"ds_read_b128 v[104:107], {lines.LDS_OWN}", f"ds_read_b128 v[108:111], {lines.LDS_OWN} offset:16"]
    after += [f"global_load_dwordx4 v[{112 + 4 * i}:{115 + 4 * i}], v[6:7], off offset:{16 * i}" for i in range(2)]
    after += [f"scratch_load_dwordx4 v[{120 + 4 * i}:{123 + 4 * i}], off, off offset:{16 * i}" for i in range(2)] + wait
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
    """(lines that build a resource in s[80:83] over the items' memory, address registers, modifiers)."""
    kind = rng.choice(["raw", "raw", "short", "structured", "tid", "swizzled"])
    records, flags, stride = 96 * 64 * 2, 0, 0
    before, address, tail = [], "off", ""
    if kind in ("raw", "short"):
        # Each lane its own 64 bytes; with few records the upper lanes are out of range.
        records = rng.choice([0, 100, 102, 2048, 4093]) if kind == "short" else records
        before, address, tail = ["v_subrev_u32_e32 v104, s86, v45"], "v104", "offen"
    elif kind == "structured":
        stride, records = 64, rng.choice([3, 70, 192])
        before = ["v_subrev_u32_e32 v104, s86, v45", "v_lshrrev_b32_e32 v104, 6, v104", "v_and_b32_e32 v105, 0, v45"]
        address, tail = rng.choice([("v104", "idxen"), ("v[104:105]", "idxen offen")])
    elif kind == "tid":
        stride, flags, records = 64, 1 << 23, rng.choice([0, 50])
    else:
        # Groups of lanes share consecutive dwords.
        stride, flags, records = 64, rng.randrange(4) << 21, 192
        before = ["v_subrev_u32_e32 v104, s86, v45", "v_lshrrev_b32_e32 v104, 6, v104"]
        address, tail = "v104", "idxen"
    high = stride | (0x8000 if kind == "swizzled" else 0)
    # The wave's own part of the memory: the two interpreters run the waves in different orders.
    setup = [
        "v_readlane_b32 s86, v45, 0", "s_sub_u32 s86, s86, 32", "s_add_u32 s80, s12, s86", "s_addc_u32 s81, s13, 0",
        "s_and_b32 s81, s81, 0xffff", f"s_or_b32 s81, s81, {high << 16:#x}", f"s_mov_b32 s82, {records}",
        f"s_mov_b32 s83, {flags:#x}", f"s_mov_b32 s84, {rng.choice([0, 0, 4])}",
    ]  # fmt: skip
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


_LDS_RESULTS = [f"v{n}" for n in range(104, 116)]


def _lds_base(rng):
    """M0 at a part of the LDS that only this wave uses (s87); sometimes with bits that a narrower M0 ignores."""
    start = rng.choice([0, 64, 66, 512, 0x10000, 0x40000])
    return ["s_mov_b32 s85, m0", "v_readlane_b32 s87, v42, 0", "s_and_b32 s87, s87, 0x2000",
            "s_add_u32 s87, s87, 0x1100",
            f"s_add_u32 m0, s87, {start:#x}"]  # fmt: skip


def _whole_lds():
    """Dwords of the LDS where loads to it go, by the lane's place in the wave."""
    lane = ["v_mbcnt_lo_u32_b32 v103, -1, 0", "v_mbcnt_hi_u32_b32 v103, -1, v103", "v_lshlrev_b32_e32 v102, 4, v103",
            "v_lshlrev_b32_e32 v103, 2, v103", "v_add_u32_e32 v102, s87, v102",
            "v_add_u32_e32 v103, s87, v103"]  # fmt: skip
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
    return [*lane, *([] if kind == "own" else ["v_and_b32_e32 v104, 3, v103"]),
            f"v_lshlrev_b32_e32 v104, {step}, {'v103' if kind == 'own' else 'v104'}"]  # fmt: skip


def _ds_atomic(row, rng, size):
    """LDS: the wave's own part; two dwords a lane are read afterwards, and what came back."""
    data = _numbers(row, rng, row.src[1:])
    before = [*_places(rng, size), "v_readlane_b32 s87, v42, 0", "s_and_b32 s87, s87, 0x2000",
              "v_add_u32_e32 v104, s87, v104"]  # fmt: skip
    if rng.random() < 0.15:
        before.append(f"v_mov_b32_e32 v104, {rng.choice(['0x4000', '0x12340', '-8'])}")
    offset = rng.choice([0, 0, 8, 1024])
    count = row.dst[0].count if row.dst else 0
    texts = [lines.span("v", lines.D, count)] * bool(row.dst) + ["v104", *data]
    after = ["s_waitcnt lgkmcnt(0)", *_LANE, "v_lshlrev_b32_e32 v103, 3, v103", "v_add_u32_e32 v103, s87, v103",
             f"ds_read_b64 v[106:107], v103 offset:{offset}", f"ds_read_b64 v[108:109], v103 offset:{offset + 64}",
             "s_waitcnt lgkmcnt(0)"]  # fmt: skip
    results = [f"v{lines.D + k}" for k in range(count)] + [f"v{n}" for n in range(106, 110)]
    return lines.Probe(row.name, f"{row.name} {', '.join(texts)} offset:{offset}", before, after, results)


def _memory_atomic(row, rng, size):
    """Memory of the wave, by address, base and offset, flat address (also into the LDS) or resource."""
    unit = row.name.split("_")[0]
    data = _numbers(row, rng, [slot for slot in row.src if slot.file == "data"])
    returns = bool(row.dst) and rng.random() < 0.6
    count = row.dst[0].count if returns else 0
    to = f"{lines.span('v', lines.D, count)}, " if returns else ""
    before = [*_places(rng, size), "v_readlane_b32 s86, v45, 0", "s_sub_u32 s86, s86, 32"]
    own = [*_LANE, "v_lshlrev_b32_e32 v103, 3, v103", "v_add_u32_e32 v103, s86, v103"]
    after = ["s_waitcnt vmcnt(0) lgkmcnt(0)", *own, f"global_load_dwordx2 v[110:111], v103, {lines.GLOBAL_BASE}",
             f"global_load_dwordx2 v[112:113], v103, {lines.GLOBAL_BASE} offset:64", "s_waitcnt vmcnt(0)"]  # fmt: skip
    results = [f"v{lines.D + k}" for k in range(count)] + [f"v{n}" for n in range(110, 114)]
    glc = " sc0" if returns else ""
    if unit == "buffer":
        width = _width_of(data[0])
        start = int(data[0].split(":")[0].strip("v["))
        before += ["s_add_u32 s80, s12, s86", "s_addc_u32 s81, s13, 0", "s_and_b32 s81, s81, 0xffff",
                   f"s_movk_i32 s82, {rng.choice([2048, 64, 66, 0])}", "s_mov_b32 s83, 0"]  # fmt: skip
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
        before += ["v_readlane_b32 s87, v42, 0", "s_and_b32 s87, s87, 0x2000", "v_add_u32_e32 v104, s87, v104",
                   *_APERTURES["lds"]]  # fmt: skip
        after += ["ds_read_b64 v[114:115], v42", "s_waitcnt lgkmcnt(0)"]
        results += ["v114", "v115"]
    else:
        before += ["v_add_u32_e32 v104, s86, v104", "v_mov_b32_e32 v105, s13", "v_add_co_u32_e32 v104, vcc, s12, v104",
                   "v_addc_co_u32_e32 v105, vcc, 0, v105, vcc"]  # fmt: skip
    off = ", off" if unit == "global" else ""
    return lines.Probe(row.name, f"{row.name} {to}v[104:105], {data[0]}{off}{glc}", before, after, results)


def _width_of(text):
    """Registers of a span."""
    if "[" not in text:
        return 1
    first, last = text.strip("v[]").split(":")
    return int(last) - int(first) + 1


def _scalar_buffer(row, rng):
    """Scalar loads from the resource of the scalar inputs, in range, in part or not at all."""
    count = row.dst[0].count
    stride, records = rng.choice([(0, 128), (0, 22), (0, 0), (16, 8), (16, 1)])
    before = ["s_mov_b32 s88, s6", "s_and_b32 s89, s7, 0xffff", f"s_or_b32 s89, s89, {stride << 16:#x}",
              f"s_movk_i32 s90, {records}", "s_mov_b32 s91, 0"]  # fmt: skip
    offset = rng.choice(["0x0", "0x14", "0x13", "s62", "s62 offset:0x8"])
    results = [f"s{72 + i}" for i in range(count)]
    text = f"{lines.span('s', 72, count)}, s[88:91], {offset}"
    return lines.Probe(row.name, f"{row.name} {text}", before, ["s_waitcnt lgkmcnt(0)"], results)


def more(encoding, row, rng, number):
    """One random line for a row of these families, None for another."""
    if row.name in PACKED:
        return _packed(row, rng)
    if row.name.startswith("v_ashr_pk"):
        return _half_of_destination(row, rng)
    if row.name in ("ds_swizzle_b32", "ds_permute_b32", "ds_bpermute_b32"):
        return _lanes(row, rng)
    if row.name.startswith("v_permlane"):
        return _lane_swap(row, rng)
    if row.name.startswith("s_set_gpr_idx"):
        return _index_mode(row, rng)
    if row.name.startswith("s_movrel"):
        return _movrel(row, rng)
    if row.name in ("s_memtime", "s_memrealtime"):
        return _clock(row, rng, number)
    if row.name == "s_call_b64":
        return _call(row, rng, number)
    if row.name == "s_trap":
        return _trap(row, rng, number)
    if encoding == "FLAT" and row.name.startswith(("flat_load", "flat_store")):
        return _flat(row, rng)
    if encoding == "SCRATCH" and "lds" not in row.name:
        return _scratch(row, rng)
    if "load_lds" in row.name:
        return _to_lds(row, rng)
    if encoding == "MUBUF" and row.name.startswith(("buffer_load", "buffer_store")):
        return _buffer(row, rng)
    if "_tr_b" in row.name and encoding == "DS":
        return _transposed(row, rng)
    if encoding == "DS" and row.name.replace("_rtn", "") in ATOMICS:
        return _ds_atomic(row, rng, ATOMICS[row.name.replace("_rtn", "")][0])
    if "_atomic_" in row.name and encoding != "SMEM":
        return _memory_atomic(row, rng, ATOMICS[row.name.split("_", 2)[2]][0])
    if row.name.startswith("s_buffer_load"):
        return _scalar_buffer(row, rng)
    if row.name in NOTHING:
        return _nothing(row)
    return None
