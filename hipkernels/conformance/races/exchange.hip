// Waves exchange values through the LDS. Every barrier and wait is needed; mutants.py takes each out and says who sees it.
#include <hip/hip_runtime.h>
#include <mfmasim/order.h>

// Every thread reads what one of the next wave wrote.
extern "C" __global__ void __launch_bounds__(512) exchange(const unsigned *in, unsigned *out) {
  __shared__ unsigned cells[512];
  unsigned t = threadIdx.x, other = (t + warpSize) % blockDim.x;
  cells[t] = in[t];
  SYNC();  // exchange: all have written
  out[t] = cells[other];
}

// The cells are written anew when everybody has read them.
extern "C" __global__ void __launch_bounds__(512) exchange_twice(const unsigned *in, unsigned *out) {
  __shared__ unsigned cells[512];
  unsigned t = threadIdx.x, other = (t + warpSize) % blockDim.x, x;
  cells[t] = in[t];
  SYNC();  // twice: all have written
  START_READ(x, &cells[other]);
  SYNC();  // twice: all have read
  cells[t] = 5 * in[t] + 1;
  WAIT_FOR_LDS(0, x);
  SYNC();  // twice: all have written again
  out[t] = x ^ cells[other] << 7;
}

// One wave after the other writes the same cells; the last one's values stay.
extern "C" __global__ void __launch_bounds__(512) turns(const unsigned *in, unsigned *out) {
  __shared__ unsigned cells[64];
  unsigned t = threadIdx.x, wave = t / warpSize, lane = t % warpSize;
  for (unsigned turn = 0; turn < blockDim.x / warpSize; ++turn) {
    if (wave == turn) cells[lane] = in[t];
    SYNC();  // turns: next one's turn
  }
  out[t] = cells[lane];
}

// Only the first wave writes.
extern "C" __global__ void __launch_bounds__(512) broadcast(const unsigned *in, unsigned *out) {
  __shared__ unsigned cells[64];
  unsigned t = threadIdx.x, lane = t % warpSize;
  if (t < warpSize) {
    cells[lane] = in[t];
    WAIT_LDS();
  }
  BARRIER();  // broadcast: for all
  out[t] = cells[lane] + t;
}

// Every byte belongs to one thread, a dword to four; waves share the dwords, but no byte.
extern "C" __global__ void __launch_bounds__(512) interleaved_bytes(const unsigned char *in, unsigned char *out) {
  __shared__ unsigned char cells[512];
  unsigned t = threadIdx.x, waves = blockDim.x / warpSize, place = t % warpSize * waves + t / warpSize;
  cells[place] = in[t];
  SYNC();  // bytes: all have written
  out[t] = cells[t];
}

// A square tile is written by rows and read by columns.
extern "C" __global__ void __launch_bounds__(512) transposition(const unsigned *in, unsigned *out) {
  __shared__ unsigned tile[16][17];
  unsigned row = threadIdx.x / 16, column = threadIdx.x % 16, rows = blockDim.x / 16;
  for (unsigned r = row; r < 16; r += rows) tile[r][column] = in[16 * r + column];
  SYNC();  // transposition: the tile is complete
  for (unsigned r = row; r < 16; r += rows) out[16 * r + column] = tile[column][r];
}

// Each thread needs its neighbours' cells, also those of the neighbouring wave.
extern "C" __global__ void __launch_bounds__(512) stencil(const unsigned *in, unsigned *out) {
  __shared__ unsigned cells[514];
  unsigned t = threadIdx.x, n = blockDim.x;
  cells[t + 1] = in[t];
  if (t == 0) cells[0] = in[n - 1];
  if (t == n - 1) cells[n + 1] = in[0];
  SYNC();  // stencil: halo complete
  unsigned left = cells[t], right = cells[t + 2];
  out[t] = left * 3 + right;
}

// Waves in two halves, one writes what the other reads; they meet at barriers of their own.
extern "C" __global__ void __launch_bounds__(512) two_halves(const unsigned *in, unsigned *out, unsigned rounds) {
  __shared__ unsigned cells[256];
  unsigned t = threadIdx.x, half = blockDim.x / 2, sum = 0;
  if (__builtin_amdgcn_readfirstlane(t) < half) {
    for (unsigned r = 0; r < rounds; ++r) {
      cells[t] = in[t] * (r + 1);
      SYNC();  // halves: written
      sum += r;
      SYNC();  // halves: free again
    }
  } else {
    for (unsigned r = 0; r < rounds; ++r) {
      unsigned x;
      BARRIER();  // halves: to be read
      START_READ(x, &cells[blockDim.x - 1 - t]);
      WAIT_FOR_LDS(0, x);  // halves: read
      BARRIER();
      sum = sum * 3 + x;
    }
  }
  out[t] = sum;
}
