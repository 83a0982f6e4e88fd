"""Figure 7 of the post on FP8 GEMM, drawn from the accesses of an executed launch: which wave has which rows and
columns."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hipkernels.gemm_fp8.regions import SIDE, TILE_K, seen
from mfmasim.figures import svg
from mfmasim.figures.grid import colour_of

KERNEL = ("multi_wave.hip", "multi_wave_256x256_t512")
SCALE, LEFT, TOP, GAP = 1.25, 44, 62, 46
Rows = NDArray[np.int64]


def panel(title: str, width: int, bands: list[tuple[int, int, int, int, tuple[int, ...]]]) -> list[str]:
    """One view: rectangles, each with the waves that have it.

    Args:
        title: above it.
        width: columns.
        bands: first row and last, first column and last, and waves of each rectangle.
    """
    body = [svg.text(0, -10, title, kind="head"), svg.text(-6, 9, "0", kind="small", anchor="end")]
    body.append(svg.text(-6, SIDE * SCALE, str(SIDE), kind="small", anchor="end"))
    for top, bottom, left, right, waves in bands:
        label = " ".join(str(wave) for wave in waves)
        fill = colour_of(waves[0])
        data = {"rows": f"{top}-{bottom - 1}", "waves": label}
        body.append(
            svg.rect(
                left * SCALE, top * SCALE, (right - left) * SCALE, (bottom - top) * SCALE, fill, label=label, data=data
            )
        )
    assert all(right <= width for *_, right, _ in bands)
    return body


def bands_of(waves: Rows, rows: Rows, width: int) -> list[tuple[int, int, int, int, tuple[int, ...]]]:
    """Runs of rows that the same waves access."""
    of = [tuple(np.unique(waves[rows == row]).tolist()) for row in range(SIDE)]
    edges = [row for row in range(SIDE) if row == 0 or of[row] != of[row - 1]] + [SIDE]
    return [(top, bottom, 0, width, of[top]) for top, bottom in pairwise(edges)]


def blocks_of(waves: Rows, offsets: Rows) -> list[tuple[int, int, int, int, tuple[int, ...]]]:
    """Rectangles of C that one wave stores, at a grain of 16 rows and 16 columns, joined to 64 x 32 where they are
    alike."""
    owner = np.empty((SIDE, SIDE), np.int64)
    owner[np.divmod(offsets // 2, SIDE)] = waves
    found = []
    for top in range(0, SIDE, 64):
        for left in range(0, SIDE, 32):
            mine = tuple(np.unique(owner[top : top + 64, left : left + 32]).tolist())
            found.append((top, top + 64, left, left + 32, mine))
    return found


def figure() -> str:
    """The picture: four views."""
    found = seen(*KERNEL)
    stores = [np.concatenate([part.ravel() for part in p]) for p in zip(*found.stored, strict=True)]
    wide, narrow = SIDE, TILE_K
    views: list[tuple[str, int, Callable[[], list[tuple[int, int, int, int, tuple[int, ...]]]]]] = [
        ("A: memory to LDS", narrow, lambda: bands_of(*found.rows("write", "A"), narrow)),
        ("C: stored", wide, lambda: blocks_of(*stores)),
        ("A: LDS to registers", narrow, lambda: bands_of(*found.rows("read", "A"), narrow)),
        ("B: LDS to registers", narrow, lambda: bands_of(*found.rows("read", "B"), narrow)),
    ]
    body = [
        svg.text(LEFT, 22, "multi_wave_256x256_t512: waves of a workgroup, from its executed accesses", kind="head")
    ]
    x = float(LEFT)
    for title, width, bands in views:
        body.append(svg.group(x, TOP, panel(title, width, bands())))
        x += max(width * SCALE, svg.text_width(title, "head")) + GAP
    return svg.document(x - GAP + 20, TOP + SIDE * SCALE + 20, body, "Which wave fills, computes and reads what")
