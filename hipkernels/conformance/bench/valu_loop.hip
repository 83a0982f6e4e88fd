// A loop of vector arithmetic with nothing to load: integer, bit and f32 operations in chains that depend on each other.
// One value a lane goes out, so that nothing can be left away. With `different` the waves start from different values;
// without, they are alike in everything until they store.
#include <hip/hip_runtime.h>

extern "C" __global__ void __launch_bounds__(64)
valu_loop(unsigned* out, int trips, unsigned different) {
    const unsigned wave = blockIdx.x;
    unsigned x = threadIdx.x * 2654435761u;
    if (different) {
        x += wave * different;
        asm volatile("");             // keeps the branch, so that without it no register knows the wave's number
    }
    unsigned y = x ^ 0x9e3779b9u;
    float f = (float)(x & 1023u) * 0.0009765625f;
    float g = (float)(y & 1023u) * 0.0009765625f;
    for (int i = 0; i < trips; i++) {
        x ^= x << 13;                 // xorshift
        x ^= x >> 17;
        x ^= x << 5;
        y = y * 1664525u + x;         // linear congruence
        f = f * 0.7310586f;           // stays between 0 and 1
        f = f + 0.1192029f;
        g = __builtin_fmaf(f, 0.6180340f, g * 0.2689414f);
        y += (x > y) ? 0x10001u : 0x101u;
    }
    out[wave * 64 + threadIdx.x] = x ^ y ^ __builtin_bit_cast(unsigned, f) ^ __builtin_bit_cast(unsigned, g);
}
