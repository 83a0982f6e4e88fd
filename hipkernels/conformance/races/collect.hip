// Reductions, scans and atomics: many threads come to the same words of the LDS.
#include <hip/hip_runtime.h>
#include <mfmasim/order.h>

// A tree: half of the threads after each step.
extern "C" __global__ void __launch_bounds__(512) reduction(const unsigned *in, unsigned *out) {
  __shared__ unsigned sums[512];
  unsigned t = threadIdx.x;
  sums[t] = in[t];
  SYNC();  // reduction: begin
  for (unsigned step = blockDim.x / 2; step > 0; step /= 2) {
    if (t < step) sums[t] += sums[t + step];
    SYNC();  // reduction: step
  }
  out[t] = sums[0];
}

// A tree whose last steps lie within one wave: what a wave does to the LDS is done in order, no barrier is needed.
extern "C" __global__ void __launch_bounds__(512) reduction_in_wave(const unsigned *in, unsigned *out) {
  __shared__ volatile unsigned cells[512];
  unsigned t = threadIdx.x, alone = warpSize;  // alone: threads of one wave
  cells[t] = in[t];
  SYNC();
  for (unsigned step = blockDim.x / 2; step > 0; step /= 2) {
    if (t < step) cells[t] += cells[t + step];
    if (step > alone) SYNC();
  }
  if (t == 0) out[0] = cells[0];
}

// Hillis and Steele: read, meet, write, meet.
extern "C" __global__ void __launch_bounds__(512) scan(const unsigned *in, unsigned *out) {
  __shared__ unsigned sums[512];
  unsigned t = threadIdx.x;
  sums[t] = in[t];
  for (unsigned step = 1; step < blockDim.x; step *= 2) {
    SYNC();  // scan: written
    unsigned more = t >= step ? sums[t - step] : 0;
    SYNC();  // scan: read
    sums[t] += more;
  }
  out[t] = sums[t];
}

// Clear, count, read.
extern "C" __global__ void __launch_bounds__(512) histogram(const unsigned *in, unsigned *out) {
  __shared__ unsigned counts[32];
  unsigned t = threadIdx.x;
  if (t < 32) counts[t] = 0;
  SYNC();  // histogram: cleared
  atomicAdd(&counts[in[t] % 32], 1u);
  SYNC();  // histogram: counted
  if (t >= blockDim.x - 32) out[t % 32] = counts[t % 32];
}

// Each thread draws a ticket and leaves a mark in the ticket's cell.
extern "C" __global__ void __launch_bounds__(512) tickets(const unsigned *in, unsigned *out) {
  __shared__ unsigned next, cells[512];
  unsigned t = threadIdx.x;
  if (t == 0) next = 0;
  SYNC();  // tickets: open
  unsigned mine = atomicAdd(&next, 1u);
  cells[mine] = 7 * mine + in[0];
  SYNC();  // tickets: all drawn
  out[t] = cells[(t + warpSize) % blockDim.x];
}

// Several atomic operations on one word; the order is open, the result is not.
extern "C" __global__ void __launch_bounds__(512) extremes(const unsigned *in, unsigned *out) {
  __shared__ unsigned least, most;
  unsigned t = threadIdx.x;
  if (t == 0) least = ~0u, most = 0;
  SYNC();  // extremes: begun
  atomicMin(&least, in[t]);
  atomicMax(&most, in[t]);
  SYNC();  // extremes: over
  out[t] = most - least;
}
