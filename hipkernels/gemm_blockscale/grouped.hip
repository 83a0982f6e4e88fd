// The block-scaled GEMM of a mixture of experts. A list names the row of A for each row of the result; its parts of 128
// entries have one expert each, whose B and SB are used. Entries that pad a part name a row beyond the last one: such rows
// are fetched as 0 and not stored. `grouped` leaves BF16. `grouped_gate` has twice the rows in B, gates before values, and
// leaves silu(gate) value in FP8 with a scale for each 128 of a row, in the order in which the next GEMM reads both.
#include "../grid_maps/maps.h"
#include "tile.h"
#include <mfmasim/casts.h>

#define WAVES_N 4
#define OUTPUTS 2  // tiles of 16 columns of the result that a wave has
#if defined(__gfx942__)
#define LARGEST 240.0f  // E4M3 FNUZ
#else
#define LARGEST 448.0f  // E4M3 OCP
#endif
#define XCDS 8
#define SMALLEST_MAGNITUDE 1e-4f  // a block of zeros has a scale, too

struct Experts {
  const int *list, *expert_of;  // a row of the result for each entry; the expert of each 128 entries, -1 for none
  int rows, fold;               // rows of the result; how many of them share a row of A
};

// Which part of the list and which columns a workgroup has: as the hardware counts; or expert by expert and in that column by
// column, `chunk` consecutive ones on each XCD, whose L2 then has the expert's B. Parts without an expert are the last ones.
struct InTurn {
  MOVES Tile tile(const int *) const { return {(int)blockIdx.y, (int)blockIdx.x}; }
};
struct ByExpert {
  const int *first;  // part of each expert, and behind the last one the number of parts that have one
  int chunk;
  MOVES Tile tile(const int *expert_of) const {
    const int across = gridDim.x, own = blockIdx.y * across + blockIdx.x;
    const int number = remap_xcd(own, {(int)gridDim.y, across, XCDS, 1, chunk});
    Tile found = map_row(number, {0, across, 0, 0, 0});
    if (expert_of[found.row] >= 0) found = map_banded(number, across, expert_of, first);
    asm("" : "+s"(found.row), "+s"(found.col));  // divisions are the vector unit's
    return found;
  }
};

// |x| of 16 lanes, their maximum in each: lanes exchange within pairs, quads, halves and rows of 16.
MOVES float row_max(float x) {
#define EXCHANGE(control)                                                                                            \
  x = __builtin_fmaxf(x, __builtin_bit_cast(float, __builtin_amdgcn_update_dpp(                                      \
                                                       0, __builtin_bit_cast(int, x), control, 15, 15, true)))
  EXCHANGE(0xb1);   // quad_perm:[1,0,3,2]
  EXCHANGE(0x4e);   // quad_perm:[2,3,0,1]
  EXCHANGE(0x141);  // row_half_mirror
  EXCHANGE(0x140);  // row_mirror
#undef EXCHANGE
  return x;
}

// Four rows of one column in each lane of a quad become four columns of one row: bytes are exchanged two lanes apart, then one.
MOVES unsigned transpose_quad(unsigned own, unsigned lane) {
  const unsigned two = __builtin_amdgcn_update_dpp(0, own, 0x4e, 15, 15, true);
  // v_perm_b32 counts bytes of its second source from 0, of its first one from 4.
  const unsigned halves = __builtin_amdgcn_perm(two, own, lane & 2 ? 0x03020706u : 0x05040100u);
  const unsigned one = __builtin_amdgcn_update_dpp(0, halves, 0xb1, 15, 15, true);
  return __builtin_amdgcn_perm(one, halves, lane & 1 ? 0x03070105u : 0x06020400u);
}

MOVES float silu(float x) {
  return x / (1.0f + __builtin_amdgcn_exp2f(x * -1.44269504088896340736f));
}

// TILES tiles of a wave: OUTPUTS for the result, or gates and then values.
template <int TILES, typename Order>
__device__ __attribute__((always_inline)) void grouped(const Problem &p, const Experts &e, const Order &order, bf16 *C,
                                                       unsigned char *Q, float *SQ) {
  constexpr bool gate = TILES == 2 * OUTPUTS;
  __shared__ __attribute__((aligned(16))) char a_tile[2][SIDE * TILE_K];
  __shared__ float highest[gate ? WAVES_N : 1][SIDE];
  const unsigned wave = __builtin_amdgcn_readfirstlane(threadIdx.x / 64), lane = threadIdx.x % 64;
  const Tile tile = order.tile(e.expert_of);
  const int expert = e.expert_of[tile.row];
  if (expert < 0) return;
  const int *list = e.list + tile.row * SIDE;
  const int outputs = gate ? p.N / 2 : p.N, column = tile.col * SIDE, here = column + wave % WAVES_N * 16 * OUTPUTS;
  const unsigned mine = wave / WAVES_N * 64;
  int first[TILES], scale_row[TILES];
  for (int j = 0; j < TILES; ++j) {
    first[j] = here + j % OUTPUTS * 16 + (j < OUTPUTS ? 0 : outputs);
    scale_row[j] = (column + (j < OUTPUTS ? 0 : outputs)) / SIDE;
  }
  f32x4 sum[A_TILES][TILES] = {};
  char none[16];
  sums_of<Shuffled, WAVES_N, TILES>(sum, p, p.B + (size_t)expert * p.N * p.K, p.SB + (size_t)expert * (p.N / SIDE) * (p.K / SIDE),
                                    Listed{list, e.rows, e.fold}, first, scale_row, column, wave, lane, a_tile, none);
  if constexpr (!gate) {
#pragma unroll
    for (int i = 0; i < A_TILES; ++i)
#pragma unroll
      for (int t = 0; t < 4; ++t) {
        const unsigned at = list[mine + 16 * i + 4 * (lane / 16) + t];
        if (at < (unsigned)e.rows)
#pragma unroll
          for (int j = 0; j < TILES; ++j) C[(size_t)at * outputs + here + 16 * j + lane % 16] = to_bf16(sum[i][j][t]);
      }
  } else {
    // The largest magnitude of each row: of a lane's columns, of 16 lanes, of four waves.
#pragma unroll
    for (int i = 0; i < A_TILES; ++i)
#pragma unroll
      for (int t = 0; t < 4; ++t) {
        float most = 0;
#pragma unroll
        for (int j = 0; j < OUTPUTS; ++j) {
          sum[i][j][t] = silu(sum[i][j][t]) * sum[i][j + OUTPUTS][t];
          most = __builtin_fmaxf(most, __builtin_fabsf(sum[i][j][t]));
        }
        most = row_max(most);
        if (lane % 16 == 0) highest[wave % WAVES_N][mine + 16 * i + 4 * (lane / 16) + t] = most;
      }
    __syncthreads();  // magnitudes: of all waves
#pragma unroll
    for (int i = 0; i < A_TILES; ++i) {
      unsigned codes[OUTPUTS][4];
#pragma unroll
      for (int t = 0; t < 4; ++t) {
        const unsigned row = mine + 16 * i + 4 * (lane / 16) + t, at = list[row];
        float most = SMALLEST_MAGNITUDE;
        for (int n = 0; n < WAVES_N; ++n) most = __builtin_fmaxf(most, highest[n][row]);
        const float scale = most / LARGEST, by = 1.0f / scale;
#pragma unroll
        for (int j = 0; j < OUTPUTS; ++j) {
          const float x = __builtin_amdgcn_fmed3f(sum[i][j][t] * by, LARGEST, -LARGEST);
          codes[j][t] = (unsigned)__builtin_amdgcn_cvt_pk_fp8_f32(x, x, 0, false) & 0xff;
        }
        if (at < (unsigned)e.rows && wave % WAVES_N == 0 && lane % 16 == 0) SQ[(size_t)tile.col * e.rows + at] = scale;
      }
      const unsigned at = list[mine + 16 * i + 4 * (lane / 16) + lane % 4];
#pragma unroll
      for (int j = 0; j < OUTPUTS; ++j) {
        const unsigned word = codes[j][0] | codes[j][1] << 8 | codes[j][2] << 16 | codes[j][3] << 24;
        const unsigned quad = transpose_quad(word, lane);
        if (at < (unsigned)e.rows)
          *reinterpret_cast<unsigned *>(Q + (size_t)at * outputs + here + 16 * j + lane % 16 / 4 * 4) = quad;
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(128 * WAVES_N)
    grouped(const fp8 *A, const fp8 *B, const float *SA, const float *SB, bf16 *C, const int *list, const int *expert_of,
            int M, int N, int K, int rows, int fold) {
  grouped<OUTPUTS>({A, B, SA, SB, M, N, K, K}, {list, expert_of, rows, fold}, InTurn{}, C, nullptr, nullptr);
}
extern "C" __global__ void __launch_bounds__(128 * WAVES_N)
    grouped_xcd(const fp8 *A, const fp8 *B, const float *SA, const float *SB, bf16 *C, const int *list, const int *expert_of,
                const int *first, int M, int N, int K, int rows, int fold, int chunk) {
  grouped<OUTPUTS>({A, B, SA, SB, M, N, K, K}, {list, expert_of, rows, fold}, ByExpert{first, chunk}, C, nullptr, nullptr);
}
extern "C" __global__ void __launch_bounds__(128 * WAVES_N)
    grouped_gate(const fp8 *A, const fp8 *B, const float *SA, const float *SB, unsigned char *Q, float *SQ, const int *list,
                 const int *expert_of, int M, int N, int K, int rows, int fold) {
  grouped<2 * OUTPUTS>({A, B, SA, SB, M, N, K, K}, {list, expert_of, rows, fold}, InTurn{}, nullptr, Q, SQ);
}
