"""The kernels' own order of operations in NumPy, bit for bit: what they have to leave.

Every f32 operation is one NumPy operation; products of tiles are those of the matrix instruction's model, whose
fidelity is then the result's, and so is that of 2**x.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import mfmasim
from hipkernels.attention.numbers16 import decode, encode, fma, power

KEYS, WAVES, ROWS = 32, 4, 16
INSTRUCTIONS = {
    "gfx942": ("v_mfma_f32_16x16x16_{}", 16),
    "gfx950": ("v_mfma_f32_16x16x32_{}", 32),
    "gfx1151": ("v_wmma_f32_16x16x16_{}", 16),
    "gfx1201": ("v_wmma_f32_16x16x16_{}", 16),
}
LOG2_E = np.float32(1.4426950408889634)
MINUS_INFINITY = np.float32(-np.inf)


def seen_by(queries: int, keys: int, causal: int) -> NDArray[Any]:
    """Keys that each query sees: those below this number, (queries,)."""
    if causal == 0:
        return np.full(queries, keys)
    return np.clip(np.arange(queries) + 1 + (keys - queries if causal == 2 else 0), 0, keys)


def factor(d: int, scale: float | None) -> np.float32:
    """What scores are multiplied by, in f32."""
    return np.float32(np.float32(1 / np.sqrt(d) if scale is None else scale) * LOG2_E)


def base_of(top: NDArray[Any]) -> NDArray[Any]:
    """What is subtracted from the exponents of weights."""
    return np.where(top == MINUS_INFINITY, np.float32(0), top)


def averages(fmt: str, sums: NDArray[Any], weights: NDArray[Any]) -> NDArray[Any]:
    """Sums divided by the weights, as codes; 0 where there are no weights."""
    out = np.where(weights == 0, np.float32(0), sums * (np.float32(1) / weights))
    return encode(fmt, out)


def scalar(
    arch: str, fmt: str, q: NDArray[Any], k: NDArray[Any], v: NDArray[Any], causal: int, scale: float | None
) -> NDArray[Any]:
    """O of the kernels of scalar.hip.

    Args:
        arch: the architecture, which decides what V_EXP_F32 gives.
        fmt: ``f16`` or ``bf16``.
        q: codes (B, H, queries, D).
        k: codes (B, H, keys, D).
        v: the same.
        causal: index of `plan.CAUSAL`.
        scale: factor of the scores, or None.
    """
    (_, _, queries, d), keys = q.shape, k.shape[2]
    own, others, rows = (decode(fmt, x) for x in (q, k, v))
    seen, by = seen_by(queries, keys, causal), factor(d, scale)
    sums = np.zeros(q.shape, np.float32)
    weights, top = np.zeros(q.shape[:3], np.float32), np.full(q.shape[:3], MINUS_INFINITY)
    with np.errstate(all="ignore"):
        for key in range(seen.max(initial=0)):
            dot = np.zeros(q.shape[:3], np.float32)
            for i in range(d):
                dot = fma(own[..., i], others[:, :, key, None, i], dot)
            t = dot * by
            now = np.fmax(top, t)
            kept, weight = power(arch, top - base_of(now)), power(arch, t - base_of(now))
            there = key < seen
            weights = np.where(there, fma(weights, kept, weight), weights)
            more = fma(weight[..., None], rows[:, :, key, None], sums * kept[..., None])
            sums, top = np.where(there[:, None], more, sums), np.where(there, now, top)
        return averages(fmt, sums, weights[..., None])


class Multiplier:
    """Products of 16x16 tiles with K in the order in which the lanes hold it."""

    def __init__(self, arch: str, fmt: str) -> None:
        name, self.step = INSTRUCTIONS[arch]
        self.op = mfmasim.instruction(arch, name.format(fmt))
        table = self.op.A.table()
        table = table[(table["row"] == 0) & (table["lane"] < (16 if arch == "gfx1151" else 64))]
        lanes = table["lane"] // 16
        parts = self.step // (lanes.max() + 1)
        self.order = np.empty(self.step, np.int64)  # place in the line of each K of the instruction
        self.order[table["col"]] = lanes * parts + table["vgpr"] * 2 + table["bit"] // 16

    def __call__(self, a: NDArray[Any], b: NDArray[Any], c: NDArray[Any]) -> NDArray[Any]:
        """Add A B, (..., 16, K) and (..., K, 16) codes, to c (..., 16, 16) f32."""
        c = np.ascontiguousarray(c, np.float32).view(np.uint32)
        for first in range(0, a.shape[-1], self.step):
            x, y = a[..., first + self.order], b[..., first + self.order, :]
            shape = np.broadcast_shapes(x.shape[:-2], y.shape[:-2], c.shape[:-2])
            x, y, c = (np.ascontiguousarray(np.broadcast_to(m, (*shape, *m.shape[-2:]))) for m in (x, y, c))
            c = self.op.multiply(x, y, c)
        return c.view(np.float32)


def padded(codes: NDArray[Any], rows: int) -> NDArray[Any]:
    """Rows of zeros added to (B, H, N, D)."""
    return np.pad(codes, ((0, 0), (0, 0), (0, rows - codes.shape[2]), (0, 0)))


def sum_of_row(x: NDArray[Any]) -> NDArray[Any]:
    """Sum over the last axis of 16, in pairs 8, 4, 2 and 1 apart."""
    for apart in (8, 4, 2, 1):
        x = x[..., :apart] + x[..., apart:]
    return x[..., 0]


def tiled(
    arch: str, fmt: str, q: NDArray[Any], k: NDArray[Any], v: NDArray[Any], causal: int, scale: float | None
) -> NDArray[Any]:
    """O of the kernels of tiled.hip and tiled_more.hip on an architecture; arguments as for `scalar`."""
    multiply = Multiplier(arch, fmt)
    (b, h, queries, d), keys = q.shape, k.shape[2]
    blocks = -(-queries // (ROWS * WAVES))
    lines = blocks * ROWS * WAVES
    own = padded(q, lines).reshape(b, h, -1, ROWS, d)
    all_k, all_v = (padded(x, -(-max(keys, 1) // KEYS) * KEYS) for x in (k, v))
    # Queries behind the last one are there, too, and see what their number says.
    seen = seen_by(queries, keys, causal)
    more = np.arange(queries, lines) + 1 + (keys - queries if causal == 2 else 0)
    seen = np.concatenate([seen, np.minimum(more, keys) if causal else np.full(len(more), keys)])
    stops = np.repeat([seen[min((n + 1) * ROWS * WAVES, queries) - 1] for n in range(blocks)], WAVES)
    seen = seen.reshape(-1, ROWS)
    by = factor(d, scale)
    top = np.full((b, h, blocks * WAVES, ROWS), MINUS_INFINITY)
    weights = np.zeros((*top.shape, 16), np.float32)
    sums = np.zeros((*top.shape[:3], d // 16, ROWS, 16), np.float32)
    with np.errstate(all="ignore"):
        for key in range(0, stops.max(initial=0), KEYS):
            some_k, some_v = all_k[:, :, key : key + KEYS], all_v[:, :, key : key + KEYS]
            halves = [some_k[:, :, None, j : j + 16].swapaxes(-1, -2) for j in (0, 16)]
            zero = np.zeros((*top.shape, 16), np.float32)
            s = np.stack([multiply(own, half, zero) for half in halves], axis=-2)  # (..., 16 rows, 2, 16 keys)
            number = key + np.arange(KEYS).reshape(2, 16)
            t = np.where(number < seen[..., None, None], s * by, MINUS_INFINITY)
            now = np.fmax(top, np.fmax.reduce(t, axis=(-2, -1)))
            kept = power(arch, top - base_of(now))
            p = encode(fmt, power(arch, t - base_of(now)[..., None, None]))
            new_weights = weights * kept[..., None]
            for j in (0, 1):
                new_weights = new_weights + decode(fmt, p[..., j, :])
            scaled = sums * kept[..., None, :, None]
            partly = (key + KEYS > seen[:, 0]) & (causal != 0)
            new_sums = _with_values(fmt, multiply, p.reshape(*p.shape[:-2], KEYS), some_v, scaled, partly, key, seen)
            active = key < stops
            top = np.where(active[:, None], now, top)
            weights = np.where(active[:, None, None], new_weights, weights)
            sums = np.where(active[:, None, None, None], new_sums, sums)
        out = averages(fmt, sums, sum_of_row(weights)[..., None, :, None])
    return out.swapaxes(-2, -3).reshape(b, h, lines, d)[:, :, :queries]


def _with_values(
    fmt: str,
    multiply: Multiplier,
    p: NDArray[Any],
    v: NDArray[Any],
    sums: NDArray[Any],
    partly: NDArray[Any],
    key: int,
    seen: NDArray[Any],
) -> NDArray[Any]:
    """Weights (..., waves, 16, 32) times V (..., 32, D) onto sums (..., waves, D / 16, 16, 16).

    In waves that see a tile partly, what is not finite in V meets only the queries that see it.
    """
    columns = v.reshape(*v.shape[:-1], -1, 16).swapaxes(-2, -3)[:, :, None]  # (B, H, 1, D / 16, 32, 16)
    values = decode(fmt, columns)
    finite = np.isfinite(values)
    chosen = np.where(partly[:, None, None, None] & ~finite, np.uint16(0), columns)
    out = multiply(p[..., None, :, :], chosen, sums)
    weights = decode(fmt, p)
    for n in np.flatnonzero(~finite.all(axis=(0, 1, 2, 3, 5))):
        meets = partly[:, None, None, None] & (key + n < seen)[:, None, :, None] & ~finite[..., n, None, :]
        out = np.where(meets, out + weights[..., None, :, n, None] * values[..., n, None, :], out)
    return out
