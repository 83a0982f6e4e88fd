// A wave's part of the result, a line at a time: exchange between the lanes that have columns of one row, and rows in memory.
//
// The main loop is pingpong.h's, with the operands exchanged: of a tile of 16x16 a lane has one row and four columns next to
// each other, 4 (lane / 16) onwards. On gfx950 a wave has two tiles side by side in a quadrant, 32 columns, which are a block: it
// lies in four lanes, 16 apart. Their largest magnitude, and stores of eight columns a lane, take an exchange of rows of lanes each.
#pragma once
#include "../gemm_fp8/scheduled/pingpong.h"
#include <mfmasim/casts.h>
#include <mfmasim/fp8.h>
#include <mfmasim/small_floats.h>
#include <stdint.h>

// Rules of scales and conversions of the casts, whose names of formats are not those of the GEMMs.
namespace casts {
#include "../cast/mx.h"
}
using casts::e2m1;
using casts::e4m3;

#pragma clang fp contract(off)  // where a product and a sum are one operation the kernel says so

#if !defined(MXFP4)
typedef unsigned words2 __attribute__((ext_vector_type(2)));
#define BEYOND 0x80000000u  // no resource is as large: loads give 0, stores are dropped
#endif
typedef f32x4 Quadrant[A_TILES][B_TILES];
typedef f32x4 Line[B_TILES];  // a lane's columns of one row: four of each tile

// --- Exchange between lanes

// Rows of 16 lanes: the odd ones of x change places with the even ones of y.
MOVES void swap_rows(unsigned &x, unsigned &y) {
#if defined(__gfx950__)
  const auto both = __builtin_amdgcn_permlane16_swap(x, y, false, false);
  const unsigned first = both[0], second = both[1];
  x = first;
  y = second;
#endif
}
// The largest of the four lanes that have columns of one row.
MOVES unsigned of_row(unsigned x) {
#if defined(__gfx950__)
  unsigned y = x;
  swap_rows(x, y);
  x = max(x, y);
  const auto halves = __builtin_amdgcn_permlane32_swap(x, x, false, false);
  const unsigned lower = halves[0], upper = halves[1];
  return max(lower, upper);
#else
  x = max(x, (unsigned)__builtin_amdgcn_ds_bpermute((threadIdx.x % 64 ^ 16) * 4, (int)x));
  return max(x, (unsigned)__builtin_amdgcn_ds_bpermute((threadIdx.x % 64 ^ 32) * 4, (int)x));
#endif
}
// The largest of 16 lanes: within pairs, quads, halves, and all.
MOVES unsigned of_lanes(unsigned x) {
#define EXCHANGE(control) x = max(x, (unsigned)__builtin_amdgcn_update_dpp(0, (int)x, control, 15, 15, true))
  EXCHANGE(0xb1);   // quad_perm:[1,0,3,2]
  EXCHANGE(0x4e);   // quad_perm:[2,3,0,1]
  EXCHANGE(0x141);  // row_half_mirror
  EXCHANGE(0x140);  // row_mirror
#undef EXCHANGE
  return x;
}
MOVES unsigned largest(const Line &x) {
  unsigned most = 0;
#pragma unroll
  for (int t = 0; t < B_TILES; ++t)
#pragma unroll
    for (int e = 0; e < 4; ++e) most = max(most, (unsigned)casts::magnitude(x[t][e]));
  return most;
}

// Rows of a matrix from the wave's first one on; what lies below the last one is beyond the resource.
template <typename T>
struct Rows {
  __amdgpu_buffer_rsrc_t of;
  int ld, columns;
  MOVES Rows(const T *matrix, int row, int M, int columns, int ld)
      : of(__builtin_amdgcn_make_buffer_rsrc((void *)(matrix + (size_t)row * ld), 0, max(M - row, 0) * ld * (int)sizeof(T), 0x27000)),
        ld(ld), columns(columns) {}
  MOVES unsigned at(int line, int column) const {
    return column < columns ? (line * ld + column) * (int)sizeof(T) : BEYOND;
  }
};
template <typename T>
using Four = T __attribute__((ext_vector_type(4)));

// A lane's columns of one row, from `column` on, where its two tiles were given for eight columns of one of them.
MOVES int eight(int column, unsigned lane) { return column + lane / 16 % 2 * 16 + lane / 32 * 8; }
