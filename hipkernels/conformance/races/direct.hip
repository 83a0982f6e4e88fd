// CDNA: loads that go straight to the LDS. They count as loads from memory, and no barrier waits for them.
#include <hip/hip_runtime.h>
#include <mfmasim/order.h>

// 64 dwords to 256 bytes of the LDS, a dword a lane. The base is the wave's.
#define FETCH(source, tile, wave, first) \
  __builtin_amdgcn_raw_ptr_buffer_load_lds(source, (mfmasim_lds_void *)((tile) + 64 * (wave)), 4, 4 * ((first) + t), 0, 0, 0)
#define SOURCE(in, bytes) __builtin_amdgcn_make_buffer_rsrc((void *)(in), 0, bytes, 0x27000)

// A wave reads what it fetched itself: no barrier, but a wait.
extern "C" __global__ void __launch_bounds__(512) direct_alone(const unsigned *in, unsigned *out) {
  __shared__ unsigned cells[512];
  unsigned t = threadIdx.x, wave = __builtin_amdgcn_readfirstlane(t / 64), x, y;
  FETCH(SOURCE(in, 4096), cells, wave, 0);
  WAIT_DIRECT(0);  // alone: fetched
  START_READ(x, &cells[t ^ 63]);
  WAIT_FOR_LDS(0, x);  // alone: read
  FETCH(SOURCE(in, 4096), cells, wave, 512);
  WAIT_DIRECT(0);  // alone: fetched again
  START_READ(y, &cells[t ^ 31]);
  WAIT_FOR_LDS(0, y);
  out[t] = x * 3 + y;
}

// Every wave fetches a part, all read all of it.
extern "C" __global__ void __launch_bounds__(512) direct_exchange(const unsigned *in, unsigned *out) {
  __shared__ unsigned left[512], right[512];
  unsigned t = threadIdx.x, wave = __builtin_amdgcn_readfirstlane(t / 64), other = blockDim.x - 1 - t, x, y;
  FETCH(SOURCE(in, 4096), left, wave, 0);
  FETCH(SOURCE(in, 4096), right, wave, 512);
  WAIT_DIRECT(1);  // exchange: left has come
  BARRIER();  // exchange: left is complete
  START_READ(x, &left[other]);
  WAIT_DIRECT(0);  // exchange: right has come
  BARRIER();  // exchange: right is complete
  START_READ(y, &right[other]);
  WAIT_FOR_LDS(1, x);
  x = x * 3;
  WAIT_FOR_LDS(0, y);
  out[t] = x + y;
}

// Two slots: the next tile is fetched while this one is read. A slot is fetched anew when all have read it.
extern "C" __global__ void __launch_bounds__(512) direct_pipeline(const unsigned *in, unsigned *out, unsigned tiles) {
  __shared__ unsigned slots[2][512];
  unsigned t = threadIdx.x, wave = __builtin_amdgcn_readfirstlane(t / 64), n = blockDim.x, sum = 0, x;
  FETCH(SOURCE(in, 4 * n * tiles), slots[0], wave, 0);
  for (unsigned k = 0; k < tiles; ++k) {
    WAIT_DIRECT(0);  // pipeline: fetched
    BARRIER();  // pipeline: complete
    if (k + 1 < tiles) FETCH(SOURCE(in, 4 * n * tiles), slots[~k & 1], wave, n * (k + 1));
    START_READ(x, &slots[k & 1][n - 1 - t]);
    WAIT_FOR_LDS(0, x);  // pipeline: read
    sum = sum * 3 + x;
  }
  out[t] = sum;
}

// Waves in two halves a barrier apart: while one reads a slot, the other fetches.
extern "C" __global__ void __launch_bounds__(512) direct_ping_pong(const unsigned *in, unsigned *out, unsigned tiles) {
  __shared__ unsigned slots[2][512];
  unsigned t = threadIdx.x, wave = __builtin_amdgcn_readfirstlane(t / 64), n = blockDim.x, sum = 0, x;
  FETCH(SOURCE(in, 4 * n * tiles), slots[0], wave, 0);
  WAIT_DIRECT(0);
  BARRIER();
  if (2 * t >= n) BARRIER();  // the second half lets the first one go ahead
  for (unsigned k = 0; k < tiles; ++k) {
    START_READ(x, &slots[k & 1][n - 1 - t]);
    WAIT_FOR_LDS(0, x);  // ping-pong: read
    BARRIER();
    if (k + 1 < tiles) FETCH(SOURCE(in, 4 * n * tiles), slots[~k & 1], wave, n * (k + 1));
    WAIT_DIRECT(0);
    BARRIER();
    BARRIER();  // ping-pong: the other half has fetched
    sum = sum * 3 + x;  // ping-pong: next
  }
  if (2 * t < n) BARRIER();  // as many for both halves
  out[t] = sum;
}
