"""One suite for every device. MFMASIM_TEST_DEVICE names it: sim (without it), hip, hip:1.

`tests/hiprt/test_hiprt_suites.py` runs it once more on the back end hip through the simulated HIP runtime.
"""

import os
import struct
from pathlib import Path

import numpy as np
import pytest

import mfmasim
from mfmasim.errors import MfmasimError
from mfmasim.toolchain import find_compiler
from tests.oracles import require

NAME = os.environ.get("MFMASIM_TEST_DEVICE", "sim")
SOURCE = Path(__file__).with_name("kernels.hip")


@pytest.fixture(scope="module")
def device():
    return mfmasim.device(NAME)


@pytest.fixture(scope="module")
def arch(device):
    return getattr(device, "arch", "gfx942")


@pytest.fixture(scope="module")
def code(arch):
    require("a HIP compiler", find_compiler() is not None, "pip install -e '.[test]'")
    return mfmasim.compile(SOURCE, arch)


def test_values_pointers_and_a_grid_that_is_not_full(device, code):
    x, y = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32)
    report = device.launch(code["axpy"], 4, 256, [np.float32(2), x, y, np.int32(1000)])
    assert (y == 2 * np.arange(1000, dtype=np.float32) + 1).all()
    assert report.ok
    assert report.device == NAME
    assert (report.grid, report.block, report.waves) == ((4, 1, 1), (256, 1, 1), 4 * -(-256 // code["axpy"].wave))


def test_arguments_by_name(device, arch):
    named = mfmasim.compile(SOURCE, arch, flags=["-fno-discard-value-names"])["axpy"]
    x, y = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32)
    device.launch(named, 4, 256, {"n": np.int32(1000), "a": np.float32(2), "x": x, "y": y})
    assert (y == 2 * np.arange(1000, dtype=np.float32) + 1).all()
    with pytest.raises(MfmasimError, match=r"^unknown argument 'xx' of axpy; did you mean 'x'\?$"):
        device.launch(named, 4, 256, {"xx": x})


def test_arguments_by_number_and_as_bytes_of_the_segment(device, code):
    expected = 2 * np.arange(1000, dtype=np.float32) + 1
    x, y = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32)
    device.launch(code["axpy"], 4, 256, {3: 1000, 2: y, 1: x, 0: 2.0})
    assert (y == expected).all()
    y, given = np.ones(1000, np.float32), struct.pack("<f4xQQi", 2, 0, 0, 1000)
    device.launch(code["axpy"], 4, 256, given, buffers={8: x, 16: y})
    assert (y == expected).all()
    whole, y = given.ljust(code["axpy"].info.kernarg_size, b"\xff"), np.ones(1000, np.float32)
    device.launch(code["axpy"], 4, 256, whole, buffers={8: x, 16: y})
    assert (y == expected).all(), "hidden arguments are filled in"


@pytest.mark.parametrize(("grid", "block"), [((2, 3, 2), (4, 2, 2)), (3, 64), ((1, 2), (8, 4))])
def test_hidden_arguments_tell_the_sizes(device, code, grid, block):
    full = [(*(size if isinstance(size, tuple) else (size,)), 1, 1)[:3] for size in (grid, block)]
    out = np.zeros((int(np.prod(full[0])), 6), np.int32)
    device.launch(code["sizes"], grid, block, [out])
    assert (out == [*full[0], *full[1]]).all()


@pytest.mark.parametrize("count", [64, 200])
def test_dynamic_lds(device, code, count):
    data = np.arange(count, dtype=np.int32)
    report = device.launch(code["turn"], 1, count, [data], shared_bytes=4 * count)
    assert (data == np.arange(count)[::-1]).all()
    assert report.lds["bytes"] == 4 * count


def test_a_structure_by_value_with_a_pointer_in_it(device, code):
    where, out = np.arange(64, dtype=np.int32), np.zeros(64)
    device.launch(code["pair"], 1, 64, [[np.int8(5), np.float64(0.5), where], out])
    assert (out == where * 0.5 + 5).all()


def test_an_array_of_pointers(device, code):
    rows = [np.array([k * k], np.int32) for k in range(16)]
    out = np.zeros(16, np.int32)
    device.launch(code["gather"], 1, 16, [rows, out])
    assert (out == np.arange(16) ** 2).all()


def test_the_same_array_under_two_arguments(device, code):
    x = np.arange(64, dtype=np.float32)
    device.launch(code["axpy"], 1, 64, [np.float32(3), x, x, np.int32(64)])
    assert (x == np.arange(64) * 4).all()


def test_a_kernel_without_arguments(device, code):
    assert device.launch(code["nothing"], 2, 64, []).ok


def test_globals_start_anew_with_every_launch(device, code):
    for _ in range(2):
        out = np.zeros(4, np.int32)
        device.launch(code["count"], 1, 64, [out])
        assert out.tolist() == [10, 20, 30, 40]


def test_an_empty_array_is_a_buffer_too(device, code):
    report = device.launch(code["axpy"], 1, 64, [np.float32(1), np.zeros(0, np.float32), np.zeros(0, np.float32), 0])
    assert report.ok


@pytest.mark.parametrize("offset", [64, -1])
def test_a_store_beside_a_buffer_is_found(device, code, offset):
    out = np.zeros(64, np.int32)
    report = device.launch(code["beyond"], 1, 1, [out, np.int32(offset)])
    assert not report.ok
    assert {finding.id for finding in report.findings} & {"bounds-outside-buffer", "guard-overwritten"}
    assert not out.any()
    assert device.launch(code["nothing"], 1, 1, []).ok  # a device is still there afterwards


def test_a_store_to_a_read_only_array_is_found(device, code):
    out = np.zeros(64, np.int32)
    out.flags.writeable = False
    report = device.launch(code["beyond"], 1, 1, [out, np.int32(3)])
    assert {finding.id for finding in report.findings} & {"bounds-read-only", "guard-read-only"}
    assert not out.any()


def test_checks_can_be_left_out(device, code):
    out = np.zeros(64, np.int32)
    assert device.launch(code["beyond"], 1, 1, [out, np.int32(64)], checks="none").ok


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"grid": 0}, "grid 0"),
        ({"block": 2048}, "block (2048, 1, 1) has 2048 work-items"),
        ({"shared_bytes": 1 << 20}, "LDS of 1048576 bytes"),
        ({"args": []}, "axpy takes 4 arguments"),
        ({"args": [np.float32(1), 3, None, 0]}, "is a pointer"),
        ({"args": [np.float32(1), None, None, np.int64(3)]}, "has 4 bytes, the int64 given has 8"),
        ({"checks": "nosuch"}, "nosuch"),
    ],
)
def test_bad_launches_are_refused_in_one_line(device, code, change, text):
    call = {"grid": 1, "block": 64, "args": [np.float32(1), None, None, np.int32(0)]} | change
    with pytest.raises(MfmasimError) as caught:
        device.launch(code["axpy"], **call)
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_prebuilt_matrix_kernel_gives_the_golden_bits(device, arch):
    from mfmasim.verify import find, select, verify_case

    work = [(case, a) for _, cases in find("intro") for case, a in select(cases, arch, "f16_16x16x16")]
    if not work:
        pytest.skip(f"no such case for {arch}")
    result = verify_case(*work[0], device=NAME)
    assert result.status == "pass"
    assert result.outputs["elements"] > 0
    assert result.outputs["mismatches"] == 0
