"""FP8 casts on the simulator, outputs only, against `mfmasim.format(...).encode` of the same array in the same run.

Goals: cast of 16 Mi elements 20 times, cast and transpose of 2048 x 12288 100 times.
"""

import time

import numpy as np

import mfmasim
from hipkernels.cast.plan import COMPUTE_UNITS, plan_cast, plan_transpose
from mfmasim.resources import folder
from mfmasim.verify.prebuilt import code_for

ARCH, FORMAT = "gfx942", "e4m3fnuz"


def clock(run):
    """CPU seconds of a call."""
    start = time.process_time()
    run()
    return time.process_time() - start


def main():
    device, source = mfmasim.device("sim"), folder("hipkernels") / "cast"
    fmt, one = mfmasim.format(FORMAT), np.ones(1, np.float32)
    rng = np.random.default_rng(0)

    x = rng.standard_normal(1 << 24, np.float32)
    out = np.empty(x.size, np.uint8)
    kernel = code_for(source / "cast.hip", ARCH)["cast_f32_e4m3_clamp"]
    args = [x, out, None, one, np.zeros(1, np.float32), np.zeros(1, np.float32), np.int64(x.size)]
    grid = plan_cast(x.size, 4, COMPUTE_UNITS[ARCH]).blocks
    base, codes = clock(lambda: fmt.encode(x)), fmt.encode(x)
    spent = clock(lambda: device.launch(kernel, grid, 256, args, 0, None))
    assert (out == codes).all()
    print(f"cast of 16 Mi elements: {spent / base:.1f} times encode ({spent:.2f} s of {base:.3f} s), goal 20")

    rows, cols = 2048, 12288
    x = rng.standard_normal((rows, cols), np.float32)
    out, turned = np.empty((rows, cols), np.uint8), np.empty((cols, rows), np.uint8)
    (part,) = plan_transpose(rows, cols, 4)
    kernel = code_for(source / "transpose_f32.hip", ARCH)[part.kernel("f32", "e4m3")]
    down, across = part.tiles(4)
    sizes = [*(np.int64(n) for n in (rows, cols, 0, 0)), np.int32(down)]
    args = [x, out, turned, None, one, np.zeros(1, np.float32), np.zeros(1, np.float32), *sizes]
    base, codes = clock(lambda: fmt.encode(x)), fmt.encode(x)
    spent = clock(lambda: device.launch(kernel, down * across, 512, args, 0, None))
    assert (out == codes).all()
    assert (turned == codes.T).all()
    figures = f"{spent / base:.1f} times encode ({spent:.2f} s of {base:.3f} s), goal 100"
    print(f"cast and transpose of {rows} x {cols}: {figures}")


if __name__ == "__main__":
    main()
