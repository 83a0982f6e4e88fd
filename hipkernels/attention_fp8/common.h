// What the FP8 attention kernels of all architectures have in common: types, numbers, rows in memory, the forward problem.
#pragma once
#include <hip/hip_runtime.h>
#include "../grid_maps/maps.h"
#include <mfmasim/order.h>

#pragma clang fp contract(off)  // where a product and a sum are one operation the kernel says so

typedef unsigned char fp8;
typedef unsigned short bf16;
typedef int words2 __attribute__((ext_vector_type(2)));
typedef int words4 __attribute__((ext_vector_type(4)));
typedef int words8 __attribute__((ext_vector_type(8)));
typedef float f32x2 __attribute__((ext_vector_type(2)));
typedef __bf16 pair __attribute__((ext_vector_type(2)));

#define HEAD 128
#define XCDS 8
#if defined(__gfx1250__)
#define KEYS 128
#else
#define KEYS 64
#endif
#define QUERIES 32
#define MINUS_INFINITY (-__builtin_inff())
// A weight is 2^(t - reference + SHIFT). The reference follows the largest t only when it has grown by more than HEADROOM,
// so that a weight is below the largest FP8, and most tiles leave the sums as they are.
#define HEADROOM 2.0f
#if defined(__gfx942__)
#define SHIFT 5.0f  // at most 2^7; the largest is 240
#else
#define SHIFT 6.0f  // at most 2^8; the largest is 448
#endif

// What kernels call has no lines of its own for the debugger, so that reports name the line of the kernel.
#define MOVES __device__ __attribute__((always_inline)) inline

MOVES int rounded(float x, float y) { return __builtin_bit_cast(int, pair{(__bf16)x, (__bf16)y}); }

// Read by the scalar unit: nothing writes there while the kernel runs.
template <class T>
using Constant = const __attribute__((address_space(4))) T;
template <class T>
MOVES T constant(const T *from, int at) {
  return ((Constant<T> *)from)[at];
}

// Rows of K or V of one sequence and head.
struct Following {
  const fp8 *first;
  int step;
  MOVES const fp8 *at(int row) const { return first + (size_t)row * step; }
};

// Forward: Q [queries, heads, 128], K and V [keys, kv_heads, 128], O like Q in BF16; rows of sequence b are queries_from[b]
// to queries_from[b + 1], those of K and V keys_from[b] onwards. Scales are [sequences, kv_heads]. With `causal` the last
// query sees the last key. `scale` and the scales of Q and K are above 0.
struct Forward {
  const fp8 *Q, *K, *V;
  bf16 *O;
  const int *queries_from, *keys_from;
  const float *scale_q, *scale_k, *scale_v;
  int heads, kv_heads, causal;
  float scale;
};

// Which queries, head and sequence a workgroup has: as the hardware counts; or all of the heads that share K and V on one XCD,
// whose L2 then has both. Of the groups that are left over, fewer than there are XCDs, each keeps its own.
struct Position {
  int block, head, sequence;
};
MOVES Position in_turn(const Forward &) { return {(int)blockIdx.x, (int)blockIdx.y, (int)blockIdx.z}; }
MOVES Position group_by_group(const Forward &p) {
  const int blocks = gridDim.x, heads = gridDim.y, group = p.heads / p.kv_heads;
  const int own = (blockIdx.z * heads + blockIdx.y) * blocks + blockIdx.x;
  int number = remap_xcd(own, {(int)gridDim.z * heads, blocks, XCDS, 1, blocks * group});
  Position found = {number % blocks, number / blocks % heads, number / blocks / heads};
  asm("" : "+s"(found.block), "+s"(found.head), "+s"(found.sequence));  // divisions are the vector unit's
  return found;
}

// What a workgroup computes: `rows` queries of a head, from query `block` of a sequence on.
struct Block {
  int rows, sequence, head, kv_head, from, queries, keys_from, keys, block, scales, shift, stop;
  float by;  // of a product, so that 2 to its power is the weight

  MOVES Block(const Forward &p, int rows, Position at) : rows(rows) {
    sequence = at.sequence, head = at.head, kv_head = head / (p.heads / p.kv_heads);
    asm("" : "+s"(kv_head));  // divisions are the vector unit's, addresses the scalar unit's
    from = constant(p.queries_from, sequence), queries = constant(p.queries_from, sequence + 1) - from;
    keys_from = constant(p.keys_from, sequence), keys = constant(p.keys_from, sequence + 1) - keys_from;
    block = at.block * rows, scales = sequence * p.kv_heads + kv_head;
    by = p.scale * 1.4426950408889634f * constant(p.scale_q, scales) * constant(p.scale_k, scales);
    shift = keys - queries + 1;  // query i sees the keys below i + shift
    const int last = min(block + rows, queries) - 1;
    stop = p.causal ? min(last + shift, keys) : keys;  // no query of the workgroup sees more
  }
  MOVES int seen(const Forward &p, int query) const { return p.causal ? min(query + shift, keys) : keys; }
  MOVES int tiles() const { return (stop + KEYS - 1) / KEYS; }
  MOVES Following rows_of(const Forward &p, const fp8 *x) const {
    const int step = p.kv_heads * HEAD;
    return {x + (size_t)keys_from * step + kv_head * HEAD, step};
  }
  MOVES size_t row(const Forward &p, int query) const { return ((size_t)(from + query) * p.heads + head) * HEAD; }
  // A query that sees no key gets 0.
  MOVES float factor(const Forward &p, float weights) const {
    return weights == 0.0f ? 0.0f : constant(p.scale_v, scales) / weights;
  }
};

#define FORWARD_ARGUMENTS                                                                                     \
  const fp8 *Q, const fp8 *K, const fp8 *V, bf16 *O, const int *queries_from, const int *keys_from,           \
      const float *scale_q, const float *scale_k, const float *scale_v, int heads, int kv_heads, int causal, float scale
#define FORWARD_PROBLEM {Q, K, V, O, queries_from, keys_from, scale_q, scale_k, scale_v, heads, kv_heads, causal, scale}
