"""Cost of a grid against one workgroup, and of verifying the introductory family.

Prints, for each introductory kernel, the least time of one workgroup and of 4,096, and their ratio (the aim: below 40);
then the time of `mfmasim verify intro` and of `import mfmasim` as processes of their own.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np

import mfmasim
from mfmasim.resources import folder
from tests.bench.measuring import least

KERNELS = (
    ("mfma_f32_32x32x2_f32", "gfx942", ((32, 2), (2, 32)), np.float32, (32, 32)),
    ("mfma_f32_16x16x16_f16", "gfx942", ((16, 16), (16, 16)), np.float16, (16, 16)),
    ("mfma_f32_32x32x16_fp8", "gfx942", ((32, 16), (16, 32)), np.uint8, (32, 32)),
)


def main():
    """Run the benchmark."""
    device = mfmasim.device("sim")
    rng = np.random.default_rng(0)
    for name, arch, shapes, dtype, out in KERNELS:
        code = mfmasim.load(folder("golden") / "code" / "intro" / f"{name}.{arch}.hsaco")
        kernel = code[code.kernels[0]]
        inputs = [rng.integers(0, 4, shape).astype(dtype) for shape in shapes]
        args = [*inputs, np.zeros(out, np.float32)]
        device.launch(kernel, 1, 64, args)
        one = least(lambda k=kernel, a=args: device.launch(k, 1, 64, a), 20)
        many = least(lambda k=kernel, a=args: device.launch(k, 4096, 64, a), 5)
        print(
            f"{name:<26} {arch}  1 workgroup {one * 1e3:6.2f} ms   4096 {many * 1e3:7.2f} ms   ratio {many / one:5.1f}"
        )
    for label, command in (
        ("import mfmasim", [sys.executable, "-c", "import mfmasim"]),
        ("python -c pass", [sys.executable, "-c", "pass"]),
        ("mfmasim verify intro", [sys.executable, "-m", "mfmasim", "verify", "intro"]),
    ):
        seconds = least(lambda c=command: subprocess.run(c, capture_output=True, check=True, cwd=Path.home()), 3)
        print(f"{label:<26} {seconds:6.2f} s")


if __name__ == "__main__":
    main()
