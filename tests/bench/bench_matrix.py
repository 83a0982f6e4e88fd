"""Speed of the matrix arithmetic: batches against mmasim, one instruction, and a GEMM against NumPy's float64.

Times are CPU times of one thread, each the best of several runs, so that other processes affect them little.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim import format as number_format
from mfmasim.matrix.arithmetic import multiply
from mfmasim.matrix.models import MODELS
from mfmasim.matrix.request import Formats, Operands
from tests.bench.measuring import print_measured

COLUMNS = ("what", "ms", "reference", "reference_ms", "ratio", "goal", "met")
"""Measured time, the reference and its time, their ratio, the goal, and whether it is met."""
BATCH = 1000
GEMM = 512

#            name                                  mmasim's name         model          format      M   N   K   goal
BATCHES = (
    ("CDNA3 v_mfma_f32_16x16x16_f16", "f32_16x16x16_f16", "cdna3_16bit", "f16", 16, 16, 16, 100.0),
    ("CDNA3 v_mfma_f32_32x32x16_fp8_fp8", "f32_32x32x16_fp8_fp8", "cdna3_fp8", "e4m3fnuz", 32, 32, 16, 200.0),
)


def best(action: Callable[[], Any], seconds: float) -> float:
    """CPU milliseconds of the fastest run; repeats for about `seconds`, at least three times."""
    action()
    times: list[float] = []
    while len(times) < 3 or sum(times) < seconds:
        start = time.process_time()
        action()
        times.append(time.process_time() - start)
    return min(times) * 1e3


def operands(fmt: str, shape: tuple[int, int, int, int]) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.uint32]]:
    """Normally distributed A, B (codes) and C (f32 bits) of (tiles, M, N, K)."""
    source = np.random.default_rng(0)
    tiles, m, n, k = shape
    a, b = (source.standard_normal((tiles, *axes)) for axes in ((m, k), (k, n)))
    c = source.standard_normal((tiles, m, n)).astype(np.float32).view(np.uint32)
    encode = number_format(fmt).encode
    return encode(a), encode(b), c


def measure(*, quick: bool = False) -> list[dict[str, Any]]:
    """Run all measurements.

    Args:
        quick: spend less time on each.

    Returns:
        Rows of `COLUMNS`; mmasim's are None when it is not installed.
    """
    seconds = 0.3 if quick else 1.5
    rows = []
    for name, other, model, fmt, m, n, k, goal in BATCHES:
        a, b, c = operands(fmt, (BATCH, m, n, k))
        how, whole, first = (MODELS[model], Formats(fmt, fmt, "f32")), Operands(a, b, c), Operands(a[0], b[0], c[0])
        ours = best(partial(multiply, *how, whole), seconds)
        theirs = _mmasim(other, fmt, a, b, c, seconds)
        ratio = None if theirs is None else theirs / ours
        rows.append(_row(f"{name}, {BATCH} at once", ours, "mmasim 2.1.1 .dpa", theirs, ratio, goal, at_least=True))
        one = best(partial(multiply, *how, first), seconds)
        rows.append(_row(f"{name}, one", one, "0.05 ms", 0.05, one / 0.05, 1.0, at_least=False))
    return [*rows, _gemm(seconds)]


def _row(
    what: str, ours: float, reference: str, theirs: float | None, ratio: float | None, goal: float, *, at_least: bool
) -> dict[str, Any]:
    met = None if ratio is None else (ratio >= goal if at_least else ratio <= goal)
    return {
        "what": what,
        "ms": round(ours, 4),
        "reference": reference,
        "reference_ms": None if theirs is None else round(theirs, 4),
        "ratio": None if ratio is None else round(ratio, 2),
        "goal": f"{'>=' if at_least else '<='} {goal:g}",
        "met": {True: "yes", False: "no", None: None}[met],
    }


def _gemm(seconds: float) -> dict[str, Any]:
    """A bit-accurate CDNA3 FP8 product of whole matrices, as v_mfma_f32_32x32x16_fp8_fp8 walks along K."""
    a, b, _ = operands("e4m3fnuz", (1, GEMM, GEMM, GEMM))
    c = np.zeros((GEMM, GEMM), np.uint32)
    x, y = number_format("e4m3fnuz").decode(a[0]), number_format("e4m3fnuz").decode(b[0])
    formats = Formats("e4m3fnuz", "e4m3fnuz", "f32")
    ours = best(lambda: multiply(MODELS["cdna3_fp8"], formats, Operands(a[0], b[0], c), k=16), seconds)
    theirs = best(lambda: x @ y, seconds)
    what = f"CDNA3 FP8 GEMM {GEMM}x{GEMM}x{GEMM}"
    return _row(what, ours, "numpy.matmul float64", theirs, ours / theirs, 4.0, at_least=False)


def _mmasim(suffix: str, fmt: str, a: NDArray[Any], b: NDArray[Any], c: NDArray[Any], seconds: float) -> float | None:
    """Milliseconds of mmasim on the same data, or None when it is not installed."""
    try:
        import torch
        from mmasim.amd.sim import MFMA
    except ImportError:
        return None
    torch.set_num_threads(1)
    operation = MFMA("CDNA3", suffix)
    dtype = {"f16": torch.float16, "e4m3fnuz": torch.float8_e4m3fnuz}[fmt]
    m, n, k = a.shape[1], b.shape[2], a.shape[2]
    rows, columns = a[:, :, None, :], np.swapaxes(b, 1, 2)[:, None]
    x, y = (torch.from_numpy(np.array(np.broadcast_to(v, (len(a), m, n, k)))).view(dtype) for v in (rows, columns))
    z = torch.from_numpy(c.view(np.float32))
    return best(lambda: operation.dpa(x, y, z), seconds)


if __name__ == "__main__":
    print_measured(__doc__, COLUMNS, measure)
