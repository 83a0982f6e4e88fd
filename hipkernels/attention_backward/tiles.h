// A block of two matrices in the LDS, by rows and by columns, for workgroups of 256 work-items.
//
// A product over D takes both operands from rows, one over the rows of the block takes them from columns: eight elements of
// a column are 16 bytes together, in the order in which a lane holds the sums of a tile. That way the sums of one product
// are an operand of the next one as they are.
#pragma once
#include "matrix.h"

#define THREADS 256
#define WAVES (THREADS / LANES)
#define OWN (WAVES * SIDE)  // rows that a workgroup keeps in registers: 128
#define PASSING 32          // rows of a block

// Where 16 bytes of a block lie: eight elements of a row; eight elements of a column. A phase of ds_read_b128 reads 16 bytes
// each of eight rows (columns), of sixteen on CDNA4; a phase of ds_write_b64 writes 8 bytes each of two rows (eight columns).
template <int D>
MOVES unsigned in_row(unsigned row, unsigned part) {
  return row * D + (part ^ row % 8 ^ row / 8 % 2 * (D == 64 ? 5 : 12)) * 8;
}
MOVES unsigned in_column(unsigned d, unsigned part) { return d / 2 * 64 + (part ^ d % 2 * 4 ^ (d & 2) ^ d / 4 % 8) * 8; }

// Both matrices by rows; COLUMNS of them by columns.
template <int D, int COLUMNS>
struct Tiles {
  short rows[2][PASSING * D], columns[COLUMNS][PASSING * D];
  float factors[2][PASSING];  // what belongs to a row: its LSE in powers of two, and -delta
};

// What a work-item moves of the next block: four rows, four elements of each, of one matrix for D = 64 and of both for 128.
// Loads are in flight until `store`, where rows behind the last one become 0.
template <int D>
struct Moved {
  static constexpr int PARTS = PASSING * D / 16, MATRICES = 2 * PARTS / THREADS;
  const unsigned part = threadIdx.x % PARTS, d = (part % 8 + part / 16 % (D / 32) * 8) * 4;
  const unsigned quad = part / 8 % 2 + part / 16 / (D / 32) * 2;  // in the order of the columns
  const unsigned first = quad / 4 * 16 + row_of(quad % 2 * 4, quad / 2 % 2);
  codes4 of[MATRICES][4];
  float factor;
  int there;  // rows of the block that exist, or more

  static MOVES unsigned matrix(int n) {
    return MATRICES == 2 ? n : __builtin_amdgcn_readfirstlane(threadIdx.x / LANES) / (WAVES / 2);
  }
  MOVES void load(const short *x, int x_step, const short *y, int y_step, int row, int last) {
    there = last + 1 - row;
#pragma unroll
    for (int n = 0; n < MATRICES; ++n) {
      const short *from = matrix(n) ? y : x;
      const int step = matrix(n) ? y_step : x_step;
#pragma unroll
      for (int t = 0; t < 4; ++t)
        of[n][t] = *reinterpret_cast<const codes4 *>(from + (size_t)min(row + (int)first + t, last) * step + d);
    }
  }
  // What belongs to the rows: LSE for the first work-items, delta for the next ones.
  MOVES void load_factors(const float *from, int row, int last) {
    if (threadIdx.x < 2 * PASSING) factor = from[min(row + (int)threadIdx.x % PASSING, last)];
  }
  template <int COLUMNS>
  MOVES void store(Tiles<D, COLUMNS> &to) {
#pragma unroll
    for (int n = 0; n < MATRICES; ++n) {
      const unsigned m = matrix(n);
      if (there < PASSING)
#pragma unroll
        for (int t = 0; t < 4; ++t) of[n][t] = (int)first + t < there ? of[n][t] : codes4{};
#pragma unroll
      for (int t = 0; t < 4; ++t)
        *reinterpret_cast<codes4 *>(to.rows[m] + in_row<D>(first + t, d / 8) + d % 8) = of[n][t];
      if (m < COLUMNS)
#pragma unroll
        for (int t = 0; t < 4; ++t)
          *reinterpret_cast<codes4 *>(to.columns[m] + in_column(d + t, quad / 2) + quad % 2 * 4) =
              codes4{of[n][0][t], of[n][1][t], of[n][2][t], of[n][3][t]};
    }
    if (COLUMNS == 1 || threadIdx.x >= 2 * PASSING) return;
    const int row = threadIdx.x % PASSING;
    const float lse = row < there ? factor * LOG2_E : __builtin_inff();  // a row behind the last one has the weight 0
    to.factors[threadIdx.x / PASSING][row] = threadIdx.x / PASSING ? -factor : lse;
  }
};

// A row of a matrix in the registers of its lane, as one operand of the products over D.
template <int D>
struct Kept {
  codes8 of[D / 16];
  MOVES void load(const short *row, unsigned half) {
#pragma unroll
    for (int i = 0; i < D / 16; ++i) of[i] = *reinterpret_cast<const codes8 *>(row + 16 * i + 8 * half);
  }
};

// SIDE rows of a block, from `first` on, times the kept rows, onto sums: a lane has the sums of its own kept row.
template <int D>
MOVES sums products(const short *rows, unsigned first, const Kept<D> &kept, unsigned lane, sums s) {
#pragma unroll
  for (int i = 0; i < D / 16; ++i)
    s = multiply(*reinterpret_cast<const codes8 *>(rows + in_row<D>(first + lane % SIDE, 2 * i + lane / SIDE)),
                 kept.of[i], s);
  return s;
}

// Columns of the same SIDE rows times a weight for each row and kept row, onto sums: a lane has the D sums of its kept row.
template <int D>
MOVES void add(sums (&out)[D / SIDE], const short *columns, unsigned first, const codes8 (&weights)[SIDE / 16],
               unsigned lane) {
#pragma unroll
  for (int c = 0; c < D / SIDE; ++c)
#pragma unroll
    for (int i = 0; i < SIDE / 16; ++i) {
      const unsigned part = first / 8 + 2 * i + lane / SIDE;
      out[c] = multiply(*reinterpret_cast<const codes8 *>(columns + in_column(SIDE * c + lane % SIDE, part)),
                        weights[i], out[c]);
    }
}
