"""Stream-K: the steps of all tiles in one row, cut into as many equal parts as there are workgroups.

Idea: Osama et al., "Stream-K: Work-centric Parallel Decomposition for Dense Matrix-Matrix Multiplication on the GPU"
(PPoPP 2023). Here nobody waits for anybody and nothing is added atomically: a workgroup that has only a part of the K
of a tile leaves its sums in a place of its own, and a second kernel adds them in the order of K. So the bytes of the
result depend on the number of workgroups alone. NumPy twin of hipkernels/wmma/streams/stream.h.
"""

from __future__ import annotations

from dataclasses import dataclass

from mfmasim.errors import MfmasimError

__all__ = ["Segment", "segments", "stream_workspace"]


@dataclass(frozen=True)
class Segment:
    """Some steps of one tile, all of one workgroup."""

    workgroup: int
    tile: int
    first: int
    """Step within the tile."""
    last: int
    """Step after the last one."""
    slot: int | None
    """Place in the workspace; None where the segment is all of its tile, and the result goes to C."""


def segments(tiles: int, depth: int, workgroups: int) -> tuple[Segment, ...]:
    """Who computes what.

    Args:
        tiles: tiles of C.
        depth: steps of K of each.
        workgroups: how many; some are idle where there are more than steps.

    Returns:
        The segments in the order of their tiles, those of a tile in the order of K. Every workgroup has consecutive
        steps, and no two differ by more than one.

    Raises:
        MfmasimError: a number below 1.
    """
    for name, value in (("tiles", tiles), ("depth", depth), ("workgroups", workgroups)):
        if value < 1:
            raise MfmasimError(f"{name} {value} of a stream: 1 or more is expected")
    total, found = tiles * depth, []
    for workgroup in range(workgroups):
        at, end = (total * w // workgroups for w in (workgroup, workgroup + 1))
        while at < end:
            tile, first = divmod(at, depth)
            last = min(depth, first + end - at)
            # A workgroup has at most one segment that begins within a tile, and one that only ends there.
            whole = first == 0 and last == depth
            found.append(Segment(workgroup, tile, first, last, None if whole else 2 * workgroup + (first == 0)))
            at += last - first
    return tuple(found)


def stream_workspace(workgroups: int, tile: tuple[int, int] = (64, 64)) -> int:
    """Bytes of the workspace: two tiles of f32 for each workgroup."""
    return 2 * workgroups * tile[0] * tile[1] * 4
