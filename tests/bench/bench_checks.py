"""What each check costs: CPU time of two launches with it, as a ratio to the run without.

An LDS-tiled GEMM over 256 workgroups, and one whose waves read and write global memory and nothing else.
"""

import tempfile
import time
from pathlib import Path

import numpy as np

from mfmasim import compile as compile_hip
from mfmasim.devices import device
from mfmasim.observe.registry import CHECKS
from tests.bench.bench_machine import DEPTH, TILE, _kernel

SIDE, REPEATS = 1024, 3


STREAM = """#include <hip/hip_runtime.h>
extern "C" __global__ void stream(const float *in, float *out, unsigned n, unsigned trips) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned k = 0; k < trips; ++k) out[i + k * n] = in[i + k * n] * 2.0f + in[i % 64];
}
"""


def launches():
    """Kernel, grid, block and arguments of each launch."""
    random = np.random.default_rng(0)
    a, b = random.standard_normal((SIDE, DEPTH), np.float32), random.standard_normal((DEPTH, SIDE), np.float32)
    c = np.zeros((SIDE, SIDE), np.float32)
    yield "tiled_gemm", _kernel("tiled_gemm"), (SIDE // TILE,) * 2, [a, b, c, np.int32(SIDE), np.int32(DEPTH)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stream.hip"
        path.write_text(STREAM)
        kernel = compile_hip(path, "gfx942")["stream"]
    many, trips = 256 * 256, 16
    args = [random.standard_normal(trips * many, np.float32), np.zeros(trips * many, np.float32)]
    yield "stream", kernel, 256, [*args, np.uint32(many), np.uint32(trips)]


def main():
    sim = device("sim")
    for name, kernel, grid, arguments in launches():
        best = {}
        for _ in range(REPEATS):
            for checks in ("none", *CHECKS, "all"):
                start = time.process_time()
                sim.launch(kernel, grid, 256, arguments, checks=checks)
                best[checks] = min(best.get(checks, np.inf), time.process_time() - start)
        print(name)
        for checks, seconds in best.items():
            print(f"  {checks:14} {seconds * 1e3:8.1f} ms   {seconds / best['none']:5.2f}")


if __name__ == "__main__":
    main()
