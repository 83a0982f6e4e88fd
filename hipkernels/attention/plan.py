"""Host-side checks and choices before a launch of attention: shapes, strides, grid."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.errors import MfmasimError
from mfmasim.verify.arguments import number

HEAD_SIZES = (32, 64, 128)
CAUSAL = ("every key", "top left", "bottom right")
"""0: no mask. 1: query i sees keys 0 to i. 2: the last query sees the last key."""
QUERIES = {"scalar": 64, "tiled": 64}
"""Queries of a workgroup."""
LARGEST = 2.0**126
"""Scales are smaller, so that their product with log2(e) is an f32."""
LAYOUTS = ("bhnd", "bnhd", "padded")
GAP = 8


@dataclass(frozen=True)
class Layout:
    """Where a tensor [B, H, N, D] lies: elements from one batch, head and row to the next, and in all."""

    batch: int
    head: int
    row: int
    elements: int

    @property
    def strides(self) -> list[Any]:
        """Arguments of a kernel."""
        return [number(step) for step in (self.batch, self.head, self.row)]

    def view(self, memory: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
        """[B, H, N, D] of an array in this layout."""
        steps = [memory.itemsize * step for step in (self.batch, self.head, self.row, 1)]
        return np.lib.stride_tricks.as_strided(memory, shape, steps)

    def spread(self, elements: NDArray[Any], fill: float = 0) -> NDArray[Any]:
        """Elements [B, H, N, D] in this layout, `fill` between the rows."""
        memory = np.full(self.elements, fill, elements.dtype)
        self.view(memory, elements.shape)[...] = elements
        return memory


def layout_of(name: str, shape: tuple[int, int, int, int]) -> Layout:
    """The layout of a tensor.

    Args:
        name: ``bhnd``: as its shape says; ``bnhd``: the heads of a row side by side, as projections leave them;
            ``padded``: as ``bhnd`` with 16 bytes between the rows.
        shape: B, H, N, D.

    Raises:
        MfmasimError: an unknown name, or strides that a kernel's 32 bits do not hold.
    """
    b, h, n, d = shape
    if name not in LAYOUTS:
        raise MfmasimError(f"layout {name!r} is unknown; allowed: {', '.join(LAYOUTS)}")
    row = d + GAP if name == "padded" else d
    found = (
        Layout(n * h * d, d, h * d, b * n * h * d)
        if name == "bnhd"
        else Layout(h * n * row, n * row, row, b * h * n * row)
    )
    check_layout(found, d)
    return found


def check_layout(layout: Layout, d: int) -> None:
    """Refuse strides that the kernels do not support.

    Raises:
        MfmasimError: rows that overlap or do not begin at multiples of 16 bytes, or strides beyond 32 bits.
    """
    if layout.row < d:
        raise MfmasimError(f"rows are {layout.row} elements apart, a row has {d}")
    for what, step in zip(("batches", "heads", "rows"), (layout.batch, layout.head, layout.row), strict=True):
        if step % 8:
            raise MfmasimError(f"{what} are {2 * step} bytes apart; the kernels need a multiple of 16")
        if step >= 1 << 31:
            raise MfmasimError(f"{what} are {step} elements apart; less than {1 << 31} are possible")


def plan_attention(
    way: str, b: int, h: int, queries: int, keys: int, d: int, causal: int, scale: float | None
) -> tuple[int, int, int]:
    """The grid of a launch.

    Args:
        way: ``scalar`` or ``tiled``.
        b: batches.
        h: heads.
        queries: rows of Q and O in each head.
        keys: rows of K and V; with 0 every output is 0.
        d: elements of a row.
        causal: which keys a query sees, an index of `CAUSAL`.
        scale: factor of the scores, any finite number, negative ones and 0 too; None is 1 / sqrt(d).

    Returns:
        Workgroups in x, y, z.

    Raises:
        MfmasimError: the launch is unsupported; names the value and what is allowed.
    """
    for name, value in (("batches", b), ("heads", h), ("queries", queries)):
        if value < 1:
            raise MfmasimError(f"{value} {name}: at least 1 is needed")
        if name != "queries" and value > 65535:
            raise MfmasimError(f"{value} {name}: at most 65535 fit a grid")
    if keys < 0:
        raise MfmasimError(f"{keys} keys: 0 or more are possible")
    if max(queries, keys) >= 1 << 30:
        raise MfmasimError(f"{max(queries, keys)} rows: less than {1 << 30} are possible")
    if d not in HEAD_SIZES:
        raise MfmasimError(f"D = {d}: heads of {', '.join(map(str, HEAD_SIZES))} elements are possible")
    if causal not in range(len(CAUSAL)):
        raise MfmasimError(f"causal = {causal}: 0 ({CAUSAL[0]}), 1 ({CAUSAL[1]}) and 2 ({CAUSAL[2]}) are possible")
    if scale is not None and not (isinstance(scale, int | float) and abs(scale) < LARGEST):
        raise MfmasimError(f"scale = {scale}: a finite number is needed")
    return -(-queries // QUERIES[way]), h, b
