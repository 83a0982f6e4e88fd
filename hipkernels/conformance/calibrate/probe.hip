// One matrix instruction on whatever registers it is given: lane and operand as they lie in the fragments. A block is one
// wave and one trial: registers of A, B, C and D follow each other, 64 lanes apart; scales are one register each.
#include <hip/hip_runtime.h>

#include "phases.h"

typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef float f32x2 __attribute__((ext_vector_type(2)));
typedef short short4v __attribute__((ext_vector_type(4)));
typedef __bf16 bf16x8 __attribute__((ext_vector_type(8)));
typedef int i32x4 __attribute__((ext_vector_type(4)));
typedef int i32x6 __attribute__((ext_vector_type(6)));
typedef int i32x8 __attribute__((ext_vector_type(8)));
typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef _Float16 half8 __attribute__((ext_vector_type(8)));

template <unsigned count>
__device__ inline void fetch(unsigned* to, const unsigned* from) {
    for (unsigned r = 0; r < count; r++) to[r] = from[(blockIdx.x * count + r) * 64 + threadIdx.x];
}

template <class T>
__device__ inline T load(const unsigned* from) {
    struct Words {
        unsigned word[sizeof(T) / 4];
    } words;
    fetch<sizeof(T) / 4>(words.word, from);
    return __builtin_bit_cast(T, words);
}

template <>
__device__ inline i32x6 load<i32x6>(const unsigned* from) {  // six registers; the type has the size of eight
    unsigned word[6];
    fetch<6>(word, from);
    return i32x6{(int)word[0], (int)word[1], (int)word[2], (int)word[3], (int)word[4], (int)word[5]};
}

// The builtin takes eight registers, whatever the format; the instruction takes as many as the format fills.
__device__ inline i32x8 wide(i32x8 v) { return v; }
__device__ inline i32x8 wide(i32x6 v) { return i32x8{v[0], v[1], v[2], v[3], v[4], v[5], 0, 0}; }
__device__ inline i32x8 wide(i32x4 v) { return i32x8{v[0], v[1], v[2], v[3], 0, 0, 0, 0}; }

__device__ inline void store(float* to, f32x4 d) {
    for (unsigned r = 0; r < 4; r++) to[(blockIdx.x * 4 + r) * 64 + threadIdx.x] = d[r];
}

#define PROBE(name, type, instruction)                                                                              \
    extern "C" __global__ void __launch_bounds__(64)                                                                \
    probe_##name(const unsigned* a, const unsigned* b, const unsigned* sa, const unsigned* sb, const unsigned* c,    \
                 float* d) {                                                                                        \
        const type x = load<type>(a), y = load<type>(b);                                                            \
        [[maybe_unused]] const unsigned p = load<unsigned>(sa), q = load<unsigned>(sb);                              \
        store(d, instruction);                                                                                      \
    }

#define C load<f32x4>(c)

#if defined(__gfx942__) || defined(__gfx950__)
PROBE(f16_k16, half4, __builtin_amdgcn_mfma_f32_16x16x16f16(x, y, C, 0, 0, 0))
PROBE(bf16_k16, short4v, __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(x, y, C, 0, 0, 0))
PROBE(f32, float, __builtin_amdgcn_mfma_f32_16x16x4f32(x, y, C, 0, 0, 0))
PROBE(fp8, long, __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(x, y, C, 0, 0, 0))
PROBE(bf8, long, __builtin_amdgcn_mfma_f32_16x16x32_bf8_bf8(x, y, C, 0, 0, 0))
#endif
#ifdef __gfx942__
PROBE(xf32, f32x2, __builtin_amdgcn_mfma_f32_16x16x8_xf32(x, y, C, 0, 0, 0))
#endif
#ifdef __gfx950__
// Scales that are the constant 0 make it the instruction without scales.
#define F8F6F4(FORMAT, P, Q) \
    __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(wide(x), wide(y), C, FORMAT, FORMAT, 0, P, 0, Q)
PROBE(f16_k32, half8, __builtin_amdgcn_mfma_f32_16x16x32_f16(x, y, C, 0, 0, 0))
PROBE(bf16_k32, bf16x8, __builtin_amdgcn_mfma_f32_16x16x32_bf16(x, y, C, 0, 0, 0))
PROBE(f8f6f4_fp8, i32x8, F8F6F4(0, 0, 0))
PROBE(f8f6f4_bf8, i32x8, F8F6F4(1, 0, 0))
PROBE(f8f6f4_fp6, i32x6, F8F6F4(2, 0, 0))
PROBE(f8f6f4_bf6, i32x6, F8F6F4(3, 0, 0))
PROBE(f8f6f4_fp4, i32x4, F8F6F4(4, 0, 0))
PROBE(scaled_fp8, i32x8, F8F6F4(0, p, q))
PROBE(scaled_fp4, i32x4, F8F6F4(4, p, q))
#endif
