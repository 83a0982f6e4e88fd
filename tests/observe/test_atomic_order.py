"""atomics: sums of float atomics whose order is open, and those that have one order or round alike in each."""

import numpy as np
import pytest

import mfmasim
from tests.observe.small_kernels import compiled, symbol

HEAD = "#include <hip/hip_runtime.h>\n"
START = "unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t;\n"
SWAP = """unsigned *p = (unsigned *)y, old = *p, seen;
do {{ seen = old; old = atomicCAS(p, seen, {}); }} while (old != seen);"""
LDS = """__shared__ float s[4]; if (t < 4) s[t] = 0; __syncthreads(); unsafeAtomicAdd(&s[t & 3], x[g]);
__syncthreads(); if (t < 4) y[blockIdx.x * 4 + t] = s[t];"""
TURNS = """__shared__ float s[4]; if (t < 4) s[t] = 0; __syncthreads();
for (unsigned w = 0; w < blockDim.x; w += 64) {
 if (t / 64 * 64 == w && t % 64 == 0) unsafeAtomicAdd(s, x[g]);
 __syncthreads();
}
if (t < 4) y[blockIdx.x * 4 + t] = s[t];"""
# Two workgroups of 128 work-items; what is said of the contributions, or None.
KERNELS = {
    "additions": ("unsafeAtomicAdd(&y[t & 7], x[g]);", "[0] is a sum of 32 float atomics of"),
    "compare and swap": (
        SWAP.format("__float_as_uint(__uint_as_float(seen) + x[g])"),
        "[0] is a sum of 256 compare-and-swaps that add floats of",
    ),
    "bf16 in a dword": (
        SWAP.format("(seen & 0xffff0000u) | (__float_as_uint(__uint_as_float(seen << 16) + x[g]) >> 16)"),
        "[0] is a sum of 256 compare-and-swaps",
    ),
    "sums in the lds": (LDS, "byte 0 of the LDS is a sum of 32 float atomics of"),
    "two onto a number": ("if (t == 0) unsafeAtomicAdd(&y[9], x[g]);", "[9] is a sum of 2 float atomics of 2 waves of"),
    "two onto 0": ("if (t == 0) unsafeAtomicAdd(&y[0], x[g]);", None),
    "each its own": ("unsafeAtomicAdd(&y[g], x[g]);", None),
    "one wave": ("if (g < 32) unsafeAtomicAdd(&y[0], x[g]);", None),
    "integers": ("atomicAdd(z, t);", None),
    "maximum": ("atomicMax((int *)y, __float_as_int(x[g]));", None),
    "maximum by compare and swap": (SWAP.format("__float_as_uint(fmaxf(__uint_as_float(seen), x[g]))"), None),
    "integers by compare and swap": (SWAP.format("seen * 3 + t"), None),
    "lock": (
        "if (t == 0) { while (atomicCAS(z, 0u, 1u) != 0) ; __threadfence(); z[1] += g; atomicExch(z, 0u); }",
        None,
    ),
    "waves in turn": (TURNS, None),
}


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100", "gfx1201"])
def test_kernels(arch):
    bodies = tuple((name, START + body) for name, (body, _) in KERNELS.items())
    kernels = compiled(HEAD, "float *x, float *y, unsigned *z", bodies, arch)[0]
    for name, (_, said) in KERNELS.items():
        x, y = np.random.default_rng(0).random(256).astype(np.float32), np.zeros(256, np.float32)
        y[9] = 0.3
        args = [x, y, np.zeros(4, np.uint32)]
        report = mfmasim.device("sim").launch(kernels[symbol(name)], 2, 128, args, checks="atomics")
        have = [(one.id, one.severity) for one in report.findings]
        assert have == ([("atomics-order", "info")] if said else []), name
        assert report.ok
        assert not said or said in report.findings[0].message, report.findings


def test_parts_of_a_launch_are_one_sum():
    from concurrent.futures import ThreadPoolExecutor

    bodies = tuple((name, START + body) for name, (body, _) in KERNELS.items())
    kernel = compiled(HEAD, "float *x, float *y, unsigned *z", bodies, "gfx942")[0]["sums_in_the_lds"]

    def findings(**options):
        args = [np.ones(256, np.float32), np.zeros(256, np.float32), np.zeros(4, np.uint32)]
        return mfmasim.device("sim").launch(kernel, 2, 128, args, checks="atomics", **options).findings

    with ThreadPoolExecutor(2) as executor:
        assert findings(executor=executor, parts=2) == findings() == findings(max_waves=2) != []
