"""``tests.bench.bench_machine``: the kernels that it measures compute what they say, and nearly all is weighed."""

import json

import numpy as np

from tests.bench import bench_machine
from tests.bench.bench_machine import CALLS, calls_of, seconds_of
from tests.bench.measuring import print_measured


def loop(waves, trips, different):
    """The loop of hipkernels/conformance/bench/valu_loop.hip in plain NumPy, except for the f32 part."""
    x = np.arange(64, dtype=np.uint32) * np.uint32(2654435761) + np.arange(waves, dtype=np.uint32)[:, None] * np.uint32(
        different
    )
    y = x ^ np.uint32(0x9E3779B9)
    f, g = ((v & np.uint32(1023)).astype(np.float32) * np.float32(2.0**-10) for v in (x, y))
    for _ in range(trips):
        x = x ^ x << np.uint32(13)
        x = x ^ x >> np.uint32(17)
        x = x ^ x << np.uint32(5)
        y = y * np.uint32(1664525) + x
        # Two sums of products in float64, rounded once: the middle of two float32 does not come up here.
        f = (f.astype(np.float64) * np.float32(0.7310586) + np.float32(0.1192029)).astype(np.float32)
        g = (f.astype(np.float64) * np.float32(0.6180340) + g * np.float32(0.2689414)).astype(np.float32)
        y = y + np.where(x > y, np.uint32(0x10001), np.uint32(0x101))
    return x ^ y ^ f.view(np.uint32) ^ g.view(np.uint32)


def test_the_loop_computes_what_its_source_says():
    for waves, different in ((1, 1), (8, 40503), (8, 0)):
        report, out = bench_machine.valu(waves, 9, different)
        assert report.ok
        assert (out == loop(waves, 9, different)).all()


def test_the_product_is_a_product():
    report, (a, b, c) = bench_machine.gemm(128)
    assert report.ok
    exact = a.astype(np.float64) @ b.astype(np.float64)
    assert np.abs(c - exact).max() < 1e-5 * np.abs(exact).max()
    assert report.waves == 4 * 4


def test_nearly_every_instruction_of_the_loops_is_weighed():
    free = {"s_cbranch_scc0", "s_waitcnt", "s_barrier", "v_mov_b32"}
    for report, _ in (bench_machine.valu(2, 300, 1), bench_machine.gemm(512)):
        counted = sum(n for name, n in report.counts.items() if name in CALLS or name in free)
        assert counted > 0.85 * sum(report.counts.values()), report.counts
        assert seconds_of(calls_of(report.counts, report.waves), iter(range(10**6)).__next__) > 0


def test_the_table(capsys):
    print_measured(bench_machine.__doc__, bench_machine.COLUMNS, bench_machine.measure, ["--quick", "--json"])
    rows = json.loads(capsys.readouterr().out)
    assert [tuple(row) for row in rows] == [bench_machine.COLUMNS] * 4
    assert [row["waves"] for row in rows] == [1, 64, 64, 256]
    assert all(row["per_second"] > 0 and row["bare_per_second"] > 0 for row in rows)
    assert [row["goal"] for row in rows] == [">= 0.5", ">= 0.75", None, ">= 0.75"]
