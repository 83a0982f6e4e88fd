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

HEAD, QUERIES, WAVES = 128, 32, 4
HEADROOM = np.float32(2)
LOG2_E = np.float32(1.4426950408889634)
MINUS_INFINITY = np.float32(-np.inf)
HALVES = np.arange(2)[:, None]
BYTES = np.arange(64)
# What byte b of a lane in half h of the wave holds: an element of the head, and a key of the tile.
ELEMENT = BYTES // 16 * 32 + 16 * HALVES + BYTES % 16
KEY_CDNA = (BYTES // 16 * 32 + BYTES % 16 // 4 * 8 + 4 * HALVES + BYTES % 4)[:, :32]
KEY_GFX1250 = BYTES // 8 * 16 + 8 * HALVES + BYTES % 8


@dataclass(frozen=True)
class Way:
    """What the kernels of an architecture multiply, and how."""

    fp8: str
    shift: float
    """Of the exponents of weights."""
    key: NDArray[Any]
    """Of a tile: the key that each half and byte holds."""
    scores: str
    """Matrix instruction of the first product."""
    sums: str

    @property
    def keys(self) -> int:
        """Of a tile."""
        return self.key.size


_SCALED = "v_mfma_scale_f32_32x32x64_f8f6f4"
WAYS = {
    "gfx942": Way("e4m3fnuz", 5, KEY_CDNA, *["v_mfma_f32_32x32x16_fp8_fp8"] * 2),
    "gfx950": Way("e4m3fn", 6, KEY_CDNA, _SCALED, _SCALED),
    "gfx1250": Way("e4m3fn", 6, KEY_GFX1250, "v_wmma_f32_16x16x128_f8f6f4", "v_wmma_f32_16x16x128_fp8_fp8"),
}


class Product:
    """Sums of products of whole tiles, in the order in which the lanes hold what is summed."""

    def __init__(self, arch: str, name: str, held: NDArray[Any]) -> None:
        formats: dict[str, Any] = dict.fromkeys("ab", WAYS[arch].fp8) if "f8f6f4" in name else {}
        self.op = matrix.instruction(arch, name, **formats)
        table = self.op.A.table()
        table = table[table["row"] == 0]
        half, byte = table["lane"] // self.op.m, table["vgpr"] * 4 + table["bit"] // 8
        self.orders = []  # an instruction takes so many bytes of each lane
        for first in range(0, held.shape[1], self.op.k // 2):
            order = np.empty(self.op.k, np.int64)
            order[table["col"]] = held[half, first + byte]
            self.orders.append(order)

    def __call__(self, a: NDArray[Any], b: NDArray[Any], c: NDArray[Any]) -> NDArray[Any]:
        """Add A B of codes (waves, rows, n) and (waves, n, columns) to c (waves, rows, columns) f32."""
        op, (waves, rows, columns) = self.op, c.shape
        down, across = rows // op.m, columns // op.n
        sums = c.reshape(waves, down, op.m, across, op.n).swapaxes(2, 3)
        sums = np.ascontiguousarray(sums).view(np.uint32)
        for order in self.orders:
            x = a[..., order].reshape(waves, down, 1, op.m, op.k)
            y = b[:, order].reshape(waves, 1, op.k, across, op.n).swapaxes(2, 3)
            x, y = (np.broadcast_to(m, (waves, down, across, *m.shape[-2:])) for m in (x, y))
            sums = op.multiply(np.ascontiguousarray(x), np.ascontiguousarray(y), sums)
        return sums.view(np.float32).swapaxes(2, 3).reshape(c.shape)


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
    way = WAYS[arch]
    keys, fmt = way.keys, mfmasim.format(way.fp8)
    product, average = Product(arch, way.scores, ELEMENT), Product(arch, way.sums, way.key)
    waves, most = len(q), int(tiles.max(initial=0))
    k, v = (np.pad(x[:, : most * keys], ((0, 0), (0, max(most * keys - x.shape[1], 0)), (0, 0))) for x in (k, v))
    queries: NDArray[Any] = q.swapaxes(1, 2)  # (waves, 128, 32)
    shift = np.asarray(np.float32(-way.shift))
    nothing = np.zeros((waves, keys, QUERIES), np.float32)
    by = by[:, None].astype(np.float32)
    reference, base = np.full((waves, 32), MINUS_INFINITY), np.zeros((waves, 32), np.float32)
    total, out = np.zeros((waves, 2, 2, 2, 32), np.float32), np.zeros((waves, HEAD, 32), np.float32)
    with np.errstate(all="ignore"):
        for t in range(most):
            some = slice(t * keys, t * keys + keys)
            number = t * keys + np.arange(keys)[:, None]
            s = np.where(number < seen[:, None], product(k[:, some], queries, nothing), MINUS_INFINITY)
            active = (t < tiles)[:, None]
            top = np.fmax(np.fmax.reduce(s, axis=1), reference)
            grown = ((top - reference) * by > HEADROOM).any(axis=1, keepdims=True) & active
            finite = np.where(top == MINUS_INFINITY, np.float32(0), top)
            kept = np.where(grown, power(arch, (reference - finite) * by), np.float32(1))
            reference = np.where(grown, top, reference)
            base = np.where(grown, fma(finite, np.broadcast_to(by, finite.shape), shift), base)
            total, out = total * kept[:, None, None, None], out * kept[:, None]
            w = power(arch, fma(s, np.broadcast_to(by[:, None], s.shape), -base[:, None]))
            fours = w[:, way.key].reshape(waves, 2, keys // 8, 2, 2, 32)  # by half and word
            sums = total
            for n in range(keys // 8):
                sums = sums + fours[:, :, n]
            p = fmt.encode(w.astype(np.float64)).astype(np.uint8)
            more = average(v[:, some].swapaxes(1, 2), p, out)
            total = np.where(active[..., None, None, None], sums, total)
            out = np.where(active[..., None], more, out)
        pairs = total[:, :, 0] + total[:, :, 1]
        halves = pairs[:, :, 0] + pairs[:, :, 1]
        return Sums(out, halves[:, 0] + halves[:, 1], base)


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
    tiles = np.maximum(-(-seen[last] // WAYS[arch].keys), 0) if queries else last
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


def splits_of(keys: int, splits: int, tile: int) -> list[tuple[int, int]]:
    """First key and tiles of each split of a sequence."""
    tiles = -(-keys // tile)
    each = -(-tiles // splits)
    return [(n * each * tile, max(min(each, tiles - n * each), 0)) for n in range(splits)]


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
        for n, (first, tiles) in enumerate(splits_of(keys, splits, WAYS[arch].keys)):
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
