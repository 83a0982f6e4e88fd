"""Products and attention in TileLang, on the devices of `mfmasim hiprt`: python tiles_of_tilelang.py ARCH KERNEL.

Sums of integers are exact and have to be equal to PyTorch's on the CPU; attention has a tolerance.
"""

import sys

import tilelang
import tilelang.language as T
import torch

M, N, K = 128, 256, 128
FP8 = {"gfx942": "float8_e4m3fnuz", "gfx950": "float8_e4m3fn"}
SUMS = {"int8": "int32"}


def product(dtype, accumulator, stages):
    """C = A B^T in tiles of 64 x 128 x 32."""
    rows, columns, depth = 64, 128, 64 if "8" in dtype else 32

    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((N, K), dtype), C: T.Tensor((M, N), accumulator)):
        with T.Kernel(T.ceildiv(N, columns), T.ceildiv(M, rows), threads=256) as (bx, by):
            a, b = T.alloc_shared((rows, depth), dtype), T.alloc_shared((columns, depth), dtype)
            c = T.alloc_fragment((rows, columns), accumulator)
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, depth), num_stages=stages):
                T.copy(A[by * rows, k * depth], a)
                T.copy(B[bx * columns, k * depth], b)
                T.gemm(a, b, c, transpose_B=True)
            T.copy(c, C[by * rows, bx * columns])

    return main


def attention(keys, size):
    """One head: R = softmax(Q K^T / sqrt(size)) V, by parts of 32 keys."""
    rows, part, scale = 64, 32, 1.44269504 / size**0.5
    shape, dtype = (keys, size), "float16"

    @T.prim_func
    def main(
        Q: T.Tensor(shape, dtype), K: T.Tensor(shape, dtype), V: T.Tensor(shape, dtype), R: T.Tensor(shape, dtype)
    ):
        with T.Kernel(T.ceildiv(keys, rows), threads=256) as bx:
            q, k, v = (T.alloc_shared((n, size), "float16") for n in (rows, part, part))
            p = T.alloc_shared((rows, part), "float16")
            s, o = T.alloc_fragment((rows, part), "float32"), T.alloc_fragment((rows, size), "float32")
            most, former, factor, row, total = (T.alloc_fragment((rows,), "float32") for _ in range(5))
            T.copy(Q[bx * rows, 0], q)
            T.clear(o)
            T.clear(total)
            T.fill(most, -T.infinity("float32"))
            for step in T.serial(T.ceildiv(keys, part)):
                T.copy(K[step * part, 0], k)
                T.clear(s)
                T.gemm(q, k, s, transpose_B=True)
                T.copy(most, former)
                T.reduce_max(s, most, dim=1, clear=False)
                for i in T.Parallel(rows):
                    factor[i] = T.exp2((former[i] - most[i]) * scale)
                for i, j in T.Parallel(rows, part):
                    s[i, j] = T.exp2((s[i, j] - most[i]) * scale)
                T.reduce_sum(s, row, dim=1)
                for i in T.Parallel(rows):
                    total[i] = total[i] * factor[i] + row[i]
                for i, j in T.Parallel(rows, size):
                    o[i, j] *= factor[i]
                T.copy(s, p)
                T.copy(V[step * part, 0], v)
                T.gemm(p, v, o)
            for i, j in T.Parallel(rows, size):
                o[i, j] /= total[i]
            T.copy(o, R[bx * rows, 0])

    return main


def main(arch, kernel):
    """Compile and run one kernel; print whether it is right."""
    target = {"kind": "hip", "mcpu": arch}
    draw = torch.Generator().manual_seed(1)
    if kernel == "attention":
        made = tilelang.compile(attention(64, 64), target=target, execution_backend="cython")
        q, k, v = (torch.randn(64, 64, generator=draw).half() for _ in range(3))
        out = torch.empty(64, 64, dtype=torch.float16, device="cuda")
        made(q.cuda(), k.cuda(), v.cuda(), out)
        right = torch.softmax(q.float() @ k.float().T / 8, dim=1) @ v.float()
        print("right", bool(torch.allclose(out.cpu().float(), right, atol=4e-3, rtol=4e-3)))
        return
    dtype = FP8[arch] if kernel == "fp8" else kernel
    sums = SUMS.get(dtype, "float32")
    made = tilelang.compile(
        product(dtype, sums, 2 if kernel == "float16" else 0), target=target, execution_backend="cython"
    )
    a, b = (torch.randint(-4, 5, (n, K), generator=draw) for n in (M, N))
    out = torch.empty(M, N, dtype=getattr(torch, sums), device="cuda")
    made(*(one.to(getattr(torch, dtype)).cuda() for one in (a, b)), out)
    print("right", bool((out.cpu().long() == a @ b.T).all()))


main(*sys.argv[1:3])
