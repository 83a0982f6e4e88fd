"""Kernels in HIP under plain names: what is right, and edits that make it faulty, with the check that finds them."""

HEAD = """\
#include <hip/hip_runtime.h>
#define LOADA(p, o, s) __hip_atomic_load(p, o, __HIP_MEMORY_SCOPE_##s)
#define STOREA(p, v, o, s) __hip_atomic_store(p, v, o, __HIP_MEMORY_SCOPE_##s)
#define ADDA(p, v, o, s) __hip_atomic_fetch_add(p, v, o, __HIP_MEMORY_SCOPE_##s)
#define KERNEL(NAME) extern "C" __global__ void NAME(int *out, const int *in, int *flagbuf)
enum { RLX = __ATOMIC_RELAXED, ACQ = __ATOMIC_ACQUIRE, REL = __ATOMIC_RELEASE, AR = __ATOMIC_ACQ_REL };
"""
#   name: (kind, lines of the body, [(text, what replaces it, checks of which one reports it)])
KERNELS = {
    "flag acquire release": (
        "LDS flags and locks",
        """__shared__ int data[256], flag; if (!t) flag = 0; __syncthreads(); if (t < 32) { data[t] = t; if (t
        == 0) STOREA(&flag, 1, REL, WORKGROUP); } else if (t >= 64 && t < 96) { while (!LOADA(&flag, ACQ,
        WORKGROUP)); out[blockIdx.x * 256 + t] = data[t - 64]; }""",
        [
            (
                "data[t] = t; if (t == 0) STOREA(&flag, 1, REL, WORKGROUP);",
                "if (t == 0) STOREA(&flag, 1, REL, WORKGROUP); data[t] = t;",
                ("races",),
            ),
            ("while (!LOADA(&flag, ACQ, WORKGROUP));", "", ("races",)),
        ],
    ),
    "lock": (
        "LDS flags and locks",
        """__shared__ int lock, sum; if (!t) lock = sum = 0; __syncthreads(); if (t % 64 == 0) { int none = 0;
        while (!__hip_atomic_compare_exchange_strong(&lock, &none, 1, ACQ, RLX,
        __HIP_MEMORY_SCOPE_WORKGROUP)) none = 0; sum = sum + t; STOREA(&lock, 0, REL, WORKGROUP); }
        __syncthreads(); out[blockIdx.x * 256 + t] = sum;""",
        [
            (
                "sum = sum + t; STOREA(&lock, 0, REL, WORKGROUP);",
                "STOREA(&lock, 0, REL, WORKGROUP); sum = sum + t;",
                ("races",),
            ),
            ("STOREA(&lock, 0, REL, WORKGROUP); } __syncthreads();", "STOREA(&lock, 0, REL, WORKGROUP); }", ("races",)),
        ],
    ),
    "test and set with a read first": (
        "LDS flags and locks",
        """__shared__ int lock, sum; if (!t) lock = sum = 0; __syncthreads(); if (t % 64 == 0) { for (;;) {
        while (LOADA(&lock, RLX, WORKGROUP)); if (!__hip_atomic_exchange(&lock, 1, ACQ,
        __HIP_MEMORY_SCOPE_WORKGROUP)) break; } sum = sum + t; STOREA(&lock, 0, REL, WORKGROUP); }
        __syncthreads(); out[blockIdx.x * 256 + t] = sum;""",
        [("sum = 0; __syncthreads();", "sum = 0;", ("races",))],
    ),
    "scan": (
        "reuse of the LDS",
        """__shared__ int s[256]; s[t] = in[t]; __syncthreads(); for (int d = 1; d < 256; d *= 2) { int v = t
        >= d ? s[t - d] : 0; __syncthreads(); s[t] += v; __syncthreads(); } out[blockIdx.x * 256 + t] =
        s[t];""",
        [
            ("0; __syncthreads(); s[t] += v;", "0; s[t] += v;", ("races",)),
            ("s[t] += v; __syncthreads(); }", "s[t] += v; }", ("races",)),
        ],
    ),
    "histogram": (
        "atomic operations",
        """__shared__ unsigned h[64]; if (t < 64) h[t] = 0; __syncthreads(); for (int k = 0; k < 4; ++k)
        atomicAdd(&h[(in[t] + k * t) & 63], 1u); __syncthreads(); if (t < 64) atomicAdd((unsigned *)out + t,
        h[t]);""",
        [
            ("h[t] = 0; __syncthreads();", "h[t] = 0;", ("races",)),
            ("1u); __syncthreads();", "1u);", ("races",)),
            ("atomicAdd((unsigned *)out + t, h[t])", "out[t] += h[t]", ("races",)),
        ],
    ),
    "wave reduction": (
        "partial EXEC, barriers",
        """__shared__ int part[16]; int v = in[t]; for (int d = warpSize / 2; d; d /= 2) v += __shfl_down(v,
        d); if (t % warpSize == 0) part[t / warpSize] = v; __syncthreads(); if (t < 256 / warpSize) { v =
        part[t]; for (int d = 256 / warpSize / 2; d; d /= 2) v += __shfl_down(v, d); if (!t) out[blockIdx.x]
        = v; }""",
        [("= v; __syncthreads();", "= v;", ("races",))],
    ),
    "transpose": (
        "reuse of the LDS",
        """__shared__ int m[16][17]; m[t / 16][t % 16] = in[t]; __syncthreads(); out[blockIdx.x * 256 + t] =
        m[t % 16][t / 16];""",
        [
            ("__syncthreads();", "", ("races",)),
            (
                "m[16][17]; m[t / 16][t % 16] = in[t];",
                "m[16][17]; if (t < 250) m[t / 16][t % 16] = in[t];",
                ("uninitialised",),
            ),
        ],
    ),
    "last block": (
        "messages between workgroups",
        """__shared__ bool last; flagbuf[64 + blockIdx.x * 256 + t] = t; __threadfence(); __syncthreads(); if
        (!t) last = atomicAdd(flagbuf, 1) == gridDim.x - 1; __syncthreads(); if (last) { __threadfence();
        int sum = 0; for (unsigned b = 0; b < gridDim.x; ++b) sum += flagbuf[64 + b * 256 + t]; out[t] =
        sum; }""",
        [
            ("= t; __threadfence(); __syncthreads();", "= t; __syncthreads();", ("races",)),
            ("= t; __threadfence(); __syncthreads();", "= t; __threadfence();", ("races",)),
            ("if (last) {", "if (last || t == 5) {", ("races",)),
        ],
    ),
    "lookback": (
        "messages between workgroups",
        """__shared__ int before; if (!t) { before = 0; if (blockIdx.x) { int v; while (!(v = LOADA(flagbuf +
        blockIdx.x - 1, ACQ, AGENT))); before = v; } STOREA(flagbuf + blockIdx.x, before + 1, REL, AGENT); }
        __syncthreads(); out[blockIdx.x * 256 + t] = before;""",
        [("while (!(v = LOADA(flagbuf + blockIdx.x - 1, ACQ, AGENT)));", "v = flagbuf[blockIdx.x - 1];", ("races",))],
    ),
    "grid barrier": (
        "messages between workgroups",
        """flagbuf[64 + blockIdx.x * 256 + t] = t; __syncthreads(); if (!t) { ADDA(flagbuf, 1, REL, AGENT);
        while (LOADA(flagbuf, ACQ, AGENT) < (int)gridDim.x); } __syncthreads(); out[blockIdx.x * 256 + t] =
        flagbuf[64 + (blockIdx.x ^ 1) * 256 + t];""",
        [("} __syncthreads();", "}", ("races",)), ("= t; __syncthreads();", "= t;", ("races",))],
    ),
    "bytes of a dword": (
        "atomic operations",
        """unsigned char *p = (unsigned char *)out + blockIdx.x * 256; p[t] = t;""",
        [("blockIdx.x * 256;", "blockIdx.x * 255;", ("races",))],
    ),
    "scratch": (
        "scratch",
        """int local[32]; for (int k = 0; k < 32; ++k) local[k] = in[(t + k) & 255]; int sum = 0; for (int k =
        0; k < 32; ++k) sum += local[in[k] & 31]; out[blockIdx.x * 256 + t] = sum;""",
        [],
    ),
    "dynamic parts": (
        "reuse of the LDS",
        """extern __shared__ int dyn[]; int *x = dyn, *y = dyn + 256; x[t] = in[t]; y[t] = 2 * in[t];
        __syncthreads(); out[blockIdx.x * 256 + t] = x[t ^ 64] + y[t ^ 64];""",
        [("dyn + 256", "dyn + 192", ("races",)), ("dyn + 256", "dyn + 320", ("bounds",))],
    ),
    "early return": (
        "partial EXEC, barriers",
        """__shared__ int s[256]; s[t] = in[t]; __syncthreads(); if (t >= 200) return; out[blockIdx.x * 256 +
        t] = s[255 - t];""",
        [
            (
                "s[t] = in[t]; __syncthreads(); if (t >= 200) return;",
                "if (t >= 192) return; s[t] = in[t]; __syncthreads();",
                ("barrier", "uninitialised"),
            )
        ],
    ),
    "double buffer": (
        "double buffers, direct-to-LDS",
        """__shared__ int s[2][256]; int v = in[t]; for (int k = 0; k < 4; ++k) { s[k & 1][t] = v;
        __syncthreads(); v += s[k & 1][t ^ 64]; } out[blockIdx.x * 256 + t] = v;""",
        [("s[2][256]", "s[1][256]", ("bounds", "races")), ("s[k & 1][t]", "s[0][t]", ("races", "uninitialised"))],
    ),
    "ordered by the same wave": (
        "partial EXEC, barriers",
        """__shared__ int s[256]; s[t] = in[t]; __builtin_amdgcn_wave_barrier(); out[blockIdx.x * 256 + t] =
        s[t ^ 1];""",
        [("s[t ^ 1]", "s[t ^ 64]", ("races",))],
    ),
    "float atomics": (
        "atomic operations",
        """__shared__ float f; if (!t) f = 0; __syncthreads(); atomicAdd(&f, 1.0f); __syncthreads(); if (!t)
        atomicAdd((float *)out, f);""",
        [("1.0f); __syncthreads();", "1.0f);", ("races",))],
    ),
    "syncthreads_count": (
        "partial EXEC, barriers",
        """int n = __syncthreads_count(in[t] > 3); out[blockIdx.x * 256 + t] = n;""",
        [],
    ),
}
