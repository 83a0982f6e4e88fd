"""What a launch takes and refuses, in one clear line; hidden arguments, dynamic LDS, stray accesses."""

from __future__ import annotations

import functools
import re

import numpy as np
import pytest

import mfmasim
from mfmasim.codeobject import Argument
from mfmasim.errors import MfmasimError
from mfmasim.machine.launch.argument_segment import by_value
from tests.machine import harness

pytestmark = pytest.mark.oracle

# out[i] = in[i] + value, for the 64 work-items of each workgroup. Arguments: in, out, value.
ADD = """
  s_load_dwordx4 s[8:11], s[0:1], 0x0
  s_load_dword s12, s[0:1], 0x10
  v_and_b32_e32 v1, 0x3ff, v0
  s_lshl_b32 s13, s2, 6
  v_add_u32_e32 v1, s13, v1
  v_lshlrev_b32_e32 v2, 2, v1
  s_waitcnt lgkmcnt(0)
  global_load_dword v3, v2, s[8:9]
  s_waitcnt vmcnt(0)
  v_add_u32_e32 v3, s12, v3
  global_store_dword v2, v3, s[10:11]
  s_endpgm
"""


def adder(**options):
    """The kernel ADD."""
    return harness.kernel(ADD, "gfx942", "ppv", **options)


def words(count=64):
    """A buffer of zeros."""
    return np.zeros(count, np.uint32)


def run(program, *, grid=1, block=64, args=None, **options):
    """Launch on the simulator."""
    args = [words(), words(), np.uint64(1)] if args is None else args
    return mfmasim.device("sim").launch(program, grid=grid, block=block, args=args, **options)


GOOD = np.uint64(1)

BAD = {
    # what is wrong: (launch options, words that the message must hold)
    "too few arguments": ({"args": [words(), words()]}, ("3", "2", "p0")),
    "too many arguments": ({"args": [words(), words(), GOOD, GOOD]}, ("3", "4")),
    "a number for a pointer": ({"args": [1, words(), GOOD]}, ("argument 0", "p0", "int")),
    "a list for a pointer": ({"args": [[1, 2], words(), GOOD]}, ("argument 0", "list")),
    "an array for a value": ({"args": [words(), words(), words()]}, ("argument 2", "p2")),
    "a value of the wrong size": ({"args": [words(), words(), np.int32(1)]}, ("argument 2", "8", "4", "int32")),
    "a value that is too large": ({"args": [words(), words(), 1 << 64]}, ("argument 2", str(1 << 64))),
    "a string for a value": ({"args": [words(), words(), "one"]}, ("argument 2", "str")),
    "None for a value": ({"args": [words(), words(), None]}, ("argument 2", "NoneType")),
    "objects": ({"args": [np.array([None] * 8), words(), GOOD]}, ("argument 0", "object")),
    "strided": ({"args": [words(128)[::2], words(), GOOD]}, ("argument 0", "contiguous", "(8,)")),
    "transposed": ({"args": [np.zeros((8, 8), np.float32).T, words(), GOOD]}, ("argument 0", "contiguous")),
    "big-endian": ({"args": [np.zeros(64, ">u4"), words(), GOOD]}, ("argument 0", ">u4")),
    "empty grid": ({"grid": 0}, ("grid", "0")),
    "negative grid": ({"grid": (1, -2)}, ("grid", "-2")),
    "four dimensions": ({"grid": (1, 1, 1, 1)}, ("grid", "(1, 1, 1, 1)")),
    "no dimension": ({"grid": ()}, ("grid",)),
    "a float grid": ({"grid": (1.5,)}, ("grid", "1.5")),
    "a boolean block": ({"block": True}, ("block", "True")),
    "a grid beyond the limit": ({"grid": (1, 65536)}, ("grid", "65536", "65535")),
    "more work-items than a packet counts": (
        {"grid": (1 << 24, 1), "block": 256},
        ("16777216", "256", "4294967296 work-items in x", "4294967295"),
    ),
    "a block beyond the limit": ({"block": (1025,)}, ("1025", "1024")),
    "a product beyond the limit": ({"block": (32, 32, 2)}, ("2048", "1024")),
    "negative LDS": ({"shared_bytes": -1}, ("shared_bytes", "-1")),
    "LDS of no whole bytes": ({"shared_bytes": 1.5}, ("shared_bytes", "1.5")),
    "LDS beyond the architecture": ({"shared_bytes": 65537}, ("65537", "65536", "gfx942")),
    "an unknown check": ({"checks": "bound"}, ("bound", "bounds")),
    "a budget of nothing": ({"budget": 0}, ("budget", "0")),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_launch_is_one_clear_line(what):
    """The message names the value and what is allowed, and no buffer has changed."""
    options, expected = BAD[what]
    arrays = [a for a in options.get("args", []) if isinstance(a, np.ndarray) and a.dtype != object]
    before = [a.copy() for a in arrays]
    with pytest.raises(MfmasimError) as caught:
        run(adder(), **options)
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 300
    for word in expected:
        assert word in text, text
    assert all((a == b).all() for a, b in zip(arrays, before, strict=True))


def test_overlapping_buffers_are_refused():
    """Two arguments that share some bytes, but not all."""
    base = words(100)
    with pytest.raises(MfmasimError, match=r"argument 1 \(p1\) overlaps argument 0 \(p0\)"):
        run(adder(), args=[base[:64], base[32:96], GOOD])


def test_adjacent_buffers_are_not_overlapping():
    """Neighbours in one array are two buffers."""
    base = np.arange(128, dtype=np.uint32)
    assert run(adder(), args=[base[:64], base[64:], GOOD]).ok
    assert (base[64:] == np.arange(64) + 1).all()
    assert (base[:64] == np.arange(64)).all()


def test_in_place():
    """One array under two arguments is one buffer."""
    data = np.arange(64, dtype=np.uint32)
    assert run(adder(), args=[data, data, np.uint64(5)]).ok
    assert (data == np.arange(64) + 5).all()


def test_a_read_only_array_is_not_written():
    """A store into it is a finding, and the array keeps its bytes."""
    source, target = np.arange(64, dtype=np.uint32), words()
    source.flags.writeable = False
    assert run(adder(), args=[source, target, GOOD]).ok
    assert (target == np.arange(64) + 1).all()
    target = words()
    target.flags.writeable = False
    report = run(adder(), args=[np.arange(64, dtype=np.uint32), target, GOOD])
    assert not report.ok
    assert (target == 0).all()


def test_shapes_and_dtypes_are_bytes():
    """Any contiguous array of the right size will do; it comes back with its own shape."""
    source = np.arange(64, dtype=np.uint32).view(np.float32).reshape(4, 16)
    target = np.zeros((8, 16), np.int16)
    assert run(adder(), args=[source, target, np.int64(-1)]).ok
    assert (target.view(np.uint32).ravel() == np.arange(64, dtype=np.uint32) - np.uint32(1)).all()
    assert target.shape == (8, 16)


@pytest.mark.parametrize("value", [7, np.uint64(7), np.int64(7), np.array(7, np.uint64), (7).to_bytes(8, "little")])
def test_ways_to_give_a_value(value):
    """Python integers, NumPy scalars, 0-d arrays, bytes."""
    target = words()
    assert run(adder(), args=[words(), target, value]).ok
    assert (target == 7).all()


def test_required_workgroup_size():
    """A kernel that requires its block runs with no other."""
    program = adder(metadata="    .reqd_workgroup_size: [64, 1, 1]")
    assert run(program).ok
    with pytest.raises(MfmasimError, match=r"\(32, 1, 1\).*requires \(64, 1, 1\)"):
        run(program, block=32)


def test_largest_workgroup_the_kernel_was_compiled_for():
    """max_flat_workgroup_size bounds the block below the architecture's limit."""
    text = harness.source(ADD, "gfx942", "ppv").replace(
        ".max_flat_workgroup_size: 1024", ".max_flat_workgroup_size: 128"
    )
    program = mfmasim.load(harness.assemble(text, "gfx942"))["test"]
    assert run(program).ok
    with pytest.raises(MfmasimError, match=r"192 work-items, at most 128 .*test was compiled for at most 128"):
        run(program, block=192)


def test_static_and_dynamic_lds_count_together():
    """The limit holds for their sum."""
    program = adder(lds=60000)
    assert run(program, shared_bytes=5536).ok
    with pytest.raises(MfmasimError, match=r"65537 bytes \(60000 static, 5537 dynamic\)"):
        run(program, shared_bytes=5537)
    assert run(harness.kernel(ADD, "gfx950", "ppv", lds=60000), shared_bytes=100 * 1024 - 60000 + 60 * 1024).ok


def test_dynamic_lds_is_there_and_bounded():
    """Bytes given at launch can be used; beyond them a read gives 0, a write is dropped, and both are findings."""
    body = """
  s_load_dwordx2 s[8:9], s[0:1], 0x0
  v_lshlrev_b32_e32 v1, 2, v0
  v_add_u32_e32 v2, 7, v0
  ds_write_b32 v1, v2
  s_waitcnt lgkmcnt(0)
  ds_read_b32 v3, v1
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v3, s[8:9]
  s_endpgm
"""
    program = harness.kernel(body, "gfx942", "p")
    target = words()
    assert run(program, args=[target], shared_bytes=256).ok
    assert (target == np.arange(64) + 7).all()
    target = words()
    report = run(program, args=[target], shared_bytes=128)
    assert (target == np.where(np.arange(64) < 32, np.arange(64) + 7, 0)).all()
    assert [(f.check, f.lane, f.count) for f in report.findings] == [("bounds", 32, 32), ("bounds", 32, 32)]
    assert all("LDS" in f.message for f in report.findings)


def test_null_pointer():
    """None is address 0: using it is a finding, passing it is none."""
    target = words()
    report = run(adder(), args=[None, target, GOOD])
    assert not report.ok
    assert {f.check for f in report.findings} == {"bounds"}
    assert "0x0" in report.findings[0].message
    unused = harness.kernel("  s_endpgm", "gfx942", "p")
    assert run(unused, args=[None]).ok


def test_out_of_bounds_is_found_with_its_place():
    """A buffer that is too short: workgroup, wave, lane, instruction, and how far outside."""
    source, target = np.arange(3 * 64, dtype=np.uint32), words(2 * 64 + 10)
    report = run(adder(), grid=3, args=[source, target, GOOD])
    assert (target == np.arange(2 * 64 + 10) + 1).all()
    (finding,) = report.findings
    assert (finding.check, finding.severity, finding.instruction) == ("bounds", "error", "global_store_dword")
    assert (finding.workgroup, finding.wave, finding.lane, finding.count) == ((2, 0, 0), 0, 10, 54)
    assert "0 bytes past the end of argument 1 (p1) (552 bytes)" in finding.message
    store = next(ins for ins in adder().instructions if ins.name == "global_store_dword")
    assert finding.pc == store.pc


def test_loads_outside_give_no_neighbour():
    """A load past the end of one buffer does not see the next one."""
    target = words(128)
    report = run(adder(), grid=2, args=[np.full(64, 5, np.uint32), target, np.uint64(0)])
    assert (target[:64] == 5).all()
    assert not (target[64:] == 5).any()
    assert report.findings[0].count == 64
    assert report.findings[0].instruction == "global_load_dword"


def test_arguments_may_be_read_with_a_load_that_reaches_past_them():
    """56 bytes of arguments, the last 24 with one load of 32, as compilers do; past the room for them it is outside."""
    text = """
      s_load_dwordx8 s[8:15], s[0:1], 0x20
      s_load_dwordx2 s[16:17], s[0:1], {past}
      v_and_b32_e32 v0, 0x3ff, v0
      v_lshlrev_b32_e32 v1, 2, v0
      s_waitcnt lgkmcnt(0)
      v_mov_b32_e32 v2, s12
      global_store_dword v1, v2, s[10:11]
      s_endpgm
    """
    for past, outside in ((0x38, False), (0x40, True)):
        target = words(64)
        args = [None, None, None, None, None, target, np.uint64(77)]
        report = run(harness.kernel(text.format(past=past), "gfx942", "ppppppv"), args=args)
        assert (target == 77).all()
        assert [f.id for f in report.findings] == (["bounds-outside-buffer"] if outside else [])


def test_a_scalar_load_outside_names_the_wave():
    """Several waves with addresses of their own, one of them outside."""
    text = """
      s_load_dwordx2 s[8:9], s[0:1], 0x0
      s_lshl_b32 s3, s2, 12
      s_waitcnt lgkmcnt(0)
      s_load_dword s10, s[8:9], s3
      s_endpgm
    """
    report = run(harness.kernel(text, "gfx942", "p"), grid=3, args=[words(2 * 1024 + 4)])
    assert [(f.workgroup, f.instruction) for f in report.findings] == []
    report = run(harness.kernel(text, "gfx942", "p"), grid=3, args=[words(2 * 1024)])
    assert [(f.workgroup, f.instruction) for f in report.findings] == [((2, 0, 0), "s_load_dword")]


def test_checks_can_be_off():
    """Without checks nothing is reported, and the outcome is the same."""
    target = words(32)
    report = run(adder(), args=[words(), target, GOOD], checks="none")
    assert report.findings == []
    assert (target == 1).all()


def test_code_for_another_architecture_is_refused():
    """A code object says what it is for."""
    data = harness.assemble(harness.source(ADD, "gfx942", "ppv"), "gfx942")
    with pytest.raises(MfmasimError) as caught:
        mfmasim.load(data, arch="gfx950")
    assert "gfx942" in str(caught.value)
    assert "gfx950" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_unknown_kernel_name_has_its_nearest_match():
    """A mistyped name."""
    data = harness.assemble(harness.source(ADD, "gfx942", "ppv"), "gfx942")
    with pytest.raises(MfmasimError, match="'test'"):
        mfmasim.load(data)["tset"]


def test_unknown_device():
    """A mistyped device."""
    with pytest.raises(MfmasimError, match="sim"):
        mfmasim.device("sin")


HIP = """
#include <hip/hip_runtime.h>
extern "C" __global__ void sizes(unsigned* out, int n) {
  unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  unsigned* mine = out + 12 * (block * blockDim.x * blockDim.y * blockDim.z + thread);
  mine[0] = gridDim.x; mine[1] = gridDim.y; mine[2] = gridDim.z;
  mine[3] = blockDim.x; mine[4] = blockDim.y; mine[5] = blockDim.z;
  mine[6] = blockIdx.x; mine[7] = blockIdx.y; mine[8] = blockIdx.z;
  mine[9] = threadIdx.x; mine[10] = threadIdx.y + n; mine[11] = threadIdx.z;
}
extern "C" __global__ void reverse(int* data) {
  extern __shared__ int buffer[];
  buffer[threadIdx.x] = data[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  data[blockIdx.x * blockDim.x + threadIdx.x] = buffer[blockDim.x - 1 - threadIdx.x];
}
"""


@functools.cache
def compiled(folder, arch):
    """The HIP source above."""
    path = folder / "sizes.hip"
    path.write_text(HIP)
    return mfmasim.compile(path, arch)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where the source lies."""
    return tmp_path_factory.mktemp("hip")


@pytest.mark.parametrize("arch", harness.ARCHITECTURES)
@pytest.mark.parametrize(("grid", "block"), [((2, 3, 2), (8, 3, 4)), ((5,), (65,)), (3, 128)])
def test_hidden_arguments(folder, arch, grid, block):
    """gridDim and blockDim, which clang reads from hidden arguments, and all ids of a compiled kernel."""
    program = compiled(folder, arch)["sizes"]
    g, b = (((*x, 1, 1)[:3] if isinstance(x, tuple) else (x, 1, 1)) for x in (grid, block))
    out = np.zeros((*g[::-1], *b[::-1], 12), np.uint32)
    report = run(program, grid=grid, block=block, args=[out, np.int32(100)])
    assert report.ok, report.findings[:3]
    index = np.indices(out.shape[:-1])
    expected = [*g, *b, index[2], index[1], index[0], index[5], index[4] + 100, index[3]]
    for column, value in enumerate(expected):
        assert (out[..., column] == value).all(), column


@pytest.mark.parametrize("arch", harness.ARCHITECTURES)
def test_dynamic_lds_of_a_hip_kernel(folder, arch):
    """extern __shared__ gets the bytes of the launch; too few are a finding."""
    program = compiled(folder, arch)["reverse"]
    data = np.arange(4 * 256, dtype=np.int32)
    report = run(program, grid=4, block=256, args=[data], shared_bytes=1024)
    assert report.ok, report.findings[:3]
    assert (data.reshape(4, 256) == np.arange(4 * 256).reshape(4, 256)[:, ::-1]).all()
    report = run(program, grid=4, block=256, args=[data], shared_bytes=512)
    assert {f.check for f in report.findings} == {"bounds"}
    assert "sizes.hip:" in report.findings[0].source


@pytest.mark.parametrize(("size", "beyond", "largest"), [(2, 65520.0, 65504.0), (4, 1e39, 3.4028234663852886e38)])
def test_a_number_that_would_become_infinite_is_refused(size, beyond, largest):
    """An infinity is passed as one; the largest number of the format fits."""
    argument = Argument(offset=0, size=size, value_kind="by_value", name="scale")
    for number in (beyond, -beyond):
        with pytest.raises(MfmasimError, match=re.escape(f"(scale): {number!r} does not fit float{8 * size}, whose")):
            by_value(1, argument, number)
    for number in (float("inf"), float("nan"), largest):
        raw = by_value(1, argument, number)
        assert np.array_equal(np.frombuffer(raw, f"f{size}")[0], number, equal_nan=True)
