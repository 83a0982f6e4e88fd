"""Launches that run together do what each of them does alone, or are refused."""

from dataclasses import replace

import numpy as np
import pytest

import mfmasim
from mfmasim.devices import SimDevice
from mfmasim.resources import folder
from mfmasim.verify import load_file, verify_case
from mfmasim.verify.prebuilt import code_for

SOURCE = """#include <hip/hip_runtime.h>
__device__ unsigned total;

extern "C" __global__ void scan(const unsigned *in, unsigned *out, unsigned count, const unsigned *add) {
  __shared__ unsigned tile[128];
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, own = i < count ? in[i] : 0;
  tile[threadIdx.x] = own;
  __syncthreads();
  unsigned sum = 0;
  for (unsigned k = 0; k <= threadIdx.x && k < own % 100; ++k) sum += tile[k];  // differs from launch to launch
  if (i < count) out[i] = sum + gridDim.x * blockIdx.x + (add ? add[blockIdx.x] : 7);
}

extern "C" __global__ void counted(unsigned *out) {
  out[threadIdx.x] = atomicAdd(&total, 1u);
}
"""
ROUNDS = 4


@pytest.fixture(scope="module", params=["gfx942", "gfx1201"])
def code(request, tmp_path_factory):
    file = tmp_path_factory.mktemp("together") / "kernels.hip"
    file.write_text(SOURCE)
    return mfmasim.compile(file, request.param)


def arguments():
    random = np.random.default_rng(5)
    for number in range(ROUNDS):
        count = 600 - 100 * number
        add = None if number == 2 else random.integers(0, 1 << 32, 5, np.uint32)
        yield [random.integers(0, 1 << 32, 640, np.uint32), np.zeros(640, np.uint32), np.uint32(count), add]


def test_launches_with_other_arguments(code):
    """Pointers, numbers and paths differ; a null pointer is one of them."""
    alone, together = list(arguments()), list(arguments())
    for args in alone:
        mfmasim.device("sim").launch(code["scan"], 5, 128, args, checks="none")
    assert SimDevice().launch_together(code["scan"], 5, 128, together)
    for one, other in zip(alone, together, strict=True):
        assert one[1].any()
        np.testing.assert_array_equal(one[1], other[1])


def test_launches_that_share_a_variable_are_refused(code):
    """A variable of the code object would count on from one launch to the next."""
    args = [[np.zeros(64, np.uint32)] for _ in range(ROUNDS)]
    assert not SimDevice().launch_together(code["counted"], 1, 64, args)
    assert not any(out.any() for (out,) in args)


def test_launches_that_are_too_many_for_one_batch_are_refused(code):
    args = [[np.zeros(128, np.uint32), np.zeros(128, np.uint32), np.uint32(128), None] for _ in range(2)]
    assert SimDevice().launch_together(code["scan"], 250, 128, args)
    assert not SimDevice().launch_together(code["scan"], 1500, 128, args)


WRONG = (
    ("intro/cases.py", "f32_32x32x2", "A[2 * line + half]", "A[line + 32 * half]"),
    ("intro/cases.py", "fp8_32x32x16[a=fp8,b=fp8]", "b[i] = B", "b[i ^ 1] = B"),
    ("gemm_fp8/cases.py", "vectorised_pairs", "", ""),
)
"""Case file, case, and an edit that makes it wrong, or none."""


@pytest.mark.parametrize(("file", "title", "old", "new"), WRONG, ids=[title for _, title, _, _ in WRONG])
def test_mapping_reports_the_same(file, title, old, new, monkeypatch, tmp_path):
    """The mapping check with its runs together and one by one."""
    case = next(case for case in load_file(folder("hipkernels") / file) if case.title == title)
    source = case.source
    if old:
        source = tmp_path / case.source.name
        source.write_text(case.source.read_text().replace(old, new))
    kernel = code_for(source, case.arch[-1], None, case.flags)[case.kernel_name()]
    ran = []
    together = SimDevice.launch_together

    def counted(*args, **kwargs):
        ran.append(together(*args, **kwargs))
        return ran[-1]

    results = []
    for way in (counted, lambda *_args, **_kwargs: False):
        monkeypatch.setattr(SimDevice, "launch_together", way)
        case = replace(case, checks="none")
        results.append(verify_case(case, case.arch[-1], kernel=kernel))
    first, second = results
    assert ran == [True]
    assert first.mapping == second.mapping
    assert first.findings == second.findings
    assert first.mapping["slots_checked"] > 1000
    assert bool(first.mapping["mismatches"]) == bool(old)
