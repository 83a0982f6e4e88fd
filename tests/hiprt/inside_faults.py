"""Faults of every kind at every call of a launch on the back end hip. Run by test_hiprt_suites.py."""

from pathlib import Path

import numpy as np
import pytest

import mfmasim
from mfmasim.devices import hip_modules
from mfmasim.devices.hip import HipDevice
from mfmasim.errors import MfmasimError
from mfmasim.hiprt.heap import INTERNAL
from mfmasim.hiprt.serving import current
from mfmasim.hiprt.tables.errors import ERRORS

CODE = mfmasim.load(
    Path(__file__).resolve().parents[2] / "golden" / "code" / "intro" / "mfma_f32_32x32x2_f32.gfx942.hsaco"
)
# Every call of the first launch of a kernel, with three buffers.
CALLS = [
    "hipSetDevice", "hipMalloc#1", "hipMalloc#2", "hipMalloc#3", "hipMemcpy#1", "hipMemcpy#3", "hipModuleLoadData",
    "hipModuleGetFunction", "hipEventCreate#1", "hipEventCreate#2", "hipEventRecord#1", "hipModuleLaunchKernel",
    "hipEventRecord#2", "hipDeviceSynchronize", "hipEventElapsedTime", "hipMemcpy#4", "hipMemcpy#6",
]  # fmt: skip


@pytest.fixture(scope="module")
def device():
    return HipDevice()


@pytest.fixture(autouse=True)
def runtime(device):
    runtime = current()
    runtime.inject("")
    device.close()
    yield runtime
    runtime.inject("")


def live(runtime):
    return [a.name for a in runtime.heap.allocations if a.kind != INTERNAL], list(runtime.handles.values())


def launch(device, c):
    a, b = np.ones((32, 2), np.float32), np.ones((2, 32), np.float32)
    return device.launch(CODE["mfma_f32_32x32x2_f32"], 1, 64, [a, b, c])


def works(device):
    c = np.zeros((32, 32), np.float32)
    return launch(device, c).ok and bool((c == 2).all())


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("code", [2, 719, 999])
def test_a_call_that_fails_once_leaves_nothing_behind(device, runtime, call, code):
    name = call.partition("#")[0]
    before = runtime.counts.calls.copy()
    runtime.inject(f"{name}#{call.partition('#')[2] or 1}={code}")
    with pytest.raises(
        MfmasimError, match=rf"^hip: {name}\b.* failed: {ERRORS[code][0]} \({code}\), {ERRORS[code][1]}$"
    ):
        launch(device, np.zeros((32, 32), np.float32))
    spent = runtime.counts.calls - before
    assert spent["hipFree"] == spent["hipMalloc"] - (name == "hipMalloc")
    assert spent["hipEventDestroy"] == spent["hipEventCreate"] - (name == "hipEventCreate")
    assert live(runtime) == ([], [])
    runtime.inject("")
    assert works(device)


KEPT = dict.fromkeys(
    ["hipModuleLoadData", "hipModuleUnload", "hipEventCreate", "hipEventDestroy", "hipMalloc", "hipFree"], 0
)


def test_the_second_launch_loads_and_allocates_nothing(device, runtime):
    """Calls of a launch with three buffers: if nothing were kept, it would be 26 each time."""
    spent = []
    for _ in range(2):
        before = runtime.counts.calls.copy()
        assert works(device)
        spent.append(runtime.counts.calls - before)
    assert {name: spent[0][name] for name in KEPT} == KEPT | {
        "hipModuleLoadData": 1,
        "hipEventCreate": 2,
        "hipMalloc": 3,
    }
    assert {name: spent[1][name] for name in KEPT} == KEPT
    assert (spent[0].total(), spent[1].total()) == (20, 13)
    device.close()
    assert live(runtime) == ([], [])


@pytest.mark.parametrize("call", ["hipSetDevice", "hipMemcpy#2", "hipEventRecord#2", "hipModuleLaunchKernel"])
def test_an_error_of_a_later_launch_leaves_nothing_behind(device, runtime, call):
    assert works(device)
    runtime.inject(f"{call}=719" if "#" in call else f"{call}#1=719")
    with pytest.raises(MfmasimError, match=r"\(719\)"):
        launch(device, np.zeros((32, 32), np.float32))
    if call != "hipSetDevice":
        assert live(runtime) == ([], [])
    runtime.inject("")
    assert works(device)


@pytest.mark.parametrize("call", ["hipEventDestroy#1", "hipModuleUnload", "hipFree#1", "hipFree#3"])
def test_what_cannot_be_given_back_is_reported_and_the_rest_is_given_back(device, runtime, call):
    assert works(device)
    runtime.inject(f"{call}=1" if "#" in call else f"{call}#1=1")
    with pytest.raises(MfmasimError, match=f"^hip: {call.partition('#')[0]} failed: "):
        device.close()
    buffers, handles = live(runtime)
    assert len(buffers) == ("Free" in call)
    left = {type(handle).__name__ for handle in handles}
    assert left == ({"Event"} if "Event" in call else {"Module", "Function"} if "Module" in call else set())
    runtime.handles.clear()
    for allocation in [a for a in runtime.heap.allocations if a.kind != INTERNAL]:
        runtime.heap.free(allocation.address)
    device.close()


def test_memory_that_is_kept_is_bounded(device, runtime, monkeypatch):
    kernel = CODE["mfma_f32_32x32x2_f32"]
    monkeypatch.setattr(hip_modules, "BLOCKS", 4)
    monkeypatch.setattr(hip_modules, "BYTES", 200_000)
    for size in (4096, 8192, 16384, 32768):  # twice as many blocks as are kept, then more bytes
        assert device.launch(kernel, 1, 64, [np.zeros(size, np.uint8) for _ in kernel.args]).waves == 1
        kept = [a.size for a in runtime.heap.allocations if a.kind != INTERNAL]
        assert len(kept) <= 4
        assert sum(kept) <= 200_000
    assert sorted(kept)[-3:] == [32768 + 2 * 4096] * 3


def test_memory_that_is_kept_is_given_back_where_there_is_none_left(device, runtime):
    assert works(device)
    before = runtime.counts.calls.copy()
    runtime.inject("hipMalloc#1=2")
    kernel = CODE["mfma_f32_32x32x2_f32"]
    assert device.launch(kernel, 1, 64, [np.zeros(1 << 14, np.uint8) for _ in kernel.args]).ok
    spent = runtime.counts.calls - before
    assert (spent["hipMalloc"], spent["hipFree"]) == (4, 3)


def test_modules_that_are_kept_are_bounded(device, runtime, monkeypatch):
    monkeypatch.setattr(hip_modules, "MODULES", 2)
    folder = Path(__file__).resolve().parents[2] / "golden" / "code" / "intro"
    codes = [mfmasim.load(path) for path in sorted(folder.glob("*.gfx942.hsaco"))]
    before = runtime.counts.calls.copy()
    for code in codes:
        kernel = code[next(iter(code.kernels))]
        assert device.launch(kernel, 1, 64, [np.zeros(1 << 14, np.uint8) for _ in kernel.args]).waves == 1
    spent = runtime.counts.calls - before
    assert spent["hipModuleLoadData"] == len(codes) >= 3
    assert spent["hipModuleUnload"] == len(codes) - 2


def test_an_error_of_the_kernel_is_told_by_the_wait(device, runtime):
    runtime.inject("hipModuleLaunchKernel=hipErrorLaunchFailure@sync")
    with pytest.raises(MfmasimError, match=r"hipDeviceSynchronize \(mfma_f32_32x32x2_f32 ran\) failed: .*\(719\)"):
        launch(device, np.zeros((32, 32), np.float32))
    assert live(runtime) == ([], [])


@pytest.mark.parametrize("call", CALLS)
def test_a_lost_device_is_told_once_and_everything_was_tried(device, runtime, call):
    name = call.partition("#")[0]
    before = runtime.counts.calls.copy()
    runtime.inject(f"{name}#{call.partition('#')[2] or 1}=hipErrorNoDevice@forever")
    with pytest.raises(MfmasimError, match=rf"^hip: {name}\b.* failed: hipErrorNoDevice \(100\)"):
        launch(device, np.zeros((32, 32), np.float32))
    spent = runtime.counts.calls - before
    taken = int(call.partition("#")[2]) - 1 if name == "hipMalloc" else spent["hipMalloc"]
    assert spent["hipFree"] == taken
    with pytest.raises(MfmasimError, match="hipSetDevice failed: hipErrorNoDevice"):
        launch(device, np.zeros((32, 32), np.float32))
    assert live(runtime) == ([], [])
    runtime.inject("")
    assert works(device)


def test_the_array_of_a_failed_launch_keeps_its_contents(device, runtime):
    c = np.full((32, 32), 7, np.float32)
    runtime.inject("hipMemcpy#4=1")
    with pytest.raises(MfmasimError):
        launch(device, c)
    assert (c == 7).all()


def test_memory_that_runs_out_is_told_with_the_size(device, runtime):
    with pytest.raises(MfmasimError, match=r"hipMalloc \(.* for argument 2.*\) failed: hipErrorOutOfMemory \(2\)"):
        device.launch(CODE["mfma_f32_32x32x2_f32"], 1, 64, [None, None, np.zeros(1 << 25, np.uint8)])
    assert live(runtime) == ([], [])


def test_code_for_another_architecture_is_refused_before_anything_is_sent(device, runtime):
    path = Path(__file__).resolve().parents[2] / "golden" / "code" / "intro" / "mfma_f32_32x32x2_f32.gfx950.hsaco"
    kernel = mfmasim.load(path)["mfma_f32_32x32x2_f32"]
    with pytest.raises(MfmasimError, match=r"hip is gfx942 .*, mfma_f32_32x32x2_f32 was compiled for gfx950"):
        device.launch(kernel, 1, 64, [None, None, None])
    assert live(runtime) == ([], [])


def test_devices_that_are_not_there(runtime):
    with pytest.raises(MfmasimError, match=r"device hip:3: found 1 device, counted from hip:0"):
        HipDevice(3)
    runtime.inject("hipGetDeviceCount=hipErrorNoDevice")
    with pytest.raises(MfmasimError, match="device hip: the HIP runtime works but sees no GPU; is the kernel driver"):
        HipDevice()
    runtime.inject("hipGetDeviceCount=hipErrorInvalidContext")
    with pytest.raises(MfmasimError, match=r"hipGetDeviceCount failed: hipErrorInvalidContext \(201\)"):
        HipDevice()


@pytest.mark.parametrize(
    ("option", "value"), [("budget", 5), ("observers", [object()]), ("max_waves", 3), ("executor", object())]
)
def test_what_only_the_simulator_has_is_refused(device, option, value):
    with pytest.raises(MfmasimError, match=f"{option}: hip cannot observe a launch from inside"):
        device.launch(CODE["mfma_f32_32x32x2_f32"], 1, 64, [None, None, None], **{option: value})
