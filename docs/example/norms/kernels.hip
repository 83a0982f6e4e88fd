// Softmax, layernorm and flash attention as a user writes them: outputs that no reference has bit for bit.
#include <hip/hip_runtime.h>

typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef float float4v __attribute__((ext_vector_type(4)));

// The result of f over all 64 lanes of a wave, in every lane.
template <typename F> __device__ float over_wave(float x, F f, int nearest = 1) {
    for (int step = nearest; step < 64; step *= 2) x = f(x, __shfl_xor(x, step));
    return x;
}
__device__ float larger(float a, float b) { return fmaxf(a, b); }
__device__ float add(float a, float b) { return a + b; }

// y[row] = softmax(x[row]): one wave for each row.
extern "C" __global__ void softmax(const float *x, float *y, int columns) {
    x += blockIdx.x * columns, y += blockIdx.x * columns;
    float top = -INFINITY, sum = 0;
    for (int i = threadIdx.x; i < columns; i += 64) top = fmaxf(top, x[i]);
    top = over_wave(top, larger);
    for (int i = threadIdx.x; i < columns; i += 64) sum += __expf(x[i] - top);
    sum = over_wave(sum, add);
    for (int i = threadIdx.x; i < columns; i += 64) y[i] = __expf(x[i] - top) / sum;
}

// y[row] = (x[row] - mean) / sqrt(variance + 1e-5) * gamma + beta: one wave for each row, of bfloat16.
extern "C" __global__ void layernorm(const __bf16 *x, const float *gamma, const float *beta, __bf16 *y, int columns) {
    x += blockIdx.x * columns, y += blockIdx.x * columns;
    float sum = 0, squares = 0;
    for (int i = threadIdx.x; i < columns; i += 64) sum += float(x[i]);
    float mean = over_wave(sum, add) / columns;
    for (int i = threadIdx.x; i < columns; i += 64) squares += (float(x[i]) - mean) * (float(x[i]) - mean);
    float scale = rsqrtf(over_wave(squares, add) / columns + 1e-5f);
    for (int i = threadIdx.x; i < columns; i += 64) y[i] = __bf16((float(x[i]) - mean) * scale * gamma[i] + beta[i]);
}

// out = softmax(scale q k^T) v for heads of 64 elements: one wave for 16 queries, 16 keys at a time.
// The product k q^T leaves the probabilities of a query where the product v^T p reads them: no LDS is needed.
extern "C" __global__ void flash_attention(const _Float16 *q, const _Float16 *k, const _Float16 *v, float *out, int keys,
                                           float scale) {
    int column = threadIdx.x % 16, group = threadIdx.x / 16, row = blockIdx.x * 16 + column;
    half4 query[4];
    float4v result[4] = {};
    for (int c = 0; c < 4; c++) query[c] = *(const half4 *)(q + row * 64 + c * 16 + group * 4);
    float top = -INFINITY, sum = 0;
    for (int first = 0; first < keys; first += 16) {
        float4v s = {};
        for (int c = 0; c < 4; c++) {
            half4 key = *(const half4 *)(k + (first + column) * 64 + c * 16 + group * 4);
            s = __builtin_amdgcn_mfma_f32_16x16x16f16(key, query[c], s, 0, 0, 0);
        }
        s *= scale;
        float now = over_wave(fmaxf(fmaxf(s[0], s[1]), fmaxf(s[2], s[3])), larger, 16);
        now = fmaxf(now, top);
        float shrink = __expf(top - now), part = 0;
        half4 p;
        for (int j = 0; j < 4; j++) {
            float e = __expf(s[j] - now);
            part += e, p[j] = (_Float16)e;
        }
        sum = sum * shrink + over_wave(part, add, 16), top = now;
        for (int c = 0; c < 4; c++) {
            half4 value;
            for (int j = 0; j < 4; j++) value[j] = v[(first + group * 4 + j) * 64 + c * 16 + column];
            result[c] = __builtin_amdgcn_mfma_f32_16x16x16f16(value, p, result[c] * shrink, 0, 0, 0);
        }
    }
    for (int c = 0; c < 4; c++)
        for (int j = 0; j < 4; j++) out[row * 64 + c * 16 + group * 4 + j] = result[c][j] / sum;
}
