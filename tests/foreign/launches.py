"""How code objects made by others are launched, and what NumPy says they compute.

Protocols: the public launchers (AITER's csrc, Triton's launcher, IREE's dispatch), as data/objects/README.md of the
shared folder lists them. Inputs are integers and powers of two wherever the arithmetic then has no rounding, so that
results are compared as equal; softmax and attention have a tolerance in units of their largest output.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import ml_dtypes
import numpy as np

import mfmasim
from tests.oracles import SHARED

OBJECTS = SHARED / "data" / "objects"
SLOT = 16
"""Bytes from one argument of AITER's kernels to the next."""
BF16 = np.dtype(ml_dtypes.bfloat16)


@dataclass(frozen=True)
class Run:
    """One launch: what to pass, and what has to come out."""

    args: object
    grid: object
    block: object
    expected: tuple[tuple[np.ndarray, np.ndarray, float], ...]
    """Output array, the values it has to hold, and the tolerance in units of the largest of them; 0: equal."""
    shared_bytes: int = 0


def only(file):
    """The one kernel of a code object."""
    code = mfmasim.load(OBJECTS / file)
    return code[code.kernels[0]]


def slots(kernel, values):
    """Arguments of a kernel whose argument n begins at byte 16 n; the rest is padding."""
    given = {SLOT * n: value for n, value in enumerate(values)}
    zero = {True: None, False: np.int32(0)}
    return [
        given[arg.offset]
        if arg.offset in given
        else zero[arg.is_pointer]
        if arg.size == 4 or arg.is_pointer
        else np.int64(0)
        for arg in kernel.args
    ]


def wrong(run):
    """How many outputs differ by more than the tolerance."""
    count = 0
    for array, values, tolerance in run.expected:
        found = array.astype(np.float64)
        good = np.abs(found - values) <= tolerance * np.abs(values).max()
        count += int((~good).sum())
    return count


def bf16(values):
    """Values in bf16, rounded to nearest even."""
    return np.asarray(values, np.float32).astype(BF16)


def truncated(values):
    """Values rounded to bf16 towards zero, as the int8 and FP8 kernels store them (their low 16 bits are dropped)."""
    bits = np.asarray(values, np.float32).view(np.uint32) & np.uint32(0xFFFF0000)
    return bits.view(np.float32).astype(np.float64)


def whole(rng, shape, most=3):
    """Small integers."""
    return rng.integers(-most, most + 1, shape).astype(np.float32)


def powers(rng, shape):
    """Powers of two around 1."""
    return np.exp2(rng.integers(-2, 3, shape)).astype(np.float32)


def shuffled(b, *shape, order):
    """Elements of B in the order in which a kernel with preshuffled B reads them."""
    return np.ascontiguousarray(b.reshape(shape).transpose(order))


def topksoftmax(kernel, rng, tokens=34, experts=128, k=4, per_group=4):
    """The k largest of softmax(logits), renormalised."""
    logits = rng.permutation(tokens * experts).reshape(tokens, experts).astype(np.float32) / 64
    indices, weights = np.zeros((tokens, k), np.int32), np.zeros((tokens, k), np.float32)
    values = {"T": indices, "W": weights, "A": logits, "batch": tokens, "expert": experts, "topk": k}
    args = slots(kernel, [*values.values(), 1, 4 * k])
    order = np.argsort(-logits, axis=1)[:, :k]
    e = np.exp(np.take_along_axis(logits, order, 1).astype(np.float64) - logits.max(1, keepdims=True))
    return Run(
        args, -(-tokens // per_group), 256, ((indices, order, 0), (weights, e / e.sum(1, keepdims=True), 2**-19))
    )


def bf16gemm(kernel, rng, m=32, n=64, k=256, *, shuffle=False, tile=(32, 64)):
    """D = A Bᵀ, bf16 operands, f32 output."""
    a, b, d = whole(rng, (m, k)), whole(rng, (n, k)), np.zeros((m, n), np.float32)
    b_codes = bf16(b)
    if shuffle:
        b_codes = shuffled(b_codes, n // 16, 16, k // 32, 4, 8, order=(0, 2, 3, 1, 4))
    row = 4 * n
    names = [d, None, bf16(a), b_codes, np.float32(1), np.float32(0), row, 0, row, 0, 2 * k, 0, 2 * k, 0]
    args = slots(kernel, [*names, m, n, k, 1, 0, None, 0])
    return Run(args, (-(-n // tile[1]), -(-m // tile[0]), 1), 256, ((d, a.astype(np.float64) @ b.T, 0),))


def i8gemm(kernel, rng, m=32, n=128, k=256, tile=(32, 128)):
    """C = (A Bᵀ) scale_A scale_B + bias, int8 operands, bf16 output."""
    a, b = (rng.integers(-4, 5, shape).astype(np.int8) for shape in ((m, k), (n, k)))
    scale_a, scale_b, bias = powers(rng, m), powers(rng, n), whole(rng, n)
    c = np.zeros((m, n), BF16)
    b_codes = shuffled(b, n // 16, 16, k // 32, 2, 16, order=(0, 2, 3, 1, 4))
    args = slots(kernel, [c, a, b_codes, scale_a, scale_b, bias, m, n, k, k, k, 2 * n, 1])
    exact = (a.astype(np.float64) @ b.T.astype(np.float64)) * scale_a[:, None] * scale_b[None] + bias
    expected = truncated(exact)
    return Run(args, (-(-n // tile[1]), -(-m // tile[0])), 256, ((c, expected, 0),))


def fp8gemm(kernel, rng, m=32, n=128, k=256, tile=(32, 128)):
    """C = sum over blocks of 128 of (A Bᵀ) scale_A scale_B, FP8 of the architecture's flavour, bf16 output."""
    name = "e4m3fnuz" if kernel.arch.name == "gfx942" else "e4m3fn"
    fmt = mfmasim.format(name)
    a, b = whole(rng, (m, k)), whole(rng, (n, k))
    scale_a, scale_b = powers(rng, (m, k // 128)), powers(rng, (n // 128, k // 128))
    c = np.zeros((m, n), BF16)
    codes = [fmt.encode(x.astype(np.float64)).astype(np.uint8) for x in (a, b)]
    b_codes = shuffled(codes[1], n // 16, 16, k // 32, 2, 16, order=(0, 2, 3, 1, 4))
    numbers = [m, n, k, k, k, 2 * n, 1, m, n // 128, k // 128]
    args = slots(
        kernel, [c, codes[0], b_codes, np.ascontiguousarray(scale_a.T), scale_b, np.zeros(n, np.float32), *numbers]
    )
    wide_a, wide_b = a.astype(np.float64) * np.repeat(scale_a, 128, 1), b.astype(np.float64)
    wide_b = wide_b * np.repeat(np.repeat(scale_b, 128, 0), 128, 1)
    expected = truncated(wide_a @ wide_b.T)
    return Run(args, (-(-n // tile[1]), -(-m // tile[0])), 256, ((c, expected, 0),))


def f4gemm(kernel, rng, m=128, n=128, k=256, tile=(128, 128)):
    """D = A Bᵀ, MXFP4 operands (32 elements a scale), bf16 output."""
    fmt = mfmasim.format("e2m1fn")
    codes = [rng.integers(0, 16, (rows, k)).astype(np.uint8) for rows in (m, n)]
    scales = [rng.integers(125, 130, (rows, k // 32)).astype(np.uint8) for rows in (m, n)]
    packed = [x[:, ::2] | x[:, 1::2] << 4 for x in codes]
    b_codes = shuffled(packed[1], n // 16, 16, k // 64, 2, 16, order=(0, 2, 3, 1, 4))

    def padded(s):
        rows, columns = -(-s.shape[0] // 256) * 256, -(-s.shape[1] // 8) * 8
        full = np.zeros((rows, columns), np.uint8)
        full[: s.shape[0], : s.shape[1]] = s
        return shuffled(full, rows // 32, 2, 16, columns // 8, 2, 4, order=(0, 3, 5, 2, 4, 1)), columns

    (scale_a, row_a), (scale_b, row_b) = padded(scales[0]), padded(scales[1])
    d = np.zeros((m, n), BF16)
    numbers = [np.float32(1), np.float32(0), 0, 0, n, 0, k, 0, k, 0, m, n, k]
    args = slots(kernel, [d, None, packed[0], b_codes, *numbers, scale_a, scale_b, row_a, 0, row_b, 0, 0, 0])
    wide = [
        fmt.decode(x) * np.exp2(np.repeat(s.astype(np.float64) - 127, 32, 1))
        for x, s in zip(codes, scales, strict=True)
    ]
    expected = bf16((wide[0] @ wide[1].T).astype(np.float32)).astype(np.float64)
    return Run(args, (-(-n // tile[1]), -(-m // tile[0])), 256, ((d, expected, 0),))


def fmha(kernel, rng, batch=1, seq=256, heads=1, dim=128, *, causal=False, rows=256):
    """Softmax attention over layout (batch, seq, head, dim), bf16."""
    q, k, v = (bf16(rng.standard_normal((batch, seq, heads, dim))) for _ in range(3))
    out, lse = np.zeros_like(q), np.zeros((batch, heads, seq), np.float32)
    scale = 1 / math.sqrt(dim)
    per_seq, per_head, per_batch = 2 * heads * dim, 2 * dim, 2 * seq * heads * dim
    strides = [per_seq, per_head, per_batch]
    numbers = [
        np.float32(scale),
        seq,
        per_seq,
        rows * per_seq,
        per_head,
        per_batch,
        1,
        *strides,
        5,
        1,
        seq,
        dim,
        dim,
        heads,
    ]
    args = slots(kernel, [out, q, k, v, lse, *numbers, *strides, *strides, None, None, 4 * seq, None, None])
    qs, ks, vs = (x.astype(np.float64).transpose(0, 2, 1, 3) for x in (q, k, v))
    s = qs @ ks.swapaxes(-1, -2) * scale
    if causal:
        s = np.where(np.tril(np.ones((seq, seq), bool)), s, -np.inf)
    top = s.max(-1, keepdims=True)
    p = np.exp(s - top)
    total = p.sum(-1, keepdims=True)
    expected = (p / total @ vs).transpose(0, 2, 1, 3)
    tiles = -(-seq // rows)
    return Run(
        args,
        (-(-tiles // 2) if causal else tiles, heads, batch),
        512,
        ((out, expected, 2**-7), (lse, (top + np.log(total))[..., 0], 2**-10)),
    )


def paged(kernel, rng, batch=1, kv_heads=1, gqa=8, length=300, dim=128, block=16):
    """Attention over a paged cache of 16 tokens a block."""
    blocks = -(-length // block)
    q = bf16(rng.standard_normal((batch, kv_heads * gqa, dim)))
    keys, values = (rng.standard_normal((batch, blocks * block, kv_heads, dim)) for _ in range(2))
    keys, values = (bf16(x).astype(np.float64) for x in (keys, values))
    tables = rng.permutation(batch * blocks).astype(np.int32).reshape(batch, blocks)
    k_cache = np.zeros((batch * blocks, kv_heads, dim // 8, block, 8), BF16)
    v_cache = np.zeros((batch * blocks, kv_heads, block // 8, dim, 8), BF16)
    for n in range(batch):
        for i, place in enumerate(tables[n]):
            tokens = slice(i * block, (i + 1) * block)
            k_cache[place] = bf16(
                keys[n, tokens].transpose(1, 2, 0).reshape(kv_heads, dim // 8, 8, block).swapaxes(2, 3)
            )
            v_cache[place] = bf16(
                values[n, tokens].transpose(1, 0, 2).reshape(kv_heads, block // 8, 8, dim).swapaxes(2, 3)
            )
    lengths = np.full(batch, length, np.int32)
    out = np.zeros_like(q)
    per_head = 2 * dim * block
    numbers = [
        np.float32(math.log2(math.e) / math.sqrt(dim)),
        blocks,
        kv_heads,
        2 * dim * gqa * kv_heads,
        per_head * kv_heads,
    ]
    args = slots(kernel, [out, q, k_cache, v_cache, tables, lengths, None, None, *numbers, per_head, 0, gqa, None])
    expected = np.zeros((batch, kv_heads * gqa, dim))
    for n in range(batch):
        for h in range(kv_heads * gqa):
            s = keys[n, :length, h // gqa] @ q[n, h].astype(np.float64) / math.sqrt(dim)
            p = np.exp(s - s.max())
            expected[n, h] = p / p.sum() @ values[n, :length, h // gqa]
    return Run(args, (kv_heads, batch), 256, ((out, expected, 2**-7),))


def fmoe(kernel, rng, tokens=5, dim=512, inter=256, experts=4, topk=2, tile=(32, 256)):
    """Mixture of experts: down(silu(gate x) * (up x)), FP8 with scales of 128 x 128 blocks, bf16 output.

    Tokens are sorted by expert into blocks of 32 rows; a row names its token and, in bits 31:24, which of its experts.
    """
    fmt = mfmasim.format("e4m3fnuz")
    x, w1, w2 = whole(rng, (tokens, dim)), whole(rng, (experts, 2 * inter, dim)), whole(rng, (experts, dim, inter))
    scale_x = powers(rng, (tokens, dim // 128)) / 16
    scale_1, scale_2 = (powers(rng, (experts, w.shape[1] // 128, w.shape[2] // 128)) / 16 for w in (w1, w2))
    ids = np.stack([rng.permutation(experts)[:topk] for _ in range(tokens)])
    weights = rng.random((tokens, topk)).astype(np.float32)
    rows, row_weights, of_block = [], [], []
    for expert in range(experts):
        pairs = [(t, j) for t, j in np.ndindex(tokens, topk) if ids[t, j] == expert]
        for first in range(0, len(pairs), tile[0]):
            block = pairs[first : first + tile[0]]
            padding = tile[0] - len(block)
            rows += [t | j << 24 for t, j in block] + [tokens | topk << 24] * padding
            row_weights += [weights[pair] for pair in block] + [0] * padding
            of_block.append(expert)
    out = np.zeros((tokens, dim), BF16)
    codes = [fmt.encode(w.astype(np.float64)).astype(np.uint8) for w in (x, w1, w2)]
    w1_codes, w2_codes = (
        shuffled(w, experts, w.shape[1] // 16, 16, w.shape[2] // 32, 2, 16, order=(0, 1, 3, 4, 2, 5)) for w in codes[1:]
    )
    lists = [np.array(rows, np.int32), np.array(row_weights, np.float32), np.array(of_block, np.int32)]
    valid = np.array([len(rows), tokens], np.int32)
    strides = [
        dim,
        dim,
        inter,
        2 * dim,
        2 * inter * dim,
        inter * dim,
        4 * scale_1[0].size,
        4 * scale_2[0].size,
        4 * inter,
    ]
    pointers = [out, codes[0], w1_codes, valid, w2_codes, np.ascontiguousarray(scale_x.T), scale_1, scale_2, None]
    args = slots(kernel, [*pointers, *lists, dim, inter, tokens, experts, *strides, topk])

    def blocks(scale):
        return np.repeat(np.repeat(scale.astype(np.float64), 128, -2), 128, -1)

    wide_x = x * np.repeat(scale_x.astype(np.float64), 128, 1)
    wide_1, wide_2 = w1 * blocks(scale_1), w2 * blocks(scale_2)
    expected = np.zeros((tokens, dim))
    for t, j in np.ndindex(tokens, topk):
        gate, up = np.split(wide_1[ids[t, j]] @ wide_x[t], 2)
        expected[t] += weights[t, j] * (wide_2[ids[t, j]] @ (gate / (1 + np.exp(-gate)) * up))
    return Run(args, (inter // tile[1], len(of_block)), 256, ((out, expected, 2**-4),))


def pingpong(kernel, rng):
    """A plain f32 matmul, 256 x 256 x 256."""
    a, b, c = whole(rng, (256, 256)), whole(rng, (256, 256)), np.zeros((256, 256), np.float32)
    return Run([a, b, c, None, None], 4, 512, ((c, a.astype(np.float64) @ b, 0),), shared_bytes=65536)


def iree(kernel, rng):
    """An f16 matmul with f32 result, 256 x 128 x 512."""
    a, b = (whole(rng, shape).astype(np.float16) for shape in ((256, 512), (512, 128)))
    c = np.zeros((256, 128), np.float32)
    block = tuple(kernel.info.metadata.reqd_workgroup_size)
    return Run([a, b, c], 8, block, ((c, a.astype(np.float64) @ b.astype(np.float64), 0),))


def softmax(kernel, rng, rows=6, n=100):
    """Softmax of each row."""
    x = rng.standard_normal((rows, 128)).astype(np.float32)
    y = np.zeros_like(x)
    e = np.exp(x[:, :n].astype(np.float64))
    expected = np.zeros((rows, 128))
    expected[:, :n] = e / e.sum(1, keepdims=True)
    return Run([x, y, n, 128, None, None], rows, 128, ((y, expected, 1e-5),), shared_bytes=4096)


def layernorm(kernel, rng, rows=5, n=256):
    """Layer norm of each row, f16 in, f32 out."""
    x = rng.standard_normal((rows, n)).astype(np.float16)
    w, b = (rng.standard_normal(n).astype(np.float32) for _ in range(2))
    y = np.zeros((rows, n), np.float32)
    wide = x.astype(np.float64)
    centred = wide - wide.mean(1, keepdims=True)
    expected = centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5) * w + b
    return Run([x, w, b, y, n, np.float32(1e-5), None, None], rows, 128, ((y, expected, 1e-5),), shared_bytes=4096)


def scan_sort(kernel, rng, n=256):
    """Prefix sums, and the elements in ascending order."""
    x = rng.integers(-1000, 1000, n).astype(np.int32)
    sums, ordered = np.zeros_like(x), np.zeros_like(x)
    return Run(
        [x, sums, ordered, None, None], 1, 128, ((sums, np.cumsum(x), 0), (ordered, np.sort(x), 0)), shared_bytes=4096
    )


def matmul_f16(kernel, rng, m=64, n=64, k=64):
    """A 64 x 64 x 32 tile matmul, f16."""
    a, b = whole(rng, (m, k)).astype(np.float16), whole(rng, (k, n)).astype(np.float16)
    c = np.zeros((m, n), np.float32)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    return Run([a, b, c, k, k, n, n, None, None], (m // 64, n // 64), 128, ((c, expected, 0),), shared_bytes=8192)
