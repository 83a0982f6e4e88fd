"""Graphs, pools, registered memory and what else programs use of hip-python. Run by test_hiprt_suites.py."""

import ctypes

import numpy as np
import pytest
from hip import hip

from mfmasim.hiprt.serving import current
from tests.hiprt.inside_programs import ERROR, KIND, SCALE, check, compile_source

ACTIVE, NONE = 1, 0
GLOBAL = 0
SEVEN = hip.__name__ == "hip.hip"


@pytest.fixture(scope="module")
def kernel():
    module = check(hip.hipModuleLoadData(compile_source(SCALE)))
    yield check(hip.hipModuleGetFunction(module, b"scale"))
    check(hip.hipModuleUnload(module))


@pytest.fixture(autouse=True)
def nothing_stays():
    before = set(current().handles) if current() else set()
    yield
    runtime = current()
    before |= {pools[0] for pools in runtime.pools.values()}
    gone = {type(thing).__name__ for handle, thing in runtime.handles.items() if handle not in before}
    assert gone <= {"Module", "Function"}
    assert not runtime.captures
    assert not runtime.registered


def scaled(kernel, stream, device, factor, n):
    arguments = (device, ctypes.c_float(factor), ctypes.c_int(n))
    check(hip.hipModuleLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, stream, None, arguments))


def read(device, n=64):
    back = np.empty(n, np.float32)
    check(hip.hipMemcpy(back, device, back.nbytes, KIND.hipMemcpyDeviceToHost))
    return back


def status(stream):
    found = hip.hipStreamIsCapturing(stream)
    return int(check(found))


def test_a_captured_stream_does_its_work_when_the_graph_is_launched(kernel):
    host, back = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    stream, device = check(hip.hipStreamCreate()), check(hip.hipMalloc(256))
    seen = []
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(seen.append)
    check(hip.hipStreamBeginCapture(stream, hip.hipStreamCaptureMode(GLOBAL)))
    assert status(stream) == ACTIVE
    check(hip.hipMemcpyAsync(device, host, 256, KIND.hipMemcpyHostToDevice, stream))
    scaled(kernel, stream, device, 3, 64)
    check(hip.hipMemcpyAsync(back, device, 256, KIND.hipMemcpyDeviceToHost, stream))
    check(hip.hipLaunchHostFunc(stream, ctypes.cast(function, ctypes.c_void_p).value, 7))
    graph = check(hip.hipStreamEndCapture(stream))
    assert status(stream) == NONE
    assert (back == 0).all()  # nothing was done yet
    assert seen == []
    graph_exec = check(hip.hipGraphInstantiateWithFlags(graph, 0))
    check(hip.hipGraphDestroy(graph))  # what was made of it lives on
    for turn in (1, 2):
        host[:] = np.arange(64) * turn
        check(hip.hipGraphLaunch(graph_exec, stream))
        check(hip.hipStreamSynchronize(stream))
        assert (back == np.arange(64) * 3 * turn).all()
    assert seen == [7, 7]
    check(hip.hipGraphExecDestroy(graph_exec))
    assert hip.hipGraphLaunch(graph_exec, stream)[0] == ERROR.hipErrorInvalidHandle
    check(hip.hipFree(device))
    check(hip.hipStreamDestroy(stream))


def test_streams_that_fork_and_join_are_one_graph(kernel):
    first, second = check(hip.hipStreamCreate()), check(hip.hipStreamCreate())
    fork, join = check(hip.hipEventCreate()), check(hip.hipEventCreate())
    a, b = check(hip.hipMalloc(256)), check(hip.hipMalloc(256))

    def capture(*, joined):
        check(hip.hipStreamBeginCapture(first, hip.hipStreamCaptureMode(GLOBAL)))
        check(hip.hipMemsetD32Async(a, 0x3F800000, 64, first))
        check(hip.hipEventRecord(fork, first))
        check(hip.hipStreamWaitEvent(second, fork, 0))
        assert status(second) == ACTIVE
        check(hip.hipMemcpyAsync(b, a, 256, KIND.hipMemcpyDeviceToDevice, second))
        scaled(kernel, second, b, 5, 64)
        if joined:
            check(hip.hipEventRecord(join, second))
            check(hip.hipStreamWaitEvent(first, join, 0))
        return hip.hipStreamEndCapture(first)

    assert capture(joined=False)[0] == ERROR.hipErrorStreamCaptureUnjoined
    assert status(second) == NONE
    graph = check(capture(joined=True))
    graph_exec = check(hip.hipGraphInstantiateWithFlags(graph, 0))
    check(hip.hipGraphLaunch(graph_exec, first))
    assert (read(b) == 5).all()
    check(hip.hipGraphExecDestroy(graph_exec))
    check(hip.hipGraphDestroy(graph))
    for event in (fork, join):
        check(hip.hipEventDestroy(event))
    for stream in (first, second):
        check(hip.hipStreamDestroy(stream))
    for device in (a, b):
        check(hip.hipFree(device))


def test_what_cannot_be_captured_invalidates_the_capture(capfd):
    stream = check(hip.hipStreamCreate())
    assert (
        hip.hipStreamBeginCapture(None, hip.hipStreamCaptureMode(GLOBAL))[0] == ERROR.hipErrorStreamCaptureUnsupported
    )
    assert hip.hipStreamEndCapture(stream)[0] == ERROR.hipErrorIllegalState
    check(hip.hipStreamBeginCapture(stream, hip.hipStreamCaptureMode(GLOBAL)))
    assert hip.hipStreamBeginCapture(stream, hip.hipStreamCaptureMode(GLOBAL))[0] == ERROR.hipErrorIllegalState
    assert hip.hipStreamSynchronize(stream)[0] == ERROR.hipErrorStreamCaptureUnsupported
    assert "hipStreamSynchronize cannot be captured" in capfd.readouterr().err
    assert hip.hipStreamEndCapture(stream)[0] == ERROR.hipErrorStreamCaptureInvalidated
    check(hip.hipStreamSynchronize(stream))
    check(hip.hipStreamDestroy(stream))


def memset_of(device):
    fill = hip.hipMemsetParams()
    fill.dst, fill.elementSize, fill.height, fill.pitch = device, 4, 1, 256
    fill.value, fill.width = 0x40000000, 64
    return fill


def add(call, graph, params):
    """Add a node that depends on none; hip-python 7.2 has no argument for what it depends on."""
    given = (graph, 0, params) if SEVEN else (graph, None, 0, params)
    found = check(call(*given))
    return found[0] if isinstance(found, tuple) else found


def test_nodes_are_added_by_hand_and_run_in_the_order_of_their_dependencies(kernel):
    device = check(hip.hipMalloc(256))
    graph = check(hip.hipGraphCreate(0))
    values = [ctypes.c_void_p(int(device)), ctypes.c_float(4), ctypes.c_int(64)]
    places = (ctypes.c_void_p * 3)(*(ctypes.addressof(value) for value in values))
    params = hip.hipKernelNodeParams()
    params.blockDim.x, params.blockDim.y, params.blockDim.z = 64, 1, 1
    params.gridDim.x, params.gridDim.y, params.gridDim.z = 1, 1, 1
    params.func, params.kernelParams, params.sharedMemBytes = kernel, ctypes.addressof(places), 0
    if SEVEN:  # without dependencies, nodes run as they were added
        add(hip.hipGraphAddMemsetNode, graph, memset_of(device))
    run = add(hip.hipGraphAddKernelNode, graph, params)
    if not SEVEN:
        clear = add(hip.hipGraphAddMemsetNode, graph, memset_of(device))
        first, then = ((ctypes.c_void_p * 1)(int(node)) for node in (clear, run))
        check(hip.hipGraphAddDependencies(graph, ctypes.addressof(first), ctypes.addressof(then), 1))
    assert int(check(hip.hipGraphNodeGetType(run))) == 0
    graph_exec = check(hip.hipGraphInstantiateWithFlags(graph, 0))
    check(hip.hipGraphLaunch(graph_exec, None))
    assert (read(device) == 8).all()  # 2, then times 4
    values[1].value = 10
    check(hip.hipGraphExecKernelNodeSetParams(graph_exec, run, params))
    check(hip.hipGraphLaunch(graph_exec, None))
    assert (read(device) == 20).all()
    if not SEVEN:
        check(hip.hipGraphAddDependencies(graph, ctypes.addressof(then), ctypes.addressof(first), 1))
        assert hip.hipGraphInstantiateWithFlags(graph, 0)[0] == ERROR.hipErrorInvalidValue  # a circle
    check(hip.hipGraphExecDestroy(graph_exec))
    check(hip.hipGraphDestroy(graph))
    check(hip.hipFree(device))


def test_memory_comes_from_pools_in_the_order_of_a_stream(kernel):
    pool = check(hip.hipDeviceGetDefaultMemPool(0))
    stream = check(hip.hipStreamCreate())
    before = check(hip.hipMemGetInfo())[0]
    device = check(hip.hipMallocFromPoolAsync(256, pool, stream))
    check(hip.hipMemsetD32Async(device, 0x3F800000, 64, stream))
    scaled(kernel, stream, device, 2, 64)
    used = ctypes.c_uint64()
    check(hip.hipMemPoolGetAttribute(pool, hip.hipMemPoolAttr.hipMemPoolAttrUsedMemCurrent, ctypes.addressof(used)))
    assert used.value >= 256
    assert (read(device) == 2).all()
    check(hip.hipFreeAsync(device, stream))
    check(hip.hipMemPoolTrimTo(pool, 0))
    assert check(hip.hipMemGetInfo())[0] == before
    assert hip.hipMemPoolDestroy(pool)[0] == ERROR.hipErrorInvalidValue
    check(hip.hipStreamDestroy(stream))


def test_memory_of_the_program_is_registered(kernel):
    host = np.arange(64, dtype=np.float32)
    check(hip.hipHostRegister(host, host.nbytes, 0))
    assert hip.hipHostRegister(host, host.nbytes, 0)[0] == ERROR.hipErrorHostMemoryAlreadyRegistered
    device = check(hip.hipHostGetDevicePointer(host, 0))
    scaled(kernel, None, device, 2, 64)
    check(hip.hipDeviceSynchronize())
    assert (host == np.arange(64) * 2).all()
    check(hip.hipMemset(device, 0, 8))
    assert (host[:3] == [0, 0, 4]).all()
    check(hip.hipMemset(host, 0, 16))
    assert (host[:5] == [0, 0, 0, 0, 8]).all()
    assert hip.hipMemset(host, 0, host.nbytes + 1)[0] == ERROR.hipErrorInvalidValue
    check(hip.hipHostUnregister(host))
    assert hip.hipHostUnregister(host)[0] == ERROR.hipErrorHostMemoryNotRegistered


def test_managed_memory_takes_wishes():
    pointer = check(hip.hipMallocManaged(4096, 1))
    check(hip.hipMemPrefetchAsync(pointer, 4096, 0, None))
    check(hip.hipMemAdvise(pointer, 4096, hip.hipMemoryAdvise.hipMemAdviseSetReadMostly, 0))
    assert hip.hipMemPrefetchAsync(pointer, 8192, 0, None)[0] == ERROR.hipErrorInvalidValue
    check(hip.hipFree(pointer))


def test_cooperative_launches_and_occupancy(kernel):
    device = check(hip.hipMalloc(256))
    check(hip.hipMemsetD32(device, 0x3F800000, 64))
    values = [ctypes.c_void_p(int(device)), ctypes.c_float(6), ctypes.c_int(64)]
    places = (ctypes.c_void_p * 3)(*(ctypes.addressof(value) for value in values))
    check(hip.hipModuleLaunchCooperativeKernel(kernel, 1, 1, 1, 64, 1, 1, 0, None, ctypes.addressof(places)))
    assert (read(device) == 6).all()
    grid, block = check(hip.hipModuleOccupancyMaxPotentialBlockSize(kernel, 0, 0))
    assert (grid, block) == (4, 1024)
    assert check(hip.hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(kernel, 64, 0)) == 1
    check(hip.hipFree(device))


def test_rows_are_copied_and_filled_in_the_order_of_a_stream():
    host = np.arange(12, dtype=np.int32).reshape(3, 4)
    device, pitch = check(hip.hipMallocPitch(16, 3))
    stream = check(hip.hipStreamCreate())
    check(hip.hipMemcpy2DAsync(device, pitch, host, 16, 16, 3, KIND.hipMemcpyHostToDevice, stream))
    check(hip.hipMemset2DAsync(device, pitch, 0, 4, 2, stream))
    back = np.zeros((3, 4), np.int32)
    check(hip.hipMemcpy2DAsync(back, 16, device, pitch, 16, 3, KIND.hipMemcpyDeviceToHost, stream))
    check(hip.hipStreamSynchronize(stream))
    assert back.tolist() == [[0, 1, 2, 3], [0, 5, 6, 7], [8, 9, 10, 11]]
    check(hip.hipFree(device))
    check(hip.hipStreamDestroy(stream))


def test_contexts_are_the_devices():
    context = check(hip.hipDevicePrimaryCtxRetain(1))
    check(hip.hipCtxSetCurrent(context))
    assert check(hip.hipGetDevice()) == 1
    check(hip.hipSetDevice(0))
    check(hip.hipDevicePrimaryCtxRelease(1))
