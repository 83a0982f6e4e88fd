// Two halves of the waves by turns: while one multiplies a tile, the other stores its operand of the next one.
#pragma once
#include "movers.h"

template <class Block, class Place, class Load, class Problem>
__device__ void ping_pong(const Problem &g) {
  typedef Pieces<Block, Place, Load, Halves<Block>> Mover;
  TILES_IN_LDS(2);
  const bool first = __builtin_amdgcn_readfirstlane(threadIdx.x) < Block::threads / 2;  // it moves A, the other one B
  next.fetch_a(g, row, 0);
  next.fetch_b(g, 0, column);
  next.store(a_lds[0], b_lds[0]);
  if (!first && Place::k < g.K) next.fetch_b(g, Place::k, column);
  __syncthreads();  // first tile
  for (int k = 0, slot = 0; k < g.K; k += Place::k, slot ^= 1) {
    const bool more = k + Place::k < g.K;
    if (first) {
      if (more) next.fetch_a(g, row, k + Place::k);
      __builtin_amdgcn_s_setprio(1);
      part.multiply_tile(a_lds[slot], b_lds[slot]);
      __builtin_amdgcn_s_setprio(0);
    } else if (more) {
      next.store_b(b_lds[slot ^ 1]);
    }
    __syncthreads();  // the other half's turn
    if (!first) {
      if (k + 2 * Place::k < g.K) next.fetch_b(g, k + 2 * Place::k, column);
      __builtin_amdgcn_s_setprio(1);
      part.multiply_tile(a_lds[slot], b_lds[slot]);
      __builtin_amdgcn_s_setprio(0);
    } else if (more) {
      next.store_a(a_lds[slot ^ 1]);
    }
    __syncthreads();  // next tile
  }
  finish(g, part, row, column);
}
