"""Attention forward of one head of 128, f16, by matrix instructions on gfx950: `python -m tests.bench.bench_attention`.

For each length of the sequence CPU seconds without and with all checks, peak memory, findings, and the largest error
against float64. Each length runs in a process of its own.
"""

import argparse
import resource
import subprocess
import sys
import time

import numpy as np

from hipkernels.attention.plan import layout_of, plan_attention
from mfmasim import device
from mfmasim.resources import folder
from mfmasim.verify.prebuilt import code_for

D, THREADS = 128, 256
GIB = 1 << 30


def one(tokens, checks):
    """Run one launch; print its row."""
    kernel = code_for(folder("hipkernels") / "attention" / "tiled_more.hip", "gfx950")[f"tiled_f16_{D}"]
    random = np.random.default_rng(0)
    q, k, v = (random.standard_normal((tokens, D), np.float32).astype(np.float16) for _ in "qkv")
    o = np.zeros((tokens, D), np.float16)
    strides = [layout_of("bhnd", (1, 1, tokens, D)).strides] * 4
    args = [q, k, v, o, np.int32(tokens), np.int32(tokens), *strides, np.int32(0), None]
    start = time.process_time()
    grid = plan_attention("tiled", 1, 1, tokens, tokens, D, 0, None)
    report = device("sim").launch(kernel, grid, THREADS, args, checks=checks)
    taken = time.process_time() - start
    error = 0.0
    for rows in np.array_split(np.arange(tokens), max(1, tokens // 512)):
        scores = q[rows].astype(np.float64) @ k.T.astype(np.float64) / np.sqrt(D)
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        exact = weights @ v.astype(np.float64) / weights.sum(axis=1, keepdims=True)
        error = max(error, float(np.abs(o[rows] - exact).max()))
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / GIB
    count = sum(report.counts.values())
    findings = len([f for f in report.findings if f.severity in ("error", "warning")])
    print(f"{tokens} | {checks} | {taken:.2f} s | {held:.2f} GiB | {count:,} | {findings} | {error:.1e}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tokens", nargs="*", type=int, default=[512, 1024, 2048, 4096, 8192])
    parser.add_argument("--checks", action="append", help="default: none, then all")
    parser.add_argument("--here", action="store_true", help="in this process")
    options = parser.parse_args()
    checks = options.checks or ["none", "all"]
    if options.here:
        one(options.tokens[0], checks[0])
        return
    print("tokens | checks | CPU | peak memory | wave-instructions | findings | largest error")
    for tokens in options.tokens:
        for which in checks:
            words = ["-m", "tests.bench.bench_attention", str(tokens), "--checks", which, "--here"]
            subprocess.run([sys.executable, *words], check=True)


if __name__ == "__main__":
    main()
