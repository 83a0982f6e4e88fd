"""RDNA's standard GEMM at full size: `python -m tests.bench.bench_wmma [SIDE] [--arch ARCH] [--profile]`.

SIDE x SIDE x SIDE (2048: 512 workgroups) of normally distributed f16 by `tile_128x64` of hipkernels/wmma, outputs
only, held to the exact product. The yardstick is numpy.matmul in float64 on the same shape in the same run. Goals:
1,000 times the yardstick, aiming at 100; twice what CDNA3 needs for the same products by f16_16x16x16 of
hipkernels/gemm_f16; all checks at most 4 times the run without, on a smaller shape. Times are CPU time of all threads.
The share of each family of instructions is printed, and with --profile where the time goes.
"""

import argparse
import cProfile
import resource
import time

import numpy as np

from mfmasim import device
from mfmasim.resources import folder
from mfmasim.verify.prebuilt import code_for
from tests.bench.measuring import print_shares

ROWS, COLUMNS, THREADS, SMALL = 128, 64, 256, 256
GIB = 1 << 30


def inputs(side):
    random = np.random.default_rng(0)
    return [random.standard_normal((side, side), np.float32).astype(np.float16) for _ in "ab"]


def launch(kernel, a, b, checks):
    """C, the report and the CPU seconds."""
    side = len(a)
    c = np.full((side, side), np.nan, np.float32)
    start = time.process_time()
    grid = (side // COLUMNS, side // ROWS)
    args = [a, b, c, *[np.int32(side)] * 6]
    report = device("sim").launch(kernel, grid, THREADS, args, checks=checks)
    return c, report, time.process_time() - start


def launch_cdna(a, b):
    """CPU seconds of the same products by MFMA; B is given by columns."""
    side = len(a)
    kernel = code_for(folder("hipkernels") / "gemm_f16" / "half.hip", "gfx942")["f16_16x16x16"]
    c = np.full((side, side), np.nan, np.float32)
    args = [a, np.ascontiguousarray(b.T), c, *[np.int32(side)] * 6, np.float32(1), np.float32(0)]
    start = time.process_time()
    device("sim").launch(kernel, (side // 64, side // 64), 256, args, checks="none")
    return c, time.process_time() - start


def yardstick(a, b):
    """The exact product, and the CPU seconds of the quicker of two multiplications."""
    x, y, seconds = a.astype(np.float64), b.astype(np.float64), []
    for _ in "ab":
        start = time.process_time()
        exact = np.matmul(x, y)
        seconds.append(time.process_time() - start)
    return exact, min(seconds)


def wrong(c, exact, a, b):
    """Elements further from the exact product than 2 K 2^-24 sum |a||b|; every step of two rounds once."""
    bound = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64))
    return int((~(np.abs(c - exact) <= 2 * len(a) * 2.0**-24 * bound)).sum())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("side", nargs="?", type=int, default=2048)
    parser.add_argument("--arch", default="gfx1151")
    parser.add_argument("--profile", action="store_true", help="where the time goes; it takes longer")
    options = parser.parse_args()
    kernel = code_for(folder("hipkernels") / "wmma" / "tiles.hip", options.arch)["tile_128x64"]
    small = inputs(SMALL)
    seconds = {checks: min(launch(kernel, *small, checks)[2] for _ in range(3)) for checks in ("none", "all")}
    print(f"{SMALL}: none {seconds['none']:.2f} s, all checks {seconds['all']:.2f} s")
    print(f"ratio all/none {seconds['all'] / seconds['none']:.2f} (goal 4)")

    side = options.side
    a, b = inputs(side)
    exact, least = yardstick(a, b)
    profile = cProfile.Profile()
    if options.profile:
        profile.enable()
    c, report, taken = launch(kernel, a, b, "none")
    profile.disable()
    count = sum(report.counts.values())
    wmma = sum(n for name, n in report.counts.items() if name.startswith("v_wmma"))
    print(f"{side}: {report.waves:,} waves, {count:,} wave-instructions, {wmma:,} matrix instructions")
    print(", ".join(f"{family} {n / count:.1%}" for family, n in report.mix.most_common()))
    print(f"wrong outputs: {wrong(c, exact, a, b)} of {c.size:,}")
    print(f"{taken:.1f} s, numpy.matmul {least:.2f} s; {wmma / taken:,.0f} WMMA/s, {count / taken:,.0f} instructions/s")
    print(f"ratio {taken / least:.1f} (goal 1,000, aim 100)")
    c, other = launch_cdna(a, b)
    print(f"CDNA3: {other:.1f} s, wrong outputs: {wrong(c, exact, a, b)}; ratio {taken / other:.2f} (goal 2)")
    print(f"memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / GIB:.2f} GiB at most")
    if options.profile:
        print_shares(profile)


if __name__ == "__main__":
    main()
