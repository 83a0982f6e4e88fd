// What the generated kernels of the kit share. Row r of `in` has n dwords, one for each work-item; so have rows of `out`.
#include <hip/hip_runtime.h>

#define LANES __builtin_amdgcn_wavefrontsize()
#define VECTOR(N) typedef unsigned w##N __attribute__((ext_vector_type(N)));
typedef unsigned w1;
VECTOR(2)
VECTOR(3)
VECTOR(4)
VECTOR(5)
VECTOR(6)
VECTOR(8)
VECTOR(16)
VECTOR(32)

template <class T, unsigned count>
__device__ inline T take(const unsigned* in, unsigned n, unsigned i, unsigned row) {
    T made = {};
    if constexpr (count == 1)
        made = in[row * n + i];
    else
        for (unsigned r = 0; r < count; r++) made[r] = in[(row + r) * n + i];
    return made;
}

template <class T, unsigned count>
__device__ inline void put(unsigned* out, unsigned n, unsigned i, unsigned row, T value) {
    if constexpr (count == 1)
        out[row * n + i] = value;
    else
        for (unsigned r = 0; r < count; r++) out[(row + r) * n + i] = value[r];
}

#define TAKE(COUNT, NAME, ROW) w##COUNT NAME = take<w##COUNT, COUNT>(in, n, i, ROW);
#define PUT(COUNT, NAME, ROW) put<w##COUNT, COUNT>(out, n, i, ROW, NAME);
// A buffer resource over `out`, 16 bytes a work-item; its parts are the same in every lane.
#define RESOURCE(FLAGS)                                                                                    \
    const unsigned long base = (unsigned long)out;                                                         \
    const w4 resource = {(unsigned)__builtin_amdgcn_readfirstlane((unsigned)base),                         \
                         (unsigned)__builtin_amdgcn_readfirstlane((unsigned)(base >> 32) & 0xffffu),       \
                         16 * n, (unsigned)__builtin_amdgcn_readfirstlane(FLAGS)};
#define KERNEL(NAME)                                                                                       \
    extern "C" __global__ void __launch_bounds__(64) NAME(const unsigned* in, unsigned* out, unsigned n) { \
        const unsigned i = blockIdx.x * LANES + threadIdx.x;

// Known answers: a product of 16 x 16 integers on the vector ALU, and a write behind the end of a buffer.
KERNEL(answer_product)
        const unsigned row = i / 16, column = i % 16;
        unsigned sum = 0;
        for (unsigned k = 0; k < 16; k++) sum += in[row * 16 + k] * in[n + k * 16 + column];
        out[i] = sum;
    }
KERNEL(answer_guard)
        if (i == 0) out[n] = in[0] + 1;
    }
