"""Workgroups of one launch that pass different barriers: what orders one of them orders no other."""

import numpy as np
import pytest

import mfmasim

KERNEL = """#include <hip/hip_runtime.h>
extern "C" __global__ void k(float *out, int limit) {
  __shared__ float tile[256];
  int t = threadIdx.x;
  tile[t] = t;
  if ((int)blockIdx.x < limit) __syncthreads();
  out[blockIdx.x * 256 + t] = tile[255 - t];
}
"""


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100", "gfx1201", "gfx1250"])
def test_a_barrier_of_other_workgroups_orders_nothing(arch, tmp_path):
    source = tmp_path / "k.hip"
    source.write_text(KERNEL)
    kernel = mfmasim.compile(source, arch=arch)["k"]
    racing = {}
    for limit in (0, 1, 2, 3):
        out = np.zeros(3 * 256, np.float32)
        report = mfmasim.device("sim").launch(kernel, 3, 256, [out, np.int32(limit)], checks="races")
        racing[limit] = [(finding.id, finding.workgroup) for finding in report.findings]
    first = {limit: [("races-no-barrier", (limit, 0, 0))] for limit in (0, 1, 2)}
    assert racing == {**first, 3: []}
