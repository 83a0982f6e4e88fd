"""Public calls with wrong types and values: each ends in one clear line, and nothing runs."""

import functools
import tempfile
from pathlib import Path

import numpy as np
import pytest

import mfmasim
from mfmasim.errors import MfmasimError

SOURCE = """
#include <hip/hip_runtime.h>
extern "C" __global__ void k(float* y, int n) { if (threadIdx.x < n) y[threadIdx.x] = 1; }
"""
op = mfmasim.instruction("gfx942", "v_mfma_f32_32x32x8_f16")
fmt = mfmasim.format("e4m3fn")
dev = mfmasim.device("sim")
y = np.zeros(64, np.float32)


@functools.cache
def source():
    path = Path(tempfile.mkdtemp()) / "k.hip"
    path.write_text(SOURCE)
    return str(path)


@functools.cache
def kernel():
    return mfmasim.compile(source(), arch="gfx942")["k"]


def launch(**changed):
    return dev.launch(kernel(), **{"grid": 1, "block": 64, "args": [y, 64]} | changed)


CALLS = {
    "arch_none": lambda: mfmasim.arch(None),
    "arch_int": lambda: mfmasim.arch(950),
    "arch_typo": lambda: mfmasim.arch("gfx95O"),
    "inst_none": lambda: mfmasim.instruction("gfx942", None),
    "inst_int": lambda: mfmasim.instruction("gfx942", 3),
    "inst_typo": lambda: mfmasim.instruction("gfx942", "v_mfma_f32_32x32x8_f61"),
    "inst_wave": lambda: mfmasim.instruction("gfx1151", "v_wmma_f32_16x16x16_f16", wave=16),
    "inst_wave_s": lambda: mfmasim.instruction("gfx1151", "v_wmma_f32_16x16x16_f16", wave="32"),
    "inst_a": lambda: mfmasim.instruction("gfx950", "v_mfma_f32_16x16x128_f8f6f4", a=8, b="e4m3fn"),
    "loc_s": lambda: op.A.locate("0", 0),
    "loc_f": lambda: op.A.locate(0.5, 0),
    "loc_out": lambda: op.A.locate(99, 0),
    "loc_neg": lambda: op.A.locate(-1, 0),
    "elem_s": lambda: op.A.element("x", 0, 0),
    "pack_s": lambda: op.A.pack("abc"),
    "pack_shape": lambda: op.A.pack(np.zeros((3, 3), np.uint16)),
    "pack_f": lambda: op.A.pack(np.zeros((32, 8), np.float32)),
    "unpack": lambda: op.A.unpack(np.zeros((1, 2), np.uint32)),
    "unpack_f": lambda: op.A.unpack(np.zeros((2, 64))),
    "mul": lambda: op.multiply(1, 2, 3),
    "mul_shape": lambda: op.multiply(
        np.zeros((3, 3), np.uint16), np.zeros((3, 3), np.uint16), np.zeros((3, 3), np.uint32)
    ),
    "exe": lambda: op.execute(None, None, None),
    "exe2": lambda: op.execute(
        np.zeros((2, 64), np.uint32), np.zeros((2, 64), np.uint32), np.zeros((16, 64), np.float32)
    ),
    "mul_cbsz": lambda: op.multiply(
        np.zeros((32, 8), np.uint16), np.zeros((8, 32), np.uint16), np.zeros((32, 32), np.uint32), cbsz=9
    ),
    "fmt_none": lambda: mfmasim.format(None),
    "fmt_typo": lambda: mfmasim.format("e4m4"),
    "dec_f": lambda: fmt.decode(np.array([1.5])),
    "dec_big": lambda: fmt.decode(np.array([256])),
    "dec_s": lambda: fmt.decode("x"),
    "enc_s": lambda: fmt.encode("x"),
    "enc_round": lambda: fmt.encode(1.0, rounding="up?"),
    "enc_over": lambda: fmt.encode(1.0, overflow=3),
    "enc_rand": lambda: fmt.encode(1.0, rounding="stochastic", random="x"),
    "enc_obj": lambda: fmt.encode([None]),
    "lds_arch": lambda: mfmasim.lds.conflicts("gfx9", "ds_read_b32", range(64)),
    "lds_ins": lambda: mfmasim.lds.conflicts("gfx942", "ds_raed_b32", range(64)),
    "lds_addr": lambda: mfmasim.lds.conflicts("gfx942", "ds_read_b32", "x"),
    "lds_n": lambda: mfmasim.lds.conflicts("gfx942", "ds_read_b32", [0] * 3),
    "lds_f": lambda: mfmasim.lds.conflicts("gfx942", "ds_read_b32", np.zeros(64) + 0.5),
    "lds_neg": lambda: mfmasim.lds.conflicts("gfx942", "ds_read_b32", [-4] * 64),
    "lds_active": lambda: mfmasim.lds.conflicts("gfx942", "ds_read_b32", [0] * 64, active=[1] * 3),
    "sw": lambda: mfmasim.lds.find_swizzle(None),
    "comp_none": lambda: mfmasim.compile(None, "gfx942"),
    "comp_missing": lambda: mfmasim.compile("/nope.hip", "gfx942"),
    "comp_arch": lambda: mfmasim.compile(source(), "gfx941x"),
    "comp_flags": lambda: mfmasim.compile(source(), "gfx942", flags=3),
    "comp_dir": lambda: mfmasim.compile("/tmp", "gfx942"),
    "load_none": lambda: mfmasim.load(None),
    "load_missing": lambda: mfmasim.load("/nope"),
    "load_bytes": lambda: mfmasim.load(b"abc"),
    "load_dir": lambda: mfmasim.load("/tmp"),
    "load_arch": lambda: mfmasim.load(kernel().code.object.data, "gfx950"),
    "code_kernel": lambda: kernel().code["kk"],
    "code_int": lambda: kernel().code[3],
    "dev": lambda: mfmasim.device("simm"),
    "dev_none": lambda: mfmasim.device(None),
    "dev_hip2": lambda: mfmasim.device("hip:x"),
    "grid_s": lambda: launch(grid="x"),
    "grid_0": lambda: launch(grid=0),
    "grid_f": lambda: launch(grid=1.5),
    "grid_4": lambda: launch(grid=(1, 1, 1, 1)),
    "grid_none": lambda: launch(grid=None),
    "grid_big": lambda: launch(grid=2**33),
    "block_s": lambda: launch(block="64"),
    "block_big": lambda: launch(block=2048),
    "block_neg": lambda: launch(block=-1),
    "block_f": lambda: launch(block=64.0),
    "args_none": lambda: launch(args=None),
    "args_few": lambda: launch(args=[y]),
    "args_str": lambda: launch(args=[y, "64"]),
    "args_arr": lambda: launch(args=[y, y]),
    "args_list": lambda: launch(args=[[1, 2], 64]),
    "args_int": lambda: launch(args=[5, 64]),
    "args_ro": lambda: launch(args=[np.broadcast_to(np.float32(0), (64,)), 64]),
    "args_nc": lambda: launch(args=[np.zeros((64, 2), np.float32)[:, 0], 64]),
    "args_obj": lambda: launch(args=[np.array([None]), 64]),
    "args_big": lambda: launch(args=[y, 2**40]),
    "args_dict": lambda: launch(args={}),
    "shared_s": lambda: launch(shared_bytes="x"),
    "shared_neg": lambda: launch(shared_bytes=-1),
    "shared_big": lambda: launch(shared_bytes=10**9),
    "checks_typo": lambda: launch(checks="race"),
    "checks_int": lambda: launch(checks=3),
    "budget": lambda: launch(budget=0),
    "budget_s": lambda: launch(budget="x"),
    "waves": lambda: launch(max_waves=0),
    "exec_": lambda: launch(executor=3),
    "parts": lambda: launch(parts=3),
    "obs": lambda: launch(observers=3),
    "debug": lambda: launch(debug=3),
    "kern": lambda: dev.launch("k", 1, 64, []),
    "kern_none": lambda: dev.launch(None, 1, 64, []),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_call_ends_in_one_clear_line(name):
    with pytest.raises(MfmasimError) as caught:
        CALLS[name]()
    text = str(caught.value)
    assert text
    assert "\n" not in text
    assert len(text) < 300
    assert not y.any(), "nothing ran"
