// Attention forward, O = softmax(scale Q K^T) V, for every batch and head: what its kernels are given, which keys a query
// may see, and how 16-bit numbers are read and made.
#pragma once
#include <hip/hip_runtime.h>

#pragma clang fp contract(off)  // where a product and a sum are one operation the kernel says so

typedef short codes8 __attribute__((ext_vector_type(8)));

struct F16 {
  typedef _Float16 type;
  static constexpr short infinity = 0x7c00;
};
struct BF16 {
  typedef __bf16 type;
  static constexpr short infinity = 0x7f80;
};
template <class T>
__device__ float value_of(short code) {
  return __builtin_bit_cast(typename T::type, code);
}
template <class T>
__device__ short code_of(float value) {
  return __builtin_bit_cast(short, (typename T::type)value);
}
template <class T>
__device__ bool is_finite(short code) {
  return (code & T::infinity) != T::infinity;
}

// Elements from one batch, head and row to the next; the elements of a row are neighbours.
struct Strides {
  int batch, head, row;
  __device__ size_t rows_of(int b, int h) const { return (size_t)b * batch + (size_t)h * head; }
};

// Whole rows are read 16 bytes at a time: every row begins at a multiple of 16 bytes.
struct Attention {
  const short *Q, *K, *V;
  short *O;
  int queries, keys;
  Strides q, k, v, o;
  int causal;          // 0: every key; 1: key <= query; 2: the last query sees the last key
  const float *scale;  // null: 1 / sqrt(D)
};
enum { EVERY_KEY, TOP_LEFT, BOTTOM_RIGHT };
#define MINUS_INFINITY (-__builtin_inff())

// Keys from this one on are hidden from the query; may be 0 or less.
__device__ inline int seen_by(const Attention &g, int query) {
  if (g.causal == EVERY_KEY) return g.keys;
  const int shift = g.causal == BOTTOM_RIGHT ? g.keys - g.queries : 0;
  return query + shift + 1 < g.keys ? query + shift + 1 : g.keys;
}

template <int D>
__device__ float scale_of(const Attention &g) {
  constexpr float usual = D == 32 ? 0.17677669529663687f : D == 64 ? 0.125f : 0.08838834764831845f;
  return g.scale ? *g.scale : usual;
}
// What a sum of products is multiplied by, so that 2 to its power is the weight.
template <int D>
__device__ float factor(const Attention &g) {
  return scale_of<D>(g) * 1.4426950408889634f;
}

// Weights are 2^(t - base), where `top` is the largest t so far. As long as there is none all weights are 2^-Inf = 0.
__device__ inline float base_of(float top) { return top == MINUS_INFINITY ? 0.0f : top; }
__device__ inline float power(float x) { return __builtin_amdgcn_exp2f(x); }
// A query that has no weights gets 0.
__device__ inline float average(float sum, float weights, float inverse) { return weights == 0 ? 0.0f : sum * inverse; }

// A kernel NAME of THREADS work-items that does what follows with `g`.
#define ATTENTION(NAME, THREADS, ...)                                                                                  \
  extern "C" __global__ void __launch_bounds__(THREADS)                                                                \
      NAME(const short *Q, const short *K, const short *V, short *O, int queries, int keys, Strides q, Strides k,      \
           Strides v, Strides o, int causal, const float *scale) {                                                     \
    const Attention g = {Q, K, V, O, queries, keys, q, k, v, o, causal, scale};                                        \
    __VA_ARGS__(g);                                                                                                    \
  }
