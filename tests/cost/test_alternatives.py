"""What another instruction, tile or occupancy would give: kernels of which each is the limit."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import mfmasim
from mfmasim.cost import bound_of, record_launch, timeline
from mfmasim.cost.alternatives import alternatives
from mfmasim.cost.costed import Costed, product_of

KERNEL = """
#include <hip/hip_runtime.h>
typedef float float4_ __attribute__((ext_vector_type(4)));
template <int READS, int LDS> __device__ void turns(float4_ *out, int n) {
  __shared__ long tile[LDS / 8];
  auto shared = (volatile __attribute__((address_space(3))) long *)tile;
  for (int k = threadIdx.x; k < LDS / 8; k += 256) tile[k] = k;
  __syncthreads();
  float4_ sums[4] = {};
#pragma nounroll
  for (int turn = 0; turn < n; ++turn) {
    long value = turn;
    if (READS) {
      for (int k = 0; k < READS; ++k) value += shared[(threadIdx.x * 32 + k + turn) % 2048];
    }
    for (int k = 0; k < 4; ++k) sums[k] = __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(value, value, sums[k], 0, 0, 0);
  }
  out[threadIdx.x] = sums[0] + sums[1] + sums[2] + sums[3] + (float)tile[threadIdx.x];
}
extern "C" __global__ void products(float4_ *out, int n) { turns<0, 16384>(out, n); }
extern "C" __global__ void reads(float4_ *out, int n) { turns<16, 16384>(out, n); }
extern "C" __global__ void large(float4_ *out, int n) { turns<1, 131072>(out, n); }
"""


@pytest.fixture(scope="module")
def code(tmp_path_factory):
    path = tmp_path_factory.mktemp("alternatives") / "turns.hip"
    path.write_text(KERNEL)
    return mfmasim.compile(path, arch="gfx950")


@cache
def costed(kernel):
    recorded = record_launch(kernel, 4096, 256, [np.zeros((4096, 4), np.float32), np.int32(6)], most=1)
    return Costed(recorded, product_of(kernel.arch, None))


def gains(kernel):
    cost = costed(kernel)
    found = alternatives(cost.recorded, timeline(cost.recorded.trace), cost.faster)
    return {change.what: change for change in found}


def test_a_faster_instruction_is_tried(code):
    """Two instructions of CDNA3's shape take as long as one of twice the products: half of a loop of nothing else."""
    (change,) = [one for what, one in gains(code["products"]).items() if "in place of v_mfma" in what]
    cost = costed(code["products"])
    assert change.what.startswith(cost.faster[0].fastest)
    assert cost.bound.pipe == "matrix"
    assert not any(op.shadow for op in cost.recorded.trace.operations)
    assert 0.2 < change.gain <= 1 - cost.faster[0].rate / cost.faster[0].peak


def test_a_tile_of_twice_the_size_is_tried_where_reads_take_the_time(code):
    found = gains(code["reads"])
    (change,) = [one for what, one in found.items() if what.startswith("half the LDS reads")]
    assert change.gain > 0.1
    assert all("turns.hip" in line for line in change.lines)
    assert not any(what.startswith("half the LDS reads") for what in gains(code["products"]))


def test_more_workgroups_are_tried_where_something_limits_them(code):
    """128 KB of LDS leave one workgroup a unit: its four waves wait for each other's latencies."""
    found = gains(code["large"])
    (change,) = [one for what, one in found.items() if "at a time in place of" in what]
    assert change.what == "2 workgroups at a time in place of 1 (limited by LDS)"
    assert 0.03 < change.gain <= 0.5


def test_alternatives_stand_among_the_changes(code):
    cost = costed(code["large"])
    names = [change.what for change in cost.changes]
    assert set(gains(code["large"])) <= set(names)
    assert [c.gain for c in cost.changes] == sorted((c.gain for c in cost.changes), reverse=True)
    assert "gain at most" in next(columns for title, columns, _ in cost.tables() if title.startswith("What to change"))
    assert bound_of(cost.recorded.trace).total > 0


def test_a_loop_that_the_instruction_cache_does_not_hold_is_named(code, monkeypatch):
    cost = costed(code["products"])
    assert not any(line.startswith("code:") for line in cost.lines())
    small = replace(cost.arch, rates=replace(cost.arch.rates, code_bytes=16))
    monkeypatch.setattr(Costed, "arch", property(lambda _: small))
    (line,) = [line for line in cost.lines() if line.startswith("code:")]
    main = cost.recorded.main
    assert f"{main.last - main.first:,} bytes, more than the 16 of" in line
