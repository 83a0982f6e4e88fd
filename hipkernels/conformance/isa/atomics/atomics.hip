// Atomic operations on global memory. Where lanes meet, what is checked does not depend on their order.
#include <hip/hip_runtime.h>

typedef unsigned long long u64;
typedef _Float16 half2v __attribute__((ext_vector_type(2)));

__device__ int global_id() { return blockIdx.x * blockDim.x + threadIdx.x; }

// Many lanes add to few counters; nothing is returned: global_atomic_add.
extern "C" __global__ void histogram(const unsigned char* x, unsigned* bins, int n) {
    const int i = global_id();
    if (i < n) {
        atomicAdd(&bins[x[i] & 31], 1u + (x[i] >> 7));
    }
}

// Each lane draws a ticket and fills the slot it names: every slot is filled exactly once.
extern "C" __global__ void tickets(const int* x, unsigned* counter, unsigned* slots, int n) {
    const int i = global_id();
    if (i < n && x[i] > 0) {
        const unsigned ticket = atomicAdd(counter, 2u);
        slots[ticket / 2] += 1;
    }
}

// Every operation on 32 bits with its old value returned, each lane on an address of its own.
extern "C" __global__ void returning(unsigned* memory, const unsigned* y, unsigned* old, int n) {
    const int i = global_id();
    if (i < n) {
        const unsigned v = y[i];
        int* numbers = reinterpret_cast<int*>(memory);
        old[i] = atomicAdd(&memory[i], v);
        old[n + i] = __hip_atomic_fetch_sub(&memory[n + i], v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
        old[2 * n + i] = atomicMin(&memory[2 * n + i], v);
        old[3 * n + i] = atomicMax(&numbers[3 * n + i], int(v));
        old[4 * n + i] = atomicAnd(&memory[4 * n + i], v);
        old[5 * n + i] = atomicOr(&memory[5 * n + i], v);
        old[6 * n + i] = atomicXor(&memory[6 * n + i], v);
        old[7 * n + i] = atomicExch(&memory[7 * n + i], v);
        old[8 * n + i] = atomicCAS(&memory[8 * n + i], v & 3, v);
        old[9 * n + i] = atomicInc(&memory[9 * n + i], v);
        old[10 * n + i] = atomicDec(&memory[10 * n + i], v);
    }
}

// The same on 64 bits: global_atomic_*_x2, global_atomic_*_u64.
extern "C" __global__ void returning_wide(u64* memory, const u64* y, u64* old, int n) {
    const int i = global_id();
    if (i < n) {
        const u64 v = y[i];
        old[i] = atomicAdd(&memory[i], v);
        old[n + i] = atomicMax(&memory[n + i], v);
        old[2 * n + i] = u64(atomicMin(reinterpret_cast<long long*>(&memory[2 * n + i]), (long long)v));
        old[3 * n + i] = atomicXor(&memory[3 * n + i], v);
        old[4 * n + i] = atomicExch(&memory[4 * n + i], v);
        old[5 * n + i] = atomicCAS(&memory[5 * n + i], v & 3, v);
    }
}

// Extremes over all lanes, signed, unsigned and 64 bits wide, and the bits any and all of them have.
extern "C" __global__ void extremes(const unsigned* x, int* signed_ends, unsigned* ends, u64* wide_ends, int n) {
    const int i = global_id();
    if (i < n) {
        atomicMin(&signed_ends[0], int(x[i]));
        atomicMax(&signed_ends[1], int(x[i]));
        atomicMin(&ends[0], x[i]);
        atomicMax(&ends[1], x[i]);
        atomicOr(&ends[2], x[i] & 0x0f0f0f0fu);
        atomicAnd(&ends[3], x[i] | 0x80000001u);
        atomicXor(&ends[4], x[i]);
        atomicMax(&wide_ends[0], u64(x[i]) << 20 | i);
        atomicAdd(&wide_ends[1], u64(x[i]) * x[i]);
    }
}

// Counters that wrap: their last value depends on how often, not in which order.
extern "C" __global__ void wrapping(unsigned* counters, int n) {
    const int i = global_id();
    if (i < n) {
        atomicInc(&counters[0], 9u);
        atomicDec(&counters[1], 100u);
    }
}

// Sums of small whole numbers, which f32 and f64 hold exactly in every order: global_atomic_add_f32, _add_f64.
extern "C" __global__ void float_sums(const float* x, float* sums, double* wide_sums, int n) {
    const int i = global_id();
    if (i < n) {
        unsafeAtomicAdd(&sums[i % 7], x[i]);
        unsafeAtomicAdd(&wide_sums[i % 5], double(x[i]) * 1024.5);
    }
}

// Old values and sums of floats at addresses of their own, special values among them.
extern "C" __global__ void float_returning(float* memory, const float* y, float* old, int n) {
    const int i = global_id();
    if (i < n) {
        old[i] = unsafeAtomicAdd(&memory[i], y[i]);
    }
}

// What has no instruction is a loop around compare-and-swap; powers of two commute without rounding.
extern "C" __global__ void product_by_cas(const int* exponents, float* products, int n) {
    const int i = global_id();
    if (i < n) {
        const float factor = ldexpf(1.0f, exponents[i]);
        unsigned* cell = reinterpret_cast<unsigned*>(&products[i % 3]);
        unsigned seen = *cell, assumed;
        do {
            assumed = seen;
            seen = atomicCAS(cell, assumed, __float_as_uint(__uint_as_float(assumed) * factor));
        } while (seen != assumed);
    }
}

// The same on 64 bits: a pair of 32-bit numbers that must change together.
extern "C" __global__ void pair_by_cas(const unsigned* x, u64* pairs, int n) {
    const int i = global_id();
    if (i < n) {
        u64* cell = &pairs[i & 1];
        u64 seen = *cell, assumed;
        do {
            assumed = seen;
            const unsigned count = unsigned(assumed) + 1, top = max(unsigned(assumed >> 32), x[i]);
            seen = atomicCAS(cell, assumed, u64(top) << 32 | count);
        } while (seen != assumed);
    }
}

// A floating-point maximum through the order of integers: signed for positive values, reversed for negative ones.
extern "C" __global__ void float_maximum(const float* x, float* top, int n) {
    const int i = global_id();
    if (i < n && x[i] == x[i]) {
        if (signbit(x[i])) {
            atomicMin(reinterpret_cast<unsigned*>(top), __float_as_uint(x[i]));
        } else {
            atomicMax(reinterpret_cast<int*>(top), __float_as_int(x[i]));
        }
    }
}

// f64 at addresses of their own: global_atomic_add_f64, global_atomic_max_f64, global_atomic_min_f64, or loops.
extern "C" __global__ void double_returning(double* memory, const double* y, double* old, int n) {
    const int i = global_id();
    if (i < n) {
        old[i] = unsafeAtomicAdd(&memory[i], y[i]);
        [[clang::atomic(no_remote_memory, no_fine_grained_memory)]] {
            old[n + i] = atomicMax(&memory[n + i], y[i]);
            old[2 * n + i] = atomicMin(&memory[2 * n + i], y[i]);
        }
    }
}

#if defined(__GFX9__) || defined(__GFX12__)
// Two halves at once: global_atomic_pk_add_f16, on small whole numbers.
extern "C" __global__ void packed_halves(const half2v* x, half2v* sums, int n) {
    const int i = global_id();
    if (i < n) {
        __builtin_amdgcn_global_atomic_fadd_v2f16(
            (half2v __attribute__((address_space(1)))*)&sums[i % 6], x[i]);
    }
}
#endif
