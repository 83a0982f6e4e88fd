"""Code objects whose kernels call the host, as AMD's hipcc and Triton make them. Run by test_hiprt_suites.py."""

import ctypes

import numpy as np
import pytest
from hip import hip

import mfmasim
from mfmasim.hiprt.serving import current
from tests.hiprt.inside_programs import check
from tests.machine import harness

# The kernel stores the pointer at byte 8 of its arguments, and the words of the buffer's beginning.
BODY = """
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  s_load_dwordx8 s[8:15], s[6:7], 0x0
  v_mov_b32 v2, 0
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v0, s6
  v_mov_b32 v1, s7
  global_store_dwordx2 v2, v[0:1], s[4:5]
  v_mov_b32 v0, s8
  v_mov_b32 v1, s9
  global_store_dwordx2 v2, v[0:1], s[4:5] offset:8
  s_endpgm"""


@pytest.fixture(scope="module")
def image():
    text = harness.source(BODY, "gfx942", "pp")
    last = "{.offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global, .name: p1}"
    assert last in text
    text = text.replace(last, "{.offset: 8, .size: 8, .value_kind: hidden_hostcall_buffer}")
    return harness.assemble(text, "gfx942")


def test_the_pointer_is_that_of_a_buffer_as_on_the_simulator(image):
    out = np.zeros(2, np.uint64)
    mfmasim.device("sim").launch(mfmasim.load(image)["test"], 1, 1, [out])
    assert out[0]
    assert 0 < out[1] - out[0] < 4096, "where the headers of its packets begin"
    module = check(hip.hipModuleLoadData(bytearray(image)))
    kernel = check(hip.hipModuleGetFunction(module, b"test"))
    device = check(hip.hipMalloc(16))
    for grid in (1, 300, 2):  # the buffer grows with the waves
        check(hip.hipModuleLaunchKernel(kernel, grid, 1, 1, 1, 1, 1, 0, None, None, (ctypes.c_void_p(int(device)),)))
        found = np.zeros(2, np.uint64)
        check(hip.hipMemcpy(found, device, 16, hip.hipMemcpyKind.hipMemcpyDeviceToHost))
        assert found[0]
        assert found[1] - found[0] == out[1] - out[0]
        assert any(one.name == "hostcall buffer" and one.address == found[0] for one in current().heap.allocations)
    check(hip.hipFree(device))
    check(hip.hipModuleUnload(module))
