// The last rung: fragments of a whole tile are read at once, and a barrier in two halves lies around half of the products.
//
// While tile t is multiplied, tile t + 1 goes from registers to the other slot and tile t + 2 from memory to registers. A
// wave signals when it has read all of its tile and stored its share of the next one; what is left to multiply then needs
// no LDS. N is a multiple of 8, rows of C begin at multiples of 16 bytes.
#include "tile.h"

#define FENCE() __builtin_amdgcn_sched_barrier(0)  // the compiler moves nothing across

template <class A, class B, class Block, class Place, class Read, bool TURNED, class Out>
__device__ void scheduled(const Gemm<Out> &g) {
  TILES_IN_LDS(2);
  typename Part<A, B, Block, Place, Read, TURNED>::Fragments low, high;
  const int tiles = g.K / DEPTH;
  fetch.start(0);
  fetch.store(slot[0]);
  if (tiles > 1) fetch.start(DEPTH);
  WAIT_LDS();
  BARRIER();  // first tile
#define TURN(now, t)                                         \
  {                                                          \
    part.read(low, slot[now], 0);                            \
    part.read(high, slot[now], Read::k);                     \
    FENCE();                                                 \
    part.add(low);                                           \
    FENCE();                                                 \
    if ((t) + 1 < tiles) {                                   \
      fetch.store(slot[(now) ^ 1]);                          \
      if ((t) + 2 < tiles) fetch.start(((t) + 2) * DEPTH);   \
      WAIT_LDS(); /* this tile is read, the next is stored */ \
      SIGNAL();                                              \
    }                                                        \
    FENCE();                                                 \
    part.add(high);                                          \
    FENCE();                                                 \
    if ((t) + 1 < tiles) AWAIT(); /* next tile */            \
  }
  int t = 0;
  for (; t + 1 < tiles; t += 2) {
    TURN(0, t)
    TURN(1, t + 1)
  }
  if (t < tiles) TURN(0, t)
#undef TURN
  part.finish(g, row, column);
}

#define TUNED(NAME, THREADS, A, B, OUT, ...) \
  KERNEL(NAME, THREADS, OUT, scheduled<A, B, Waves<__VA_ARGS__>, Swizzled, Wide, true>)
TUNED(tuned_e4m3fn_e4m3fn_f32, 128, E4m3, E4m3, float, 2, 2, 4, 4)
TUNED(tuned_e4m3fn_e4m3fn_bf16, 128, E4m3, E4m3, __bf16, 2, 2, 4, 4)
TUNED(tuned_e4m3fn_e4m3fn_f16, 128, E4m3, E4m3, _Float16, 2, 2, 4, 4)
TUNED(tuned_e4m3fn_e5m2_bf16, 128, E4m3, E5m2, __bf16, 2, 2, 4, 4)
TUNED(tuned_e5m2_e4m3fn_bf16, 128, E5m2, E4m3, __bf16, 2, 2, 4, 4)
TUNED(tuned_e5m2_e5m2_bf16, 128, E5m2, E5m2, __bf16, 2, 2, 4, 4)
// Other tiles, for shapes that leave units without work.
TUNED(tuned_64x64, 128, E4m3, E4m3, __bf16, 2, 2, 2, 2)
TUNED(tuned_128x64, 128, E4m3, E4m3, __bf16, 2, 2, 4, 2)
TUNED(tuned_256x128, 256, E4m3, E4m3, __bf16, 4, 2, 4, 4)
