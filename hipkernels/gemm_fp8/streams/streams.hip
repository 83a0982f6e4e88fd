// Split-K and stream-K: K of a tile in parts, each summed by another workgroup.
//
// Deterministic: split_k, C in bf16 (the last workgroup to come adds all parts in the order of K), split_k_in_turn (each waits for the one
// before and adds to C), stream_k (the workgroup with the end of K adds the parts of those before it, the nearest first). Their bytes depend on
// the number of parts alone. Atomic: split_k_atomic, stream_k_atomic; C is 0 before, and the order of additions is open.
#include "../../grid_maps/maps.h"
#include "parts.h"

#define XCDS 8
#define CHUNK 4

#define PROBLEM const fp8 *A, const fp8 *B
#define SIZES int M, int N, int K, int lda, int ldb, int ldc, float alpha
// Four waves a SIMD: two workgroups in the LDS of gfx950.
#define KERNEL extern "C" __global__ void __attribute__((amdgpu_waves_per_eu(4))) __launch_bounds__(64 * WAVES)
#define BEGIN                                                \
  __shared__ __attribute__((aligned(16))) Lds lds;           \
  const Problem p = {A, B, M, N, K, lda, ldb, ldc, alpha};   \
  const Wave w;                                              \
  Sums sum

// Steps of K of a part: of `parts` that differ by one step at most.
#define SLICE(SHARE)                                                                     \
  const int parts = gridDim.y;                                                           \
  const auto [tile, part] = SHARE;                                                       \
  const int first = (long long)p.depth() * part / parts, last = (long long)p.depth() * (part + 1) / parts; \
  product(sum, p, tile, first, last, lds, w)

struct Share {
  int tile, part;
};
MOVES Share in_turn(const Problem &) { return {(int)blockIdx.x, (int)blockIdx.y}; }
// Column by column of tiles, in one part by part, in that its rows: tiles of a chunk, which one XCD has, need the same part of B.
// No workgroup waits for another one.
MOVES Share by_columns(const Problem &p) {
  const int parts = gridDim.y, rows = p.tiles() / p.across(), own = blockIdx.y * gridDim.x + blockIdx.x;
  const int number = remap_xcd(own, {parts, p.tiles(), XCDS, 1, CHUNK}), strip = number / rows;
  Share found = {number % rows * p.across() + strip / parts, strip % parts};
  asm("" : "+s"(found.tile), "+s"(found.part));  // divisions are the vector unit's
  return found;
}

// Counters are 0 before and after: one a tile.
MOVES void split(const Problem &p, bf16 *C, float *workspace, unsigned *counters, Share share, Lds &lds) {
  const Wave w;
  Sums sum;
  SLICE(share);
  if (parts == 1) return store_c(p, C, tile, sum, w);
  float *first_part = workspace + (size_t)tile * parts * SIDE * SIDE;
  store_part(first_part + (size_t)part * SIDE * SIDE, sum, w);
  if (take_ticket(counters + tile, lds) != (unsigned)parts - 1) return;
  for (int n = 0; n < parts; ++n) add_part(sum, first_part + (size_t)n * SIDE * SIDE, n > 0, w);
  store_c(p, C, tile, sum, w);
  if (threadIdx.x == 0) counters[tile] = 0;  // for the next launch
}
#define SPLIT(NAME, ORDER)                                                                      \
  KERNEL NAME(PROBLEM, bf16 *C, float *workspace, unsigned *counters, SIZES) {                  \
    __shared__ __attribute__((aligned(16))) Lds lds;                                            \
    const Problem p = {A, B, M, N, K, lda, ldb, ldc, alpha};                                    \
    split(p, C, workspace, counters, ORDER(p), lds);                                            \
  }
SPLIT(split_k, in_turn)
SPLIT(split_k_by_columns, by_columns)

// A turn is the number of parts that are in C.
KERNEL split_k_in_turn(PROBLEM, float *C, unsigned *turns, SIZES) {
  BEGIN;
  SLICE(in_turn(p));
  if (part > 0) await(turns + tile, part);
  if (part > 0)
    update_c(p, C, tile, sum, w);
  else
    store_c(p, C, tile, sum, w);
  publish(turns + tile, part + 1 < parts ? part + 1 : 0);
}

KERNEL split_k_atomic(PROBLEM, float *C, SIZES) {
  BEGIN;
  SLICE(in_turn(p));
  add_to_c(p, C, tile, sum, w);
}

// The steps of all tiles in one row, cut into as many parts as there are workgroups; in NumPy mfmasim.grids.segments.
struct Steps {
  int depth;
  long long total;
  MOVES Steps(const Problem &p) : depth(p.depth()), total((long long)p.tiles() * depth) {}
  // Step with which a workgroup begins.
  MOVES long long begin(int workgroup) const { return total * workgroup / gridDim.x; }
};

// A workgroup goes through its steps from the last tile to the first: it hands over the one whose end of K another has before
// it waits for any, and waits for workgroups with lower numbers alone. So none waits for one that has not been started.
// Flags are 0 before and after, one a workgroup; the workspace has a tile for each.
KERNEL stream_k(PROBLEM, float *C, float *workspace, unsigned *flags, SIZES) {
  BEGIN;
  const Steps steps(p);
  const int me = blockIdx.x;
  const long long begin = steps.begin(me);
  for (long long end = steps.begin(me + 1); end > begin;) {
    const int tile = (end - 1) / steps.depth;
    const long long start = (long long)tile * steps.depth, from = max(begin, start);
    product(sum, p, tile, from - start, end - start, lds, w);
    if (end < start + steps.depth) {
      store_part(workspace + (size_t)me * SIDE * SIDE, sum, w);
      publish(flags + me, 1);
    } else {
      for (int other = me - 1; from > start && steps.begin(other + 1) > start; --other) {
        if (steps.begin(other) == steps.begin(other + 1)) continue;  // idle
        await(flags + other, 1);
        add_part(sum, workspace + (size_t)other * SIDE * SIDE, true, w);
        if (threadIdx.x == 0) flags[other] = 0;  // for the next launch
      }
      store_c(p, C, tile, sum, w);
    }
    end = from;
  }
}

MOVES void stream_atomic(const Problem &p, float *C, int me, Lds &lds) {
  const Wave w;
  Sums sum;
  const Steps steps(p);
  const long long begin = steps.begin(me);
  for (long long end = steps.begin(me + 1); end > begin;) {
    const int tile = (end - 1) / steps.depth;
    const long long start = (long long)tile * steps.depth, from = max(begin, start);
    product(sum, p, tile, from - start, end - start, lds, w);
    add_to_c(p, C, tile, sum, w);
    end = from;
  }
}
// Neighbours in the row of steps on one XCD, too: none waits for another one.
#define STREAM_ATOMIC(NAME, ME)                                                                 \
  KERNEL NAME(PROBLEM, float *C, SIZES) {                                                       \
    __shared__ __attribute__((aligned(16))) Lds lds;                                            \
    stream_atomic({A, B, M, N, K, lda, ldb, ldc, alpha}, C, ME, lds);                           \
  }
STREAM_ATOMIC(stream_k_atomic, blockIdx.x)
STREAM_ATOMIC(stream_k_atomic_shares, remap_shares(blockIdx.x, gridDim.x, XCDS))
