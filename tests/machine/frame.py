"""The kernel around probes: it loads inputs, chooses EXEC, VCC and SCC, runs each probe and stores what it left."""

from __future__ import annotations

import numpy as np

from tests.machine.spelling import spelled, split
from tests.slow.machine.flat import SCRATCH_BYTES

ITEMS, GROUPS = 96, 2
"""Work-items of a workgroup (its second wave is partial) and workgroups."""
INPUTS = 40
"""Dwords of input per work-item: v10..v41, then addresses."""
LDS_BYTES = 24576
"""8192 bytes a wave, of which a workgroup has three at most."""
PRIVATE = f".amdhsa_private_segment_fixed_size {SCRATCH_BYTES}"
MOST = 1000
"""Dwords of output per work-item."""

PROLOGUE = f"""
  s_mov_b64 s[60:61], exec
  s_load_dwordx8 s[4:11], s[0:1], 0x0
  v_and_b32_e32 v1, 0x3ff, v0
  s_mul_i32 s14, s2, {ITEMS}
  v_add_u32_e32 v1, s14, v1
  s_waitcnt lgkmcnt(0)
  s_mov_b32 s12, s8
  s_mov_b32 s13, s9
  s_lshl_b32 s14, s2, 9
  s_add_u32 s6, s6, s14
  s_addc_u32 s7, s7, 0
  s_add_u32 s64, s6, 16
  s_addc_u32 s65, s7, 0
  s_load_dwordx16 s[20:35], s[6:7], 0x0
  s_load_dwordx16 s[36:51], s[6:7], 0x40
  s_load_dwordx8 s[52:59], s[6:7], 0x80
  v_mul_u32_u24_e32 v2, {4 * INPUTS}, v1
{{inputs}}
  v_lshlrev_b32_e32 v45, 6, v1
  v_add_u32_e32 v45, 32, v45
  v_mov_b32_e32 v7, s9
  v_add_co_u32_e32 v6, vcc, s8, v45
  v_addc_co_u32_e32 v7, vcc, 0, v7, vcc
  v_mul_u32_u24_e32 v3, {4 * MOST}, v1
  s_waitcnt vmcnt(0) lgkmcnt(0)
  s_mov_b32 m0, s37
  s_mov_b32 s62, 36
{{accumulators}}
  ds_write_b128 v42, v[10:13]
  ds_write_b128 v42, v[18:21] offset:16
  ds_write2st64_b64 v43, v[26:27], v[28:29] offset1:1
  ds_write2st64_b64 v43, v[30:31], v[32:33] offset0:2 offset1:3
  s_waitcnt lgkmcnt(0)
  s_barrier
"""


def prologue(arch="gfx942"):
    """The instructions that load every input; gfx12 finds the workgroup's number in TTMP9."""
    loads = [f"  global_load_dwordx4 v[{10 + i}:{13 + i}], v2, s[4:5] offset:{4 * i}" for i in range(0, INPUTS, 4)]
    moves = [f"  v_accvgpr_write_b32 a{i}, v{10 + 3 * i}" for i in range(8)]
    text = PROLOGUE.format(inputs="\n".join(loads), accumulators="\n".join(moves))
    first = ["  s_mov_b32 s2, ttmp9"] if arch.startswith("gfx12") else []
    # All of VCC has a value; a wave of 32 lanes uses half of it.
    first += ["  s_mov_b32 vcc_hi, 0x5a5a5a5a"] if arch.startswith("gfx1") else []
    return "\n".join([*first, *spelled(text.splitlines(), arch)])


def _runs(registers):
    """Consecutive vector registers together, at most four: what one store can take."""
    out = []
    for name in registers:
        last = out[-1][-1] if out else ""
        if name[0] == "v" and last[:1] == "v" and int(name[1:]) == int(last[1:]) + 1 and len(out[-1]) < 4:
            out[-1].append(name)
        else:
            out.append([name])
    return out


def stores(registers, slot):
    """Store registers of any file to consecutive dwords of the work-item's output."""
    out, plain = [], []
    for i, name in enumerate(registers):
        if name[0] == "v" and name[1].isdigit():
            plain.append(name)
            continue
        move = "v_accvgpr_read_b32" if name[0] == "a" else "v_mov_b32_e32"
        plain.append(f"v{130 + i}")
        out.append(f"  {move} v{130 + i}, {name}")
    # A store of several registers starts at an even one.
    for run in _runs(plain):
        first, count = int(run[0][1:]), len(run)
        parts = [(first, count)] if first % 2 == 0 or count == 1 else [(first, 1), (first + 1, count - 1)]
        for start, size in parts:
            what = ("dword", "dwordx2", "dwordx3", "dwordx4")[size - 1]
            registers = f"v{start}" if size == 1 else f"v[{start}:{start + size - 1}]"
            out.append(f"  global_store_{what} v3, {registers}, s[10:11] offset:{4 * slot}")
            slot += size
    return out


def _one(probe, slot, arch, masked):
    """A probe and the store of its results, from dword `slot` of the work-item's output."""
    out = [f"  v_mov_b32_e32 v{100 + i}, v{38 + i % 4}" for i in range(8) if f"v{100 + i}" in probe.results]
    if "a100" in probe.results:
        out += ["  v_accvgpr_write_b32 a100, v38"]
    out += [f"  s_mov_b64 vcc, s[{20 + 2 * (slot % 16)}:{21 + 2 * (slot % 16)}]"]
    mask = 52 + 2 * (3 if slot % 16 == 3 else slot % 3)  # the empty mask seldom
    out += [f"  s_and_b64 exec, s[60:61], s[{mask}:{mask + 1}]"] if masked else []
    out += [f"  s_bitcmp1_b32 s{20 + slot % 32}, {slot % 31}"]
    out += [f"  {line}" for line in probe.before]
    out = [*spelled(out, arch), f"  {probe.line}"]
    saved = {name: f"s{67 + i}" for i, name in enumerate(name for name in probe.results if name.startswith("exec"))}
    end = ["  s_cselect_b32 s66, 1, 0"]
    end += [f"  s_mov_b32 {to}, {name}" for name, to in saved.items()]
    end += ["  s_mov_b64 exec, s[60:61]"]
    end += [f"  {line}" for line in probe.after]
    registers = [*(saved.get(name, name) for name in probe.results), "s66"]
    return out + spelled(end + stores(registers, slot), arch), len(registers)


def programs(probes, arch="gfx942"):
    """Bodies of kernels that hold all probes, each with the map from output dword to its probe."""
    body, places, slot = [], [], 0
    most = 511 if arch.startswith("gfx10") else MOST  # its offsets have 12 bits, of which one is the sign
    for number, probe in enumerate(probes):
        lines, count = _one(probe, slot, arch, masked=number % 4 != 0)
        if slot + count > most:
            yield "\n".join([prologue(arch), *body, "  s_endpgm"]), places
            body, places, slot = [], [], 0
            lines, count = _one(probe, slot, arch, masked=number % 4 != 0)
        body += lines
        places += [probe] * count
        slot += count
    if body:
        yield "\n".join([prologue(arch), *body, "  s_endpgm"]), places


INTEGERS = (0, 1, 2, 31, 32, 33, 63, 64, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFE, 0x8000, 0x7FFF, 0xFFFF,
            0x10000, 0x00FFFFFF, 0x00800000, 0x007FFFFF, 0xFF800000, 0x0C0B0908, 0xFF0D0A07, 0x04030201,
            0x80008000)  # fmt: skip
FLOATS = (0, 0x80000000, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC01234, 0x7F800001, 0xFFA00000,
          1, 0x80000001, 0x007FFFFF, 0x00800000, 0x807FFFFF, 0x7F7FFFFF, 0xFF7FFFFF, 0x34000000, 0x33800000, 0x3F7FFFFF,
          0x3F800001, 0x4B800000, 0x4B7FFFFF, 0x00400000, 0x1F800000, 0x20000000)  # fmt: skip
WIDE = (0, 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, (1 << 64) - 2, 1 << 32, (1 << 32) - 1, 0x7FF0000000000000,
        0xFFF0000000000000, 0x7FF8000000000000, 0x7FF0000000000001, 0x3FF0000000000000, 0xBFF0000000000000,
        0x000FFFFFFFFFFFFF, 0x0010000000000000, 0x7FEFFFFFFFFFFFFF)  # fmt: skip
HALVES = (0, 0x8000, 0x3C00, 0xBC00, 0x7C00, 0xFC00, 0x7E00, 0xFE01, 0x7C01, 1, 0x8001, 0x03FF, 0x0400, 0x7BFF, 0x3BFF)


def inputs(rng, arch="gfx942"):
    """Vector inputs (items, INPUTS), scalars (GROUPS, 128), 64 bytes of memory an item, outputs."""
    items = ITEMS * GROUPS
    data = rng.integers(0, 1 << 32, (items, INPUTS), dtype=np.uint32)
    some = rng.random((items, INPUTS))
    edges = np.array(INTEGERS, np.uint32)[rng.integers(0, len(INTEGERS), (items, 8))]
    data[:, 0:8] = np.where(some[:, 0:8] < 0.7, edges, data[:, 0:8] >> rng.integers(0, 32, (items, 8), dtype=np.uint32))
    floats = np.array(FLOATS, np.uint32)[rng.integers(0, len(FLOATS), (items, 8))]
    near = data[:, 8:16] & np.uint32(0x83FFFFFF) | np.uint32(0x3C000000)
    data[:, 8:16] = np.where(some[:, 8:16] < 0.5, floats, np.where(some[:, 8:16] < 0.9, near, data[:, 8:16]))
    wide = np.array(WIDE, np.uint64)[rng.integers(0, len(WIDE), (items, 4))].view(np.uint32).reshape(items, 8)
    data[:, 16:24] = np.where(np.repeat(some[:, 16:20] < 0.7, 2, axis=1), wide, data[:, 16:24])
    halves = np.array(HALVES, np.uint16)[rng.integers(0, len(HALVES), (items, 8))].view(np.uint32).reshape(items, 4)
    data[:, 24:28] = np.where(some[:, 24:28] < 0.6, halves, data[:, 24:28])
    # In some lanes all registers of a kind are equal, where comparisons tip over.
    for first, last in ((0, 8), (8, 16), (24, 28), (28, 32)):
        same = rng.random(items) < 0.12
        data[same, first:last] = data[same, first : first + 1]
    same = rng.random(items) < 0.12
    data[same, 16:24] = np.tile(data[same, 16:18], 4)
    lanes = split(arch)[1]
    item = np.arange(items) % ITEMS
    wave, place = item // lanes, rng.permutation(lanes)[item % lanes]
    data[:, 32] = wave * 8192 + place * 32
    data[:, 33] = wave * 8192 + 2048 + place * 8
    data[:, 34] = np.where(
        some[:, 34] < 0.5, LDS_BYTES + place * 32, data[:, 34] & np.uint32(0x7FFFFFE0) | np.uint32(0x40000000)
    )
    scalars = rng.integers(0, 1 << 32, (GROUPS, 128), dtype=np.uint32)
    pick = rng.random((GROUPS, 32))
    scalars[:, :32] = np.where(
        pick < 0.5, np.array(INTEGERS, np.uint32)[rng.integers(0, len(INTEGERS), (GROUPS, 32))], scalars[:, :32]
    )
    scalars[:, 8:16] = np.array(FLOATS, np.uint32)[rng.integers(0, len(FLOATS), (GROUPS, 8))]
    # The masks: random, every other lane, one lane, none.
    scalars[:, 34:36], scalars[0, 36:38], scalars[:, 38:40] = 0xAAAAAAAA, (0, 1 << 9) if lanes == 64 else (1 << 9, 0), 0
    memory = rng.integers(0, 1 << 32, (items, 16), dtype=np.uint32)
    # Numbers with a fraction, of both signs, up to 16: what the directions of rounding differ in.
    fractions = rng.uniform(-16, 16, (3, GROUPS, 4))
    scalars[:, 12:16] = fractions[0].astype(np.float32).view(np.uint32)
    halves = fractions[1:].astype(np.float16).view(np.uint16).astype(np.uint32)
    scalars[:, 18:22] = halves[0] | halves[1] << 16
    return data, scalars, memory, np.zeros((items, MOST), np.uint32)
