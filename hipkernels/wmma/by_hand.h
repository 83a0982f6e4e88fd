// As `native`, with the four products of a turn in assembly, one after the other, and with a higher priority meanwhile.
#pragma once
#include "product.h"

template <class Block, class Place, class Load, class Mover = Pieces<Block, Place, Load>, class Problem>
__device__ void by_hand(const Problem &g) {
  static_assert(Block::tiles_m == 2 && Block::tiles_n == 2 && Place::k == 16, "four products");
  TILES_IN_LDS(2);
  next.fetch_a(g, row, 0);
  next.fetch_b(g, 0, column);
  next.store(a_lds[0], b_lds[0]);
  SYNC();  // first tile
  for (int k = 0, slot = 0; k < g.K; k += Place::k, slot ^= 1) {
    const bool more = k + Place::k < g.K;
    if (more) {
      next.fetch_a(g, row, k + Place::k);
      next.fetch_b(g, k + Place::k, column);
    }
    const fragment a0 = part.a(a_lds[slot], 0, 0), a1 = part.a(a_lds[slot], 1, 0);
    const fragment b0 = part.b(b_lds[slot], 0, 0), b1 = part.b(b_lds[slot], 1, 0);
    asm volatile(
        "s_setprio 1\n"
        "v_wmma_f32_16x16x16_f16 %0, %4, %6, %0\n"
        "v_wmma_f32_16x16x16_f16 %1, %4, %7, %1\n"
        "v_wmma_f32_16x16x16_f16 %2, %5, %6, %2\n"
        "v_wmma_f32_16x16x16_f16 %3, %5, %7, %3\n"
        "s_setprio 0"
        : "+&v"(part.sum[0][0]), "+&v"(part.sum[0][1]), "+&v"(part.sum[1][0]), "+&v"(part.sum[1][1])
        : "v"(a0), "v"(a1), "v"(b0), "v"(b1));
    if (more) {
      next.store(a_lds[slot ^ 1], b_lds[slot ^ 1]);
      SYNC();  // next tile
    }
  }
  finish(g, part, row, column);
}
