"""The global data share: every LDS operation with the modifier `gds`, ranges, sharing, and where there is none."""

from __future__ import annotations

import numpy as np
import pytest

from mfmasim.architectures import arch
from mfmasim.errors import MfmasimError
from mfmasim.isa.counters import raised
from tests.machine import harness
from tests.machine.lines import span

DWORDS, PER = 32, 16
BASE, SIZE = 0x40, 4 * DWORDS
DST, ADDRESS, DATA = 10, 2, (20, 24)
LDS_ALONE = ("addtid", "permute", "swizzle", "nop")
TABLE = {
    "gfx908": "global_load_dword v{}, v3, s[8:9] offset:{}",
    "gfx1151": "global_load_b32 v{}, v3, s[8:9] offset:{}",
}
STORE = {
    "gfx908": "global_store_dword v3, v{}, s[10:11] offset:{}",
    "gfx1151": "global_store_b32 v3, v{}, s[10:11] offset:{}",
}
WRITE = {"gfx908": "ds_write_b32", "gfx1151": "ds_store_b32"}
READ = {"gfx908": "ds_read_b32", "gfx1151": "ds_load_b32"}
PAIR = {"gfx908": "s_load_dwordx4", "gfx1151": "s_load_b128"}


def operations(arch):
    """Rows of LDS operations that the assembler takes with the modifier."""
    rows = [row for found in harness.rows(arch).values() for unit, row in found if unit == "DS" and "gds" in row.flags]
    return [row for row in rows if not any(part in row.name for part in LDS_ALONE)]


def line(row, rng):
    """An instruction with operands of our own."""
    operands = [span("v", DST, slot.count) for slot in row.dst]
    data = iter(DATA)
    operands += [f"v{ADDRESS}" if slot.file == "addr" else span("v", next(data), slot.count) for slot in row.src]
    offsets = ""
    if "offset2" in row.flags:
        one, two = rng.permutation(2)  # within 16 bytes of a lane: the order of lanes and places does not matter
        offsets = f" offset0:{one} offset1:{two}"
    elif "offset" in row.flags:
        offsets = f" offset:{16 * rng.integers(3)}"
    return f"{row.name} {', '.join(operands)}{offsets} gds"


def program(arch, rows, rng):
    """Fill the GDS lane by lane; execute each operation and store what it returns; read the GDS lane by lane."""
    lanes = 64 if arch == "gfx908" else 32
    m0 = BASE << 16 | SIZE
    wait = "s_waitcnt vmcnt(0) lgkmcnt(0)"
    out = [
        f"{PAIR[arch]} s[8:11], s[0:1], 0x0",
        "v_lshlrev_b32_e32 v3, 2, v0",
        "v_lshlrev_b32_e32 v4, 4, v0",
        f"s_mov_b32 m0, {m0:#x}",
        wait,
    ]
    out += [TABLE[arch].format(20 + k, 4 * lanes * k) for k in range(8)] + [wait, "s_mov_b64 s[20:21], exec"]
    out += [f"v_mov_b32_e32 v{DST + k}, {k}" for k in range(4)]
    each = [
        line for lane in range(DWORDS) for line in (f"s_mov_b32 exec_lo, {1 << lane:#x}", "s_mov_b32 exec_hi, 0", "{}")
    ]
    out += [text.format(f"{WRITE[arch]} v3, v20 gds") for text in each] + [wait, "s_mov_b64 exec, s[20:21]"]
    for number, row in enumerate(rows):
        first = rng.integers(1 << 31) | 1 << int(rng.integers(31))
        out += [f"s_mov_b32 exec_lo, {first:#x}", f"v_and_b32_e32 v{ADDRESS}, 0x{rng.choice([0x30, 0x70, 0xF0]):x}, v4"]
        out += [line(row, rng), wait]
        out += [STORE[arch].format(DST + k, 16 * lanes * (number % 4) + 4 * lanes * k) for k in range(4)]
        out += ["s_mov_b64 exec, s[20:21]"]
        if number % 4 == 3:
            out += [f"s_add_u32 s10, s10, {64 * lanes}", "s_addc_u32 s11, s11, 0"]
    out += [text.format(f"{READ[arch]} v{DST}, v3 gds") for text in each] + [wait, "s_mov_b64 exec, s[20:21]"]
    out += ["s_add_u32 s10, s10, 0x1000", "s_addc_u32 s11, s11, 0", wait, STORE[arch].format(DST, 0), "s_endpgm"]
    return "\n".join(f"  {text}" for text in out) + "\n", lanes


@pytest.mark.parametrize("arch", ["gfx908", "gfx1151"])
def test_every_operation_equals_the_slow_model(arch):
    """All that LDS operations do, they do in the GDS; on gfx11 in one lane."""
    rng = np.random.default_rng(7)
    rows = operations(arch)
    assert len(rows) > 80
    for start in range(0, len(rows), PER):
        body, lanes = program(arch, rows[start : start + PER], rng)
        data = rng.uniform(-4, 4, 8 * lanes).astype(np.float32).view(np.uint32)
        both = harness.both(harness.kernel(body, arch, "pp"), 1, lanes, [data, np.zeros(16384, np.uint32)], arch=arch)
        assert both.different() == [], [row.name for row in rows[start : start + PER]]
        assert np.count_nonzero(both.fast[1]) > 4 * lanes


COUNT = """
  {pair} s[8:9], s[0:1], 0x0
  s_mov_b32 m0, 0x100040
  v_lshlrev_b32_e32 v2, 2, v0
  v_mov_b32_e32 v1, 0
  v_mov_b32_e32 v3, 1
  v_mov_b32_e32 v4, 0
  s_lshl_b32 s3, s2, {shift}
  s_waitcnt lgkmcnt(0)
  s_add_u32 s8, s8, s3
  s_addc_u32 s9, s9, 0
  s_cmp_lg_u32 s2, 0
  s_cbranch_scc1 .Lwritten{number}
  {first}
.Lwritten{number}:
  ds_add_rtn_u32 v4, v1, v3 gds
  s_waitcnt lgkmcnt(0)
  ds_append v5 offset:8 gds
  s_waitcnt lgkmcnt(0)
  v_lshlrev_b32_e32 v5, 16, v5
  v_or_b32_e32 v4, v4, v5
  global_store_{dword} v2, v4, s[8:9]
  s_endpgm
"""


def counted(arch, first, groups=2):
    """Workgroups that count in the GDS: once by an addition, once by the number of lanes."""
    wide = arch == "gfx908"
    first = first.replace("ds_write_b32", WRITE[arch])
    body = COUNT.format(
        pair="s_load_dwordx2" if wide else "s_load_b64",
        dword="dword" if wide else "b32",
        shift=8 if wide else 7,
        first=first,
        number=len(first),
    )
    lanes = 64 if wide else 32
    return harness.fast(
        harness.kernel(body, arch, "p"), groups, lanes, [np.zeros(groups * lanes, np.uint32)], checks="all"
    )


@pytest.mark.parametrize("arch", ["gfx908", "gfx1151"])
def test_workgroups_count_together(arch):
    """The second workgroup goes on where the first one ended; on gfx11 an addition is done by one lane."""
    (out,), report = counted(
        arch, "ds_write_b32 v1, v1 gds\n  ds_write_b32 v1, v1 offset:8 gds\n  s_waitcnt lgkmcnt(0)"
    )
    assert list(report.findings) == []
    lanes = len(out) // 2
    added = lanes if arch == "gfx908" else 1
    sums = (out & 0xFFFF).reshape(2, lanes)
    assert sorted(sums[:, :added].flatten().tolist()) == list(range(2 * added))
    assert not sums[:, added:].any()
    assert (out >> 16).reshape(2, lanes).tolist() == [[0] * lanes, [lanes] * lanes]


@pytest.mark.parametrize("arch", ["gfx908", "gfx1151"])
def test_its_contents_are_undefined_at_the_start(arch):
    """Bytes that were never written are reported with its place."""
    _, report = counted(arch, "s_nop 0", 1)
    (finding, *_) = report.findings
    assert finding.check == "uninitialised"
    assert "of global data share" in finding.message


OUTSIDE = """
  s_load_dwordx2 s[8:9], s[0:1], 0x0
  s_mov_b32 m0, {m0:#x}
  v_lshlrev_b32_e32 v2, 2, v0
  v_mov_b32_e32 v3, 7
  ds_write_b32 v2, v3 gds
  s_waitcnt lgkmcnt(0)
  ds_read_b32 v4, v2 gds
  s_waitcnt lgkmcnt(0)
  global_store_dword v2, v4, s[8:9]
  s_endpgm
"""


@pytest.mark.parametrize(("m0", "inside"), [(40, 10), (0xFF0 << 16 | 0x100, 4), (0xFFFF0100, 0), (0x100, 64)])
def test_beyond_size_or_memory_reads_give_0(m0, inside):
    """The size in M0 ends the range, and so does the memory itself; both accesses are reported."""
    kernel = harness.kernel(OUTSIDE.format(m0=m0), "gfx908", "p")
    (out,), report = harness.fast(kernel, 1, 64, [np.zeros(64, np.uint32)], checks="all")
    assert out.tolist() == [7] * inside + [0] * (64 - inside)
    found = [finding for finding in report.findings if "outside the global data share" in finding.message]
    assert [finding.count for finding in found] == [64 - inside] * (2 if inside < 64 else 0)


def test_workgroups_that_write_one_place_race():
    """Workgroups share it, so that nothing orders their writes."""
    kernel = harness.kernel(OUTSIDE.format(m0=0x100).replace("v3, 7", "v3, s2"), "gfx908", "p")
    _, report = harness.fast(kernel, 2, 64, [np.zeros(64, np.uint32)], checks="races")
    assert any(finding.instruction == "ds_write_b32" for finding in report.findings)


def test_m0_needs_a_wait_state_and_lds_and_gds_complete_in_any_order():
    """CDNA1 ISA manual, 4.4 and 4.5."""
    body = OUTSIDE.format(m0=0x100).replace("  v_lshlrev_b32_e32 v2, 2, v0\n  v_mov_b32_e32 v3, 7\n", "")
    _, report = harness.fast(harness.kernel(body, "gfx908", "p"), 1, 64, [np.zeros(64, np.uint32)], checks="hazards")
    assert any("M0" in finding.message for finding in report.findings)
    find = {ins.text: ins for ins in harness.kernel(OUTSIDE.format(m0=0x100), "gfx908", "p").instructions}
    gds = next(ins for text, ins in find.items() if text.startswith("ds_read_b32"))
    assert gds.space == "global"
    (up,) = raised(arch("gfx908"), gds.opcode, True, gds.space)
    (lds,) = raised(arch("gfx908"), gds.opcode, True)
    assert (up.counter, up.order, lds.order) == ("lgkmcnt", "gds", "lds")


@pytest.mark.parametrize(
    ("arch", "text"),
    [
        ("gfx908", "ds_read_addtid_b32 v1 gds"),
        ("gfx1151", "ds_load_addtid_b32 v1 gds"),
        ("gfx908", "ds_ordered_count v1, v2 gds"),
        ("gfx1151", "ds_gws_barrier v1 gds"),
    ],
)
def test_what_is_of_the_lds_alone_is_refused(arch, text):
    """With the name of the instruction."""
    kernel = harness.kernel(f"  {text}\n  s_endpgm\n", arch, "p")
    assert [ins.text for ins in kernel.unsupported] == [text]
    with pytest.raises(MfmasimError, match=text.split()[0]):
        harness.fast(kernel, 1, 32, [np.zeros(64, np.uint32)])


@pytest.mark.parametrize("name", ["gfx90a", "gfx942", "gfx950", "gfx1201"])
def test_other_architectures_have_none(name):
    """Neither the architecture nor LLVM's assembler knows it."""
    assert arch(name).lds.gds_bytes == 0
    load = "ds_load_b32" if name == "gfx1201" else "ds_read_b32"
    assert harness.accepted([f"{load} v1, v2", f"{load} v1, v2 gds"], name) == [f"{load} v1, v2"]
