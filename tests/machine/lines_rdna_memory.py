"""Assembly lines of gfx11's and gfx12's memory, waits, messages and barriers.

An operation that is gfx9's under another name gets the line that gfx9's generators draw, with its own name in it; the
others have a line of their own here.
"""

from __future__ import annotations

import dataclasses
import re

from tests.machine import lines, lines_atomics, lines_lanes, lines_memory, lines_scalar, lines_segments
from tests.machine.lines import LDS_OWN, D, Probe, span
from tests.machine.lines_floats import MODE, RESTORE
from tests.machine.lines_lanes import _result
from tests.slow.machine.names import ALIASES, OLDER
from tests.slow.machine.vector_integers import PACKED

_NOTHING = {
    "s_delay_alu": "instid0(VALU_DEP_1)", "s_clause": "0x1", "s_waitcnt_depctr": "0xffff", "s_wait_alu": "0xffff",
    "s_waitcnt_vscnt": "null, 0x0", "s_waitcnt_vmcnt": "null, 0x0", "s_waitcnt_expcnt": "null, 0x0",
    "s_waitcnt_lgkmcnt": "null, 0x0", "s_set_inst_prefetch_distance": "0x1", "s_inst_prefetch": "0x1",
    "s_wait_event": "0x1",
    "s_sleep_var": "s20", "s_ttracedata_imm": "0x1", "s_prefetch_inst": "s[6:7], 0x0, null, 1",
    "s_prefetch_inst_pc_rel": "0x0, null, 1", "s_prefetch_data": "s[6:7], 0x0, null, 1",
    "s_buffer_prefetch_data": "s[88:91], 0x0, null, 1", "s_prefetch_data_pc_rel": "0x0, null, 1",
    "s_sendmsg": "sendmsg(MSG_INTERRUPT)", "s_version": "0x0", "s_setkill": "0x0",
    **{f"s_wait_{counter}": "0x0" for counter in ("loadcnt", "storecnt", "samplecnt", "bvhcnt", "expcnt", "dscnt",
                                                  "kmcnt", "loadcnt_dscnt", "storecnt_dscnt")},
    **dict.fromkeys(("s_wait_idle", "s_gl1_inv", "buffer_gl0_inv", "buffer_gl1_inv", "global_inv", "global_wb",
                     "global_wbinv", "s_icache_inv", "s_dcache_inv", "s_ttracedata", "v_nop", "ds_nop", "s_wakeup",
                     "s_monitor_sleep", "v_pipeflush"), ""),
}  # fmt: skip
_OLD = (lines_lanes, lines_segments, lines_atomics, lines_memory, lines_scalar)
_UNITS = {"VBUFFER": "MUBUF", "VFLAT": "FLAT", "VGLOBAL": "GLOBAL", "VSCRATCH": "SCRATCH", "VDS": "DS"}
_BOTH = {"ds_condxchg32_rtn_b64", "ds_append", "ds_consume"}
"""Named alike in all generations."""
_WAVE = ["v_readlane_b32 s87, v42, 0", "s_and_b32 s87, s87, 0x6000"]
"""s87: where the wave's own part of the LDS starts."""


def _barrier(row):
    start = [f"v_mov_b32_e32 v{D}, 1"]
    if row.name == "s_barrier_wait":
        return _result(row, "0xffff", [*start, "s_barrier_signal -1"])
    return _result(row, "-1", start, ["s_barrier_wait 0xffff"])


def _mode(row, rng):
    """S_ROUND_MODE, S_DENORM_MODE: what MODE holds then, and what an addition makes of it."""
    after = [f"s_getreg_b32 s70, {MODE[:-1]}, 0, 8)", f"v_add_f32_e32 v{D}, v{rng.choice(lines.V_FLOAT)}, v40", RESTORE]
    return Probe(row.name, f"{row.name} {rng.randrange(16):#x}", [], after, ["s70", f"v{D}"])


def _message(row):
    """The clock that a message returns: a later one is larger."""
    ask = f"{row.name} {{}}, sendmsg(MSG_RTN_GET_REALTIME)"
    one, two = (span("s", first, 2 if row.name.endswith("64") else 1) for first in (70, 72))
    after = [
        "s_waitcnt lgkmcnt(0)",
        "s_nop 0",
        ask.format(two),
        "s_waitcnt lgkmcnt(0)",
        "s_sub_u32 s70, s72, s70",
        "s_cmp_lg_u32 s70, 0",
        "s_cselect_b32 s70, 1, 0",
    ]
    return Probe(row.name, ask.format(one), [], after, ["s70"])


def _by_lane(row, rng):
    """DS_*_ADDTID, DS_APPEND, DS_CONSUME: M0 is the wave's own part of the LDS, and is put back."""
    offset = 4 * rng.randrange(16)
    before = ["s_mov_b32 s71, m0", *_WAVE, "s_mov_b32 m0, s87"]
    after = ["s_waitcnt lgkmcnt(0)", "s_mov_b32 m0, s71"]
    if row.dst:
        if lines.target.one_counter:  # what it holds between waves depends on their order: the first one alone counts
            before += ["s_mov_b64 s[72:73], exec", "s_cmp_lg_u32 s87, 0", "s_cselect_b64 exec, 0, exec"]
            after.insert(0, "s_mov_b64 exec, s[72:73]")
        after += ["v_mov_b32_e32 v103, s87", f"ds_read_b32 v102, v103 offset:{offset}", "s_waitcnt lgkmcnt(0)"]
        return Probe(row.name, f"{row.name} v{D} offset:{offset}", before, after, [f"v{D}", "v102"])
    after += [
        *lines_atomics._LANE,
        "v_lshlrev_b32_e32 v103, 2, v103",
        "v_add_u32_e32 v103, s87, v103",
        f"ds_read_b32 v{D}, v103 offset:{offset}",
        "s_waitcnt lgkmcnt(0)",
    ]
    return Probe(row.name, f"{row.name} v{rng.choice([10, 38])} offset:{offset}", before, after, [f"v{D}"])


def _memory_by_lane(row, rng):
    offset = 4 * rng.randrange(8)
    before = [
        "v_readlane_b32 s86, v45, 0",
        "s_sub_u32 s86, s86, 32",
        "s_add_u32 s80, s12, s86",
        "s_addc_u32 s81, s13, 0",
    ]
    after = ["s_waitcnt vmcnt(0)", f"global_load_dwordx4 v[104:107], {lines.GLOBAL_PAIR}, off", "s_waitcnt vmcnt(0)"]
    if row.dst:
        return Probe(row.name, f"{row.name} v{D}, s[80:81] offset:{offset}", before, after[:1], [f"v{D}"])
    text = f"{row.name} v{rng.choice([10, 38])}, s[80:81] offset:{offset}"
    return Probe(row.name, text, before, after, [f"v{n}" for n in range(104, 108)])


def _exchange(row, rng):
    """DS_STOREXCHG_2ADDR, DS_CONDXCHG32 in the lane's own 32 bytes."""
    size = 8 if row.name.endswith("64") else 4
    after = [
        "s_waitcnt lgkmcnt(0)",
        f"ds_read_b128 v[104:107], {LDS_OWN}",
        f"ds_read_b128 v[108:111], {LDS_OWN} offset:16",
        "s_waitcnt lgkmcnt(0)",
    ]
    count = row.dst[0].count
    results = [f"v{D + k}" for k in range(count)] + [f"v{n}" for n in range(104, 112)]
    if "condxchg" in row.name:
        text = f"{span('v', D, 2)}, {LDS_OWN}, v[{rng.choice([26, 28, 38])}:{{}}]"
        first = int(text.rsplit("[", 1)[1].split(":", maxsplit=1)[0])
        return Probe(row.name, f"{row.name} {text.format(first + 1)} offset:{8 * rng.randrange(3)}", [], after, results)
    strided = "stride64" in row.name
    one, two = (rng.sample(range(4), 2)) if strided else rng.sample(range(32 // size), 2)
    address = lines.LDS_STRIDED if strided else LDS_OWN
    data = [span("v", rng.choice([26, 28, 30, 38]), size // 4) for _ in range(2)]
    text = f"{row.name} {span('v', D, count)}, {address}, {', '.join(data)} offset0:{one} offset1:{two}"
    if strided:
        after = lines_memory._read_back()
        results = results[:count] + [f"v{n}" for n in range(104, 120)]
    return Probe(row.name, text, [], after, results)


def _own(row, rng):
    """Lines that no generator of gfx9 draws."""
    name = row.name
    if name in _NOTHING:
        return _result(row, _NOTHING[name], [f"v_mov_b32_e32 v{D}, 1"])
    if name in ("s_barrier_signal", "s_barrier_wait"):
        return _barrier(row)
    if name in ("s_round_mode", "s_denorm_mode"):
        return _mode(row, rng)
    if name.startswith("s_sendmsg_rtn"):
        return _message(row)
    if name in ("ds_append", "ds_consume") or "addtid" in name:
        return _by_lane(row, rng) if name.startswith("ds_") else _memory_by_lane(row, rng)
    if "storexchg_2addr" in name or "condxchg" in name:
        return _exchange(row, rng)
    if name == "ds_bpermute_fi_b32":
        return lines_lanes._lanes(row, rng)
    return None


def _returning(line):
    """The bit that makes an atomic return its old value; an absent scalar offset."""
    if lines.target.gfx12:
        return re.sub(r"(s\[80:83\]), 0\b", r"\1, null", line.replace(" sc0", " th:TH_ATOMIC_RETURN"))
    return line.replace(" sc0", " glc")


def _renamed(row, name):
    """The row under another mnemonic."""
    return dataclasses.replace(row, opcode=dataclasses.replace(row.opcode, name=name))


def probe(encoding, row, rng, number):
    """A line for gfx11 and gfx12, None for other architectures and rows, but for gfx9's names of the same."""
    if row.name in OLDER or row.name in _BOTH:
        new = OLDER.get(row.name, row.name)
        found = _own(_renamed(row, new), rng)
        found.name, found.line = row.name, found.line.replace(new, row.name, 1)
        return found
    if not lines.target.rdna or row.name.startswith(("s_getreg", "s_setreg")):
        return None
    if row.name.startswith("v_") and row.name not in (*_NOTHING, *PACKED):
        return None
    found = _own(row, rng)
    if found is not None:
        return found
    old = ALIASES.get(row.name, row.name)
    renamed = _renamed(row, old)
    for family in _OLD:
        found = family.probe(_UNITS.get(encoding, encoding), renamed, rng, number)
        if found is not None:
            found.name = row.name
            found.line = _returning(found.line.replace(old, row.name, 1))
            found.after = [line.replace(f"{old} ", f"{row.name} ") for line in found.after]
            return found
    return None
