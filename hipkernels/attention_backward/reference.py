"""Gradients of attention in float64, and how far a kernel may be from them.

The bound. u = 2**-24 and h = 2**-8 are half a unit in the last place of f32 and bf16, relative. Of one query and key,
with s for the product of their rows, a for that of magnitudes, b = scale log2(e), L = LSE log2(e), t = b s - L:

* A product of D elements is wrong by 2 D u a at most (matrix cores truncate); b and L round twice, t once:
  e = |b| 2 D u a + 2 u |b s| + 2 u |L| + u |t|.
* P = 2**t is wrong by r = expm1(log(2) e) + 2 u, relative (V_EXP_F32: one unit); below f32's normal numbers it is lost.
* In bf16 P is wrong by P (r + h + r h).
* dP - delta is a sum of D products and delta: 2 (D + 1) u (sum |dO V| + |delta|), and one rounding, u.
* dS = P (dP - delta), in f32: P (1 + r) times the former, r + 2 u of itself; in bf16 h of itself in addition.
* A sum of n products: the errors of its weights times the magnitudes of the other factor, and 2 n u of the sum of
  magnitudes.
* dK and dQ times scale: u. The result in bf16: h.

1 percent is added for products of errors. P from f32 goes into dS, and P in bf16 into dV.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hipkernels.attention.reference import HALF_UNIT, SMALLEST, UNIT, seen

LOG2_E = np.log2(np.e)
HALF = HALF_UNIT["bf16"]
MORE = 1.01


@dataclass(frozen=True)
class Bounded:
    """Values and how far a kernel may be from each."""

    values: NDArray[Any]
    bound: NDArray[Any]

    def rounded(self) -> "Bounded":
        """After the rounding to bf16."""
        return Bounded(self.values, MORE * (self.bound + HALF * (np.abs(self.values) + self.bound) + SMALLEST))

    def of_heads(self, group: int) -> "Bounded":
        """Sums over so many heads that follow each other: (B, H, ...) to (B, H / group, ...)."""
        shape = self.values.shape
        parts = (x.reshape(shape[0], -1, group, *shape[2:]).sum(axis=2) for x in (self.values, self.bound))
        return Bounded(*parts)


def visible(queries: int, keys: int, causal: int) -> NDArray[np.bool_]:
    """Which keys each query sees, (queries, keys)."""
    return np.arange(keys) < np.array([seen(i, queries, keys, causal) for i in range(queries)])[:, None]


def scale_of(d: int, scale: float | None) -> float:
    """The scale that kernels have, an f32."""
    return float(np.float32(1 / np.sqrt(d) if scale is None else scale))


def forward(
    q: NDArray[Any], k: NDArray[Any], v: NDArray[Any], causal: int, scale: float | None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """O (B, H, queries, D) and LSE (B, H, queries), 0 and -Inf for a query that sees no key.

    Args:
        q: float64 (B, H, queries, D).
        k: float64 (B, H / group, keys, D).
        v: the same.
        causal: which keys a query sees, as `plan.CAUSAL` of attention.
        scale: factor of the scores; None is 1 / sqrt(D).
    """
    k, v = (np.repeat(x, q.shape[1] // k.shape[1], axis=1) for x in (k, v))
    scores = scale_of(q.shape[3], scale) * q @ k.swapaxes(-1, -2)
    scores = np.where(visible(q.shape[2], k.shape[2], causal), scores, -np.inf)
    with np.errstate(all="ignore"):
        lse = np.logaddexp.reduce(scores, axis=-1)
        weights = np.where(np.isfinite(lse)[..., None], np.exp(scores - lse[..., None]), 0)
    return weights @ v, lse


def row_sums(o: NDArray[Any], d_o: NDArray[Any]) -> Bounded:
    """delta, (B, H, queries): eight products are summed in order, then four times two sums."""
    products = o * d_o
    return Bounded(products.sum(axis=-1), MORE * 12 * UNIT * np.abs(products).sum(axis=-1) + SMALLEST)


def gradients(
    q: NDArray[Any],
    k: NDArray[Any],
    v: NDArray[Any],
    d_o: NDArray[Any],
    lse: NDArray[Any],
    delta: NDArray[Any],
    causal: int,
    scale: float | None,
) -> tuple[Bounded, Bounded, Bounded]:
    """dQ, dK and dV of kernels that are given these arrays, float64.

    Args:
        q: (B, H, queries, D).
        k: (B, H / group, keys, D); a head of K and V belongs to `group` heads of Q.
        v: the same.
        d_o: as `q`.
        lse: (B, H, queries).
        delta: the same.
        causal: which keys a query sees.
        scale: factor of the scores; None is 1 / sqrt(D).
    """
    (_, _, queries, d), keys, group = q.shape, k.shape[2], q.shape[1] // k.shape[1]
    k, v = (np.repeat(x, group, axis=1) for x in (k, v))
    factor = scale_of(d, scale)
    there = visible(queries, keys, causal)
    lse, delta = lse[..., None], delta[..., None]
    s, size = q @ _turned(k), np.abs(q) @ np.abs(_turned(k))
    with np.errstate(all="ignore"):
        t = factor * LOG2_E * s - lse * LOG2_E
        e = UNIT * (abs(factor) * LOG2_E * (2 * d * size + 2 * np.abs(s)) + 2 * np.abs(lse * LOG2_E) + np.abs(t))
        p = np.where(there, np.exp2(t), 0)
        r = np.where(there, np.expm1(np.log(2) * e) + 2 * UNIT, 0)
    lost = SMALLEST * there
    p_error = p * (r + HALF + r * HALF) + lost
    g = d_o @ _turned(v) - delta
    g_error = 2 * (d + 1) * UNIT * (np.abs(d_o) @ np.abs(_turned(v)) + np.abs(delta)) + UNIT * np.abs(g)
    ds = p * g
    ds_error = p * (1 + r) * g_error + np.abs(ds) * (r + 2 * UNIT) + lost * (1 + np.abs(g))
    ds_error += HALF * (np.abs(ds) + ds_error)

    def total(weights: NDArray[Any], error: NDArray[Any], other: NDArray[Any], by: float, n: int) -> Bounded:
        most = (error + 2 * n * UNIT * (np.abs(weights) + error)) @ np.abs(other)
        return Bounded(by * (weights @ other), abs(by) * ((1 + UNIT) * most + UNIT * np.abs(weights @ other)))

    passing = queries * group
    d_q = total(ds, ds_error, k, factor, keys)
    d_k = total(_turned(ds), _turned(ds_error), q, factor, passing).of_heads(group)
    d_v = total(_turned(p), _turned(p_error), d_o, 1.0, passing).of_heads(group)
    return d_q.rounded(), d_k.rounded(), d_v.rounded()


def _turned(x: NDArray[Any]) -> NDArray[Any]:
    return x.swapaxes(-1, -2)
