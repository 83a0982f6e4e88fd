"""Speed of the machine: wave-instructions per second, as a share of what plain NumPy calls reach on the same arrays.

Machine and baseline run alternately in one process and one thread. Each
time is the best of several runs, in CPU time, so that other processes affect the share little.

The baseline is the minimum of NumPy calls per wave-instruction: for every instruction in the loops of the measured
kernels, the array calls that compute its result, on arrays of the machine's shapes, without registers, masks, program
counter or address spaces. Results are newly allocated, as in the machine. The calls are fixed, so that shares of
different versions compare: for some instructions the machine has found cheaper ones since (docs/machine.md). Others
(waits, branches, barriers, code outside the loops) cost the baseline nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.architectures import DEFAULT
from mfmasim.devices import device
from mfmasim.devices.report import Report
from mfmasim.kernels import Kernel
from mfmasim.machine.numerics.lane_select import FEW
from mfmasim.resources import folder
from mfmasim.verify.prebuilt import code_for
from tests.bench.measuring import print_measured

Call = tuple["Callable[..., Any]", tuple[Any, ...]]
F64: Any = np.float64


class Operands:
    """Arrays in the shapes of the registers of `waves` waves: (waves, 64), scalars (1,), constants (1, 1)."""

    def __init__(self, waves: int) -> None:
        """Fill them; LDS has 8 KB for every four waves."""
        rng = np.random.default_rng(0)
        shape = (waves, 64)
        self.a, self.b = (rng.integers(0, 1 << 32, shape, np.uint32) for _ in range(2))
        self.f, self.g, self.h = (rng.random(shape, np.float32) for _ in range(3))
        self.mask = rng.integers(0, 2, shape).astype(np.bool_)
        self.wide = self.f.astype(np.float64)
        self.constant, self.limit = np.full((1, 1), 5, np.uint32), np.uint32(31)
        self.scalar, self.one = np.full(1, 7, np.int32), np.full(1, 1, np.int32)
        groups = max(1, waves // 4)
        self.lds = np.zeros(groups * 2048, np.uint32)
        self.row = np.repeat(np.arange(groups), waves // groups)[:, None] * 2048
        self.address = rng.integers(0, 1024, shape).astype(np.uint32)
        self.index = self.row + self.address


def _store(target: NDArray[np.uint32], index: NDArray[np.int64], words: NDArray[np.uint32]) -> None:
    target[index] = words


def _shift(call: Callable[..., Any]) -> Callable[[Operands], list[Call]]:
    return lambda o: [(np.bitwise_and, (o.constant, o.limit)), (call, (o.a, o.constant))]


def _two(call: Callable[..., Any]) -> Callable[[Operands], list[Call]]:
    return lambda o: [(call, (o.a, o.b))]


def _least(values: NDArray[Any]) -> Any:
    return np.minimum.reduce(values, axis=None)


def _float(call: Callable[..., Any]) -> Callable[[Operands], list[Call]]:
    """One operation and one test for NaNs."""
    return lambda o: [(call, (o.f, o.g)), (_least, (o.f,))]


def _product(a: NDArray[Any], b: NDArray[Any]) -> Any:
    return np.multiply(a, b, dtype=F64)


def _fused(o: Operands) -> list[Call]:
    """A product and a sum in float64, rounded, with tests for halfway cases, denormals and NaNs."""
    return [
        (_product, (o.f, o.g)),
        (np.add, (o.wide, o.h)),
        (o.wide.astype, (np.float32,)),
        (np.left_shift, (o.wide.view(np.uint64), np.uint64(35))),
        (np.equal, (o.wide.view(np.uint64), np.uint64(1 << 63))),
        (np.count_nonzero, (o.mask,)),
        (np.abs, (o.wide,)),
        (_least, (o.wide,)),
    ]


def _packed_mask(mask: NDArray[np.bool_]) -> Any:
    return np.packbits(mask, bitorder="little")


def _chosen(o: Operands) -> list[Call]:
    """A choice by bit masks: the branches of np.where cost more on irregular lanes."""
    signs = o.mask.view(np.int8)
    return [
        (np.negative, (signs,)),
        (signs.astype, (np.int32,)),
        (np.bitwise_xor, (o.a, o.b)),
        (np.bitwise_and, (o.a, o.b)),
        (np.bitwise_xor, (o.a, o.b)),
    ]


def _where_to(o: Operands) -> list[Call]:
    """An LDS address from the register to an index of dwords, with tests for range and alignment."""
    return [
        (o.address.astype, (np.int64,)),
        (np.minimum.reduce, (o.index,)),
        (np.maximum.reduce, (o.index,)),
        (np.bitwise_or.reduce, (o.index,)),
        (np.right_shift, (o.index, 2)),
        (np.add, (o.index, o.row)),
    ]


def _read(count: int) -> Callable[[Operands], list[Call]]:
    return lambda o: [*_where_to(o), *[(o.lds.take, (o.index,))] * count]


def _write(count: int) -> Callable[[Operands], list[Call]]:
    return lambda o: [*_where_to(o), *[(_store, (o.lds, o.index, o.a))] * count]


CALLS: dict[str, Callable[[Operands], list[Call]]] = {
    "v_xor_b32": _two(np.bitwise_xor),
    "v_add_u32": _two(np.add),
    "v_mul_lo_u32": _two(np.multiply),
    "v_lshlrev_b32": _shift(np.left_shift),
    "v_lshrrev_b32": _shift(np.right_shift),
    "v_add_co_u32": lambda o: [(np.add, (o.a, o.b)), (np.less, (o.a, o.b)), (_packed_mask, (o.mask,))],
    "v_cndmask_b32": lambda o: _chosen(o) if o.mask.size > FEW else [(np.where, (o.mask, o.a, o.b))],
    "v_mul_f32": _float(np.multiply),
    "v_add_f32": _float(np.add),
    "v_fmac_f32": _fused,
    "v_fmamk_f32": _fused,
    "v_fma_f32": _fused,
    "v_pk_fma_f32": lambda o: [*_fused(o), *_fused(o)],
    "s_add_i32": lambda o: [(np.add, (o.scalar, o.one)), *[(np.less, (o.scalar, o.one))] * 3],
    "s_cmp_eq_u32": lambda o: [(np.equal, (o.scalar, o.one))],
    "ds_read_b128": _read(4),
    "ds_read_b64": _read(2),
    "ds_read_b32": _read(1),
    "ds_write_b128": _write(4),
    "ds_write_b32": _write(1),
    "ds_write2st64_b32": lambda o: [*_write(1)(o), *_write(1)(o)],
}
"""By mnemonic."""


def calls_of(counts: dict[str, int], waves: int) -> list[tuple[int, list[Call]]]:
    """The calls of a launch: for each mnemonic its execution count over all waves, and its NumPy calls."""
    operands = Operands(waves)
    return [(count // waves, CALLS[name](operands)) for name, count in counts.items() if name in CALLS]


def seconds_of(calls: list[tuple[int, list[Call]]], clock: Callable[[], float]) -> float:
    """Seconds of all these calls, each mnemonic's in one loop."""
    total = 0.0
    for times, each in calls:
        start = clock()
        for _ in range(times):
            for call, arguments in each:
                call(*arguments)
        total += clock() - start
    return total


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
    ("LDS-tiled f32 GEMM, 64 workgroups", 0.75, lambda quick: gemm(512)),
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


if __name__ == "__main__":
    print_measured(__doc__, COLUMNS, measure)
