"""Device memory that was never written, under the check `uninitialised`. Run by test_hiprt_suites.py."""

import ctypes

import numpy as np
import pytest
from hip import hip

from mfmasim.hiprt.serving import current
from tests.hiprt.inside_programs import KIND, check, compile_source

COPY = b"""
extern "C" __global__ void copy(int *to, const int *from, int n) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n) to[i] = from[i] + 1;
}
"""
N = 64


@pytest.fixture(scope="module")
def copy():
    return check(hip.hipModuleGetFunction(check(hip.hipModuleLoadData(compile_source(COPY))), b"copy"))


@pytest.fixture
def two():
    buffers = [check(hip.hipMalloc(4 * N)) for _ in range(2)]
    current().counts.findings.clear()
    yield buffers
    for buffer in buffers:
        check(hip.hipFree(buffer))


def launch(kernel, to, source, n=N):
    check(hip.hipModuleLaunchKernel(kernel, 1, 1, 1, N, 1, 1, 0, None, None, (to, source, ctypes.c_int(n))))
    check(hip.hipDeviceSynchronize())
    return [found.line() for found in current().counts.findings if found.check == "uninitialised"]


def test_memory_of_hip_malloc_holds_nothing(copy, two):
    (found,) = launch(copy, *two)
    assert "is stored to global memory and comes from byte 0 of hipMalloc" in found
    assert "which was never written" in found


def test_a_copy_writes(copy, two):
    host = np.arange(N, dtype=np.int32)
    check(hip.hipMemcpy(two[1], host, host.nbytes, KIND.hipMemcpyHostToDevice))
    assert launch(copy, *two) == []


def test_a_part_that_is_missing_is_found(copy, two):
    check(hip.hipMemset(two[1], 0, 4 * N - 4))
    assert launch(copy, *two, n=N - 1) == []
    (found,) = launch(copy, *two)
    assert f"byte {4 * N - 4} of hipMalloc" in found


def test_a_kernel_writes_for_the_next_one(copy, two):
    third = check(hip.hipMalloc(4 * N))
    check(hip.hipMemset(two[0], 0, 4 * N))
    assert launch(copy, two[1], two[0], n=10) == []
    assert launch(copy, third, two[1], n=10) == []
    assert len(launch(copy, third, two[1], n=11)) == 1
    check(hip.hipFree(third))


def test_a_copy_carries_over_what_was_never_written(copy, two):
    third = check(hip.hipMalloc(4 * N))
    check(hip.hipMemcpy(two[1], third, 4 * N, KIND.hipMemcpyDeviceToDevice))
    assert len(launch(copy, *two)) == 1
    check(hip.hipFree(third))


def test_memory_that_was_freed_and_comes_back_holds_nothing(copy, two):
    size = 20 << 20
    first = check(hip.hipMalloc(size))
    check(hip.hipMemset(first, 0, size))
    address = int(first)
    check(hip.hipFree(first))
    second = check(hip.hipMalloc(size))
    assert int(second) != address  # freed addresses rest, until so much else was freed
    check(hip.hipFree(second))
    again = check(hip.hipMalloc(size))
    assert int(again) <= address < int(again) + size
    check(hip.hipMemcpy(two[1], address, 4 * N, KIND.hipMemcpyDeviceToDevice))
    assert len(launch(copy, *two)) == 1
    check(hip.hipFree(again))


@pytest.mark.parametrize("pinned", [True, False])
def test_memory_that_programs_write_without_a_call_counts_as_written(copy, two, pinned):
    pointer = check(hip.hipHostMalloc(4 * N, 0) if pinned else hip.hipMallocManaged(4 * N, 1))
    assert launch(copy, two[0], pointer) == []
    check((hip.hipHostFree if pinned else hip.hipFree)(pointer))


class Host:
    """Memory that the program writes without a call, of each sort: its address for the program and for kernels."""

    def __init__(self, sort):
        self.sort, self.own = sort, np.full(4 * N + 8, 3, np.uint8)
        if sort == "registered":
            self.host = self.own.ctypes.data // 4 * 4 + 4  # not on a page, as memory of malloc
            check(hip.hipHostRegister(self.host, 4 * N, 0))
            self.device = int(check(hip.hipHostGetDevicePointer(self.host, 0)))
        else:
            made = check(hip.hipHostMalloc(4 * N, 0) if sort == "pinned" else hip.hipMallocManaged(4 * N, 1))
            self.host = self.device = int(made)
        self.words = np.ctypeslib.as_array((ctypes.c_int32 * N).from_address(self.host))

    def close(self):
        free = {"registered": hip.hipHostUnregister, "pinned": hip.hipHostFree, "managed": hip.hipFree}[self.sort]
        check(free(self.host))


@pytest.fixture(params=["pinned", "managed", "registered"])
def host(request):
    made = Host(request.param)
    yield made
    made.close()


@pytest.mark.parametrize("address", ["host", "device"])
def test_a_copy_from_memory_of_the_host_writes(copy, two, host, address):
    host.words[:] = np.arange(N)
    check(hip.hipMemcpy(two[1], getattr(host, address), 4 * N, KIND.hipMemcpyDefault))
    assert launch(copy, *two) == []


@pytest.mark.parametrize("address", ["host", "device"])
def test_marks_travel_through_memory_of_the_host(copy, two, host, address):
    there = getattr(host, address)
    check(hip.hipMemset(two[1], 0, 4 * N - 4))
    check(hip.hipMemcpy(there, two[1], 4 * N, KIND.hipMemcpyDefault))
    check(hip.hipMemset(two[1], 0, 4 * N))
    assert launch(copy, *two) == []
    check(hip.hipMemcpy(two[1], there, 4 * N, KIND.hipMemcpyDefault))
    (found,) = launch(copy, *two)
    assert f"byte {4 * N - 4} of hipMalloc" in found
    current().counts.findings.clear()
    host.words[-1] = 5  # the program writes what was missing, without a call
    check(hip.hipMemcpy(two[1], there, 4 * N, KIND.hipMemcpyDefault))
    assert launch(copy, *two) == []


def test_a_kernel_writes_managed_memory_for_a_copy(copy, two, host):
    check(hip.hipMemset(two[0], 0, 4 * N))
    assert launch(copy, host.device, two[0]) == []
    check(hip.hipMemcpy(two[1], host.device, 4 * N, KIND.hipMemcpyDefault))
    assert launch(copy, *two) == []
