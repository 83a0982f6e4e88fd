// Buffers in turn, and loads that registers wait for.
#include <hip/hip_runtime.h>
#include <mfmasim/order.h>

#define SLOTS 2
#define READ_SLOT(k) ((k) % SLOTS)

// Two buffers: step k reads one while the other is filled for step k + 1. One barrier a step.
extern "C" __global__ void __launch_bounds__(512) double_buffer(const unsigned *in, unsigned *out, unsigned steps) {
  __shared__ unsigned tiles[SLOTS][512];
  unsigned t = threadIdx.x, n = blockDim.x, other = (t + warpSize) % n, sum = 0;
  tiles[0][t] = in[t];
  SYNC();  // double: first tile
  for (unsigned k = 0; k < steps; ++k) {
    unsigned x;
    START_READ(x, &tiles[READ_SLOT(k)][other]);
    if (k + 1 < steps) tiles[(k + 1) % SLOTS][t] = in[(k + 1) * n + t];
    SYNC();  // double: next tile
    asm volatile("" : "+v"(x));
    sum = sum * 3 + x;
  }
  out[t] = sum;
}

#define RING 3

// Three buffers, filled two steps ahead: one barrier a step, although a wave may write while another reads.
extern "C" __global__ void __launch_bounds__(512) ring(const unsigned *in, unsigned *out, unsigned steps) {
  __shared__ unsigned tiles[3][512];
  unsigned t = threadIdx.x, n = blockDim.x, other = n - 1 - t, sum = 0;
  tiles[0][t] = in[t];
  for (unsigned k = 0; k < steps; ++k) {
    if (k + 1 < steps) tiles[(k + 1) % RING][t] = in[(k + 1) * n + t];
    SYNC();  // ring: both are written
    sum = sum * 5 + tiles[k % RING][other];
  }
  out[t] = sum;
}

// Reads by hand: two in flight, the older one is waited for first.
extern "C" __global__ void __launch_bounds__(512) counted_reads(const unsigned *in, unsigned *out) {
  __shared__ unsigned cells[512];
  unsigned t = threadIdx.x, n = blockDim.x, x, y;
  cells[t] = in[t];
  SYNC();  // counted: written
  START_READ(x, &cells[n - 1 - t]);
  START_READ(y, &cells[(t + warpSize) % n]);
  WAIT_FOR_LDS(1, x);
  x = x * 9;
  WAIT_FOR_LDS(0, y);
  out[t] = x ^ y;
}

// The same with loads from memory.
extern "C" __global__ void __launch_bounds__(512) counted_loads(const unsigned *in, unsigned *out) {
  unsigned t = threadIdx.x, n = blockDim.x, x, y;
  START_LOAD(x, in, 4 * (n - 1 - t));
  START_LOAD(y, in, 4 * t);
  WAIT_FOR_LOAD(1, x);
  x = x * 9;
  WAIT_FOR_LOAD(0, y);
  out[t] = x ^ y;
}
