"""Stores that the compiler merged have no source line; findings name the lines of their values."""

import numpy as np
import pytest

import mfmasim
from mfmasim.isa.operand_lines import data_writers

SOURCE = """#include <hip/hip_runtime.h>
extern "C" __global__ void k(float* in, float* out) {
  __shared__ float t[256];
  float a = in[threadIdx.x];
  float b = in[threadIdx.x + 64];
  t[threadIdx.x] = a;
  t[threadIdx.x + 65] = b;
  __builtin_amdgcn_wave_barrier();
  out[threadIdx.x] = t[(threadIdx.x * 7 + 3) & 127];
}
"""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    path = tmp_path_factory.mktemp("merged") / "merged.hip"
    path.write_text(SOURCE)
    return mfmasim.compile(path, arch="gfx942")["k"]


def test_a_finding_about_a_merged_store_names_the_lines_of_its_values(kernel):
    data = np.arange(192, dtype=np.float32)
    report = mfmasim.device("sim").launch(kernel, 1, 128, args=[data, np.zeros(128, np.float32)], checks="races")
    (store,) = (ins for ins in kernel.instructions if ins.name.startswith("ds_write2"))
    lines = "(without a line, as merged stores are; its values are of merged.hip:4 and merged.hip:5)"
    assert kernel.source_at(store.pc) == ""
    assert kernel.line_at(store.pc) == f"{store.pc:#x} {lines}"
    (own,) = {one.message for one in report.findings if one.pc == store.pc}
    assert own.count(lines) == 1
    (read,) = (one for one in report.findings if one.pc != store.pc)
    assert read.source == "merged.hip:9"
    assert f"written by wave 1 at {store.pc:#x} {lines}" in read.message
    assert read.other == f"{store.pc:#x}"


def test_values_are_followed_within_straight_code_only(kernel):
    listed = kernel.decodable
    (store,) = (ins for ins in listed if ins.name.startswith("ds_write2"))
    loads = [ins.pc for ins in listed if ins.name == "global_load_dword"]
    assert data_writers(listed, store.pc) == loads
    assert data_writers(listed[listed.index(store) :], store.pc) == []
    assert data_writers(listed, loads[0]) == []
    assert data_writers(listed, 0) == []
