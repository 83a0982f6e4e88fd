"""races: what orders accesses of the workgroups of a cluster to global memory."""

from __future__ import annotations

import numpy as np
import pytest

import mfmasim

SOURCE = """
#include <hip/hip_runtime.h>
#define MEET() do { __syncthreads(); if (threadIdx.x < 32) __builtin_amdgcn_s_barrier_signal(-3); \\
                    __builtin_amdgcn_s_barrier_wait(-3); } while (0)
#define RELEASE() __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent")
#define ACQUIRE() __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent")
#define KERNEL(NAME, FIRST, SECOND)                                                     \\
  extern "C" __global__ void NAME(unsigned *out, unsigned *data) {                      \\
    FIRST; data[blockIdx.x * 64 + threadIdx.x] = threadIdx.x + blockIdx.x * 100;        \\
    SECOND; out[blockIdx.x * 64 + threadIdx.x] = data[(blockIdx.x ^ NEXT) * 64 + threadIdx.x]; \\
  }
#define NEXT 1
KERNEL(right, , RELEASE(); MEET(); ACQUIRE())
KERNEL(without_the_cluster, , RELEASE(); __syncthreads(); ACQUIRE())
KERNEL(met_before, MEET(), RELEASE(); ACQUIRE())
#undef NEXT
#define NEXT 2
KERNEL(another_cluster, , RELEASE(); MEET(); ACQUIRE())
"""


@pytest.fixture(scope="module")
def code(tmp_path_factory):
    """The kernels."""
    path = tmp_path_factory.mktemp("clusters") / "races.hip"
    path.write_text(SOURCE)
    return mfmasim.compile(path, arch="gfx1250")


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("right", []),
        ("without_the_cluster", ["races-between-workgroups"]),
        ("met_before", ["races-between-workgroups"]),
        ("another_cluster", ["races-between-workgroups"]),
    ],
)
def test_the_barrier_of_a_cluster_orders_its_workgroups(code, name, wanted):
    out, data = np.zeros((2, 256), np.uint32)
    report = mfmasim.device("sim").launch(code[name], 4, 64, [out, data], cluster=2)
    assert [finding.id for finding in report.findings] == wanted
