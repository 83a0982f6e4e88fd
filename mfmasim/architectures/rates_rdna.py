"""Rates of RDNA; short names of sources.

RPC: documentation of ROCm Compute Profiler for RDNA3.5. ISA: RDNA3.5 and RDNA4 ISA manuals. SCHED: LLVM,
``SISchedule.td``, GFX11SpeedModel, in clocks. WMMA: README of wmma_ops (docs/statements.md). CAP: thread traces
of a Radeon RX 7900 XTX (gfx1100) and of an RX 9070-class card (gfx1201), golden/hardware/launches.json.
"""

from __future__ import annotations

from dataclasses import replace

from mfmasim.architectures.rates import UNSOURCED, Product, Rate, Rates

RDNA3 = Rates(
    rows=(
        Rate("issue", 1, "ISA, 2.3: each SIMD has its own scheduler; CAP: 1, now and then 2", "captured", 1, 2),
        Rate("valu", 32, "ISA: SIMD32; a dual instruction does two operations a lane", "vendor"),
        Rate("transcendental", 8, "CAP for RDNA4: v_rcp_f32 issues in four clocks", "inferred"),
        Rate("f64", 1, "RPC: 1/32 of the f32 rate", "vendor"),
        Rate("b64", 16, "CAP: v_lshlrev_b64 issues in two clocks", "captured"),
        Rate("multiply", 8, "CAP for RDNA4: v_mad_co_u64_u32 issues in four clocks", "inferred"),
        Rate("lds", 128, "ISA, 12.1: 32 banks of 4 bytes for each compute unit of a pair", "vendor"),
        Rate("lds port", 128, "not known to be narrower than the LDS", "assumed"),
        Rate("lds fill", 128, "not known to be narrower than the LDS", "assumed"),
        Rate("addresses", 32, "a wave32 in a clock; not public", "assumed"),
        Rate("lines", 1, UNSOURCED, "assumed"),
        Rate("l1", 128, "a line in a clock; not public", "assumed"),
        Rate("l2", 64, UNSOURCED, "assumed"),
        Rate("l2 sustained", 2.7, "three quarters of the peak, as on an MI210", "assumed", 2, 4),
        Rate("l2 stores", 5.3, "half of what loads get, as on CDNA", "assumed", 4, 8),
        Rate("valu latency", 5, "CAP: issue with S_DELAY_ALU, execution without; SCHED too", "captured", 4, 7),
        Rate("transcendental latency", 10, "SCHED", "llvm"),
        Rate("matrix latency", 5, "as another vector instruction", "assumed", 1, 8),
        Rate("carry latency", 1, "CAP: v_add_co_u32 to v_add_co_ci_u32", "captured", 1, 5),
        Rate("valu completion", 17, "CAP: to LDS, memory, and from v_cmpx to a branch: 16 to 23", "captured", 15, 23),
        Rate("scalar overwrite", 7, "CAP: v_add_co_ci_u32 to s_mov_b32", "captured", 7, 8),
        Rate("salu latency", 2, "CAP; SCHED too", "captured", 1, 2),
        Rate("salu completion", 9, "CAP: to a scalar load", "captured", 8, 10),
        Rate("vector queue", 7, "as captured of RDNA4", "inferred", 4, 12),
        Rate("queue release", 11, "as captured of RDNA4", "inferred", 1, 20),
        Rate("internal", 3, "CAP: from an LDS, memory or vector instruction to a wait or hint", "captured", 1, 3),
        Rate("branch", 8, "as captured of RDNA4", "inferred", 4, 32),
        Rate("fall through", 3, "CAP: s_cbranch_execz", "captured", 3, 3),
        Rate("barrier", 16, "CAP: 16 to 18", "captured", 14, 20),
        Rate("lds latency", 32, "CAP: 31 to 33 beyond its own phases, alone", "captured", 29, 35),
        Rate("scalar load", 60, "three times SCHED's 20", "assumed", 20, 120),
        Rate("l1 latency", 120, UNSOURCED, "assumed", 80, 200),
        Rate("l2 latency", 320, "SCHED: any vector memory access", "llvm", 200, 480),
        Rate("miss latency", 600, UNSOURCED, "assumed", 400, 900),
        Rate("cold scalar load", 1300, "CAP: 888 to 1,404", "captured", 880, 1420),
        Rate("cold load", 1480, "CAP: 785 to 1,590", "captured", 770, 1610),
        Rate("cold code", 1600, "as captured of RDNA4", "inferred", 1000, 1700),
        Rate("wave end", 310, "CAP: 252 to 344", "captured", 245, 350),
    ),
    products=(
        Product("RX 7900 XTX", 48, 2500, 960, "AMD's product page: 96 compute units, boost clock", caches=(6, 96)),
        Product("RX 7900 XT", 42, 2400, 800, "AMD's product page: 84 compute units, boost clock"),
    ),
    matrix_on_valu=True,
    lds_simds=2,
    scalar_unit_shared=False,
)


def _with(rates: Rates, *rows: Rate) -> tuple[Rate, ...]:
    """The rows, some replaced."""
    return tuple((rates.by_name | {row.name: row for row in rows}).values())


def _elsewhere(rates: Rates) -> tuple[Rate, ...]:
    """The rows for another architecture, on which nothing was captured."""
    return tuple(replace(r, confidence="inferred") if r.confidence == "captured" else r for r in rates.rows)


RDNA2 = replace(
    RDNA3,
    rows=tuple(
        Rate("f64", 2, "AMD's product page: 1/16 of the f32 rate", "vendor")
        if row.name == "f64"
        else replace(row, source=f"as RDNA3 ({row.source})", confidence="assumed")
        for row in RDNA3.rows
    ),
    products=(
        Product("RX 6900 XT", 40, 2250, 512, "AMD's product page: 80 compute units, boost clock", caches=(4, 128)),
        Product("RX 6800 XT", 36, 2250, 512, "AMD's product page: 72 compute units, boost clock", caches=(4, 128)),
    ),
)
RDNA35 = replace(
    RDNA3,
    rows=_elsewhere(RDNA3),
    products=(
        Product(
            "Radeon 8060S",
            20,
            2900,
            256,
            "WMMA: 40 compute units, 2.9 GHz, LPDDR5X",
            caches=(2, 32),
            loaded=(2700, 1),
            sustained=215,
            measured="librocm_cpp, src/wmma_peak_probe.hip: 55.4 TFLOPS; lhl/strix-halo-testing",
        ),
    ),
)
RDNA4M = replace(
    RDNA35,
    rows=tuple(replace(row, source=f"as RDNA3.5 ({row.source})", confidence="assumed") for row in RDNA35.rows),
    products=(),
)
RDNA4 = replace(
    RDNA3,
    rows=_with(
        RDNA3,
        Rate("transcendental", 8, "CAP: v_rcp_f32 issues in four clocks, v_s_rcp_f32 in one", "captured"),
        Rate("multiply", 8, "CAP: v_mad_co_u64_u32 issues in four clocks", "captured"),
        Rate("salu latency", 1, "CAP: s_add_co_i32 to s_cmp_eq_i32", "captured", 1, 2),
        Rate("salu completion", 9, "CAP: to S_WAIT_ALU, scalar loads 9, to SCC branches 10 to 12", "captured", 8, 12),
        Rate("vector queue", 7, "CAP, one kernel: eight WMMAs issue before the first is complete", "captured", 4, 12),
        Rate("queue release", 11, "CAP, the same: the ninth WMMA issues 27 to 33 after the first", "captured", 1, 20),
        Rate("branch", 8, "CAP: s_cbranch_scc0 to its target 9 to 10", "captured", 7, 9),
        Rate("barrier", 16, "CAP: s_barrier_signal to the next instruction 14 to 20", "captured", 13, 20),
        Rate("cold scalar load", 1670, "CAP: 1,657 to 1,708", "captured", 1640, 1720),
        Rate("cold load", 1950, "CAP: 1,081 to 2,039", "captured", 1070, 2050),
        Rate("cold code", 1620, "CAP, one kernel: 1,616 to 1,624", "captured", 1590, 1640),
        Rate("wave end", 320, "CAP: 225 to 377", "captured", 220, 385),
    ),
    products=(
        Product("RX 9070 XT", 32, 2970, 640, "AMD's product page: 64 compute units, boost clock", caches=(8, 64)),
        Product("AI PRO R9700", 32, 2920, 640, "AMD's product page: 64 compute units, boost clock", caches=(8, 64)),
    ),
)
RDNA4_SMALL = replace(
    RDNA4,
    rows=_elsewhere(RDNA4),
    products=(Product("RX 9060 XT", 16, 3130, 320, "AMD's product page: 32 compute units, boost clock"),),
)
