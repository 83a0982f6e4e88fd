"""The 8-wave ping-pong at full size: `python -m tests.bench.bench_pingpong [SIDE] [--checks NAMES] [--workers N]`.

SIDE x SIDE x SIDE (4096: 256 workgroups) of normally distributed FP8; outputs are held to the exact product, LDS
conflicts are counted. The yardstick is numpy.matmul in float64 on the same shape in the same run. Goals: 12 times the
yardstick and 1.5 GiB at most; two workers take 0.55 of one process's wall time at most, with the same bits, counts and
findings; 512 x 512 x 512 with all checks at most 2 times the run without. Times are CPU time of all threads, but for
that of workers. --profile says where the time goes.
"""

import argparse
import cProfile
import resource
import time

import ml_dtypes
import numpy as np
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn, TimeRemainingColumn

from mfmasim import device
from mfmasim.devices.workers import pool
from mfmasim.resources import folder
from mfmasim.verify.prebuilt import code_for
from tests.bench.measuring import print_shares

TILE, DEPTH, THREADS = 256, 128, 512
GIB = 1 << 30
WAVES = 256
"""In flight: registers and LDS of so many, 45 MB, took a tenth less time than those of 2,048."""


class Bar:
    """Counts matrix instructions as they are executed, for the progress bar."""

    name = "bar"

    def __init__(self, progress, total):
        self.progress, self.task = progress, progress.add_task("matrix instructions", total=total)
        self.known = {}

    def on_block(self, event):
        key = event.instructions[0].pc, len(event.instructions)
        if key not in self.known:
            self.known[key] = sum(ins.name.startswith("v_mfma") for ins in event.instructions)
        if self.known[key]:
            self.progress.advance(self.task, self.known[key] * len(event.waves))


def inputs(side):
    random = np.random.default_rng(0)
    return [random.standard_normal((side, side), np.float32).astype(ml_dtypes.float8_e4m3fn) for _ in "ab"]


def launch(kernel, a, b, checks, bar=None, executor=None, clock=time.process_time):
    """C, the report and the seconds of a clock."""
    side = len(a)
    c = np.full((side, side), 0xFFFF, np.uint16)
    numbers = [*[np.int32(side)] * 6, np.float32(1), np.float32(0)]
    args = [a.view(np.uint8), b.view(np.uint8), c, *numbers]
    start = clock()
    grid = (side // TILE, side // TILE)
    listening = [] if bar is None else [bar]
    how = {"checks": checks, "observers": listening, "max_waves": WAVES, "executor": executor}
    report = device("sim").launch(kernel, grid, THREADS, args, **how)
    return c.view(ml_dtypes.bfloat16), report, clock() - start


def by_workers(kernel, a, b, checks, count):
    """Wall seconds of one process and of some workers that are already running, whose results are compared."""
    alone, one, seconds = launch(kernel, a, b, checks, clock=time.perf_counter)
    with pool(count) as executor:
        launch(kernel, *inputs(TILE), checks, executor=executor)
        shared, many, wall = launch(kernel, a, b, checks, executor=executor, clock=time.perf_counter)
    assert (alone.view(np.uint16) == shared.view(np.uint16)).all()
    assert (one.counts, one.lds, one.findings) == (many.counts, many.lds, many.findings)
    return seconds, wall


def yardstick(a, b):
    """The exact product, and the CPU seconds of one multiplication."""
    x, y = (m.astype(np.float64) for m in (a, b))
    start = time.process_time()
    exact = np.matmul(x, y.T)
    return exact, time.process_time() - start


def wrong(c, exact, a, b):
    """Elements of C that are further from the exact product than 2 K 2^-24 sum |a||b| and half a unit of BF16."""
    bound = np.abs(a.astype(np.float32)) @ np.abs(b.astype(np.float32)).T
    half = np.ldexp(1.0, np.frexp(exact)[1] - 9)
    error = np.abs(c.astype(np.float64) - exact)
    return int((~(error <= 2 * len(a) * 2.0**-24 * bound * (1 + 2.0**-10) + half)).sum())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("side", nargs="?", type=int, default=4096)
    parser.add_argument("--checks", default="conflicts")
    parser.add_argument("--workers", type=int, metavar="N", help="compare one process and N workers, and nothing else")
    parser.add_argument("--profile", action="store_true", help="where the time goes; it takes longer")
    options = parser.parse_args()
    kernel = code_for(folder("hipkernels") / "gemm_fp8" / "scheduled" / "pingpong.hip", "gfx950")["pingpong"]
    if options.workers:
        seconds, wall = by_workers(kernel, *inputs(options.side), options.checks, options.workers)
        print(f"one process {seconds:.1f} s, {options.workers} workers {wall:.1f} s; the same bits, counts, findings")
        print(f"ratio {wall / seconds:.2f} (goal 0.55 for two)")
        return
    small = inputs(512)
    seconds = {checks: min(launch(kernel, *small, checks)[2] for _ in range(2)) for checks in ("none", "all")}
    print(f"512: none {seconds['none']:.2f} s, all checks {seconds['all']:.2f} s")
    print(f"ratio all/none {seconds['all'] / seconds['none']:.2f} (goal 2)")

    side = options.side
    a, b = inputs(side)
    exact, least = yardstick(a, b)
    profile = cProfile.Profile()
    columns = BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn()
    with Progress("{task.description}", *columns) as progress:
        bar = Bar(progress, (side // 16) ** 2 * side // DEPTH)
        if options.profile:
            profile.enable()
        c, report, taken = launch(kernel, a, b, options.checks, bar)
        profile.disable()
    count, mfma = sum(report.counts.values()), report.counts["v_mfma_f32_16x16x128_f8f6f4"]
    print(f"{side}: {report.waves:,} waves, {count:,} wave-instructions, {mfma:,} matrix instructions")
    print(f"LDS: {report.lds.get('accesses', 0):,} accesses, {report.lds.get('extra_passes', 0):,} extra passes")
    print(f"wrong outputs: {wrong(c, exact, a, b)} of {c.size:,}; findings: {len(report.findings)}")
    print(f"{taken:.1f} s, numpy.matmul {least:.2f} s")
    print(f"{count / taken:,.0f} wave-instructions/s, {mfma / taken:,.0f} MFMA/s")
    print(f"ratio {taken / least:.1f} (goal 12)")
    print(f"memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / GIB:.2f} GiB at most (goal 1.5)")
    if options.profile:
        print_shares(profile)


if __name__ == "__main__":
    main()
