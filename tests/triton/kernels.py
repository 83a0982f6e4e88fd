"""Kernels in Triton for the tests: what they compute is in cases.py; the last three are wrong on purpose."""

import triton
import triton.language as tl


@triton.jit
def add(x, y, z, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    tl.store(z + i, tl.load(x + i, m) + tl.load(y + i, m), m)


@triton.jit
def softmax(x, y, n, B: tl.constexpr):
    r = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + r * n + i, i < n, float("-inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + r * n + i, e / tl.sum(e, 0), i < n)


@triton.jit
def matmul(a, b, c, K, sa, sb, sc, M: tl.constexpr, N: tl.constexpr, KB: tl.constexpr):
    i = tl.program_id(0) * M + tl.arange(0, M)
    j = tl.program_id(1) * N + tl.arange(0, N)
    k = tl.arange(0, KB)
    acc = tl.zeros((M, N), tl.float32)
    for s in range(0, K, KB):
        left = tl.load(a + i[:, None] * sa + (s + k)[None])
        acc = tl.dot(left, tl.load(b + (s + k)[:, None] * sb + j[None]), acc)
    tl.store(c + i[:, None] * sc + j[None], acc)


@triton.jit
def scaled(a, p, b, q, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, P: tl.constexpr, F: tl.constexpr):
    """One tile of (a * scale p) @ (b * scale q); P elements of K in a byte."""
    i = tl.arange(0, M)
    j = tl.arange(0, N)
    k = tl.arange(0, K // P)
    g = tl.arange(0, K // 32)
    left = tl.load(a + i[:, None] * (K // P) + k[None])
    right = tl.load(b + k[:, None] * N + j[None])
    p_of = tl.load(p + i[:, None] * (K // 32) + g[None])
    q_of = tl.load(q + j[:, None] * (K // 32) + g[None])
    out = tl.dot_scaled(left, p_of, F, right, q_of, F, tl.zeros((M, N), tl.float32))
    tl.store(c + i[:, None] * N + j[None], out)


@triton.jit
def attention(q, k, v, o, n, scale, D: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    i = tl.program_id(0) * M + tl.arange(0, M)
    d = tl.arange(0, D)
    j = tl.arange(0, N)
    rows = tl.load(q + i[:, None] * D + d[None])
    acc = tl.zeros((M, D), tl.float32)
    most = tl.full((M,), -1e30, tl.float32)
    total = tl.zeros((M,), tl.float32)
    for s in range(0, n, N):
        logits = tl.dot(rows, tl.load(k + (s + j)[None] * D + d[:, None])) * scale
        new = tl.maximum(most, tl.max(logits, 1))
        p = tl.exp2(logits - new[:, None])
        shrink = tl.exp2(most - new)
        total = total * shrink + tl.sum(p, 1)
        values = tl.load(v + (s + j)[:, None] * D + d[None])
        acc = tl.dot(p.to(values.dtype), values, acc * shrink[:, None])
        most = new
    tl.store(o + i[:, None] * D + d[None], (acc / total[:, None]).to(rows.dtype))


@triton.jit
def layer_norm(x, w, b, y, n, eps, B: tl.constexpr):
    r = tl.program_id(0)
    i = tl.arange(0, B)
    m = i < n
    v = tl.load(x + r * n + i, m, 0.0).to(tl.float32)
    mean = tl.sum(v, 0) / n
    centred = tl.where(m, v - mean, 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, 0) / n + eps)
    tl.store(y + r * n + i, centred * scale * tl.load(w + i, m, 0.0) + tl.load(b + i, m, 0.0), m)


@triton.jit
def scan(x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y + i, tl.cumsum(tl.load(x + i), 0))


@triton.jit
def sort(x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y + i, tl.sort(tl.load(x + i)))


@triton.jit
def histogram(x, y, B: tl.constexpr, H: tl.constexpr):
    tl.atomic_add(y + tl.arange(0, H), tl.histogram(tl.load(x + tl.program_id(0) * B + tl.arange(0, B)), H))


@triton.jit
def atomics(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(y + i % 64, tl.load(x + i, i < n), i < n)


@triton.jit
def copy_described(source, target, M: tl.constexpr, N: tl.constexpr):
    at = [tl.program_id(0) * M, tl.program_id(1) * N]
    target.store(at, source.load(at) * 2)


@triton.jit
def through_table(table, out, B: tl.constexpr):
    """Sums the tensors whose addresses stand in a tensor."""
    i = tl.arange(0, B)
    total = tl.zeros((B,), tl.float32)
    for k in range(3):
        total += tl.load(tl.load(table + k).to(tl.pointer_type(tl.float32)) + i)
    tl.store(out + i, total)


@triton.jit
def pair_sum(pair, out, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.load(pair[0] + i) + tl.load(pair[1] + i))


@triton.jit
def meeting(counter, out, n):
    """Every workgroup waits for all others."""
    r = tl.program_id(0)
    tl.atomic_add(counter, 1, sem="release")
    while tl.atomic_add(counter, 0, sem="acquire") < n:
        pass
    tl.store(out + r, r + 1)


@triton.jit
def traps(x, n, B: tl.constexpr):
    v = tl.load(x + tl.arange(0, B))
    tl.device_assert(v < n, "too large")
    tl.store(x + tl.arange(0, B), v + 1)


@triton.jit
def says(x, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.device_print("it is ", tl.load(x + i), i.to(tl.float32) / 2)


@triton.jit
def asserts(x, most, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.device_assert(tl.load(x + i) < most, "too large")


@triton.jit
def unmasked(x, z, B: tl.constexpr):
    """Wrong: reads past the end of x."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(z + i, tl.load(x + i))


@triton.jit
def racing(x, B: tl.constexpr):
    """Wrong: each workgroup writes where the others do, without an atomic operation."""
    i = tl.arange(0, B)
    tl.store(x + i, tl.load(x + i) + 1)


@triton.jit
def misaligned(x, y, B: tl.constexpr):
    """Wrong where x is not a multiple of 4: an atomic operation on it."""
    tl.atomic_add(x.to(tl.pointer_type(tl.int32)) + tl.arange(0, B), tl.load(y + tl.arange(0, B)))


@triton.jit
def described_product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """C = A B^T by tensor descriptors, which gfx1250 moves with its tensor data mover."""
    left = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    right = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    out = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        total = tl.dot(left.load([row, k]), right.load([column, k]).T, total)
    out.store([row, column], total)


@triton.jit
def masked_product(a, b, c, M, K, N: tl.constexpr, B: tl.constexpr, MASKED: tl.constexpr):
    """C = A B with rows of A and steps along K that end within a tile; wrong unless MASKED."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    j = tl.arange(0, N)
    k = tl.arange(0, B)
    total = tl.zeros((B, N), tl.float32)
    for step in range(0, K, B):
        inside = (step + k < K) | (not MASKED)
        left = tl.load(a + i[:, None] * K + (step + k)[None], (i < M)[:, None] & inside[None], 0.0)
        total = tl.dot(left, tl.load(b + (step + k)[:, None] * N + j[None], inside[:, None], 0.0), total)
    tl.store(c + i[:, None] * N + j[None], total, (i < M)[:, None])
