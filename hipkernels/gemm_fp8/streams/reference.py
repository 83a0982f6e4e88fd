"""Parts of K added as the kernels add them: products by the instruction's arithmetic, then operations of f32."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hipkernels.gemm_blockscale.reference import summed
from hipkernels.wmma.scaled.reference import fused
from mfmasim.grids import segments
from mfmasim.grids.streams import Segment

SIDE, STEP = 128, 128
Codes = NDArray[Any]


def padded(codes: Codes) -> Codes:
    """Rows of whole tiles; what the matrix does not have is 0."""
    return np.pad(codes, ((0, -len(codes) % SIDE), (0, 0)))


def tile_of(tile: int, N: int) -> tuple[slice, slice]:
    """Rows and columns of a tile of C."""
    row, column = divmod(tile, -(-N // SIDE))
    return slice(row * SIDE, (row + 1) * SIDE), slice(column * SIDE, (column + 1) * SIDE)


def slices(tiles: int, depth: int, parts: int) -> list[Segment]:
    """The segments of split-K, tile by tile in the order of K; several are all in the workspace."""
    cuts = [depth * n // parts for n in range(parts + 1)]
    return [
        Segment(tile * parts + n, tile, cuts[n], cuts[n + 1], tile * parts + n if parts > 1 else None)
        for tile in range(tiles)
        for n in range(parts)
    ]


def stream(tiles: int, depth: int, workgroups: int) -> list[Segment]:
    """Those of stream-K: a workgroup has at most one, of the tile whose end of K another has."""
    found = segments(tiles, depth, workgroups)
    return [replace(part, slot=part.workgroup if part.last < depth else None) for part in found]


def part_of(arch: str, a: Codes, b: Codes, part: Segment) -> NDArray[np.float32]:
    """Sums of one segment, f32 (128, 128); a and b are padded."""
    rows, columns = tile_of(part.tile, len(b))
    k = slice(STEP * part.first, STEP * part.last)
    return summed(arch, a[rows, k], b[columns, k])


def as_lanes_hold_it(sums: NDArray[np.float32]) -> NDArray[np.float32]:
    """A part in the workspace: by waves (2, 4), tiles of 16x16 (4, 2), lanes (4 groups, 16 columns) and four rows."""
    parts = sums.reshape(2, 4, 4, 4, 4, 2, 16)  # wave_m, i, group, t, wave_n, j, column
    return np.ascontiguousarray(parts.transpose(0, 4, 1, 5, 2, 6, 3)).reshape(SIDE, SIDE)


def added(
    arch: str, a: Codes, b: Codes, plan: list[Segment], alpha: float, workspace: NDArray[np.float32], *, backwards: bool
) -> NDArray[np.float32]:
    """C in f32: the parts of each tile added one after the other, then times alpha.

    Args:
        arch: architecture.
        a: codes (M, K).
        b: codes (N, K).
        plan: segments, of each tile in the order of K.
        alpha: factor, of f32.
        workspace: (parts, 128, 128), which gets the parts that have a slot.
        backwards: whether the part with the end of K is the first one.
    """
    M, N, depth = len(a), len(b), a.shape[1] // STEP
    a, b = padded(a), padded(b)
    c, parts = np.empty((len(a), len(b)), np.float32), []
    with np.errstate(all="ignore"):
        for part in plan:
            sums = part_of(arch, a, b, part)
            if part.slot is not None:
                workspace[part.slot] = as_lanes_hold_it(sums)
            parts.append(sums)
            if part.last == depth:
                first, *rest = parts[::-1] if backwards else parts
                for more in rest:
                    first = first + more
                c[tile_of(part.tile, len(b))], parts = np.float32(alpha) * first, []
    return np.ascontiguousarray(c[:M, :N])


def added_in_turn(arch: str, a: Codes, b: Codes, plan: list[Segment], alpha: float) -> NDArray[np.float32]:
    """C in f32: the first part times alpha, each other one by a fused multiply-add."""
    M, N = len(a), len(b)
    a, b = padded(a), padded(b)
    c = np.zeros((len(a), len(b)), np.float32)
    with np.errstate(all="ignore"):
        for part in plan:
            sums, at = part_of(arch, a, b, part), tile_of(part.tile, len(b))
            c[at] = np.float32(alpha) * sums if part.first == 0 else fused(np.float32(alpha), sums, c[at])
    return np.ascontiguousarray(c[:M, :N])
