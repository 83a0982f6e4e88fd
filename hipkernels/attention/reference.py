"""Attention in float64, a query at a time, and how far a kernel may be from it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

UNIT = 2.0**-24
"""Half a unit in the last place of f32, relative."""
SMALLEST = 2.0**-126
HALF_UNIT = {"f16": 2.0**-11, "bf16": 2.0**-8, "f32": 2.0**-24, "fp8": 2.0**-4}
"""Relative error of one rounding; ``fp8`` is E4M3."""
TINY = {"f16": 2.0**-25, "bf16": 2.0**-126, "f32": 2.0**-126, "fp8": 2.0**-16}
"""Absolute error of one rounding near 0; RDNA3 takes denormal bf16 for 0. Weights in FP8 are made
2**6 times as large: 2**-10 / 2**6."""


def seen(query: int, queries: int, keys: int, causal: int) -> int:
    """How many keys a query sees."""
    if causal == 0:
        return keys
    last = query if causal == 1 else keys - queries + query
    return max(0, min(keys, last + 1))


def attention(
    fmt: str,
    q: NDArray[Any],
    k: NDArray[Any],
    v: NDArray[Any],
    causal: int,
    scale: float | None,
    *,
    tile: int = 32,
    weights_in: str | None = None,
    rounded_sum: bool = True,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """O = softmax(scale Q K^T) V over the keys that each query sees, and the bound of a kernel's error.

    A query that sees no key, or only keys whose score is -Inf, gets 0. A score of NaN or +Inf makes its row NaN. A key
    that is hidden counts for nothing, whatever K and V hold there.

    The bound. u = 2**-24; everything is relative to the largest score, M, in powers of two: t = score * log2(e).

    * A product of D elements is wrong by 2 D u sum |q k| at most (matrix cores truncate); scale, log2(e), their product
      and the product with the score round once each: e = |scale| log2(e) 2 D u sum |q k| + 4 u |t|.
    * A weight 2**(t - M) goes through differences that add up to M - t, each rounded, and through up to T + 1 powers
      of one unit, 2 u, where T is the number of tiles: relative error expm1(log(2) (e + u (M - t)) + 2 u (T + 1)).
    * It is rounded to the format it is multiplied in, and small ones are lost: relative h, absolute z.
      With w for a weight and d for its error, sum d |v - o| / (sum w - sum d) is what the average moves by. It stays an
      average in any case and so within the values that are seen, which holds where scores are too large to be known.
    * Where the weights are summed before they are rounded, rounding moves the products alone: of it, r, sum r |v| /
      (sum w - sum d) is added in place of a part of d.
    * Sums of n products: (2 n + T) u max |v|; of weights: (n + T + 4) u; division: 2 u; rounding to the output: h', z'.

    1 percent is added for products of errors.

    Args:
        fmt: ``f16`` or ``bf16``, the format of the output.
        q: float64 (B, H, queries, D).
        k: float64 (B, H, keys, D).
        v: the same.
        causal: 0 (every key), 1 (top left) or 2 (bottom right).
        scale: factor of the scores; None is 1 / sqrt(D).
        tile: keys that a kernel takes at once.
        weights_in: format that weights are multiplied in, or ``fp8``; None is `fmt`.
        rounded_sum: weights are summed as they are multiplied, and not before they are rounded.

    Returns:
        O and the bound, float64 (B, H, queries, D). Where O is not finite the bound is 0, except where a weight that a
        kernel may lose meets an infinite element of V: 0 times that is NaN, and the bound is infinite.
    """
    (b, h, queries, d), keys = q.shape, k.shape[2]
    out, bound = np.zeros(q.shape), np.zeros(q.shape)
    by = (1 / np.sqrt(d) if scale is None else float(np.float32(scale))) * np.log2(np.e)
    inner = weights_in or fmt
    for batch in range(b):
        for head in range(h):
            for query in range(queries):
                n = seen(query, queries, keys, causal)
                row, others, values = q[batch, head, query], k[batch, head, :n], v[batch, head, :n]
                place = batch, head, query
                rounding = HALF_UNIT[inner], TINY[inner], rounded_sum
                out[place], bound[place] = _one(row, others, values, by, tile, rounding, fmt)
    return out, bound


def _one(
    row: NDArray[Any],
    others: NDArray[Any],
    values: NDArray[Any],
    by: np.float64,
    tile: int,
    rounding: tuple[float, float, bool],
    fmt: str,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """O and its bound for one query, (D,) each."""
    n, d = others.shape
    with np.errstate(all="ignore"):
        t = (others * row).sum(axis=1) * by
        top = t.max() if n else -np.inf
        if top == -np.inf:
            return np.zeros(d), np.full(d, TINY[fmt])
        if not np.isfinite(top):
            return np.full(d, np.nan), np.zeros(d)
        w = np.exp2(t - top)
        o = (w[:, None] * values).sum(axis=0) / w.sum()
    counts = np.isfinite(t)  # a weight of exactly 0 is exact
    steps = -(-n // tile)
    size = np.where(counts[:, None], np.abs(others * row), 0).sum(axis=1)
    exponent = abs(by) * 2 * d * UNIT * size + UNIT * (4 * np.abs(t, where=counts, out=np.zeros(n)))
    exponent += UNIT * np.subtract(top, t, where=counts, out=np.zeros(n))
    with np.errstate(all="ignore"):
        error = np.expm1(np.minimum(np.log(2) * exponent + 2 * UNIT * (steps + 1), 700))
        half, tiny, rounded_sum = rounding
        rounds = w * (error + 1) * half + tiny
        error = w * error + (steps + 1) * SMALLEST
        if rounded_sum:
            error, rounds = error + rounds, np.zeros(n)
        error[~counts] = rounds[~counts] = 0
        moved = (error[:, None] * np.abs(values - o) + rounds[:, None] * np.abs(values))[counts].sum(axis=0)
        left = w.sum() - error.sum()
        moved = moved / left if left > 0 else np.full(d, np.inf)
        if rounded_sum:
            moved = np.fmin(moved, values[counts].max(axis=0) - values[counts].min(axis=0))
        large = np.abs(values[counts]).max(axis=0)
        size = np.abs(o) + moved
        moved += (2 * n + steps) * UNIT * large + (n + steps + 6) * UNIT * size
        moved += HALF_UNIT[fmt] * (np.abs(o) + moved) + TINY[fmt]
        lost = (np.isinf(values) & (w <= error)[:, None]).any(axis=0)
    return o, np.where(np.isfinite(o), 1.01 * moved, np.where(lost & np.isinf(o), np.inf, 0))
