// Loops: uniform and diverging trip counts, nests, early exits.
#include <hip/hip_runtime.h>

typedef unsigned long long u64;

__device__ int global_id() { return blockIdx.x * blockDim.x + threadIdx.x; }

// Collatz: every lane leaves when it is done, the wave goes on until the last is.
extern "C" __global__ void collatz(const unsigned* x, unsigned* steps, u64* peak, int n) {
    const int i = global_id();
    if (i < n) {
        u64 v = x[i], top = v;
        unsigned count = 0;
        while (v > 1) {
            v = v & 1 ? 3 * v + 1 : v >> 1;
            top = max(top, v);
            count++;
        }
        steps[i] = count;
        peak[i] = top;
    }
}

// Euclid: a division in a diverging loop.
extern "C" __global__ void euclid(const unsigned* x, const unsigned* y, unsigned* out, int n) {
    const int i = global_id();
    if (i < n) {
        unsigned a = x[i], b = y[i];
        while (b) {
            const unsigned rest = a % b;
            a = b;
            b = rest;
        }
        out[i] = a;
    }
}

// A trip count all lanes share, known only at run time: scalar counter, s_cmp, s_cbranch_scc.
extern "C" __global__ void matrix_times_vector(const int* a, const int* x, int* y, int rows, int columns) {
    const int row = global_id();
    if (row < rows) {
        unsigned sum = 0;
        for (int k = 0; k < columns; k++) {
            sum += unsigned(a[row * columns + k]) * unsigned(x[k]);
        }
        y[row] = int(sum);
    }
}

// break and continue in a nest: the smallest prime factors.
extern "C" __global__ void factors(const unsigned* x, unsigned* out, int n) {
    const int i = global_id();
    if (i < n) {
        unsigned rest = x[i], found = 0, sum = 0;
        for (unsigned p = 2; p < 60; p++) {
            if (p > 2 && p % 2 == 0) {
                continue;
            }
            while (rest % p == 0) {
                rest /= p;
                sum += p;
                if (++found == 5) {
                    break;
                }
            }
            if (found >= 5 || rest == 1) {
                break;
            }
        }
        out[i] = rest;
        out[n + i] = found;
        out[2 * n + i] = sum;
    }
}

// A body that runs before its condition is asked, over bits from the top; unrolled by hand and by the compiler.
extern "C" __global__ void integer_root(const u64* x, unsigned* out, int n) {
    const int i = global_id();
    if (i < n) {
        u64 rest = x[i], root = 0;
        u64 bit = 1ull << 62;
        do {
            if (rest >= root + bit) {
                rest -= root + bit;
                root = (root >> 1) + bit;
            } else {
                root >>= 1;
            }
            bit >>= 2;
        } while (bit);
        out[i] = unsigned(root);
    }
}

// Iteration in single precision until it leaves a circle: the trip count depends on every bit of the arithmetic.
extern "C" __global__ void mandelbrot(unsigned* out, int width, int height, int limit, float step) {
#pragma clang fp contract(off)
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < width && row < height) {
        const float cr = column * step - 2.0f, ci = row * step - 1.25f;
        float zr = 0, zi = 0;
        int k = 0;
        for (; k < limit && zr * zr + zi * zi < 4.0f; k++) {
            const float next = zr * zr - zi * zi + cr;
            zi = 2.0f * zr * zi + ci;
            zr = next;
        }
        out[row * width + column] = k;
    }
}

// Steps of a whole grid, the usual way to cover an array of any length.
extern "C" __global__ void grid_stride(const unsigned* x, unsigned* out, int n) {
    for (int i = global_id(); i < n; i += gridDim.x * blockDim.x) {
        out[i] = x[i] * 2654435761u + blockIdx.x * 0 + i;
    }
}

// Arrays small enough for registers, indexed by a loop that is unrolled: an insertion network of eight.
extern "C" __global__ void sort_eight(const int* x, int* out, int n) {
    const int i = global_id();
    if (i < n) {
        int v[8];
#pragma unroll
        for (int k = 0; k < 8; k++) {
            v[k] = x[8 * i + k];
        }
#pragma unroll
        for (int last = 7; last > 0; last--) {
#pragma unroll
            for (int k = 0; k < last; k++) {
                const int low = min(v[k], v[k + 1]);
                v[k + 1] = max(v[k], v[k + 1]);
                v[k] = low;
            }
        }
#pragma unroll
        for (int k = 0; k < 8; k++) {
            out[8 * i + k] = v[k];
        }
    }
}
