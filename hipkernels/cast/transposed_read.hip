// Cast and transpose through the transposed reads of CDNA4 (gfx950): the tile lies in the LDS by rows, and
// ds_read_b64_tr_b8 gives each lane eight rows of a column. What reaches memory is what transpose.h writes.
#include "transpose.h"

constexpr int TALL = 64, BROAD = 128, READERS = 256, EIGHT = 8, SIXTEEN = 16;
typedef int eight_bytes __attribute__((ext_vector_type(2)));

template <typename From, target To, int Pad>
__device__ void transposed_read(const From *in, uint8_t *out, uint8_t *across, const float *noop, const float *scale,
                                float *amax, float *scale_inv, int64_t rows, int64_t cols, int64_t first_row,
                                int64_t first_col, int tiles_down) {
  if (skipped(noop)) return;
  constexpr int Wide = 4;
  __shared__ __attribute__((aligned(16))) uint8_t tile[TALL][BROAD + Pad];
  const int lane = threadIdx.x % 64, wave = threadIdx.x / 64;
  const int64_t top = first_row + (int64_t)(blockIdx.x % tiles_down) * TALL;
  const int64_t left = first_col + (int64_t)(blockIdx.x / tiles_down) * BROAD;
  const float factor = scale[0];
  int highest = 0;
#pragma unroll
  for (int turn = 0; turn < 8; ++turn) {
    // Both halves of a wave write rows that lie eight apart: with the padding, on the other half of the 64 banks.
    const int row = wave + turn % 2 * 4 + lane / 32 * 8 + turn / 2 * 16, col = lane % 32 * Wide;
    const int64_t at = (top + row) * cols + left + col;
    From given[Wide];
    __builtin_memcpy(given, in + at, sizeof given);
    float scaled[Wide];
    for (int j = 0; j < Wide; ++j) {
      const float x = widen(given[j]);
      highest = max(highest, magnitude(x));
      scaled[j] = x * factor;
    }
    const uint32_t packed = pack_four<To, clamp>(scaled);
    __builtin_nontemporal_store(packed, (anywhere<Wide> *)(out + at));
    *(uint32_t *)&tile[row][col] = packed;
  }
  __syncthreads();
  // Sixteen lanes read eight rows of sixteen columns, two lanes a row; lane t of them receives column t.
  const int t = lane % SIXTEEN, group = lane / SIXTEEN;
#pragma unroll
  for (int turn = 0; turn < 4; ++turn) {
    const int row = turn % 2 * 4 * EIGHT + group * EIGHT, col = (turn / 2 * 4 + wave) * SIXTEEN;
    const eight_bytes column = __builtin_amdgcn_ds_read_tr8_b64_v2i32(
        (__attribute__((address_space(3))) eight_bytes *)&tile[row + t / 2][col + t % 2 * EIGHT]);
    const int64_t at = (left + col + t) * rows + top + row;
    __builtin_nontemporal_store(__builtin_bit_cast(uint64_t, column), (anywhere<EIGHT> *)(across + at));
  }
  collect_amax<READERS>(highest, amax);
  define_scale_inv(factor, scale_inv);
}

#define READ(from, to, pad, name)                                                                                   \
  extern "C" __global__ void __launch_bounds__(READERS) name##_##from##_##to(                                       \
      const from *in, uint8_t *out, uint8_t *across, BESIDE, int64_t first_row, int64_t first_col,                  \
      int tiles_down) {                                                                                             \
    transposed_read<from, to, pad>(in, out, across, noop, scale, amax, scale_inv, rows, cols, first_row, first_col, \
                                   tiles_down);                                                                     \
  }
READ(f32, e4m3, 16, transposed_read)
READ(f32, e5m2, 16, transposed_read)
READ(f16, e4m3, 16, transposed_read)
READ(bf16, e4m3, 16, transposed_read)
READ(f32, e4m3, 0, unpadded_read)
