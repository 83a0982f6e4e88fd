"""races in global memory: programs of a few lines, right and wrong, whatever the number of waves in flight."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import mfmasim
from mfmasim.observe.ordering.clocks import Clocks
from tests.machine import harness
from tests.observe.small_kernels import compiled, first_line, symbol

HEAD = "#include <hip/hip_runtime.h>\n"
U32 = np.uint32
# body of a kernel(unsigned *data, unsigned *flag, unsigned *out), and the report: id, here, there (texts of lines)
FAR = "races-between-workgroups"
KERNELS = {
    "each its own": ("out[blockIdx.x * 128 + threadIdx.x] = data[threadIdx.x];", []),
    "one writes, another reads": (
        "if (blockIdx.x < 1)\n data[threadIdx.x]=1;\nelse\n out[blockIdx.x * 128 + threadIdx.x] = data[threadIdx.x];",
        [(FAR, "data[threadIdx.x]=1", "out[")],
    ),
    "another value at the same place": ("out[threadIdx.x] = threadIdx.x + blockIdx.x;", [(FAR, "out[", "out[")]),
    "the same value at the same place": ("out[threadIdx.x] = 7;", [("races-same-value", "out[", "out[")]),
    "an atomic operation and a plain read": (
        "atomicAdd(flag, 1u);\n out[blockIdx.x * 128 + threadIdx.x] = *flag;",
        [("races-global-no-barrier", "*flag;", "atomicAdd"), (FAR, "*flag;", "atomicAdd")],
    ),
    "waves of one workgroup": (
        "unsigned i = blockIdx.x * 128 + threadIdx.x;\n data[i]=threadIdx.x;\n out[i] = data[i ^ 64];",
        [("races-global-no-barrier", "data[i]=", "out[")],  # the compiler loads first
    ),
    "atomic operations alone": ("atomicAdd(flag, 1u);\n atomicMax(flag + 1, threadIdx.x);", []),
    "a bus that is only read": ("out[blockIdx.x * 128 + threadIdx.x] = data[0] + data[1];", []),
    "a slot of a queue": ("unsigned i = atomicAdd(flag, 1u);\n out[i] = threadIdx.x;", []),
}


def code(arch):
    bodies = tuple((name, body) for name, (body, _) in KERNELS.items())
    return compiled(HEAD, "unsigned *data, unsigned *flag, unsigned *out", bodies, arch)


def reported(name, arch, **options):
    args = [np.zeros(512, U32), np.zeros(64, U32), np.zeros(1024, U32)]
    kernel = code(arch)[0][symbol(name)]
    return mfmasim.device("sim").launch(kernel, 4, 128, args, checks="races", **options).findings


def line(lines, name, text):
    first = first_line(lines, name)
    return next(f"k.hip:{number + 1}" for number in range(first, len(lines)) if text in lines[number])


@pytest.mark.parametrize("arch", ["gfx942", "gfx1151"])
@pytest.mark.parametrize("name", KERNELS)
def test_kernels(name, arch):
    _, expected = KERNELS[name]
    lines = code(arch)[1]
    findings = reported(name, arch)
    have = {(f.id, f.source.rpartition("/")[2], f.other.rpartition("/")[2]) for f in findings}
    want = {(kind, line(lines, name, here), line(lines, name, there)) for kind, here, there in expected}
    assert have == want, [f.message for f in findings]
    # Neither the waves in flight nor a second launch change a word.
    for waves in (1, 2, 4):
        assert reported(name, arch, max_waves=waves) == findings


def test_parts_of_an_executor_are_looked_at_together():
    """Workgroups share nothing, so that the parts are what ran; then they do, and the launch runs in one process."""
    for name in ("waves of one workgroup", "one writes, another reads"):
        with ThreadPoolExecutor(2) as executor:
            assert reported(name, "gfx942", executor=executor, parts=2) == reported(name, "gfx942") != []


def test_values_go_from_place_to_place():
    """Wave 0 tells place 7, wave 1 asks it and tells place 8, wave 2 asks that: it knows of wave 0."""
    clocks = Clocks(3, 1)
    clocks.release(7, 0, 5, None, wide=True)
    clocks.learn(1, clocks.acquire(7, wide=True))
    clocks.release(8, 1, 2, None, wide=True)
    clocks.release(7, 0, 9, None, wide=True)  # later than the question
    reported = clocks.acquire(8, wide=True)
    assert reported[0].tolist() == [5, 2, 0]
    assert clocks.acquire(9, wide=True) is None
    assert not clocks.acquire(8, wide=False)[0].any()


def test_more_pairs_than_are_looked_at_is_said(monkeypatch):
    """Every piece is cut small, and the first one alone is more than all that is allowed."""
    everything = reported("another value at the same place", "gfx942")
    monkeypatch.setattr("mfmasim.observe.ordering.pairs.CHUNK", 64)
    assert reported("another value at the same place", "gfx942") == everything
    monkeypatch.setattr("mfmasim.observe.ordering.pairs.MOST", 128)
    findings = reported("another value at the same place", "gfx942")
    assert findings[-1].id == "races-not-followed"
    assert findings[-1] not in everything


IN_FLIGHT = """
  s_load_b64 s[4:5], s[0:1], 0x0
  v_and_b32_e32 v1, 0x3ff, v0
  v_lshlrev_b32_e32 v2, 2, v1
  v_xor_b32_e32 v3, 0x80, v2
  s_waitcnt lgkmcnt(0)
  global_store_b32 v2, v1, s[4:5]
  s_branch .Lnext
.Lnext:
  {}
  s_barrier
  global_load_b32 v4, v3, s[4:5]
  s_waitcnt vmcnt(0)
  s_endpgm
"""


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("wait", "expected"), [("s_nop 0", ["races-global-not-done"]), ("s_waitcnt_vscnt null, 0x0", [])]
)
def test_a_store_stays_in_flight_until_a_wait_also_in_later_blocks(wait, expected):
    """Waves of a work-group processor reach memory by two paths: a barrier alone orders nothing."""
    kernel = harness.kernel(IN_FLIGHT.format(wait), "gfx1100", "p")
    report = mfmasim.device("sim").launch(kernel, 1, 64, [np.zeros(64, U32)], checks="races")
    assert [finding.id for finding in report.findings] == expected


SCALAR = """
  s_load_dwordx2 s[8:9], s[0:1], 0x0
  v_lshlrev_b32_e32 v2, 2, v0
  v_readfirstlane_b32 s13, v2
  s_waitcnt lgkmcnt(0)
  {first}
  s_waitcnt lgkmcnt(0)
  s_barrier
  s_cmp_lg_u32 s13, 0
  s_cbranch_scc1 .Lother
  global_store_dword v2, v2, s[8:9]
  s_waitcnt vmcnt(0)
.Lother:
  s_barrier
  {invalidate}
  {second}
  s_waitcnt lgkmcnt(0)
  s_endpgm
"""


@pytest.mark.parametrize("arch", ["gfx942", "gfx90a"])
@pytest.mark.parametrize(
    ("first", "invalidate", "stale"),
    [
        ("s_load_dword s30, s[8:9], 0x0", "", True),
        ("s_load_dword s30, s[8:9], 0x0", "s_dcache_inv", False),
        ("s_load_dword s30, s[8:9], 0x4", "", True),  # of the same cache line, which wave 1 reads
        ("s_nop 0", "", False),  # no scalar load has brought the line into the cache
    ],
)
@pytest.mark.oracle
def test_a_scalar_load_after_a_store_of_another_wave(arch, first, invalidate, stale):
    for again, found in (("s_load_dword s31, s[8:9], 0x0", stale), ("global_load_dword v5, v2, s[8:9]", False)):
        text = SCALAR.format(first=first, invalidate=invalidate, second=again)
        kernel = harness.kernel(text.replace("s_endpgm", "s_waitcnt vmcnt(0)\ns_endpgm"), arch, "p")
        findings = mfmasim.device("sim").launch(kernel, 1, 128, [np.zeros(64, U32)], checks="races").findings
        assert [f.id for f in findings] == ["races-stale-scalar"] * found, findings


NEAR = """
  s_load_{pair} s[4:5], s[0:1], 0x0
  v_lshlrev_b32_e32 v1, 2, v0
  v_xor_b32_e32 v2, 0x80, v1
  s_waitcnt lgkmcnt(0)
  {before}
  s_waitcnt vmcnt(0)
  s_barrier
  global_store_{word} v1, v1, s[4:5]
  {stored}
  s_barrier
  {fence}
  {after}
  s_waitcnt vmcnt(0)
  s_endpgm
"""
LOAD = "global_load_{word} v3, v2, s[4:5]"
# What stands before the write, behind the barrier, and where the data are read; whether the line may be stale.
NEARBY = {
    "read before": (LOAD, "s_nop 0", LOAD, True),
    "invalidated": (LOAD, "buffer_gl0_inv", LOAD, False),
    "not read before": ("s_nop 0", "s_nop 0", LOAD, False),
    "another place read before": ("global_load_{word} v3, v1, s[4:5]", "s_nop 0", LOAD, False),
    "read past the cache": (LOAD, "s_nop 0", LOAD + " glc", False),
    "read past the cache before": (LOAD + " glc", "s_nop 0", LOAD, False),
}


@pytest.mark.oracle
@pytest.mark.parametrize("name", NEARBY)
def test_a_line_of_the_cache_of_one_compute_unit(name):
    """In WGP mode a wave may find what it has read before the write of a wave on the other compute unit."""
    before, fence, after, stale = NEARBY[name]
    words = {"pair": "b64", "word": "b32"}
    text = NEAR.format(before=before, fence=fence, after=after, stored="s_waitcnt_vscnt null, 0x0", **words)
    kernel = harness.kernel(text.format(**words), "gfx1100", "p")
    findings = mfmasim.device("sim").launch(kernel, 1, 64, [np.zeros(64, U32)], checks="races").findings
    assert [finding.id for finding in findings] == ["races-stale-near"] * stale
    assert all("an invalidation of the vector cache is missing" in finding.message for finding in findings)


@pytest.mark.oracle
def test_the_waves_of_one_compute_unit_have_one_cache():
    words = {"pair": "dwordx2", "word": "dword"}
    text = NEAR.format(before=LOAD, fence="s_nop 0", after=LOAD, stored="s_waitcnt vmcnt(0)", **words).format(**words)
    for arch in ("gfx90a", "gfx942"):
        kernel = harness.kernel(text.replace("0x80,", "0x100,"), arch, "p")
        assert not mfmasim.device("sim").launch(kernel, 1, 128, [np.zeros(128, U32)], checks="races").findings
