"""What programs do with hip-python, after the examples of its documentation. Run by test_hiprt_suites.py."""

import ctypes
import os
import struct
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from hip import hip, hiprtc

from mfmasim.hiprt.serving import current
from tests.codeobject import test_codeobject_bundles as bundles

KIND = hip.hipMemcpyKind
ERROR = hip.hipError_t
INTRO = Path(__file__).resolve().parents[2] / "golden" / "code" / "intro"


def check(answer):
    """The results of a call that must succeed."""
    error, *results = answer
    if isinstance(error, hiprtc.hiprtcResult):
        assert error == hiprtc.hiprtcResult.HIPRTC_SUCCESS, error
    else:
        assert error == ERROR.hipSuccess, error
    return results[0] if len(results) == 1 else tuple(results)


def compile_source(source, *options):
    program = check(hiprtc.hiprtcCreateProgram(source, b"example", 0, None, None))
    arch = properties(0).gcnArchName
    arch = arch if isinstance(arch, bytes) else arch.encode()
    error = hiprtc.hiprtcCompileProgram(program, 1 + len(options), [b"--offload-arch=" + arch, *options])[0]
    if error != hiprtc.hiprtcResult.HIPRTC_SUCCESS:
        log = bytearray(check(hiprtc.hiprtcGetProgramLogSize(program)))
        check(hiprtc.hiprtcGetProgramLog(program, log))
        raise RuntimeError(bytes(log).decode())
    code = bytearray(check(hiprtc.hiprtcGetCodeSize(program)))
    check(hiprtc.hiprtcGetCode(program, code))
    check(hiprtc.hiprtcDestroyProgram(program.createRef()))
    return code


def properties(number):
    try:
        return check(hip.hipGetDeviceProperties(number))
    except TypeError:  # hip-python 7
        found = hip.hipDeviceProp_t()
        check(hip.hipGetDeviceProperties(found, number))
        return found


def test_the_version_of_hip_python_is_the_one_that_was_asked_for():
    asked = os.environ["MFMASIM_TEST_HIP_PYTHON"]
    assert metadata.version("hip-python").startswith(asked)
    if asked == "7.2":
        assert hip.__name__ == "hip.hip"  # version 10 has its modules below rocm.bindings


def test_devices_tell_what_they_are():
    assert check(hip.hipGetDeviceCount()) == 2
    first, second = properties(0), properties(1)
    names = [n if isinstance(n, str) else n.decode() for n in (first.gcnArchName, second.gcnArchName)]
    assert names == ["gfx942", "gfx1201"]
    assert (first.warpSize, second.warpSize) == (64, 32)
    assert list(first.maxThreadsDim) == [1024, 1024, 1024]
    attribute = hip.hipDeviceAttribute_t
    for number, arch in ((0, first), (1, second)):
        assert check(hip.hipDeviceGetAttribute(attribute.hipDeviceAttributeWarpSize, number)) == arch.warpSize
        assert (
            check(hip.hipDeviceGetAttribute(attribute.hipDeviceAttributeMaxSharedMemoryPerBlock, number))
            == arch.sharedMemPerBlock
        )
        assert check(hip.hipDeviceGetAttribute(attribute.hipDeviceAttributeMaxGridDimY, number)) == 65535
    assert hip.hipSetDevice(2)[0] == ERROR.hipErrorInvalidDevice
    assert check(hip.hipRuntimeGetVersion()) // 10_000_000 == 7


def test_streams_copy_and_fill():
    host = np.arange(100, dtype=np.int32)
    stream = check(hip.hipStreamCreate())
    device = check(hip.hipMalloc(host.nbytes))
    check(hip.hipMemcpyAsync(device, host, host.nbytes, KIND.hipMemcpyHostToDevice, stream))
    check(hip.hipMemsetAsync(device, 0, host.nbytes // 2, stream))
    back = np.empty_like(host)
    check(hip.hipMemcpyAsync(back, device, host.nbytes, KIND.hipMemcpyDeviceToHost, stream))
    check(hip.hipStreamSynchronize(stream))
    assert (back == np.where(np.arange(100) < 50, 0, host)).all()
    check(hip.hipMemsetD32(device, 0x01020304, 100))
    check(hip.hipMemcpy(back, device, host.nbytes, KIND.hipMemcpyDeviceToHost))
    assert (back == 0x01020304).all()
    check(hip.hipStreamDestroy(stream))
    assert hip.hipStreamSynchronize(stream)[0] == ERROR.hipErrorInvalidHandle
    check(hip.hipFree(device))


def test_rows_of_a_matrix_are_copied():
    host = np.arange(12, dtype=np.int32).reshape(3, 4)
    device, pitch = check(hip.hipMallocPitch(16, 3))
    assert pitch >= 16
    check(hip.hipMemcpy2D(device, pitch, host, 16, 16, 3, KIND.hipMemcpyHostToDevice))
    back = np.zeros((3, 2), np.int32)
    check(hip.hipMemcpy2D(back, 8, device, pitch, 8, 3, KIND.hipMemcpyDeviceToHost))
    assert (back == host[:, :2]).all()
    check(hip.hipFree(device))


SCALE = b"""
extern "C" __global__ void scale(float *x, float factor, int n) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n) x[i] *= factor;
}
"""


def test_a_source_is_compiled_and_launched_with_extra():
    module = check(hip.hipModuleLoadData(compile_source(SCALE)))
    kernel = check(hip.hipModuleGetFunction(module, b"scale"))
    host = np.arange(300, dtype=np.float32)
    device = check(hip.hipMalloc(host.nbytes))
    check(hip.hipMemcpy(device, host, host.nbytes, KIND.hipMemcpyHostToDevice))
    arguments = (device, ctypes.c_float(1.5), ctypes.c_int(300))
    check(hip.hipModuleLaunchKernel(kernel, 3, 1, 1, 128, 1, 1, 0, None, None, arguments))
    back = np.empty_like(host)
    check(hip.hipMemcpy(back, device, host.nbytes, KIND.hipMemcpyDeviceToHost))
    assert (back == host * np.float32(1.5)).all()
    check(hip.hipFree(device))
    check(hip.hipModuleUnload(module))
    assert hip.hipModuleUnload(module)[0] == ERROR.hipErrorInvalidHandle


def test_arguments_by_pointers_and_pinned_memory():
    module = check(hip.hipModuleLoadData(compile_source(SCALE, b"-DUNUSED=1")))
    kernel = check(hip.hipModuleGetFunction(module, b"scale"))
    pinned = check(hip.hipHostMalloc(64 * 4, 0))
    view = np.frombuffer((ctypes.c_float * 64).from_address(int(pinned)), np.float32)  # the program's view of it
    view[:] = np.arange(64)
    values = [ctypes.c_void_p(int(pinned)), ctypes.c_float(-2), ctypes.c_int(64)]
    params = (ctypes.c_void_p * 3)(*(ctypes.addressof(value) for value in values))
    start, stop = check(hip.hipEventCreate()), check(hip.hipEventCreate())
    check(hip.hipEventRecord(start, None))
    check(hip.hipModuleLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, None, ctypes.addressof(params), None))
    check(hip.hipEventRecord(stop, None))
    check(hip.hipEventSynchronize(stop))
    assert check(hip.hipEventElapsedTime(start, stop)) > 0
    assert (view == np.arange(64) * -2).all()
    for event in (start, stop):
        check(hip.hipEventDestroy(event))
    check(hip.hipHostFree(pinned))
    check(hip.hipModuleUnload(module))


def test_a_faulty_source_gives_a_log():
    with pytest.raises(RuntimeError, match="nosuch"):
        compile_source(b'extern "C" __global__ void k(int *x) { x[0] = nosuch; }')


def test_a_prebuilt_file_is_loaded_by_name(capfd):
    module = check(hip.hipModuleLoad(str(INTRO / "mfma_f32_32x32x2_f32.gfx942.hsaco").encode()))
    kernel = check(hip.hipModuleGetFunction(module, b"mfma_f32_32x32x2_f32"))
    assert hip.hipModuleGetFunction(module, b"nosuch")[0] == ERROR.hipErrorNotFound
    assert "unknown kernel 'nosuch' of the module; allowed: mfma_f32_32x32x2_f32" in capfd.readouterr().err
    a, b = np.ones((32, 2), np.float32), np.ones((2, 32), np.float32)
    buffers = [check(hip.hipMalloc(size)) for size in (256, 256, 4096)]
    for buffer, host in zip(buffers, (a, b), strict=False):
        check(hip.hipMemcpyHtoD(buffer, host, host.nbytes))
    check(hip.hipModuleLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, None, None, tuple(buffers)))
    c = np.zeros((32, 32), np.float32)
    check(hip.hipMemcpyDtoH(c, buffers[2], c.nbytes))
    assert (c == 2).all()
    for buffer in buffers:
        check(hip.hipFree(buffer))
    check(hip.hipModuleUnload(module))
    wrong = (INTRO / "mfma_f32_32x32x2_f32.gfx950.hsaco").read_bytes()
    assert hip.hipModuleLoadData(wrong)[0] == ERROR.hipErrorNoBinaryForGpu
    assert hip.hipModuleLoadData(b"\x7fELFnothing" + bytes(100))[0] == ERROR.hipErrorInvalidImage
    assert hip.hipModuleLoad(b"nosuch.hsaco")[0] == ERROR.hipErrorFileNotFound
    assert "gfx950" in capfd.readouterr().err


def test_a_generic_image_is_taken_where_the_device_has_none_of_its_own():
    """The image of the processor itself is preferred, wherever it stands in the bundle."""
    own = bytes(compile_source(SCALE.replace(b"factor;", b"factor + 1;")))
    generic = bytes(compile_source(SCALE, b"--offload-arch=gfx9-4-generic"))
    foreign = bytes(compile_source(SCALE, b"--offload-arch=gfx11-generic"))
    entries = [(bundles.device("gfx11-generic"), foreign), (bundles.device("gfx9-4-generic"), generic)]
    host = np.arange(64, dtype=np.float32)
    device = check(hip.hipMalloc(host.nbytes))
    for images, added in (
        (generic, 0),
        (bundles.pack(entries), 0),
        (bundles.pack([*entries, (bundles.device("gfx942"), own)]), 1),
    ):
        module = check(hip.hipModuleLoadData(bytearray(images)))
        check(hip.hipMemcpy(device, host, host.nbytes, KIND.hipMemcpyHostToDevice))
        arguments = (device, ctypes.c_float(2), ctypes.c_int(64))
        kernel = check(hip.hipModuleGetFunction(module, b"scale"))
        check(hip.hipModuleLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, None, None, arguments))
        back = np.empty_like(host)
        check(hip.hipMemcpy(back, device, host.nbytes, KIND.hipMemcpyDeviceToHost))
        assert (back == host * (2 + added)).all()
        check(hip.hipModuleUnload(module))
    check(hip.hipFree(device))
    assert hip.hipModuleLoadData(bytearray(foreign))[0] == ERROR.hipErrorNoBinaryForGpu
    assert hip.hipModuleLoadData(bytearray(bundles.pack(entries[:1])))[0] == ERROR.hipErrorNoBinaryForGpu


def test_a_damaged_image_is_invalid_and_not_one_for_another_device():
    image = (INTRO / "mfma_f32_32x32x2_f32.gfx942.hsaco").read_bytes()
    whole = bundles.pack([(bundles.device("gfx942"), image), (bundles.device("gfx950"), image)])
    entry = whole.index(b"hip")  # after its offset, its size and the length of its name
    outside = whole[: entry - 24] + struct.pack("<Q", 1 << 40) + whole[entry - 16 :]
    for damaged in (whole[:32], whole[:60], whole[:200], outside, image[:80], image[:1000]):
        assert hip.hipModuleLoadData(bytearray(damaged))[0] == ERROR.hipErrorInvalidImage, len(damaged)


def test_globals_of_a_module_stay_between_launches():
    source = b"""__device__ int total = 5;
    extern "C" __global__ void add(int n) { if (threadIdx.x == 0) total += n; }"""
    module = check(hip.hipModuleLoadData(compile_source(source)))
    kernel = check(hip.hipModuleGetFunction(module, b"add"))
    for n in (10, 100):
        check(hip.hipModuleLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, None, None, (ctypes.c_int(n),)))
    place, size = check(hip.hipModuleGetGlobal(module, b"total"))
    out = np.zeros(1, np.int32)
    check(hip.hipMemcpy(out, place, size, KIND.hipMemcpyDeviceToHost))
    assert out.tolist() == [115]
    check(hip.hipModuleUnload(module))


def test_what_a_kernel_prints_comes_out(capfd):
    source = b"""extern "C" __global__ void hello(int n) { printf("block %d of %d\\n", (int)blockIdx.x, n); }"""
    module = check(hip.hipModuleLoadData(compile_source(source)))
    kernel = check(hip.hipModuleGetFunction(module, b"hello"))
    check(hip.hipModuleLaunchKernel(kernel, 2, 1, 1, 1, 1, 1, 0, None, None, (ctypes.c_int(2),)))
    check(hip.hipDeviceSynchronize())
    assert sorted(capfd.readouterr().out.splitlines()) == ["block 0 of 2", "block 1 of 2"]
    check(hip.hipModuleUnload(module))


def test_memory_is_counted_and_freed():
    free, total = check(hip.hipMemGetInfo())
    assert total == 64 << 20
    pointer = check(hip.hipMalloc(1 << 20))
    assert check(hip.hipMemGetInfo())[0] == free - (1 << 20)
    assert hip.hipMalloc(total)[0] == ERROR.hipErrorOutOfMemory
    assert hip.hipGetLastError()[0] == ERROR.hipErrorOutOfMemory
    assert hip.hipGetLastError()[0] == ERROR.hipSuccess
    with_guard = np.zeros(2 << 20, np.uint8)
    code = hip.hipMemcpy(with_guard, pointer, with_guard.nbytes, KIND.hipMemcpyDeviceToHost)[0]
    assert code == ERROR.hipErrorInvalidValue  # beyond the allocation
    raw = np.zeros(16, np.uint8)
    check(hip.hipMemcpy(raw, pointer, 16, KIND.hipMemcpyDeviceToHost))
    assert (raw == 0xA5).all()  # nothing was ever written there
    check(hip.hipFree(pointer))
    assert hip.hipFree(pointer)[0] == ERROR.hipErrorInvalidValue
    assert check(hip.hipMemGetInfo())[0] == free
    nothing = hip.hipMalloc(0)
    assert nothing[0] == ERROR.hipSuccess


def test_two_devices_hold_their_own_memory():
    host = np.arange(16, dtype=np.int32)
    first = check(hip.hipMalloc(64))
    check(hip.hipMemcpyHtoD(first, host, 64))
    check(hip.hipSetDevice(1))
    try:
        second = check(hip.hipMalloc(64))
        check(hip.hipMemcpyPeer(second, 1, first, 0, 64))
        back = np.zeros_like(host)
        check(hip.hipMemcpyDtoH(back, second, 64))
        assert (back == host).all()
        assert check(hip.hipGetDevice()) == 1
        check(hip.hipFree(second))
    finally:
        check(hip.hipSetDevice(0))
    check(hip.hipFree(first))


def test_a_wild_store_is_an_illegal_address_that_the_next_wait_tells(capfd):
    source = b"""extern "C" __global__ void wild(int *x, long n) { x[n] = 1; }"""
    module = check(hip.hipModuleLoadData(compile_source(source)))
    kernel = check(hip.hipModuleGetFunction(module, b"wild"))
    device = check(hip.hipMalloc(64))
    check(hip.hipModuleLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, None, None, (device, ctypes.c_long(1 << 20))))
    assert hip.hipDeviceSynchronize()[0] == ERROR.hipErrorIllegalAddress
    assert "bounds" in capfd.readouterr().err
    for call, arguments in ((hip.hipMalloc, (64,)), (hip.hipGetDeviceCount, ()), (hip.hipDeviceReset, ())):
        assert call(*arguments)[0] == ERROR.hipErrorIllegalAddress  # the context does not survive
    current().inject("")
    check(hip.hipDeviceSynchronize())


@pytest.mark.parametrize(
    ("sizes", "arguments", "error"),
    [
        ((0, 1, 1, 64, 1, 1), None, ERROR.hipErrorInvalidConfiguration),
        ((1, 1, 1, 2048, 1, 1), None, ERROR.hipErrorInvalidConfiguration),
        ((1, 1, 1, 64, 1, 1), (ctypes.c_int(1),), ERROR.hipErrorInvalidValue),
        ((1, 1, 1, 64, 1, 1), None, ERROR.hipErrorInvalidValue),
    ],
)
def test_launches_that_no_device_takes(sizes, arguments, error, capfd):
    module = check(hip.hipModuleLoadData(compile_source(SCALE)))
    kernel = check(hip.hipModuleGetFunction(module, b"scale"))
    full = (ctypes.c_void_p(0), ctypes.c_float(1), ctypes.c_int(0)) if sizes[3] != 64 or not sizes[0] else arguments
    assert hip.hipModuleLaunchKernel(kernel, *sizes, 0, None, None, full)[0] == error
    assert "scale" in capfd.readouterr().err
    check(hip.hipModuleUnload(module))


def test_calls_that_are_not_served_name_themselves(capfd):
    error = hip.hipDestroyTextureObject(None)[0]
    assert error == ERROR.hipErrorNotSupported
    assert capfd.readouterr().err.startswith(
        "mfmasim: hipDestroyTextureObject: not served by the simulated HIP runtime: the "
    )


def test_words_of_errors():
    def text(answer):
        answer = answer[-1] if isinstance(answer, tuple) else answer
        return answer if isinstance(answer, str) else answer.decode()

    assert text(hip.hipGetErrorName(ERROR.hipErrorOutOfMemory)) == "hipErrorOutOfMemory"
    assert text(hip.hipGetErrorString(ERROR.hipErrorOutOfMemory)) == "out of memory"


def test_every_pointer_is_known():
    pointers = {
        "hipMemoryTypeDevice": check(hip.hipMalloc(64)),
        "hipMemoryTypeHost": check(hip.hipHostMalloc(64, 0)),
        "hipMemoryTypeManaged": check(hip.hipMallocManaged(64, 1)),
    }
    for name, pointer in pointers.items():
        found = hip.hipPointerAttribute_t()
        answer = hip.hipPointerGetAttributes(found, pointer) if hip.__name__ == "hip.hip" else None
        if answer is None or answer[0] != ERROR.hipSuccess:
            found = check(hip.hipPointerGetAttributes(pointer))
        assert found.type == getattr(hip.hipMemoryType, name)
        assert int(found.devicePointer) == int(pointer)
        check((hip.hipHostFree if name == "hipMemoryTypeHost" else hip.hipFree)(pointer))


def test_threads_launch_at_the_same_time():
    module = check(hip.hipModuleLoadData(compile_source(SCALE)))
    kernel = check(hip.hipModuleGetFunction(module, b"scale"))

    hip.hipGetLastError()

    def work(number):
        assert check(hip.hipGetDevice()) == 0  # a thread starts on the first device
        stream = check(hip.hipStreamCreate())
        device = check(hip.hipMalloc(64 * 4))
        host = np.arange(64, dtype=np.float32)
        for _ in range(5):
            check(hip.hipMemcpyAsync(device, host, 256, KIND.hipMemcpyHostToDevice, stream))
            arguments = (device, ctypes.c_float(number), ctypes.c_int(64))
            check(hip.hipModuleLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, stream, None, arguments))
            back = np.empty_like(host)
            check(hip.hipMemcpyAsync(back, device, 256, KIND.hipMemcpyDeviceToHost, stream))
            check(hip.hipStreamSynchronize(stream))
            assert (back == host * number).all()
        check(hip.hipFree(device))
        check(hip.hipStreamDestroy(stream))
        assert hip.hipSetDevice(7)[0] == ERROR.hipErrorInvalidDevice
        return hip.hipGetLastError()[0]

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(1, 9))) == [ERROR.hipErrorInvalidDevice] * 8
    assert hip.hipGetLastError()[0] == ERROR.hipSuccess  # every thread has its own last error
    check(hip.hipModuleUnload(module))


def test_a_function_of_the_program_is_called_in_order():
    seen = []
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda data: seen.append((data, int(hip.hipGetDevice()[0]))))
    check(hip.hipLaunchHostFunc(None, ctypes.cast(function, ctypes.c_void_p).value, 42))
    assert seen == [(42, 0)]
