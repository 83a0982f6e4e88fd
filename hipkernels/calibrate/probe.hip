// One matrix instruction on whatever registers it is given: lane and operand as they lie in the fragments. A block is one
// wave and one trial: registers of A, B, C and D follow each other, 64 lanes apart; scales are one register each.
#include <hip/hip_runtime.h>

#include "phases.h"

typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef int i32x8 __attribute__((ext_vector_type(8)));
typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef _Float16 half8 __attribute__((ext_vector_type(8)));

template <class T>
__device__ inline T load(const unsigned* from) {
    constexpr unsigned count = sizeof(T) / 4;
    struct Words {
        unsigned word[count];
    } words;
    for (unsigned r = 0; r < count; r++) words.word[r] = from[(blockIdx.x * count + r) * 64 + threadIdx.x];
    return __builtin_bit_cast(T, words);
}

__device__ inline void store(float* to, f32x4 d) {
    for (unsigned r = 0; r < 4; r++) to[(blockIdx.x * 4 + r) * 64 + threadIdx.x] = d[r];
}

#define PROBE(name, type, instruction)                                                                              \
    extern "C" __global__ void __launch_bounds__(64)                                                                \
    probe_##name(const unsigned* a, const unsigned* b, const unsigned* sa, const unsigned* sb, const unsigned* c,    \
                 float* d) {                                                                                        \
        const type x = load<type>(a), y = load<type>(b);                                                            \
        const unsigned p = load<unsigned>(sa), q = load<unsigned>(sb);                                              \
        store(d, instruction);                                                                                      \
    }

#define C load<f32x4>(c)

#if defined(__gfx942__) || defined(__gfx950__)
PROBE(f16_k16, half4, __builtin_amdgcn_mfma_f32_16x16x16f16(x, y, C, 0, 0, 0))
PROBE(fp8, long, __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(x, y, C, 0, 0, 0))
#endif
#ifdef __gfx950__
PROBE(f16_k32, half8, __builtin_amdgcn_mfma_f32_16x16x32_f16(x, y, C, 0, 0, 0))
PROBE(scaled_fp8, i32x8, __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(x, y, C, 0, 0, 0, p, 0, q))
#endif
