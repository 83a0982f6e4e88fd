"""Assembly lines for VSKIP, scalar stores and atomics, and scalar accesses to scratch."""

from __future__ import annotations

from tests.machine import lines
from tests.machine.lines_scalar import _scalar_source
from tests.machine.lines_segments import _memory_of_all

OWN = ["v_readlane_b32 s86, v45, 0", "s_sub_u32 s86, s86, 32", "s_add_u32 s88, s12, s86", "s_addc_u32 s89, s13, 0"]
"""s[88:89]: the first 64 bytes of the wave's own part of the memory."""
RESULTS = [f"v{n}" for n in range(104, 120)]


def _skip(row, rng):
    """A vector instruction behind it, which is executed or not."""
    line = f"{row.name} {', '.join(_scalar_source(slot, rng) for slot in row.src)}"
    after = ["s_nop 1", f"v_mov_b32_e32 v{lines.D}, 2", f"{row.name} 0, 0", "s_nop 1"]
    return lines.Probe(row.name, line, [f"v_mov_b32_e32 v{lines.D}, 1"], after, [f"v{lines.D}"])


def _access(row, rng):
    """A store or an atomic, in range, in part or not at all; the data are what s20 to s51 hold, in s[92:95]."""
    size = 16 if "scratch" in row.name else 4 * row.src[2].count
    before = [*OWN, f"s_mov_b32 s84, {rng.choice([0, 4, 7] if size < 16 else [0, 1])}"]
    before += [f"s_mov_b32 s{92 + k}, s{rng.choice(lines.S_POOL)}" for k in range(row.src[2].count)]
    offset = rng.choice(["0x0", "0x8", "0x13", "s84", "s84 offset:0x10"])
    if "_atomic" in row.name and row.name.endswith("_x2"):
        offset = rng.choice(["0x0", "0x8", "0x10"])
    base = "s[88:89]"
    if row.src[0].count == 4:
        stride, records = rng.choice([(0, 64), (0, 12), (0, 0), (16, 4), (4, 3)])
        before += [
            "s_and_b32 s89, s89, 0xffff",
            f"s_or_b32 s89, s89, {stride << 16:#x}",
            f"s_movk_i32 s90, {records}",
            "s_mov_b32 s91, 0",
        ]
        base = "s[88:91]"
    returns = bool(row.dst) and rng.random() < 0.6
    text = f"{row.name} {lines.span('s', 92, row.src[2].count)}, {base}, {offset}{' glc' if returns else ''}"
    after = ["s_waitcnt lgkmcnt(0)", *_memory_of_all()]
    results = [f"s{92 + k}" for k in range(row.dst[0].count if row.dst else 0)]
    return lines.Probe(row.name, text, before, after, [*RESULTS, *results])


def _scratch_load(row, rng):
    """Scratch by its address in memory; the SGPR counts units of 64 bytes."""
    count = row.dst[0].count
    offset = rng.choice(["0x0", "0x8", "s84", "s84 offset:0x4"])
    text = f"{row.name} {lines.span('s', 72, count)}, {lines.SDATA}, {offset}"
    results = [f"s{72 + i}" for i in range(count)]
    return lines.Probe(row.name, text, [f"s_mov_b32 s84, {rng.randrange(2)}"], ["s_waitcnt lgkmcnt(0)"], results)


def probe(encoding, row, rng, _number):
    """One random line for a row of these families, None for another."""
    if row.name == "s_setvskip":
        return _skip(row, rng)
    if encoding != "SMEM":
        return None
    if row.name.startswith("s_scratch_load"):
        return _scratch_load(row, rng)
    if "_store_" in row.name or "_atomic_" in row.name:
        return _access(row, rng)
    if row.name.startswith("s_atc_probe"):
        base = "s[4:7]" if "buffer" in row.name else lines.SDATA
        return lines.Probe(row.name, f"{row.name} 3, {base}, 0x0", [], [], [])
    if row.name.startswith("s_dcache_discard"):
        return lines.Probe(row.name, f"{row.name} {lines.SDATA}, 0x0", [], [], [])
    return None
