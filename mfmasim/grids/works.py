"""What the workgroups of GEMM, grouped GEMM and attention access, tile by tile: input of the cache model.

Sizes of tiles are those of the FP8 kernels of hipkernels unless given: 128x128 of C in steps of 128 of K; 128 queries
and 64 keys.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mfmasim.arrays import I64
from mfmasim.errors import MfmasimError
from mfmasim.grids.caches import MOST, Work
from mfmasim.grids.streams import segments

_Access = tuple[Any, Any, Any]
"""Workgroup, step and tile of accesses: arrays that broadcast."""


def _positive(kind: str, **numbers: int) -> None:
    for name, value in numbers.items():
        if value < 1:
            raise MfmasimError(f"{name}={value} of {kind}: 1 or more is expected")


def _few(accesses: int) -> None:
    """Refuse a work with too many accesses before it is built."""
    if accesses > MOST:
        raise MfmasimError(f"{accesses:,} accesses of tiles: at most {MOST:,} are modelled; larger tiles have fewer")


def _flat(accesses: Sequence[_Access]) -> list[I64]:
    """One array each of workgroups, steps and tiles."""
    parts = [[part.reshape(-1) for part in np.broadcast_arrays(*access)] for access in accesses]
    return [np.concatenate([part[n] for part in parts]).astype(np.int64) for n in range(3)]


def _work(
    axes: tuple[str, ...], shape: tuple[int, ...], size: I64, loads: Sequence[_Access], stores: Sequence[_Access] = ()
) -> Work:
    workgroup, step, tile = _flat([*loads, *stores])
    stored = np.zeros(len(tile), bool)
    if stores:
        stored[-len(_flat(stores)[0]) :] = True
    return Work(axes, shape, workgroup, step, tile, size, stored)


def _pieces(whole: int, piece: int) -> I64:
    """Lengths of the pieces of something, the last of which may be shorter."""
    return np.minimum(piece, whole - np.arange(0, whole, piece))


def _factors(rows: I64, cols: I64, ks: I64, element: int) -> I64:
    """Bytes of the tiles of A (row, k), and behind them of B (column, k)."""
    return np.concatenate([np.outer(lines, ks).reshape(-1) for lines in (rows, cols)]) * element


def gemm(M: int, N: int, K: int, *, parts: int = 1, tile: int = 128, step: int = 128, element: int = 1) -> Work:
    """C = A B, with K of a tile of C divided among workgroups (split-K).

    Args:
        M: rows of C.
        N: columns of C.
        K: length of the sums.
        parts: workgroups of a tile of C; of several each stores its sums in f32, and the last one loads them all.
        tile: rows and columns of C of a workgroup.
        step: K of a step.
        element: bytes of an element of A and B.

    Raises:
        MfmasimError: a size below 1, or more parts than steps.
    """
    _positive("gemm", M=M, N=N, K=K, parts=parts, tile=tile, step=step, element=element)
    rows, cols, ks = _pieces(M, tile), _pieces(N, tile), _pieces(K, step)
    depth = len(ks)
    if parts > depth:
        raise MfmasimError(f"parts={parts} of K={K}: at most {depth}, one a step of {step}")
    shape = parts, len(rows), len(cols)
    _few(2 * len(rows) * len(cols) * depth)
    number = np.arange(int(np.prod(shape))).reshape(shape).transpose(1, 2, 0)
    begin = depth * np.arange(parts + 1) // parts
    part = np.searchsorted(begin, np.arange(depth), side="right") - 1  # of each step of K
    step_of, each = np.arange(depth) - begin[part], number[..., part]
    loads = [
        (each, step_of, np.arange(len(rows))[:, None, None] * depth + np.arange(depth)),
        (each, step_of, (len(rows) + np.arange(len(cols)))[:, None] * depth + np.arange(depth)),
    ]
    stores: list[_Access] = []
    size = _factors(rows, cols, ks, element)
    if parts > 1:
        sums, ends = len(size) + number, np.diff(begin)
        stores.append((number, ends, sums))
        loads.append((number[..., -1:], ends.max() + 1 + np.arange(parts), sums))
        size = np.concatenate([size, np.full(number.size, 4 * tile * tile)])
    return _work(("part", "row", "column"), shape, size, loads, stores)


def stream(
    M: int,
    N: int,
    K: int,
    *,
    workgroups: int = 256,
    tile: int = 128,
    step: int = 128,
    element: int = 1,
    sums: bool = True,
) -> Work:
    """Stream-K: all steps of all tiles of C in one row, cut among workgroups, each from its last tile to its first.

    Args:
        M: rows of C.
        N: columns of C.
        K: length of the sums.
        workgroups: how many share the steps.
        tile: rows and columns of C of a workgroup.
        step: K of a step.
        element: bytes of an element of A and B.
        sums: whether parts of a tile are stored in f32, and loaded by the workgroup with the end of K.

    Raises:
        MfmasimError: a size below 1.
    """
    _positive("stream", M=M, N=N, K=K, workgroups=workgroups, tile=tile, step=step, element=element)
    rows, cols, ks = _pieces(M, tile), _pieces(N, tile), _pieces(K, step)
    depth, at = len(ks), np.zeros(workgroups, np.int64)
    _few(2 * len(rows) * len(cols) * depth)
    size = _factors(rows, cols, ks, element)
    loads: list[_Access] = []
    stores: list[_Access] = []
    plan = segments(len(rows) * len(cols), depth, workgroups)
    begun: dict[int, list[int]] = {}
    for part in plan:
        if part.last < depth:
            begun.setdefault(part.tile, []).append(part.workgroup)
    for part in reversed(plan):
        row, col = divmod(part.tile, len(cols))
        k, one = np.arange(part.first, part.last), np.int64(part.workgroup)
        when = at[one] + k - part.first
        at[one] += len(k)
        loads += [(one, when, line * depth + k) for line in (row, len(rows) + col)]
        if sums and part.last < depth:
            stores.append((one, at[one].copy(), np.int64(len(size)) + one))
            at[one] += 1
        elif sums and part.first > 0:
            others = len(size) + np.array(begun[part.tile], np.int64)
            loads.append((one, at[one] + np.arange(len(others)), others))
            at[one] += len(others)
    size = np.concatenate([size, np.full(workgroups if sums else 0, 4 * tile * tile)])
    return _work(("workgroup",), (workgroups,), size, loads, stores)


def grouped(counts: Sequence[int], N: int, K: int, *, tile: int = 128, step: int = 128, element: int = 1) -> Work:
    """GEMM of a mixture of experts: blocks of rows, each with the B of one expert.

    Args:
        counts: rows of each expert. Rows of A that several experts take are counted for each.
        N: columns of C.
        K: length of the sums.
        tile: rows and columns of C of a workgroup.
        step: K of a step.
        element: bytes of an element of A and B.

    Raises:
        MfmasimError: a size below 1, a negative count, or no rows.
    """
    _positive("grouped", N=N, K=K, tile=tile, step=step, element=element)
    if min(counts, default=-1) < 0 or not sum(counts):
        raise MfmasimError(f"counts={tuple(counts)} of grouped: rows of each expert, 0 or more, and one at least")
    blocks = [_pieces(count, tile) for count in counts]
    rows, cols, ks = np.concatenate(blocks), _pieces(N, tile), _pieces(K, step)
    expert = np.repeat(np.arange(len(counts)), [len(block) for block in blocks])
    depth, k = len(ks), np.arange(len(ks))
    _few(2 * len(rows) * len(cols) * depth)
    number = np.arange(len(rows) * len(cols)).reshape(len(rows), len(cols), 1)
    b_line = expert[:, None, None] * len(cols) + np.arange(len(cols))[:, None]
    loads = [
        (number, k, np.arange(len(rows))[:, None, None] * depth + k),
        (number, k, (len(rows) + b_line) * depth + k),
    ]
    size = _factors(rows, np.tile(cols, len(counts)), ks, element)
    work = _work(("block", "column"), number.shape[:2], size, loads)
    return replace(work, bands=tuple(len(block) for block in blocks))


def attention(
    queries: int,
    keys: int,
    *,
    heads: int = 32,
    kv_heads: int = 8,
    sequences: int = 1,
    causal: bool = False,
    block: int = 128,
    tile: int = 64,
    head: int = 128,
    element: int = 1,
) -> Work:
    """Attention forward: a workgroup has a block of queries of one head, and passes over the keys.

    Args:
        queries: of each sequence.
        keys: likewise.
        heads: of Q.
        kv_heads: of K and V; as many neighbouring heads of Q share one.
        sequences: of the launch.
        causal: the last query sees the last key, those before see fewer.
        block: queries of a workgroup.
        tile: keys of a step.
        head: elements of a head.
        element: bytes of an element.

    Raises:
        MfmasimError: a size below 1, or heads that kv_heads do not divide.
    """
    sizes = {"queries": queries, "keys": keys, "heads": heads, "kv_heads": kv_heads, "sequences": sequences}
    _positive("attention", **sizes, block=block, tile=tile, head=head, element=element)
    if heads % kv_heads:
        raise MfmasimError(f"heads={heads} of attention: a multiple of kv_heads={kv_heads} is expected")
    blocks, tiles = _pieces(queries, block), _pieces(keys, tile)
    shape = (sequences, kv_heads, heads // kv_heads, len(blocks))
    _few(int(np.prod(shape)) * len(tiles))
    number = np.arange(int(np.prod(shape))).reshape(*shape, 1)
    seen = keys - queries + np.cumsum(blocks) if causal else np.full(len(blocks), keys)
    step = np.arange(len(tiles))
    some = np.broadcast_to(step * tile < seen[:, None], (*shape, len(tiles)))
    cache = np.arange(sequences * kv_heads).reshape(sequences, kv_heads, 1, 1, 1) * len(tiles) + step
    own = sequences * kv_heads * len(tiles)
    passes = tuple(np.broadcast_to(part, some.shape)[some] for part in (number, step, cache))
    loads: list[_Access] = [(number, np.int64(0), own + number), (passes[0], passes[1], passes[2])]
    size = np.concatenate([np.tile(2 * tiles, sequences * kv_heads), np.tile(blocks, number.size // len(blocks))]) * (
        head * element
    )
    return _work(("sequence", "kv_head", "member", "block"), shape, size, loads)


WORKS: dict[str, Callable[..., Work]] = {"gemm": gemm, "stream": stream, "moe": grouped, "attention": attention}
"""Kinds by the name of the command line."""
