"""The kernels here as candidates of `hipkernels.wmma.autotune`: C = A B^T with A (M, K) and B (N, K) in E4M3."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Candidate:
    """A kernel and the shapes that it takes."""

    source: str
    tile: tuple[int, int]
    threads: int | tuple[int, int] = 128
    k: int = 64
    """Divisor of K."""
    n: int = 1
    """Divisor of N."""

    def fits(self, n: int, k: int) -> bool:
        """Whether it takes so many columns of C and such sums."""
        return n % self.n == 0 and k % self.k == 0


RUNGS = {
    "rung_naive": Candidate("rungs.hip", (16, 16), (16, 16), k=1),
    "rung_fragments": Candidate("rungs.hip", (16, 16), 32, k=16),
    **{f"rung_{name}": Candidate("rungs.hip", (64, 64)) for name in ("lds", "wide", "padded", "swizzled")},
    **{f"rung_{name}": Candidate("rungs.hip", (64, 64)) for name in ("two_slots", "ahead")},
    "rung_large": Candidate("rungs.hip", (128, 128)),
    "rung_turned": Candidate("rungs.hip", (128, 128), n=8),
}
TUNED = {
    "tuned_e4m3fn_e4m3fn_f32": Candidate("tuned.hip", (128, 128), n=8),
    "tuned_e4m3fn_e4m3fn_bf16": Candidate("tuned.hip", (128, 128), n=8),
    "tuned_64x64": Candidate("tuned.hip", (64, 64), n=8),
    "tuned_128x64": Candidate("tuned.hip", (128, 64), n=8),
    "tuned_256x128": Candidate("tuned.hip", (256, 128), 256, n=8),
}
CANDIDATES = RUNGS | TUNED


def prepared(name: str, m: int, n: int, k: int) -> tuple[Path, str, Any, Any, list[Any]]:
    """Source, kernel, grid, block and arguments of a launch whose operands are 0."""
    way = CANDIDATES[name]
    a, b = np.zeros((m, k), np.uint8), np.zeros((n, k), np.uint8)
    c = np.zeros((m, n), np.float32 if name in RUNGS or name.endswith("f32") else np.uint16)
    args = [a, b, c, *map(np.int32, (m, n, k, k, k, n)), np.float32(1)]
    return FOLDER / way.source, name, (-(-n // way.tile[1]), -(-m // way.tile[0])), way.threads, args
