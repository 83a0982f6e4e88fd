// Loops whose clocks are published of an MI350X (facebookexperimental/triton 2507, tlx/tools/microbench/amd_latency.py):
// the loops that LLVM makes of those programs, eight of the programs' turns in one. A workgroup has four waves.
#include <hip/hip_runtime.h>

typedef _Float16 half8 __attribute__((ext_vector_type(8)));
typedef float float4_ __attribute__((ext_vector_type(4)));

#define SIX(text) text text text text text text
#define COUNT "s_add_i32 %[n], %[n], -1\n s_cmp_lg_u32 %[n], 0\n"
#define LOOP(body) "1:\n" body "s_cbranch_scc1 1b\n"

#define FMA "v_fma_f32 %[x], %[y], %[x], %[y]\n"

extern "C" __global__ __launch_bounds__(256) void dependent_fma(float *out, int turns) {
    float x = threadIdx.x, y = 0.5f;
    asm volatile(LOOP(FMA SIX(FMA) COUNT FMA) : [x] "+v"(x), [n] "+s"(turns) : [y] "v"(y));
    out[threadIdx.x] = x;
}

#define MFMA(d) "v_mfma_f32_16x16x32_f16 %[" #d "], %[a], %[a], %[" #d "]\n"

extern "C" __global__ __launch_bounds__(256) void dependent_mfma(float4_ *out, int turns) {
    half8 a = (_Float16)threadIdx.x;
    float4_ c = 0;
    asm volatile(LOOP(MFMA(c) COUNT SIX(MFMA(c)) MFMA(c)) : [c] "+v"(c), [n] "+s"(turns) : [a] "v"(a));
    out[threadIdx.x] = c;
}

#define FOUR MFMA(c) MFMA(d) MFMA(e) MFMA(f)

extern "C" __global__ __launch_bounds__(256) void four_mfma(float4_ *out, int turns) {
    half8 a = (_Float16)threadIdx.x;
    float4_ c = 0, d = 1, e = 2, f = 3;
    asm volatile(LOOP(MFMA(c) COUNT MFMA(d) MFMA(e) MFMA(f) SIX(FOUR) FOUR)
                 : [c] "+v"(c), [d] "+v"(d), [e] "+v"(e), [f] "+v"(f), [n] "+s"(turns)
                 : [a] "v"(a));
    out[threadIdx.x] = c + d + e + f;
}

#define AND(x) "v_and_b32 %[" #x "], 63, %[" #x "]\n"
#define SHIFT(x) "v_lshl_add_u32 %[" #x "], %[" #x "], 2, %[base]\n"
#define READ(x) "ds_read_b32 %[" #x "], %[" #x "]\n"
#define WAIT(n) "s_waitcnt lgkmcnt(" #n ")\n"

#define NEXT WAIT(0) AND(w) SHIFT(w) READ(w)

extern "C" __global__ __launch_bounds__(256) void lds_chain(int *out, int turns) {
    __shared__ int table[64];
    table[threadIdx.x % 64] = threadIdx.x * 17 + 5 & 63;
    __syncthreads();
    int w = 0, base = (int)(long)(__attribute__((address_space(3))) int *)table;
    asm volatile(LOOP(NEXT COUNT SIX(NEXT) NEXT) WAIT(0)
                 : [w] "+v"(w), [n] "+s"(turns)
                 : [base] "s"(base)
                 : "memory");
    out[threadIdx.x] = w;
}

#define FIRST                                                                                                       \
    WAIT(3) AND(w) WAIT(2) AND(x) WAIT(1) AND(y) WAIT(0) AND(z) SHIFT(w) SHIFT(x) SHIFT(y) SHIFT(z) READ(w) READ(x) \
        READ(y) READ(z)
#define LATER                                                                                                       \
    WAIT(3) AND(w) WAIT(2) AND(x) WAIT(1) AND(y) SHIFT(w) SHIFT(x) SHIFT(y) WAIT(0) AND(z) READ(w) READ(x) READ(y)  \
        SHIFT(z) READ(z)

extern "C" __global__ __launch_bounds__(256) void four_lds_chains(int *out, int turns) {
    __shared__ int table[64];
    table[threadIdx.x % 64] = threadIdx.x * 17 + 5 & 63;
    __syncthreads();
    int w = 0, x = 7, y = 19, z = 31, base = (int)(long)(__attribute__((address_space(3))) int *)table;
    asm volatile(LOOP(FIRST COUNT SIX(LATER) LATER) WAIT(0)
                 : [w] "+v"(w), [x] "+v"(x), [y] "+v"(y), [z] "+v"(z), [n] "+s"(turns)
                 : [base] "s"(base)
                 : "memory");
    out[threadIdx.x] = w + x + y + z;
}

#define LOAD "s_waitcnt vmcnt(0)\n v_lshlrev_b32 %[w], 2, %[w]\n global_load_dword %[w], %[w], %[table]\n"

extern "C" __global__ __launch_bounds__(256) void global_chain(const int *table, int *out, int turns) {
    int w = 0;
    asm volatile(LOOP(LOAD COUNT SIX(LOAD) LOAD) "s_waitcnt vmcnt(0)\n"
                 : [w] "+v"(w), [n] "+s"(turns)
                 : [table] "s"(table)
                 : "memory");
    out[threadIdx.x] = w;
}
