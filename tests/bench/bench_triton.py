"""Triton's kernels: CPU time of compiling beside that of simulating, and a product of 512 x 512 x 512 halves.

Each kernel is compiled anew, in a folder of its own, and then launched at its smallest real size with the check bounds.
"""

import os
import statistics
import tempfile

import numpy as np

ARCH = os.environ.get("MFMASIM_BENCH_ARCH", "gfx950")


def seconds(run):
    """CPU seconds of a call, in this process and in those that it starts."""
    begin = sum(os.times()[:4])
    run()
    return sum(os.times()[:4]) - begin


def measure(make, kind):
    """CPU seconds of compiling a case (of the first launch, what the second does not take), and of simulating it."""
    import triton

    import mfmasim.triton as mt

    with tempfile.TemporaryDirectory() as folder, triton.knobs.cache.scope(), mt.session(arch=ARCH):
        triton.knobs.cache.dir = folder
        case = make(np.random.default_rng(3), kind)
        case.kernel.device_caches.clear()
        first, second = seconds(case.run), seconds(case.run)
    return first - second, second


def product():
    """CPU seconds of simulating a product of 512 x 512 x 512 halves with bounds."""
    import torch

    import mfmasim.triton as mt
    from tests.triton import kernels

    with mt.session(arch=ARCH, checks="bounds"):
        a, b = (torch.ones(512, 512, device="cuda", dtype=torch.float16) for _ in range(2))
        c = torch.empty(512, 512, device="cuda")

        def run():
            kernels.matmul[(4, 4)](a, b, c, 512, 512, 512, 512, M=128, N=128, KB=64)

        run()
        taken = seconds(run)
        assert (c == 512).all()
    return taken


def main() -> None:
    """Print a table."""
    from tests.triton import cases  # needs Triton, of the group oracles

    ratios = []
    measure(cases.add, "f32")  # imports
    for make, kind in cases.CASES:
        if not cases.supported(make, kind, ARCH):
            continue
        compiled, simulated = measure(make, kind)
        ratios.append(simulated / compiled)
        name = f"{make.__name__} {kind}"
        print(f"{name:<24} compile {compiled:6.2f} s  simulate {simulated:6.2f} s  {ratios[-1]:5.2f}")
    print(f"median of simulate / compile: {statistics.median(ratios):.2f}")
    print(f"512 x 512 x 512, f16, bounds: {product():.2f} s CPU")


if __name__ == "__main__":
    main()
