"""Memory of every kind in compiled kernels, and what is reported about accesses that go wrong."""

from __future__ import annotations

import numpy as np
import pytest

import mfmasim
from mfmasim.machine.state.lane_order import in_order
from tests.machine import harness

pytestmark = pytest.mark.oracle

SOURCE = r"""
#include <hip/hip_runtime.h>

__device__ __attribute__((noinline)) int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

extern "C" __global__ void recursion(int *out) { out[threadIdx.x] = fibonacci(threadIdx.x % 9); }

extern "C" __global__ void array(const int *in, int *out) {
  int stack[24];
  for (int i = 0; i < 24; ++i) stack[i] = in[(threadIdx.x + i) % 64];
  int at = in[threadIdx.x] % 24;
  for (int i = 0; i < 24; ++i) at = (at + (stack[at] & 255)) % 24, stack[at] += i;
  out[blockIdx.x * blockDim.x + threadIdx.x] = stack[at];
}

extern "C" __global__ void generic(const int *in, int *out, int which) {
  __shared__ int tile[64];
  int own[2] = {in[threadIdx.x], 7};
  tile[threadIdx.x] = 3 * in[threadIdx.x];
  __syncthreads();
  const int *from = which == 0 ? in : which == 1 ? tile : own;
  if (which == 3) from = threadIdx.x & 1 ? tile : in;
  int at = which == 2 ? threadIdx.x & 1 : threadIdx.x;
  out[threadIdx.x] = *(const volatile int *)(from + at);
}

extern "C" __global__ void histogram(const unsigned *in, unsigned *bins, unsigned *order, unsigned long long *sum,
                                     float *total) {
  __shared__ unsigned local[16];
  if (threadIdx.x < 16) local[threadIdx.x] = 0;
  __syncthreads();
  unsigned value = in[blockIdx.x * blockDim.x + threadIdx.x];
  atomicAdd(&local[value % 16], 1u);
  atomicMax(&order[1], value);
  atomicAdd(sum, (unsigned long long)value << 20);
  atomicAdd(total, (float)(value & 7));
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
  if (threadIdx.x == 0) atomicAdd(&order[0], 1u);
}

extern "C" __global__ void shuffles(const int *in, int *out) {
  int value = in[threadIdx.x];
  value += __shfl_xor(value, 5);
  value ^= __shfl(value, (threadIdx.x * 7) & 63);
  out[threadIdx.x] = value + __shfl_xor(value, 32);
}

extern "C" __global__ void assertion(int *out) {
  if (out[threadIdx.x] > 100) __builtin_trap();
  out[threadIdx.x] = 1;
}
"""


@pytest.fixture(scope="module", params=["gfx942", "gfx950"])
def code(request, tmp_path_factory):
    """The kernels, compiled."""
    path = tmp_path_factory.mktemp("memory") / "memory.hip"
    path.write_text(SOURCE)
    return mfmasim.compile(str(path), arch=request.param)


def run(kernel, grid, block, *args):
    """Launch and expect no finding, but that the order of float atomics is open."""
    report = mfmasim.device("sim").launch(kernel, grid=grid, block=block, args=list(args))
    found = [finding for finding in report.findings if finding.id != "atomics-order"]
    assert not found, found
    return report


def test_recursion_has_a_stack(code):
    """Calls through s_swappc with frames in scratch."""
    out = np.zeros(64, np.int32)
    run(code["recursion"], 1, 64, out)
    known = [0, 1]
    while len(known) < 9:
        known.append(known[-1] + known[-2])
    assert (out == np.array(known)[np.arange(64) % 9]).all()


def test_a_private_array_is_each_lanes_own(code):
    """Dynamic indices into scratch, several workgroups."""
    data = np.random.default_rng(1).integers(0, 1000, 64).astype(np.int32)
    out = np.zeros(128, np.int32)
    run(code["array"], 2, 64, data, out)
    for lane in range(64):
        stack = [int(data[(lane + i) % 64]) for i in range(24)]
        at = int(data[lane]) % 24
        for i in range(24):
            at = (at + (stack[at] & 255)) % 24
            stack[at] += i
        assert out[lane] == out[64 + lane] == stack[at]


@pytest.mark.parametrize("which", range(4))
def test_a_generic_pointer_finds_its_space(code, which):
    """Global memory, LDS, scratch, and both of the first two in one instruction."""
    data = np.arange(100, 164, dtype=np.int32)
    out = np.zeros(64, np.int32)
    run(code["generic"], 1, 64, data, out, np.int32(which))
    lane = np.arange(64)
    expected = [data, 3 * data, np.where(lane & 1, 7, data), np.where(lane & 1, 3 * data, data)][which]
    assert (out == expected).all()


def test_atomics_add_up(code):
    """LDS and memory, 32 and 64 bits, integers and floats, all lanes at few places."""
    data = np.random.default_rng(2).integers(0, 1 << 20, 4 * 128).astype(np.uint32)
    bins, order, total = np.zeros(16, np.uint32), np.zeros(2, np.uint32), np.zeros(1, np.float32)
    wide = np.zeros(1, np.uint64)
    run(code["histogram"], 4, 128, data, bins, order, wide, total)
    assert (bins == np.bincount(data % 16, minlength=16)).all()
    assert order.tolist() == [4, data.max()]
    assert wide[0] == int(data.astype(np.uint64).sum()) << 20
    assert total[0] == (data & 7).sum()


def test_shuffles(code):
    """Permutes between lanes as the compiler writes them."""
    data = np.random.default_rng(3).integers(0, 1 << 20, 64).astype(np.int32)
    out = np.zeros(64, np.int32)
    run(code["shuffles"], 1, 64, data, out)
    lane = np.arange(64)
    value = data + data[lane ^ 5]
    value = value ^ value[lane * 7 & 63]
    assert (out == value + value[lane ^ 32]).all()


def test_a_trap_stops_the_launch(code):
    """A finding with the place; without a reason to trap there is none."""
    quiet = np.zeros(64, np.int32)
    run(code["assertion"], 1, 64, quiet)
    loud = np.full(64, 101, np.int32)
    report = mfmasim.device("sim").launch(code["assertion"], grid=1, block=64, args=[loud])
    assert [finding.check for finding in report.findings] == ["trap"]
    assert "s_trap 2" in report.findings[0].message
    assert report.stopped


def launched(body, *arrays, lds=0, extra=""):
    """Findings of an assembly body on gfx942, one wave."""
    program = harness.kernel(body, "gfx942", "p" * len(arrays), lds=lds, extra=extra)
    copies, report = harness.fast(program, 1, 64, list(arrays), checks="all")
    return copies, report.findings


LOAD = "s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\nv_and_b32_e32 v0, 63, v0\n"


def test_scratch_beyond_its_end():
    """A stack that is too small: reported, with poison or a dropped store."""
    body = LOAD + (
        "v_lshlrev_b32_e32 v1, 2, v0\nscratch_store_dword v1, v0, off\nscratch_load_dword v2, v1, off\n"
        "s_waitcnt vmcnt(0)\n"
        "global_store_dword v1, v2, s[4:5]\ns_endpgm"
    )
    (out,), findings = launched(body, np.zeros(64, np.uint32), extra=".amdhsa_private_segment_fixed_size 128")
    assert (out[:32] == np.arange(32)).all()
    assert (out[32:] == 0xA5A5A5A5).all()
    assert [f.check for f in findings] == ["bounds", "bounds"]
    assert "scratch address 128 of 128 bytes per work-item; 32 lanes" in findings[0].message


def test_a_crooked_atomic_changes_nothing():
    """A misaligned address is reported and the memory stays."""
    body = LOAD + "v_mov_b32_e32 v1, 2\nv_mov_b32_e32 v2, 1\nglobal_atomic_add v1, v2, s[4:5]\ns_endpgm"
    (out,), findings = launched(body, np.zeros(64, np.uint32))
    assert not out.any()
    assert [f.severity for f in findings] == ["error"]
    assert findings[0].check == "alignment"
    assert "atomic of 4 bytes at address" in findings[0].message


def test_beyond_a_buffer_resource():
    """Lanes out of range read 0 and are mentioned; the launch is good all the same."""
    body = LOAD + (
        "s_and_b32 s5, s5, 0xffff\ns_mov_b32 s6, 100\ns_mov_b32 s7, 0x27000\nv_lshlrev_b32_e32 v1, 2, v0\n"
        "buffer_load_dword v2, v1, s[4:7], 0 offen\ns_waitcnt vmcnt(0)\nv_add_u32_e32 v2, 1, v2\n"
        "global_store_dword v1, v2, s[4:5]\ns_endpgm"
    )
    (out,), findings = launched(body, np.arange(64, dtype=np.uint32))
    assert (out == np.where(np.arange(64) < 25, np.arange(64) + 1, 1)).all()
    assert [(f.check, f.severity, f.count) for f in findings] == [("bounds", "info", 39)]


def test_lanes_of_one_place_act_in_order():
    """Every way of working through shared places gives what one lane after the other gives."""
    rng = np.random.default_rng(4)
    compared = 0
    for places, lanes in ((1, 300), (3, 300), (200, 300), (1, 1), (5000, 40)):
        for ufunc in (np.add, np.maximum, None):
            memory = rng.integers(0, 1 << 32, places, dtype=np.uint32)
            place, data = rng.integers(0, places, lanes), rng.integers(0, 1 << 32, lanes, dtype=np.uint32)
            combine = np.subtract if ufunc is None else ufunc
            old, touched, values = in_order(place, memory.__getitem__, combine, [data], ufunc)
            expected = memory.copy()
            for lane in range(lanes):
                assert old[lane] == expected[place[lane]]
                expected[place[lane]] = combine(expected[place[lane]], data[lane])
                compared += 1
            memory[touched] = values
            assert (memory == expected).all()
    assert compared == 3 * 941


DIFFER = """
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_and_b32_e32 v0, 63, v0
  v_lshlrev_b32_e32 v1, 2, v0
  s_lshl_b32 s8, s2, 8
  v_add_u32_e32 v2, s8, v1
  s_waitcnt lgkmcnt(0)
  global_load_dword v4, v1, s[4:5]
  v_mov_b32_e32 v5, 77
  v_mov_b32_e32 v6, 88
  s_waitcnt vmcnt(0)
  s_cmp_eq_u32 s2, 0
  s_cbranch_scc1 .Ljoin{number}
  {only}
.Ljoin{number}:
  {both}
  s_set_gpr_idx_off
  global_store_dword v2, v4, s[6:7]
  s_endpgm
"""


@pytest.mark.parametrize(
    ("only", "both"),
    [
        (
            "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0",
            "v_add_f32_dpp v4, v4, v4 row_shr:1 row_mask:0x5 bank_mask:0xe",
        ),
        ("s_set_gpr_idx_on s2, gpr_idx(SRC0)", "v_mov_b32_e32 v4, v5"),
    ],
    ids=["float mode", "register index"],
)
def test_waves_that_differ_in_mode_share_a_program_counter(only, both):
    """One workgroup flushes denormals, or indexes registers; the same instruction then acts on each in its way."""
    body = DIFFER.format(only=only, both=both, number=len(only))
    program = harness.kernel(body, "gfx942", "pp")
    data = np.arange(64, dtype=np.uint32) * np.uint32(0x00050001)
    outcome = harness.both(program, 2, 64, [data, np.zeros(128, np.uint32)])
    assert outcome.different() == []
    out = outcome.fast[1]
    assert (out[:64] != out[64:]).any()


@pytest.mark.parametrize("name", ["ds_append", "ds_consume"])
def test_a_counter_that_was_never_written_is_undefined_in_every_lane(name):
    """All lanes receive the value that one of them found."""
    body = f"""
  s_load_dwordx2 s[8:9], s[0:1], 0x0
  v_lshlrev_b32_e32 v2, 2, v0
  s_mov_b32 m0, 64
  {{}}
  s_waitcnt lgkmcnt(0)
  {name} v4 offset:8
  s_waitcnt lgkmcnt(0)
  s_mov_b32 exec_lo, 0
  global_store_dword v2, v4, s[8:9]
  s_endpgm
"""
    wrote = "v_mov_b32_e32 v6, 0x48\n  v_mov_b32_e32 v7, 5\n  ds_write_b32 v6, v7"
    for first, findings in (("s_nop 0", 1), (wrote, 0)):
        program = harness.kernel(body.format(first), "gfx942", "p", lds=256)
        (out,), report = harness.fast(program, 1, 64, [np.zeros(64, np.uint32)], checks="all")
        assert len(report.findings) == findings
        assert findings or (out[32:] == 5).all()


SECOND = """
  s_load_dwordx2 s[8:9], s[0:1], 0x0
  v_lshlrev_b32_e32 v2, 2, v0
  v_mov_b32_e32 v3, 7
  s_mov_b32 m0, -1
  {}
  {} v2 offset:{}
  s_waitcnt lgkmcnt(0)
  ds_read_b32 v4, v2
  s_waitcnt lgkmcnt(0)
  global_store_dword v2, v4, s[8:9]
  s_endpgm
"""


@pytest.mark.parametrize(
    ("written", "name", "findings"),
    [
        ("256", "ds_write_src2_b32", 0),  # B
        ("0", "ds_write_src2_b32", 1),  # A
        ("0", "ds_add_src2_u32", 1),
        ("256", "ds_add_src2_u32", 1),
    ],
)
def test_undefined_data_of_a_second_place(written, name, findings):
    """A is undefined if B is; and, unless it is replaced, if it was."""
    body = SECOND.format(f"ds_write_b32 v2, v3 offset:{written}\n  s_waitcnt lgkmcnt(0)", name, 64)
    program = harness.kernel(body, "gfx908", "p", lds=512)
    (out,), report = harness.fast(program, 1, 64, [np.zeros(64, np.uint32)], checks="all")
    assert len(report.findings) == findings, report.findings
    assert findings or (out == 7).all()


def test_a_second_place_outside_the_lds_is_a_finding():
    """Its data are 0."""
    body = SECOND.format("ds_write_b32 v2, v3\n  s_waitcnt lgkmcnt(0)", "ds_add_src2_u32", 128)
    program = harness.kernel(body, "gfx908", "p", lds=512)
    (out,), report = harness.fast(program, 1, 64, [np.zeros(64, np.uint32)], checks="bounds")
    assert len(report.findings) == 1
    assert "LDS address 512" in report.findings[0].message
    assert (out == 7).all()


def test_a_second_place_without_an_lds_is_outside():
    """An undefined address is followed, though nothing of the LDS can be undefined."""
    body = SECOND.format("v_add_u32_e32 v2, v2, v9", "ds_add_src2_u32", 128)
    program = harness.kernel(body, "gfx908", "p", lds=0)
    _, report = harness.fast(program, 1, 64, [np.zeros(64, np.uint32)], checks="all")
    assert "bounds" in {finding.check for finding in report.findings}
