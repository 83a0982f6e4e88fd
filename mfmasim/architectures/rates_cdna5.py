"""Rates of CDNA5; short names of sources.

ISA: CDNA5 ISA manual. WP5: AMD's white paper on CDNA5. Nothing else is public.
"""

from __future__ import annotations

from mfmasim.architectures.rates import UNSOURCED, Product, Rate, Rates

CDNA5 = Rates(
    rows=(
        Rate("issue", 1, "WP5: a SIMD can start an operation of 32 lanes each clock", "vendor"),
        Rate("valu", 32, "ISA, 2.2: SIMD32", "vendor"),
        Rate("transcendental", 8, UNSOURCED, "assumed"),
        Rate("f64", 16, UNSOURCED, "assumed"),
        Rate("b64", 16, UNSOURCED, "assumed"),
        Rate("multiply", 8, UNSOURCED, "assumed"),
        Rate("lds", 256, "64 banks of 4 bytes; what of them a clock serves is not public", "assumed"),
        Rate("lds port", 128, UNSOURCED, "assumed"),
        Rate("lds fill", 128, UNSOURCED, "assumed"),
        Rate("addresses", 32, UNSOURCED, "assumed"),
        Rate("lines", 1, UNSOURCED, "assumed"),
        Rate("l1", 128, UNSOURCED, "assumed"),
        Rate("l2", 64, UNSOURCED, "assumed"),
        Rate("l2 sustained", 2.7, "three quarters of the peak, as on an MI210", "assumed", 2, 4),
        Rate("l2 stores", 5.3, "half of what loads get, as on CDNA", "assumed", 4, 8),
        Rate("valu latency", 5, UNSOURCED, "assumed", 4, 8),
        Rate("transcendental latency", 10, UNSOURCED, "assumed", 5, 20),
        Rate("matrix latency", 8, UNSOURCED, "assumed", 1, 16),
        Rate("carry latency", 1, "as RDNA3", "assumed", 1, 8),
        Rate("valu completion", 17, "as RDNA4", "assumed", 4, 24),
        Rate("scalar overwrite", 7, "as RDNA4", "assumed", 1, 16),
        Rate("salu latency", 2, UNSOURCED, "assumed", 1, 8),
        Rate("salu completion", 9, "as RDNA4", "assumed", 1, 16),
        Rate("vector queue", 1, "an instruction issues when its unit is free; not public", "assumed"),
        Rate("queue release", 1, "without a queue, nothing", "assumed"),
        Rate("internal", 3, "as RDNA4", "assumed", 1, 8),
        Rate("branch", 16, UNSOURCED, "assumed", 4, 32),
        Rate("fall through", 3, "as RDNA4", "assumed", 1, 8),
        Rate("barrier", 16, UNSOURCED, "assumed", 4, 40),
        Rate("lds latency", 64, UNSOURCED, "assumed", 20, 128),
        Rate("scalar load", 100, UNSOURCED, "assumed", 20, 200),
        Rate("l1 latency", 150, UNSOURCED, "assumed", 80, 320),
        Rate("l2 latency", 500, UNSOURCED, "assumed", 200, 800),
        Rate("miss latency", 600, UNSOURCED, "assumed", 400, 900),
        Rate("cold scalar load", 1000, UNSOURCED, "assumed", 500, 2000),
        Rate("cold load", 1500, UNSOURCED, "assumed", 700, 2100),
        Rate("cold code", 1000, UNSOURCED, "assumed", 100, 2000),
        Rate("wave end", 300, UNSOURCED, "assumed", 100, 500),
    ),
    products=(Product("MI455X", 256, 2400, 23300, "WP5, table of the MI455X", 8),),
)
