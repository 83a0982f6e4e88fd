"""Speed of the machine: wave-instructions per second, as a share of what plain NumPy calls reach on the same arrays.

The baseline is in `mfmasim.cli.bench_calls`. Machine and baseline run alternately in one process and one thread. Each
time is the best of several runs, in CPU time, so that other processes affect the share little.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.architectures import DEFAULT
from mfmasim.cli.bench_calls import calls_of, seconds_of
from mfmasim.devices import device
from mfmasim.devices.report import Report
from mfmasim.kernels import Kernel
from mfmasim.resources import folder
from mfmasim.verify.prebuilt import code_for

COLUMNS = ("what", "waves", "wave_instructions", "per_second", "bare_per_second", "share", "goal", "met")
"""Workload; its waves and wave-instructions; wave-instructions per second of the machine and of the baseline; the
machine's share of the baseline; the goal, and whether it is met."""

TILE, DEPTH = 64, 64


def _kernel(name: str) -> Kernel:
    return code_for(folder("hipkernels") / "conformance" / "bench" / f"{name}.hip", DEFAULT)[name]


def valu(waves: int, trips: int, different: int) -> tuple[Report, NDArray[np.uint32]]:
    """Run a loop of vector arithmetic.

    Args:
        waves: waves of the launch, each a workgroup of 64 work-items.
        trips: iterations of the loop.
        different: difference between the initial values of neighbouring waves; 0 gives all waves the same values.

    Returns:
        The launch's report and its output, (waves, 64).
    """
    out = np.zeros((waves, 64), np.uint32)
    arguments = [out, np.int32(trips), np.uint32(different)]
    return device("sim").launch(_kernel("valu_loop"), waves, 64, arguments, checks="none"), out


def gemm(side: int) -> tuple[Report, tuple[NDArray[np.float32], ...]]:
    """Multiply side x DEPTH by DEPTH x side matrices over (side / TILE)^2 workgroups; report, A, B and C."""
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((side, DEPTH), np.float32), rng.standard_normal((DEPTH, side), np.float32)
    c = np.zeros((side, side), np.float32)
    grid = (side // TILE, side // TILE, 1)
    report = device("sim").launch(
        _kernel("tiled_gemm"), grid, 256, [a, b, c, np.int32(side), np.int32(DEPTH)], checks="none"
    )
    return report, (a, b, c)


#     what                                               goal   launch
WORK: tuple[tuple[str, float | None, Callable[[bool], tuple[Report, object]]], ...] = (
    ("VALU loop, one wave", 0.5, lambda quick: valu(1, 200 if quick else 2000, 1)),
    ("VALU loop, 64 waves with different values", 0.75, lambda quick: valu(64, 50 if quick else 500, 40503)),
    ("VALU loop, 64 waves with the same values", None, lambda quick: valu(64, 50 if quick else 500, 0)),
    ("LDS-tiled f32 GEMM, 64 workgroups", 0.75, lambda quick: gemm(512)),  # noqa: ARG005
)


def measure(*, quick: bool = False) -> list[dict[str, Any]]:
    """Run all measurements.

    Args:
        quick: spend less time on each.

    Returns:
        Rows with the columns of `COLUMNS`.
    """
    return [_row(what, goal, lambda run=run: run(quick), 0.5 if quick else 2.0) for what, goal, run in WORK]  # type: ignore[misc]


def _row(what: str, goal: float | None, launch: Callable[[], tuple[Report, Any]], seconds: float) -> dict[str, Any]:
    report, _ = launch()
    calls = calls_of(report.counts, report.waves)
    clock = time.process_time
    ours: list[float] = []
    bare: list[float] = []
    while len(ours) < 3 or sum(ours) + sum(bare) < seconds:
        start = clock()
        launch()
        ours.append(clock() - start)
        bare.append(seconds_of(calls, clock))
    total = sum(report.counts.values())
    share = min(bare) / min(ours)
    return {
        "what": what,
        "waves": report.waves,
        "wave_instructions": total,
        "per_second": round(total / min(ours)),
        "bare_per_second": round(total / min(bare)),
        "share": round(share, 3),
        "goal": None if goal is None else f">= {goal:g}",
        "met": None if goal is None else "yes" if share >= goal else "no",
    }
