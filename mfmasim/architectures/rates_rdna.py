"""Rates of RDNA; short names of sources.

RPC: documentation of ROCm Compute Profiler for RDNA3.5. ISA: RDNA3.5 and RDNA4 ISA manuals. SCHED: LLVM,
``SISchedule.td``, GFX11SpeedModel, in clocks. WMMA: README of wmma_ops (docs/wmma.md).
"""

from __future__ import annotations

from dataclasses import replace

from mfmasim.architectures.rates import UNSOURCED, Product, Rate, Rates

__all__ = ["RDNA3", "RDNA4", "RDNA4_SMALL", "RDNA35"]

RDNA3 = Rates(
    rows=(
        Rate("issue", 1, "ISA, 2.3: each SIMD has its own scheduler; one instruction of a wave a clock", "inferred"),
        Rate("valu", 32, "ISA: SIMD32; a dual instruction does two operations a lane", "vendor"),
        Rate("transcendental", 8, "quarter rate, as on RDNA1", "inferred"),
        Rate("f64", 1, "RPC: 1/32 of the f32 rate", "vendor"),
        Rate("lds", 128, "ISA, 12.1: 32 banks of 4 bytes for each compute unit of a pair", "vendor"),
        Rate("lds port", 128, "not known to be narrower than the LDS", "assumed"),
        Rate("lds fill", 128, "not known to be narrower than the LDS", "assumed"),
        Rate("addresses", 32, "a wave32 in a clock; not public", "assumed"),
        Rate("lines", 1, UNSOURCED, "assumed"),
        Rate("l1", 128, "a line in a clock; not public", "assumed"),
        Rate("l2", 64, UNSOURCED, "assumed"),
        Rate("valu latency", 5, "SCHED", "llvm"),
        Rate("transcendental latency", 10, "SCHED", "llvm"),
        Rate("matrix latency", 5, "as another vector instruction", "assumed", 1, 8),
        Rate("salu latency", 2, "SCHED", "llvm"),
        Rate("branch", 16, "half of SCHED's 32", "assumed", 4, 32),
        Rate("barrier", 16, UNSOURCED, "assumed", 4, 40),
        Rate("lds latency", 40, "twice SCHED's 20", "assumed", 20, 64),
        Rate("scalar load", 60, "three times SCHED's 20", "assumed", 20, 120),
        Rate("l1 latency", 120, UNSOURCED, "assumed", 80, 200),
        Rate("l2 latency", 320, "SCHED: any vector memory access", "llvm", 200, 480),
    ),
    products=(
        Product("RX 7900 XTX", 48, 2500, 960, "AMD's product page: 96 compute units, boost clock"),
        Product("RX 7900 XT", 42, 2400, 800, "AMD's product page: 84 compute units, boost clock"),
    ),
    matrix_on_valu=True,
    lds_simds=2,
    scalar_unit_shared=False,
)
RDNA35 = replace(
    RDNA3,
    products=(Product("Radeon 8060S", 20, 2900, 256, "WMMA: 40 compute units, 2.9 GHz, LPDDR5X"),),
)
RDNA4 = replace(
    RDNA3,
    products=(
        Product("RX 9070 XT", 32, 2970, 640, "AMD's product page: 64 compute units, boost clock"),
        Product("AI PRO R9700", 32, 2920, 640, "AMD's product page: 64 compute units, boost clock"),
    ),
)
RDNA4_SMALL = replace(
    RDNA3, products=(Product("RX 9060 XT", 16, 3130, 320, "AMD's product page: 32 compute units, boost clock"),)
)
