"""Hidden arguments through the four entrances of a launch. Run by test_hiprt_suites.py."""

import numpy as np
import pytest

import mfmasim
from mfmasim.machine.state.memory import PRIVATE_BASE, SHARED_BASE
from mfmasim.triton.calls import Call
from mfmasim.triton.copies import copied
from mfmasim.triton.process import shared
from mfmasim.triton.storages import Storage
from tests.machine import harness

GRID, BLOCK, LDS = (3, 2, 1), (16, 4, 1), 512
BUFFERS = {"hidden_printf_buffer", "hidden_hostcall_buffer"}
EXPECTED = {
    "hidden_block_count_x": (4, 3), "hidden_block_count_y": (4, 2), "hidden_block_count_z": (4, 1),
    "hidden_group_size_x": (2, 16), "hidden_group_size_y": (2, 4), "hidden_group_size_z": (2, 1),
    "hidden_remainder_x": (2, 0), "hidden_remainder_y": (2, 0), "hidden_remainder_z": (2, 0),
    "hidden_global_offset_x": (8, 0), "hidden_global_offset_y": (8, 0), "hidden_global_offset_z": (8, 0),
    "hidden_grid_dims": (2, 2), "hidden_dynamic_lds_size": (4, LDS), "hidden_none": (8, 0),
    "hidden_printf_buffer": (8, 1), "hidden_hostcall_buffer": (8, 1), "hidden_multigrid_sync_arg": (8, 0),
    "hidden_heap_v1": (8, 0), "hidden_default_queue": (8, 0), "hidden_completion_action": (8, 0),
    "hidden_queue_ptr": (8, 0), "hidden_private_base": (4, PRIVATE_BASE >> 32),
    "hidden_shared_base": (4, SHARED_BASE >> 32),
}  # fmt: skip
"""Bytes of each hidden argument (LLVM's AMDGPU usage guide, code object v5), and its value; 1 of a buffer is any."""
# Every work-item stores one dword of the segment of arguments.
BODY = """
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_and_b32 v1, 0x3ff, v0
  v_bfe_u32 v2, v0, 10, 10
  v_lshl_add_u32 v1, v2, 4, v1
  v_lshlrev_b32 v1, 2, v1
  global_load_dword v2, v1, s[0:1]
  s_waitcnt vmcnt(0) lgkmcnt(0)
  global_store_dword v1, v2, s[4:5]
  s_endpgm"""


@pytest.fixture(scope="module")
def kernel():
    text = harness.source(BODY, "gfx942", "p" * (1 + len(EXPECTED)))
    for number, (kind, (size, _)) in enumerate(EXPECTED.items(), 1):
        old = f".offset: {8 * number}, .size: 8, .value_kind: global_buffer, .address_space: global, .name: p{number}}}"
        assert old in text
        text = text.replace(old, f".offset: {8 * number}, .size: {size}, .value_kind: {kind}}}")
    return mfmasim.load(harness.assemble(text, "gfx942"))["test"]


def launched(name):
    def run(kernel, out):
        mfmasim.device(name).launch(kernel, GRID, BLOCK, [out], LDS, "none")

    return run


def of_triton(place):
    def run(kernel, out):
        storage = Storage(out.ctypes.data, out.nbytes, "out")
        placed = place(Call(kernel, GRID, BLOCK, LDS, (("*i32", out.ctypes.data),), (storage,)))
        mfmasim.devices.SimDevice().run(placed.launch, mfmasim.devices.Options(checks="none"))
        placed.collect()

    return run


ENTRANCES = {"sim": launched("sim"), "hip": launched("hip"), "copy": of_triton(copied), "process": of_triton(shared)}


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_every_hidden_argument_is_the_same_through_every_entrance(kernel, entrance):
    out = np.full(64, 0xABAB, np.uint32)
    ENTRANCES[entrance](kernel, out)
    content, found = out.tobytes(), {}
    for number, (kind, (size, _)) in enumerate(EXPECTED.items(), 1):
        value = int.from_bytes(content[8 * number : 8 * number + size], "little")
        found[kind] = int(value != 0) if kind in BUFFERS else value
    assert found == {kind: value for kind, (_, value) in EXPECTED.items()}
