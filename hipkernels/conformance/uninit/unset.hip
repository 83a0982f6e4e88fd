// Registers, LDS and memory that were never written: used, and not used. Each line that a mutant takes away says so.
#include <hip/hip_runtime.h>

// A register that is never written: no other part of these kernels needs so many.
#define NEVER_WRITTEN(x) asm volatile("" : "={v100}"(x))
// What is written here is written in the lanes that are active.
#define IN_ACTIVE_LANES(x, value) asm volatile("v_mov_b32 %0, %1" : "+v"(x) : "v"(value))
typedef unsigned Row __attribute__((ext_vector_type(4)));
#define KERNEL(name) extern "C" __global__ void __launch_bounds__(256) name

// A tile of 256 cells of which `count` are loaded; all are summed.
KERNEL(tail)(const unsigned *in, unsigned *out, unsigned count) {
  __shared__ unsigned tile[256];
  unsigned t = threadIdx.x, n = blockDim.x, sum = 0;
  if (t < count) tile[t] = in[t];
  else tile[t] = 0;  // tail: zeros
  __syncthreads();
  for (unsigned k = 0; k < n; ++k) sum += tile[k];
  out[t] = sum;
}

// Some thread may find something, or none.
KERNEL(flag)(const unsigned *in, unsigned *out) {
  __shared__ unsigned found;
  unsigned t = threadIdx.x;
  if (t == 0) found = 0;  // flag: cleared
  __syncthreads();
  if (in[t] == 0x80000000u) found = 1;
  __syncthreads();
  unsigned x = in[t];
  if (found) x = x * 3 + 1;
  out[t] = x;
}

// Rows of 12 dwords in steps of 16: four lie between them, which are read with the others and not used.
KERNEL(padding)(const unsigned *in, unsigned *out) {
  __shared__ __attribute__((aligned(16))) unsigned rows[256 / 4][4];
  unsigned t = threadIdx.x;
  if (t % 4 < 3) rows[t / 4][t % 4] = in[t];
  __syncthreads();
  Row row = *(volatile Row *)rows[t / 4];
  out[t] = row.x + row.y * 3 + row.z * 5;  // padding: three of four
}

// A table in scratch: its elements are numbers of other elements.
KERNEL(table)(const unsigned *in, unsigned *out) {
  volatile unsigned next[16];
  unsigned t = threadIdx.x;
  for (unsigned k = 0; k < 16; ++k) next[k] = in[t] + k & 15;  // table: all of it
  out[t] = in[16 + next[in[t] & 15]];
}

// C is read when beta asks for it.
KERNEL(scaled)(const float *x, float *c, float alpha, float beta) {
  unsigned t = threadIdx.x;
  c[t] = beta == 0.0f ? alpha * x[t] : alpha * x[t] + beta * c[t];  // scaled: beta
}

// Odd lanes have a value; all take one of them.
KERNEL(exchange)(const unsigned *in, unsigned *out) {
  unsigned t = threadIdx.x, x = in[t], y;
  NEVER_WRITTEN(y);
  if (t & 1) IN_ACTIVE_LANES(y, x);
  out[t] = __shfl(y, t | 1);  // exchange: odd lanes
}

// One lane has a value, and the wave takes that one.
KERNEL(first)(const unsigned *in, unsigned *out) {
  unsigned t = threadIdx.x, x = in[t], y;
  NEVER_WRITTEN(y);
  if (t % 32 == 0) IN_ACTIVE_LANES(y, x);
  out[t] = __builtin_amdgcn_readlane(y, 0);  // first: lane 0
}

// What lanes beyond the end hold does not matter: they choose 0.
KERNEL(chosen)(const unsigned *in, unsigned *out, unsigned count) {
  unsigned t = threadIdx.x, y;
  NEVER_WRITTEN(y);
  if (t < count) IN_ACTIVE_LANES(y, in[t]);
  unsigned x = y;
  asm volatile("" : "+v"(x));
  out[t] = t < count ? x : 0;  // chosen
}

// One byte goes into a register whose others were never written, and only that byte leaves it.
KERNEL(merged)(const unsigned *in, unsigned *out) {
  unsigned t = threadIdx.x, y, z;
  NEVER_WRITTEN(y);
  asm volatile("v_bfi_b32 %0, %1, %2, %3" : "=v"(z) : "v"(0xffu), "v"(in[t]), "v"(y));
  out[t] = z & 0xff;  // merged: the byte
}

// Bytes of two registers, chosen by a selector.
KERNEL(permuted)(const unsigned *in, unsigned *out) {
  unsigned t = threadIdx.x, y, z, selector = 0x04050607;  // permuted: bytes 4 to 7
  NEVER_WRITTEN(y);
  asm volatile("v_perm_b32 %0, %1, %2, %3" : "=v"(z) : "v"(in[t]), "v"(y), "s"(selector));
  out[t] = z;
}

// Counters in the LDS.
KERNEL(counters)(const unsigned *in, unsigned *out) {
  __shared__ unsigned count[32];
  unsigned t = threadIdx.x;
  if (t < 32) count[t] = 0;  // counters: cleared
  __syncthreads();
  atomicAdd(&count[in[t] & 31], 1u);
  __syncthreads();
  out[t] = count[t & 31];
}

// A sum in memory, which the caller has cleared.
KERNEL(sum)(const unsigned *in, unsigned *total) { atomicAdd(total, in[threadIdx.x]); }

// A workspace in memory: every thread fills its place before it reads it.
KERNEL(workspace)(const unsigned *in, unsigned *space, unsigned *out) {
  volatile unsigned *place = space + threadIdx.x;
  unsigned x = in[threadIdx.x];
  if (x != 0x80000000u) *place = x * 5;  // workspace: filled
  else *place = 7;  // workspace: the rare case
  out[threadIdx.x] = *place + 1;
}

// Lanes go where their flags in the LDS say.
KERNEL(flags)(const unsigned *in, unsigned *out) {
  __shared__ unsigned odd[256];
  unsigned t = threadIdx.x, x = in[t];
  if (x & 1) odd[t] = 1;
  else odd[t] = 0;  // flags: the others
  __syncthreads();
  if (odd[t ^ 1]) {
    asm volatile("v_add_f32 %0, %0, %0" : "+v"(x));
    x ^= in[t ^ 1];
  }
  out[t] = x;
}

// Halves of a register, one after the other.
KERNEL(halves)(const unsigned short *in, unsigned *out) {
  unsigned t = threadIdx.x;
  out[t] = in[t] | (unsigned)in[t + blockDim.x] << 16;
}
