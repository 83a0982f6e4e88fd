// Pairs that are not equal: each differs for some contents of the buffers, a few of them for very few.
#include <hip/hip_runtime.h>

#define KERNEL extern "C" __global__ void
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)
#define PAIR(name, first, second)                                                                                      \
    KERNEL name##_a(float *o, const float *x, const float *y, int n) { int i = THREAD; if (i < n) { first; } }         \
    KERNEL name##_b(float *o, const float *x, const float *y, int n) { int i = THREAD; if (i < n) { second; } }
#define BITS(v) __builtin_bit_cast(unsigned, v)
#define FLOAT(v) __builtin_bit_cast(float, v)

PAIR(zero_sign, o[i] = x[i] + 0.0f, o[i] = x[i])                                   // -0 + 0 is +0
PAIR(quiet, o[i] = __builtin_canonicalizef(x[i]), o[i] = x[i])                      // a signalling NaN becomes quiet
PAIR(one_of_all, o[i] = BITS(x[i]) == 0x12345678u ? 1.0f : x[i], o[i] = x[i])        // one input in 2^32
PAIR(fused, o[i] = __builtin_fmaf(x[i], y[i], 1.0f), { volatile float p = x[i] * y[i]; o[i] = p + 1.0f; })
PAIR(distributed, o[i] = x[i] * (y[i] + 1.0f), o[i] = __builtin_fmaf(x[i], y[i], x[i]))
PAIR(nan_order, o[i] = fmaxf(x[i], y[i]), o[i] = x[i] > y[i] ? x[i] : y[i])
PAIR(negated, o[i] = -(x[i] - y[i]), o[i] = y[i] - x[i])                             // the sign of a zero
PAIR(last, o[i] = x[i], o[i] = i == n - 1 ? y[i] : x[i])
PAIR(low_bit, o[i] = FLOAT(BITS(x[i]) & ~1u), o[i] = x[i])
PAIR(shifted, o[i] = FLOAT(BITS(x[i]) >> 16 << 16), o[i] = FLOAT(BITS(x[i]) >> 17 << 17))
PAIR(narrow, o[i] = (float)(_Float16)x[i], o[i] = x[i])
PAIR(sum_order, o[i] = x[i] + y[i] + 3.0f, o[i] = x[i] + (y[i] + 3.0f))
PAIR(approximate, o[i] = x[i] / y[i], o[i] = x[i] * __builtin_amdgcn_rcpf(y[i]))
PAIR(exchanged, o[i] = x[i] - y[i], o[i] = y[i] - x[i])
PAIR(neighbour, o[i] = x[i], o[i] = x[i == 77 ? 78 : i])
PAIR(unsigned_order, o[i] = BITS(x[i]) < BITS(y[i]) ? x[i] : y[i], o[i] = (int)BITS(x[i]) < (int)BITS(y[i]) ? x[i] : y[i])
PAIR(saturated, o[i] = fminf(x[i], 3.4028235e38f), o[i] = x[i])
PAIR(absolute, o[i] = __builtin_sqrtf(x[i] * x[i]), o[i] = __builtin_fabsf(x[i]))
