// Private memory: arrays with indices that are known only at run time, in scratch and in registers; spills; alloca.
#include <hip/hip_runtime.h>

__device__ static unsigned global_index() { return blockIdx.x * blockDim.x + threadIdx.x; }

// A private table of words, written and read at indices that differ from lane to lane.
extern "C" __global__ void scratch_words(const unsigned *in, unsigned *out) {
  unsigned table[40], i = global_index(), x = in[i], hash = 0;
  for (int k = 0; k < 40; ++k) table[k] = x * k;
  for (int k = 0; k < 12; ++k) {
    unsigned at = (x >> 2 * k) % 40;
    table[at] += hash ^ k;
    hash = hash * 31 + table[(at + x) % 40];
  }
  out[i] = hash;
}

// Bytes and halves, with sign and without.
extern "C" __global__ void scratch_bytes(const unsigned *in, int *out) {
  signed char bytes[64];
  short halves[64];
  unsigned i = global_index(), x = in[i];
  for (int k = 0; k < 64; ++k) {
    bytes[k] = x >> k % 25;
    halves[k] = x >> k % 17;
  }
  int sum = 0;
  for (int k = 0; k < 8; ++k) {
    unsigned at = (x >> 3 * k) % 64;
    sum = 5 * sum + bytes[at] + (unsigned short)halves[63 - at] - halves[at ^ 9];
    bytes[at ^ 1] = sum;
    halves[at] = sum >> 4;
  }
  out[i] = sum;
}

// 8, 12 and 16 bytes an access.
struct triple { float x, y, z; };
extern "C" __global__ void scratch_wide(const float4 *in, float4 *out) {
  float4 four[16];
  triple three[16];
  double two[16];
  unsigned i = global_index(), n = gridDim.x * blockDim.x;
  for (int k = 0; k < 16; ++k) {
    float4 v = in[(i + 7 * k) % n];
    four[(k + i) % 16] = v;
    three[(k * 5 + i) % 16] = {v.w, v.y, v.x};
    two[(k * 3 + i) % 16] = v.z;
  }
  unsigned at = __float_as_uint(in[i].x) % 16;
  float4 a = four[at];
  triple b = three[(at + 3) % 16];
  out[i] = make_float4(a.x - b.x, a.y - b.y, a.z - b.z, a.w - (float)two[at ^ 6]);
}

// More values alive than the few registers this kernel may use: the compiler spills and reloads.
extern "C" __attribute__((amdgpu_num_vgpr(24))) __global__ void spills(const unsigned *in, unsigned *out) {
  unsigned i = global_index(), n = gridDim.x * blockDim.x, v[40];
#pragma unroll
  for (int k = 0; k < 40; ++k) v[k] = in[(i + k) % n] + k;
  asm volatile("" ::: "memory"); // all loads come first
  unsigned sum = 0;
#pragma unroll
  for (int round = 0; round < 3; ++round)
#pragma unroll
    for (int k = 0; k < 40; ++k) {
      sum += v[k] ^ v[(k * 7 + round) % 40];
      v[k] = v[k] * 3 + sum;
    }
  out[i] = sum;
}

// Stack memory of a size that is known at run time only, in a loop.
extern "C" __global__ void stack_alloca(const unsigned *in, unsigned *out, unsigned words) {
  unsigned i = global_index(), x = in[i], sum = 0;
  for (unsigned round = 1; round <= 3; ++round) {
    volatile unsigned *own = (volatile unsigned *)__builtin_alloca(4 * words * round);
    for (unsigned k = 0; k < words * round; ++k) own[k] = x + k * round;
    sum = sum * 7 + own[x % (words * round)];
  }
  out[i] = sum;
}

// An array that lives in registers: one index for the whole wave, then one for each lane.
typedef unsigned lanes16 __attribute__((ext_vector_type(16)));
extern "C" __global__ void register_index(const unsigned *in, unsigned *out, unsigned uniform) {
  unsigned i = global_index(), n = gridDim.x * blockDim.x, x = in[i];
  lanes16 v;
  for (int k = 0; k < 16; ++k) v[k] = x * (2 * k + 1);
  unsigned got = v[uniform & 15];
  v[(uniform >> 4) & 15] = got ^ 0xffff;
  out[i] = v[(uniform >> 8) & 15];
  v[x & 15] = i;
  out[n + i] = v[(x >> 4) & 15] + v[(uniform >> 4) & 15];
}

// The same with elements of 64 bits.
typedef double doubles8 __attribute__((ext_vector_type(8)));
extern "C" __global__ void register_index_wide(const double *in, double *out, unsigned uniform) {
  unsigned i = global_index(), n = gridDim.x * blockDim.x;
  doubles8 v;
  for (int k = 0; k < 8; ++k) v[k] = in[(i + k) % n];
  v[(uniform >> 3) & 7] = v[uniform & 7] - 1.0;
  out[i] = v[(uniform >> 6) & 7];
  out[n + i] = v[(i + uniform) & 7];
}
