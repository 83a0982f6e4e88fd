"""Loops and sums with and without C: `python -m tests.bench.bench_native [WORD ...]`, of the rows with such words.

Each row is launched with MFMASIM_NATIVE=off and =forced in turns; the least CPU seconds of each, and those of the first
launch with C, which compiles (plus the compiler's own). Outputs, counts and findings have to be equal.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import mfmasim
from hipkernels.attention.plan import layout_of, plan_attention
from mfmasim.resources import CACHE, folder
from mfmasim.toolchain.native import NATIVE
from mfmasim.verify.prebuilt import code_for

TURNS = 5


def _zeros(count):
    return np.zeros(count, np.uint32)


def _drawn(count):
    return np.random.default_rng(1).integers(0, 1 << 32, count, np.uint32)


def _floats(count):
    rng = np.random.default_rng(2)
    return [rng.standard_normal((64, 64), np.float32) for _ in range(count)]


def attention(tokens):
    """Attention forward of one head of 128, f16, on gfx950."""
    kernel = code_for(folder("hipkernels") / "attention" / "tiled_more.hip", "gfx950")["tiled_f16_128"]
    random = np.random.default_rng(0)
    q, k, v = (random.standard_normal((tokens, 128), np.float32).astype(np.float16) for _ in "qkv")
    strides = [layout_of("bhnd", (1, 1, tokens, 128)).strides] * 4
    args = [
        q,
        k,
        v,
        np.zeros((tokens, 128), np.float16),
        np.int32(tokens),
        np.int32(tokens),
        *strides,
        np.int32(0),
        None,
    ]
    return kernel, plan_attention("tiled", 1, 1, tokens, tokens, 128, 0, None), 256, args


def rows():
    """What is measured: a name, a kernel, grid, block and arguments."""
    loops = mfmasim.compile(Path(__file__).with_name("native.hip"), "gfx942")
    bench = folder("hipkernels") / "conformance" / "bench" / "valu_loop.hip"
    valu = code_for(bench, "gfx942")["valu_loop"]
    return (
        ("collatz, one wave", loops["collatz"], 1, 64, [_zeros(64), np.int32(7)]),
        ("collatz, 256 waves", loops["collatz"], 64, 256, [_zeros(16384), np.int32(7)]),
        ("scalar loop, 10^6 instructions", loops["scalar"], 1, 64, [_zeros(64), np.int32(100000), np.int32(7)]),
        ("mandelbrot, 16 waves", loops["mandel"], 4, 256, [_zeros(1024), np.int32(32), np.int32(200)]),
        ("mandelbrot, 256 waves", loops["mandel"], 64, 256, [_zeros(16384), np.int32(128), np.int32(200)]),
        ("VALU loop, one wave", valu, 1, 64, [_zeros(64), np.int32(2000), np.uint32(40503)]),
        ("VALU loop, 64 waves", valu, 64, 64, [_zeros(4096), np.int32(500), np.uint32(40503)]),
        ("VALU loop, 2,048 waves", valu, 2048, 64, [_zeros(131072), np.int32(100), np.uint32(40503)]),
        ("f32 product of 64, a work-item a sum", loops["product"], (4, 4), 256, [*_floats(3), np.int32(64)]),
        ("sums in the LDS, 4 workgroups", loops["sums"], 4, 256, [_zeros(1024), _drawn(1024), np.int32(30)]),
        ("bitonic sort in a loop, 1 workgroup", loops["bitonic_loop"], 1, 256, [_drawn(512)]),
        ("bitonic sort in a loop, 64 workgroups", loops["bitonic_loop"], 64, 256, [_drawn(32768)]),
        ("bitonic sort, 1 workgroup", loops["bitonic"], 1, 256, [_drawn(512)]),
        ("bitonic sort, 64 workgroups", loops["bitonic"], 64, 256, [_drawn(32768)]),
        ("attention, 512 tokens", *attention(512)),
    )


def launch(row, checks, how):
    """CPU seconds of a launch, and what it left."""
    _, kernel, grid, block, args = row
    copies = [array.copy() if isinstance(array, np.ndarray) else array for array in args]
    os.environ[NATIVE] = how
    start = time.process_time()
    report = mfmasim.device("sim").launch(kernel, grid, block, copies, checks=checks, budget=10**9)
    taken = time.process_time() - start
    outputs = [array.tobytes() for array in copies if isinstance(array, np.ndarray)]
    return taken, (outputs, dict(report.counts), [str(one) for one in report.findings])


def compiler():
    """CPU seconds of the programs that were started."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(wanted=()):
    print("work | checks | wave-instructions | off | C | times | M/s | first launch + compiler")
    for row in rows():
        if wanted and not any(word in row[0] for word in wanted):
            continue
        for checks in ("none", "all"):
            launch(row, checks, "off")
            before = compiler()
            first, _ = launch(row, checks, "forced")
            built, found = compiler() - before, {"off": [], "forced": []}
            for _ in range(TURNS):
                for how, times in found.items():
                    times.append(launch(row, checks, how))
            (off, plain), (native, other) = (min(times, key=lambda one: one[0]) for times in found.values())
            assert plain == other, row[0]
            count = sum(plain[1].values())
            print(
                f"{row[0]} | {checks} | {count:,} | {off:.4f} | {native:.4f} | {off / native:.1f} |"
                f" {count / native / 1e6:.1f} | {first:.3f} + {built:.2f}",
                flush=True,
            )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        os.environ[CACHE] = place
        main(sys.argv[1:])
