"""The kernels' own order of operations in NumPy, bit for bit: what they have to leave.

Every f32 operation is one NumPy operation; products are those of the matrix instruction's model, whose fidelity is then
the result's, and so is that of 2**x.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import mfmasim
from hipkernels.attention.numbers16 import fma, power
from mfmasim import matrix

HEAD, KEYS, QUERIES, WAVES = 128, 64, 32, 4
HEADROOM = np.float32(2)
FP8 = {"gfx942": "e4m3fnuz", "gfx950": "e4m3fn"}
SHIFT = {"gfx950": np.float32(6), "gfx942": np.float32(5)}
INSTRUCTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "gfx950": ("v_mfma_scale_f32_32x32x64_f8f6f4", {"a": "e4m3fn", "b": "e4m3fn"}),
    "gfx942": ("v_mfma_f32_32x32x16_fp8_fp8", {}),
}
LOG2_E = np.float32(1.4426950408889634)
MINUS_INFINITY = np.float32(-np.inf)
HALVES = np.arange(2)[:, None]
BYTES = np.arange(32)
# What byte b of a lane in half h of the wave holds: an element of 64 of the head, and a key of the tile.
ELEMENT = BYTES // 16 * 32 + 16 * HALVES + BYTES % 16
KEY = BYTES // 16 * 32 + BYTES % 16 // 4 * 8 + 4 * HALVES + BYTES % 4


class Product:
    """Products with 64 summed at a time, in the order in which the lanes hold them."""

    def __init__(self, arch: str) -> None:
        name, formats = INSTRUCTIONS[arch]
        self.op = matrix.instruction(arch, name, **formats)
        table = self.op.A.table()
        table = table[table["row"] == 0]
        place = np.empty(self.op.k, np.int64)  # 32 half + byte of each k of the instruction
        place[table["col"]] = table["lane"] // 32 * 32 + table["vgpr"] * 4 + table["bit"] // 8
        self.places = [place + first for first in range(0, 32, self.op.k // 2)]  # an instruction takes so many bytes

    def __call__(self, a: NDArray[Any], b: NDArray[Any], c: NDArray[Any], held: NDArray[Any]) -> NDArray[Any]:
        """Add A B of codes (..., 32, 64) and (..., 64, 32), held by the lanes as `held`, to c (..., 32, 32) f32."""
        shape = np.broadcast_shapes(a.shape[:-2], b.shape[:-2], c.shape[:-2])
        sums = np.ascontiguousarray(np.broadcast_to(c, (*shape, *c.shape[-2:]))).view(np.uint32)
        for place in self.places:
            order = held.reshape(-1)[place]
            x, y = (np.broadcast_to(m, (*shape, *m.shape[-2:])) for m in (a[..., order], b[..., order, :]))
            sums = self.op.multiply(np.ascontiguousarray(x), np.ascontiguousarray(y), sums)
        return sums.view(np.float32)


@dataclass
class Sums:
    """What waves have summed: O^T (waves, 128, 32), weights and their base (waves, 32)."""

    out: NDArray[Any]
    weights: NDArray[Any]
    base: NDArray[Any]


def attend(
    arch: str,
    q: NDArray[Any],
    k: NDArray[Any],
    v: NDArray[Any],
    by: NDArray[Any],
    seen: NDArray[Any],
    tiles: NDArray[Any],
) -> Sums:
    """Sums of waves over tiles of keys.

    Args:
        arch: architecture.
        q: codes (waves, 32, 128).
        k: codes (waves, keys, 128).
        v: the same.
        by: factors of the products, f32 (waves,).
        seen: keys that each query sees, (waves, 32).
        tiles: tiles that each wave goes through, (waves,).
    """
    multiply, fmt = Product(arch), mfmasim.format(FP8[arch])
    waves, most = len(q), int(tiles.max(initial=0))
    k, v = (np.pad(x[:, : most * KEYS], ((0, 0), (0, max(most * KEYS - x.shape[1], 0)), (0, 0))) for x in (k, v))
    queries: NDArray[Any] = q.swapaxes(1, 2)[:, None]  # (waves, 1, 128, 32)
    by = by[:, None].astype(np.float32)
    reference, base = np.full((waves, 32), MINUS_INFINITY), np.zeros((waves, 32), np.float32)
    total, out = np.zeros((waves, 2, 2, 2, 32), np.float32), np.zeros((waves, 4, 32, 32), np.float32)
    with np.errstate(all="ignore"):
        for t in range(most):
            some_k = k[:, t * KEYS : t * KEYS + KEYS].reshape(waves, 2, 32, HEAD)
            some_v = v[:, t * KEYS : t * KEYS + KEYS].swapaxes(1, 2).reshape(waves, 4, 32, KEYS)
            both = np.zeros((waves, 2, 32, 32), np.float32)
            for i in (0, 64):
                both = multiply(some_k[..., i : i + 64], queries[:, :, i : i + 64], both, ELEMENT)
            number = t * KEYS + np.arange(KEYS)[:, None]
            s = np.where(number < seen[:, None], both.reshape(waves, KEYS, 32), MINUS_INFINITY)
            active = (t < tiles)[:, None]
            top = np.fmax(np.fmax.reduce(s, axis=1), reference)
            grown = ((top - reference) * by > HEADROOM).any(axis=1, keepdims=True) & active
            finite = np.where(top == MINUS_INFINITY, np.float32(0), top)
            kept = np.where(grown, power(arch, (reference - finite) * by), np.float32(1))
            reference = np.where(grown, top, reference)
            base = np.where(grown, fma(finite, np.broadcast_to(by, finite.shape), np.asarray(-SHIFT[arch])), base)
            total, out = total * kept[:, None, None, None], out * kept[:, None, None]
            w = power(arch, fma(s, np.broadcast_to(by[:, None], s.shape), -base[:, None]))
            fours = w[:, KEY].reshape(waves, 2, 8, 2, 2, 32)  # by half and word
            sums = total
            for n in range(8):
                sums = sums + fours[:, :, n]
            p = fmt.encode(w.astype(np.float64)).astype(np.uint8)[:, None]
            more = multiply(some_v, p, out, KEY)
            total = np.where(active[..., None, None, None], sums, total)
            out = np.where(active[..., None, None], more, out)
        pairs = total[:, :, 0] + total[:, :, 1]
        halves = pairs[:, :, 0] + pairs[:, :, 1]
        return Sums(out.reshape(waves, HEAD, 32), halves[:, 0] + halves[:, 1], base)


def blocks_of(rows: NDArray[Any], size: int) -> NDArray[Any]:
    """Rows (n, ...) in blocks of `size`, zeros behind the last."""
    count = -(-len(rows) // size)
    filled = np.pad(rows, ((0, count * size - len(rows)), *[(0, 0)] * (rows.ndim - 1)))
    return filled.reshape(count, size, *rows.shape[1:])


def factors(scale: float, scale_q: NDArray[Any], scale_k: NDArray[Any]) -> NDArray[Any]:
    """What products are multiplied by, in f32."""
    return np.float32(scale) * LOG2_E * scale_q * scale_k


def bf16(sums: NDArray[Any], weights: NDArray[Any], scale: NDArray[Any]) -> NDArray[Any]:
    """Averages as codes; 0 where there are no weights."""
    with np.errstate(all="ignore"):
        factor = np.where(weights == 0, np.float32(0), scale / weights).astype(np.float32)
        return mfmasim.format("bf16").encode((sums * factor).astype(np.float64)).astype(np.uint16)


def forward(
    arch: str, q: NDArray[Any], k: NDArray[Any], v: NDArray[Any], by: NDArray[Any], scale_v: NDArray[Any], causal: bool
) -> NDArray[Any]:
    """O of one sequence, BF16 codes (queries, heads, 128).

    Args:
        arch: architecture.
        q: codes (queries, heads, 128).
        k: codes (keys, kv_heads, 128).
        v: the same.
        by: factors of the products, f32 (kv_heads,).
        scale_v: f32 (kv_heads,).
        causal: the last query sees the last key, the others fewer.
    """
    (queries, heads, _), (keys, kv_heads, _) = q.shape, k.shape
    group = heads // kv_heads
    out = np.zeros((queries, heads, HEAD), np.uint16)
    blocks = -(-queries // (QUERIES * WAVES)) * WAVES
    number = np.arange(blocks * QUERIES)
    seen = np.minimum(number + 1 + keys - queries, keys) if causal else np.full(len(number), keys)
    last = np.minimum((np.arange(blocks) // WAVES + 1) * QUERIES * WAVES, queries) - 1
    tiles = np.maximum(-(-seen[last] // KEYS), 0) if queries else last
    for head in range(heads):
        own = np.zeros((blocks, QUERIES, HEAD), np.uint8)
        some = blocks_of(q[:, head], QUERIES)
        own[: len(some)] = some
        one, shape = head // group, (blocks, keys, HEAD)
        all_k, all_v = (np.broadcast_to(x[:, one], shape) for x in (k, v))
        sums = attend(arch, own, all_k, all_v, np.repeat(by[one], blocks), seen.reshape(blocks, QUERIES), tiles)
        codes = bf16(sums.out, sums.weights[:, None], scale_v[one])
        out[:, head] = codes.swapaxes(1, 2).reshape(blocks * QUERIES, HEAD)[:queries]
    return out


def splits_of(keys: int, splits: int) -> list[tuple[int, int]]:
    """First key and tiles of each split of a sequence."""
    tiles = -(-keys // KEYS)
    each = -(-tiles // splits)
    return [(n * each * KEYS, max(min(each, tiles - n * each), 0)) for n in range(splits)]


def decode(arch: str, q: NDArray[Any], k: NDArray[Any], v: NDArray[Any], by: NDArray[Any], splits: int) -> Sums:
    """Sums of the splits of one sequence: (heads, splits, 128), (heads, splits) and (heads, splits).

    Args:
        arch: architecture.
        q: codes (heads, 128).
        k: codes (keys, kv_heads, 128).
        v: the same.
        by: factors of the products, f32 (kv_heads,).
        splits: workgroups that share the keys.
    """
    (heads, _), (keys, kv_heads, _) = q.shape, k.shape
    group = heads // kv_heads
    found = Sums(*(np.zeros((heads, splits, *rest), np.float32) for rest in ((HEAD,), (), ())))
    for one in range(kv_heads):
        mine = slice(one * group, one * group + group)
        own = blocks_of(q[mine], QUERIES)
        for n, (first, tiles) in enumerate(splits_of(keys, splits)):
            part_k, part_v = k[None, first:, one], v[None, first:, one]
            left = np.full((1, QUERIES), keys - first)
            sums = attend(arch, own, part_k, part_v, by[one : one + 1], left, np.array([tiles]))
            found.out[mine, n] = sums.out[0].T[:group]
            found.weights[mine, n], found.base[mine, n] = sums.weights[0, :group], sums.base[0, :group]
    return found


def combine(arch: str, sums: Sums, scale_v: NDArray[Any]) -> NDArray[Any]:
    """O of splits (..., heads, splits, 128), BF16 codes (..., heads, 128); `scale_v` (..., heads)."""
    there = sums.weights != 0
    base = np.where(there, sums.base, MINUS_INFINITY).max(axis=-1, initial=-np.inf)
    out, weights = np.zeros(sums.out[..., 0, :].shape, np.float32), np.zeros(base.shape, np.float32)
    with np.errstate(all="ignore"):
        for n in range(there.shape[-1]):
            kept = power(arch, sums.base[..., n] - base)
            on = there[..., n]
            wide = np.broadcast_to(kept[..., None], out.shape)
            out = np.where(on[..., None], fma(sums.out[..., n, :], wide, out), out)
            weights = np.where(on, fma(sums.weights[..., n], kept, weights), weights)
    return bf16(out, weights[..., None], scale_v[..., None])
