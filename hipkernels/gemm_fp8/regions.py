"""Which wave of a workgroup fills, reads and computes which rows: what an executed launch does, beside a formula.

The tiles of A and B are in the LDS by rows of 128 bytes, in two slots each; C is row-major.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import mfmasim
from mfmasim.machine.events import AccessEvent, Observer
from mfmasim.verify.prebuilt import code_for

SIDE, TILE_K = 256, 128
Rows = NDArray[np.int64]
Holds = Callable[..., Any]
"""Whether a wave may have a row, or a row and a column."""


class Seen(Observer):
    """Accesses of one workgroup to the matrices in memory and to their tiles in the LDS."""

    def __init__(self) -> None:
        self.stored: list[tuple[Rows, Rows]] = []
        """Waves, and byte offsets in C, of stores."""
        self.held: list[tuple[str, int, Rows, Rows]] = []
        """``read`` or ``write``, address of the instruction, waves, and byte offsets, of accesses to the LDS."""
        self.fetched: dict[int, str] = {}
        """Matrix that each instruction loads from."""
        self._regions: list[Any] = []

    def on_start(self, launch: Any) -> None:
        """Keep where A, B and C are."""
        self._regions = [region for region, _ in launch.buffers]

    def on_access(self, event: AccessEvent) -> None:
        """Keep an access."""
        lanes = np.broadcast_to(np.asarray(event.addresses).astype(np.int64), (event.waves, event.addresses.shape[1]))
        waves = np.broadcast_to(np.asarray(event.numbers)[:, None], lanes.shape)
        if event.space == "lds":
            self.held.append((event.kind, event.instruction.pc, waves, lanes))
            return
        a, b, c = self._regions[:3]
        for name, region in (("A", a), ("B", b)):
            if region.address <= lanes[0, 0] < region.address + region.size and event.kind == "read":
                self.fetched[event.instruction.pc] = name
        if event.kind == "write" and c.address <= lanes[0, 0] < c.address + c.size:
            self.stored.append((waves, lanes - c.address))

    def rows(self, kind: str, matrix: str) -> tuple[Rows, Rows]:
        """Waves and rows of a matrix's tile that they read or fill."""
        filled = {pc: lanes for what, pc, _, lanes in self.held if what == "write" and pc in self.fetched}
        starts = {name: min(int(filled[pc].min()) for pc, of in self.fetched.items() if of == name) for name in "AB"}
        size = 2 * SIDE * TILE_K
        found = [
            (waves.ravel(), (lanes.ravel() - starts[matrix]) // TILE_K % SIDE)
            for what, _, waves, lanes in self.held
            if what == kind and starts[matrix] <= lanes[0, 0] < starts[matrix] + size
        ]
        waves, rows = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return waves, rows


@cache
def seen(source: str, kernel: str) -> Seen:
    """What one workgroup of a kernel for 256x256 of C accesses, with two tiles of K, on gfx950."""
    observer, k = Seen(), 2 * TILE_K
    a, b, c = np.ones((SIDE, k), np.uint8), np.ones((SIDE, k), np.uint8), np.zeros((SIDE, SIDE), np.uint16)
    numbers = [*map(np.int32, (SIDE, SIDE, k, k, k, SIDE)), np.float32(1), np.float32(0)]
    code = code_for(Path(__file__).parent / source, "gfx950")[kernel]
    mfmasim.device("sim").launch(code, 1, 512, [a, b, c, *numbers], checks="none", observers=[observer])
    return observer


def share_of_c(source: str, kernel: str, right: Holds) -> float:
    """Percent of the stored elements of C whose wave, row and column a formula joins."""
    waves, offsets = (
        np.concatenate([part.ravel() for part in p]) for p in zip(*seen(source, kernel).stored, strict=True)
    )
    assert np.unique(offsets).size == SIDE * SIDE, "not every element of C is stored"
    return float(100 * right(waves, *np.divmod(offsets // 2, SIDE)).mean())


def share_of_rows(source: str, kernel: str, kind: str, matrix: str, right: Holds) -> float:
    """Percent of the accesses of waves to rows of a tile that a formula allows.

    Args:
        source: source of the kernel.
        kernel: its name.
        kind: ``read`` by fragments, ``write`` by loads to the LDS.
        matrix: ``A`` or ``B``.
        right: the formula, over waves and rows.
    """
    waves, rows = seen(source, kernel).rows(kind, matrix)
    assert np.unique(rows).size == SIDE, "not every row is accessed"
    return float(100 * right(waves, rows).mean())
