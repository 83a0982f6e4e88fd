"""Stream-K: the K steps of all tiles in one sequence, divided equally among the workgroups.

Idea: Osama et al., "Stream-K: Work-centric Parallel Decomposition for Dense Matrix-Matrix Multiplication on the GPU"
(PPoPP 2023). This variant has neither waits between workgroups nor atomic additions: a workgroup with only a part of a
tile's K stores its sums in its own place of a workspace, and a second kernel adds them in the order of K. The bytes of
the result therefore depend only on the number of workgroups. NumPy twin of hipkernels/wmma/streams/stream.h.
"""

from __future__ import annotations

from dataclasses import dataclass

from mfmasim.errors import MfmasimError


@dataclass(frozen=True)
class Segment:
    """Consecutive steps of one tile, executed by one workgroup."""

    workgroup: int
    tile: int
    first: int
    """Step within the tile."""
    last: int
    """Step after the last one."""
    slot: int | None
    """Place in the workspace; None if the segment is its whole tile and the result goes to C."""


def segments(tiles: int, depth: int, workgroups: int) -> tuple[Segment, ...]:
    """Divide the steps of all tiles among workgroups.

    Args:
        tiles: tiles of C.
        depth: steps of K of each.
        workgroups: number of workgroups; those beyond the number of steps are idle.

    Returns:
        The segments in the order of tiles, then of K. Every workgroup has consecutive steps; their numbers differ by at
        most one.

    Raises:
        MfmasimError: a number below 1, or above 2^20: each segment is an object.
    """
    for name, value in (("tiles", tiles), ("depth", depth), ("workgroups", workgroups)):
        if not 1 <= value <= 1 << 20:
            raise MfmasimError(f"{name} {value} of a stream: 1 to {1 << 20:,} is expected")
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
    """Bytes of the workspace: two tiles of f32 per workgroup."""
    return 2 * workgroups * tile[0] * tile[1] * 4
