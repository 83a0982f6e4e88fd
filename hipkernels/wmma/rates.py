"""Rates that the README of wmma_ops prints, and how they fit together: its tables, computed from each other."""

import math
from collections.abc import Callable

from hipkernels.wmma.facts import taken
from mfmasim.lab.reports.roofline import intensity, ridge_point, teraflops
from mfmasim.lab.reports.statements import Runs

PEAK, BANDWIDTH, UNITS = 59.4e12, 256e9, 40
# kernel, milliseconds, TFLOPS and percent of the peak at 4096 x 4096 x 2048.
VARIANTS = [
    ("zerocopy", 3.33, 20.61, 34.7), ("adaptive", 3.35, 20.52, 34.5), ("asmOpt", 3.35, 20.49, 34.5),
    ("matmul", 3.36, 20.46, 34.4), ("native", 3.45, 19.92, 33.5), ("kunroll", 3.75, 18.31, 30.8),
    ("swizzled", 3.84, 17.90, 30.1), ("noPrefetch", 3.90, 17.60, 29.6), ("xor_optimized", 3.98, 17.26, 29.1),
    ("quad", 4.04, 17.01, 28.6), ("hilbert", 5.16, 13.33, 22.4), ("highOcc", 6.68, 10.28, 17.3),
    ("coop", 3.44, 19.98, 33.6),
]  # fmt: skip
# Rows and columns of C and length of the sums, TFLOPS, percent of the peak, rocBLAS's TFLOPS, percent of those.
FINAL = [
    (512, 12.5, 21.0, 20.6, 60),
    (1024, 14.6, 24.6, 37.0, 39),
    (2048, 20.0, 33.7, 38.5, 52),
    (4096, 21.6, 36.4, 41.0, 53),
]
# What made it faster, TFLOPS after it, percent more, percent more in the list of optimisations, and the words there.
JOURNEY = [
    ("64 columns a block", 6.2, 15, None, ""),
    ("2x2 register blocking", 9.7, 56, 80, "2×2 Register Blocking +80%"),
    ("wide loads", 11.5, 19, 25, "Vectorized half8 Loads +25%"),
    ("two slots", 13.2, 15, 20, "Double Buffering +20%"),
    ("128x64 tile", 16.5, 25, 25, "128×64 Tile Shape +25%"),
    ("fetching ahead", 17.4, 5, 15, "GMEM Spreading +15%"),
    ("padding of the LDS", 20.9, 20, 20, "LDS Padding (+8 halfs) +15-20%"),
]


def final_kernels(_: Runs) -> str:
    """What the adaptive kernel takes at the sizes of the table."""
    return ", ".join(taken(size, size, size)(_) for size, *_rest in FINAL)


def step(number: int) -> Callable[[Runs], float]:
    """Percent that a step of the journey gains, by the rates before and after it."""
    rates = [5.4, *(rate for _, rate, *_ in JOURNEY)]
    return lambda _: (rates[number + 1] / rates[number] - 1) * 100


def over_baseline(rate: float) -> Callable[[Runs], float]:
    """Percent that a version gains over the first one."""
    return lambda _: (rate / 5.4 - 1) * 100


def rate_of(name: str) -> Callable[[Runs], float]:
    """TFLOPS that a variant's time in the table of performance gives."""
    (ms,) = [ms for other, ms, _, _ in VARIANTS if other == name]
    return lambda _: teraflops(4096, 4096, 2048, ms / 1e3)


def bound_by(k: int) -> Callable[[Runs], str]:
    """What limits 4096 x 4096 with sums of k elements."""
    return lambda _: "memory" if intensity(4096, 4096, k) < ridge_point(PEAK, BANDWIDTH) else "arithmetic"


def journey_product(_: Runs) -> float:
    """TFLOPS that the first rate and the percentages of the steps give."""
    return 5.4 * math.prod(1 + more / 100 for _name, _rate, more, *_rest in JOURNEY)


def share_of_matmul(name: str) -> Callable[[Runs], float]:
    """Rate of a variant, by the table, as a part of that of `matmul`."""
    rates = {other: rate for other, _, rate, _ in VARIANTS}
    return lambda _: rates[name] / rates["matmul"]


def of_peak(low: float, high: float) -> Callable[[Runs], str]:
    """TFLOPS that two percentages of the peak are."""
    return lambda _: f"{low * PEAK / 1e14:.0f} to {high * PEAK / 1e14:.0f}"
