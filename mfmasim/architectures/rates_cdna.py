"""Rates of CDNA; short names of sources.

WP1 to WP4: AMD's white papers on CDNA 1, 2, 3, 4. RPC: documentation of ROCm Compute Profiler, "Pipeline
descriptions". SCHED: LLVM, ``SISchedule.td``, whose latencies are in units of four clocks. HAZ: LLVM,
``GCNHazardRecognizer.cpp``. GPO: GPUOpen, "Understanding memory coalescing on GCN".
CAP: golden/hardware/launches.json, thread traces of gfx950, whose clocks are multiples of four. SHARK:
nod-ai/amd-shark-ai, docs/empirical-lds, on MI300X. PYHIP: tingqli/pyhip, docs/mem_latency.md, one wave on MI308X.
MT4G: caps-tum/mt4g, sample_results: MI300X and MI210. BENCH: te42kyfo/gpu-benches, gpu-l2-cache, MI210.
MAF: ROCm blog "measuring-max-achievable-flops-part2" (February 2025), hipBLASLt at its median clock. SOL:
SOL-ExecBench on MI350X and MI355X, docs/METHODOLOGY.md: clocks of a BF16 GEMM at the power limit. AZURE: results of
AI-benchmarking-guide on ND MI300X v5.
TLX: facebookexperimental/triton 2507, loops between two S_MEMTIME on an MI350X (tests/cost/test_loops.py).
"""

from __future__ import annotations

from dataclasses import replace

from mfmasim.architectures.rates import UNSOURCED, Product, Rate, Rates

_GCN = "GPO for GCN: a wave's addresses in four clocks"

CDNA3 = Rates(
    rows=(
        Rate("issue", 4, "RPC, scheduler: waves of one SIMD each clock, the four in turn", "vendor"),
        Rate("valu", 16, "RPC: SIMDs are 16 wide; packed instructions do two operations a lane", "vendor"),
        Rate("transcendental", 4, "SCHED: quarter rate", "llvm"),
        Rate("f64", 16, "WP3, table 1: 128 f64 operations a clock and compute unit; SCHED: full rate", "vendor"),
        Rate("b64", 16, "not known to be slower", "assumed"),
        Rate("multiply", 4, "SCHED: quarter rate", "llvm"),
        Rate("lds", 128, "RPC and WP4 (on CDNA 3): 32 banks of 4 bytes", "vendor"),
        Rate("lds port", 64, "RPC: 64 bytes a clock in each direction for a pair of SIMDs", "vendor"),
        Rate("lds fill", 128, "the width of the LDS; how fast loads fill it is not public", "assumed"),
        Rate("addresses", 16, _GCN, "inferred"),
        Rate("lines", 1, "one line a clock is what L1's bandwidth needs; not public", "assumed"),
        Rate("l1", 128, "WP3: the request bus is as wide as a line", "vendor"),
        Rate("l2", 2048 / 38, "WP3: 2 KB a clock for the compute units of a die, of which 38 are active", "vendor"),
        Rate("l2 sustained", 5.3, "MT4G: 15.4 TB/s of 304 units at 2.1 GHz", "measured", 4.5, 5.9),
        Rate("l2 stores", 11.6, "MT4G: 7.0 TB/s of 304 units at 2.1 GHz", "measured", 9.8, 12.9),
        Rate("valu latency", 4, "SCHED: one unit", "llvm", 4, 8),
        Rate("transcendental latency", 16, "SCHED: four units", "llvm", 16, 20),
        Rate("matrix latency", 12, "HAZ: three wait states beyond the passes", "llvm", 8, 16),
        Rate("carry latency", 4, "SCHED: one unit", "llvm", 4, 8),
        Rate("valu completion", 12, "as captured of gfx950", "inferred", 4, 20),
        Rate("scalar overwrite", 4, UNSOURCED, "assumed", 4, 8),
        Rate("salu latency", 4, "SCHED: one unit", "llvm", 4, 8),
        Rate("salu completion", 4, "SCHED: one unit", "llvm", 4, 8),
        Rate("vector queue", 1, "an instruction issues when its unit is free; not public", "assumed"),
        Rate("queue release", 1, "without a queue, nothing", "assumed"),
        Rate("internal", 4, "one issue", "assumed", 4, 8),
        Rate("branch", 24, "as measured on gfx950; SCHED: eight units, 32 clocks", "inferred", 8, 40),
        Rate("fall through", 4, "one issue", "assumed", 4, 8),
        Rate("barrier", 16, UNSOURCED, "assumed", 4, 40),
        Rate("lds latency", 44, "PYHIP: 52 clocks of b32, 64 of b128, port and wait included", "measured", 20, 64),
        Rate("scalar load", 120, UNSOURCED, "assumed", 60, 200),
        Rate("l1 latency", 116, "MT4G: a chain of loads", "measured", 112, 160),
        Rate("l2 latency", 288, "MT4G: a chain of loads", "measured", 250, 400),
        Rate(
            "miss latency", 500, "MT4G: 497 of the Infinity Cache, 900 of HBM; PYHIP: 500 to 800", "measured", 400, 900
        ),
        Rate("cold scalar load", 740, "as captured of gfx950", "inferred", 500, 1600),
        Rate("cold load", 1700, "as captured of gfx950", "inferred", 800, 2100),
        Rate("cold code", 740, "as a cold scalar load", "assumed", 100, 1600),
        Rate("wave end", 240, "as captured of gfx950", "inferred", 100, 400),
    ),
    products=(
        Product("MI300X", 304, 2100, 5325, "WP3, table 2", 8, (4, 256), (1207, 0.94), 4110, "MAF, BF16; AZURE, copy"),
        Product("MI325X", 304, 2100, 6000, "WP3, table 2", 8, (4, 256), (1447, 0.94), 0, "MAF, BF16"),
        Product("MI300A", 228, 2100, 5325, "WP3, table 2", 6, (4, 256)),
    ),
    code_bytes=65536,  # WP3: shared by two compute units
)


def _with(rates: Rates, *rows: Rate) -> tuple[Rate, ...]:
    """The rows, some replaced."""
    return tuple((rates.by_name | {row.name: row for row in rows}).values())


CDNA4 = replace(
    CDNA3,
    rows=_with(
        CDNA3,
        Rate("transcendental", 8, "WP4: twice the rate of CDNA 3", "vendor"),
        Rate("f64", 16, "WP4, table 1: 128 f64 operations a clock and compute unit", "vendor"),
        Rate("lds", 256, "WP4: twice the read bandwidth of CDNA 3", "vendor"),
        Rate("lds port", 128, "RPC for CDNA 3, doubled with the LDS", "inferred"),
        Rate("l2", 2048 / 32, "WP4: 16 channels of 128 bytes a clock, 32 active compute units of a die", "vendor"),
        Rate("l2 sustained", 4.5, "MT4G for CDNA 3: 918 bytes a clock of a die, now for 32 units", "inferred", 3.8, 5),
        Rate("l2 stores", 9.8, "MT4G for CDNA 3: 420 bytes a clock of a die, now for 32 units", "inferred", 8.3, 10.9),
        Rate("matrix latency", 16, "HAZ: four wait states beyond the passes", "llvm", 12, 20),
        Rate("issue", 4, "RPC, scheduler; CAP: 4, in a cold wave up to 20", "captured", 4, 16),
        Rate("valu completion", 12, "CAP: vector to LDS 8 to 16, to memory 4 to 16", "captured", 4, 16),
        Rate("internal", 4, "CAP: 0 to 4", "captured", 4, 4),
        Rate("fall through", 4, "CAP: 0 to 8", "captured", 4, 8),
        Rate(
            "lds latency",
            44,
            "TLX: a chain of reads; CAP: ds_write_b32 to its wait 32 to 44, ds_read_b128 from 24",
            "measured",
            18,
            52,
        ),
        Rate("branch", 24, "TLX: three loops, 20 to 28 beyond the issue of the branch", "measured", 8, 32),
        Rate("cold scalar load", 740, "CAP: 716 to 776", "captured", 700, 800),
        Rate("cold load", 1700, "CAP: 1,040 to 1,900", "captured", 1000, 1920),
        Rate("wave end", 240, "CAP: 184 to 280", "captured", 180, 300),
    ),
    products=(
        Product("MI355X", 256, 2400, 8000, "WP4, table 2", 8, (4, 256), (1790, 0.8), 4530, "SOL, BF16; copy on MI350X"),
        Product("MI350X", 256, 2200, 8000, "WP4, table 2", 8, (4, 256), (1364, 0.8), 4530, "SOL, BF16; copy"),
    ),
    code_bytes=32768,
    shadow=8,  # rocm-libraries 2997: no vector (or LDS) instruction in the four clocks after the issue
)

CDNA2 = replace(
    CDNA3,
    rows=_with(
        CDNA3,
        Rate("l1", 64, "WP2: a line of 64 bytes a clock", "vendor"),
        Rate("l2", 4096 / 110, "WP2: 32 channels of 128 bytes a clock, 110 or fewer compute units of a die", "vendor"),
        Rate("l2 sustained", 4.8, "MT4G: 4.3 TB/s of an MI210, BENCH: 5.1 TB/s", "measured", 4.4, 5.2),
        Rate("l2 stores", 8.8, "MT4G: 2.6 TB/s of an MI210", "measured", 7.4, 9.8),
        Rate("l1 latency", 124, "MT4G: a chain of loads on an MI210", "measured", 112, 160),
        Rate("l2 latency", 302, "MT4G: a chain of loads on an MI210", "measured", 250, 400),
        Rate("miss latency", 741, "MT4G: a chain of loads on an MI210", "measured", 600, 1200),
    ),
    products=(
        Product("MI250X", 220, 1700, 3277, "WP3, notes MI300-11 and MI300-13: both dies", 2),
        Product("MI250", 208, 1700, 3277, "WP2 and WP3: both dies", 2),
        Product("MI210", 104, 1700, 1638, "WP2", 1),
    ),
    l1_bytes=16384,
    line_bytes=64,
    code_bytes=32768,
)

CDNA1 = replace(
    CDNA2,
    rows=_with(
        CDNA2,
        Rate("f64", 8, "WP1: half of the f32 rate", "vendor"),
        Rate("l2", 2048 / 120, "WP1: 16 channels of 128 bytes a clock, 120 compute units", "vendor"),
        Rate("l2 sustained", 10.3, "as of its peak on an MI210", "inferred", 9.1, 11.6),
        Rate("l2 stores", 19, "as of its peak on an MI210", "inferred", 16, 21),
    ),
    products=(Product("MI100", 120, 1502, 1229, "WP1"),),
)
