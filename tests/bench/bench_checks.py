"""What each check costs: CPU time of an LDS-tiled GEMM over 256 workgroups with it, as a ratio to the run without."""

import time

import numpy as np

from mfmasim.cli.bench_machine import DEPTH, TILE, _kernel
from mfmasim.devices import device
from mfmasim.observe import CHECKS

SIDE, REPEATS = 1024, 3


def main():
    random = np.random.default_rng(0)
    a, b = random.standard_normal((SIDE, DEPTH), np.float32), random.standard_normal((DEPTH, SIDE), np.float32)
    c, kernel, sim = np.zeros((SIDE, SIDE), np.float32), _kernel("tiled_gemm"), device("sim")
    arguments = [a, b, c, np.int32(SIDE), np.int32(DEPTH)]
    best = {}
    for _ in range(REPEATS):
        for checks in ("none", *CHECKS, "all"):
            start = time.process_time()
            sim.launch(kernel, (SIDE // TILE, SIDE // TILE), 256, arguments, checks=checks)
            best[checks] = min(best.get(checks, np.inf), time.process_time() - start)
    for checks, seconds in best.items():
        print(f"{checks:12} {seconds * 1e3:8.1f} ms   {seconds / best['none']:5.2f}")


if __name__ == "__main__":
    main()
