// LDS: pairs, bytes and halves, wide accesses, atomics, dynamic size, tiles, double buffers.
#include <hip/hip_runtime.h>

__device__ static unsigned global_index() { return blockIdx.x * blockDim.x + threadIdx.x; }

// Two elements with one instruction, next to each other and 64 elements apart; 128 work-items.
extern "C" __global__ void __launch_bounds__(128) lds_pairs(const unsigned *in, const double *in64, unsigned *out,
                                                            double *out64) {
  __shared__ unsigned words[512];
  __shared__ double longs[512];
  unsigned t = threadIdx.x, first = 512 * blockIdx.x;
  words[2 * t] = in[first + t];
  words[2 * t + 1] = in[first + 128 + t];
  words[256 + t] = in[first + 256 + t]; // 128 apart
  words[384 + t] = in[first + 384 + t];
  longs[t] = in64[first + t];
  longs[t + 128] = in64[first + 128 + t];
  longs[256 + 2 * t] = in64[first + 256 + t];
  longs[257 + 2 * t] = in64[first + 384 + t];
  __syncthreads();
  unsigned s = 127 - t;
  out[first + t] = words[s] - 3 * words[s + 192];
  out[first + 128 + t] = words[s + 5] ^ words[s + 77];
  out[first + 256 + t] = words[3 * s] - words[3 * s + 1];
  out[first + 384 + t] = words[s + 320] & words[s + 384];
  out64[first + t] = longs[s] - longs[s + 384];
  out64[first + 128 + t] = longs[s + 9] - longs[s + 200];
  out64[first + 256 + t] = longs[2 * s] - longs[2 * s + 1];
  out64[first + 384 + t] = longs[s + 128];
}

// Bytes and halves: stored from either half of a register, loaded with either extension, into either half.
extern "C" __global__ void __launch_bounds__(64) lds_bytes(const unsigned *in, int *out, unsigned *pairs) {
  __shared__ unsigned char bytes[256];
  __shared__ unsigned short halves[128];
  unsigned t = threadIdx.x, i = global_index(), n = gridDim.x * blockDim.x, x = in[i];
  bytes[t] = x;
  bytes[t + 64] = x >> 8;
  bytes[t + 128] = x >> 16;
  bytes[255 - t] = x >> 24;
  halves[t] = x;
  halves[t + 64] = x >> 16;
  __syncthreads();
  unsigned s = t ^ 21;
  out[i] = (signed char)bytes[s];
  out[n + i] = bytes[s + 64];
  out[2 * n + i] = (short)halves[s];
  out[3 * n + i] = halves[s + 64];
  typedef unsigned short pair __attribute__((ext_vector_type(2)));
  pair p = {halves[2 * s], halves[127 - s]};
  pairs[i] = __builtin_bit_cast(unsigned, p);
  typedef unsigned char quad __attribute__((ext_vector_type(4)));
  quad q = {bytes[s], bytes[s + 128], bytes[255 - s], bytes[4 * t]};
  pairs[n + i] = __builtin_bit_cast(unsigned, q);
}

struct three { unsigned x, y, z; };
struct alignas(16) three16 { unsigned x, y, z; };

// 8, 12 and 16 bytes an element.
extern "C" __global__ void __launch_bounds__(64) lds_wide(const uint4 *in, uint4 *out, uint3 *out3, uint2 *out2) {
  __shared__ uint4 four[64];
  __shared__ three16 triple[64];
  __shared__ three packed[64];
  __shared__ uint2 two[64];
  unsigned t = threadIdx.x, i = global_index(), n = gridDim.x * blockDim.x;
  uint4 x = in[i];
  four[t] = x;
  triple[t] = {x.w, x.z, x.y};
  packed[t] = {x.x ^ x.w, x.y, x.z};
  two[t] = make_uint2(x.y, x.w);
  __syncthreads();
  unsigned s = 63 - t;
  three16 a = triple[s];
  three b = packed[s ^ 5];
  out[i] = four[s ^ 1];
  out3[i] = make_uint3(a.x, a.y, a.z);
  out3[n + i] = make_uint3(b.x, b.y, b.z);
  out2[i] = two[s ^ 7];
}

// Many work-items on few words, without a result: the order does not matter.
extern "C" __global__ void lds_atomics(const unsigned *in, unsigned *out) {
  __shared__ unsigned words[8];
  __shared__ int bounds[2];
  __shared__ unsigned long long wide[4];
  unsigned t = threadIdx.x, x = in[global_index()];
  if (t < 8) words[t] = t == 2 ? ~0u : 0;
  if (t < 2) bounds[t] = 0;
  if (t < 4) wide[t] = t == 2 ? ~0ull : 0;
  __syncthreads();
  unsigned long long xx = (unsigned long long)x << 32 | ~x;
  atomicAdd(&words[0], x);
  atomicSub(&words[1], x >> 3);
  atomicAnd(&words[2], x | 0xffff0fffu);
  atomicOr(&words[3], x & 0x80808080u);
  atomicXor(&words[4], x);
  atomicMax(&words[5], x);
  atomicInc(&words[6], 40);
  atomicDec(&words[7], 50);
  atomicMin(&bounds[0], (int)x);
  atomicMax(&bounds[1], (int)x);
  atomicAdd(&wide[0], xx);
  atomicMax(&wide[1], xx);
  atomicMin(&wide[2], xx);
  atomicXor(&wide[3], xx);
  __syncthreads();
  if (t < 18) {
    unsigned value = t < 8 ? words[t] : t < 10 ? bounds[t - 8] : ((unsigned *)wide)[t - 10];
    out[18 * blockIdx.x + t] = value;
  }
}

// Each work-item on a word of its own, with the old value as the result.
extern "C" __global__ void __launch_bounds__(64) lds_atomics_returning(const unsigned *in, unsigned *out,
                                                                       unsigned long long *out64) {
  __shared__ unsigned words[64];
  __shared__ unsigned long long wide[64];
  unsigned t = threadIdx.x, i = global_index(), n = gridDim.x * blockDim.x, x = in[i], y = in[i ^ 1];
  unsigned *w = &words[(7 * t) & 63];
  unsigned long long *d = &wide[(5 * t) & 63];
  *w = x;
  *d = (unsigned long long)y << 32 | x;
  out[i] = atomicAdd(w, y);
  out[n + i] = atomicInc(w, y);
  out[2 * n + i] = atomicMin((int *)w, (int)y);
  out[3 * n + i] = atomicXor(w, 0x12345678);
  out[4 * n + i] = atomicCAS(w, t & 1 ? *(volatile unsigned *)w : y, x);
  out[5 * n + i] = atomicExch(w, ~y);
  out[6 * n + i] = atomicDec(w, x);
  out[7 * n + i] = *(volatile unsigned *)w;
  out64[i] = atomicAdd(d, (unsigned long long)x << 20);
  out64[n + i] = atomicCAS(d, *(volatile unsigned long long *)d, (unsigned long long)~x);
  out64[2 * n + i] = atomicExch(d, 77ull);
}

// Floats: every work-item on its own element, then all of them on one with sums that are exact.
extern "C" __global__ void __launch_bounds__(64) lds_atomics_float(const float *in, const float *small, float *out,
                                                                   double *sums) {
  __shared__ float cells[64];
  __shared__ float total;
  __shared__ double total64;
  unsigned t = threadIdx.x, i = global_index(), n = gridDim.x * blockDim.x;
  cells[t] = in[i];
  if (t == 0) total = total64 = 0;
  __syncthreads();
  float x = small[i];
  out[i] = atomicAdd(&cells[t ^ 3], x);
  atomicAdd(&total, x);
  atomicAdd(&total64, (double)x * 0x1p30);
  __syncthreads();
  out[n + i] = cells[t];
  sums[i] = total + total64;
}

#if defined(__gfx942__) || defined(__gfx950__) || defined(__GFX12__)
// Two halves with one addition each.
typedef _Float16 half2_ __attribute__((ext_vector_type(2)));
typedef short short2_ __attribute__((ext_vector_type(2)));
extern "C" __global__ void __launch_bounds__(64) lds_atomics_packed(const unsigned *in, const unsigned *brain,
                                                                    unsigned *out) {
  __shared__ unsigned cells[64], brains[64];
  unsigned t = threadIdx.x, i = global_index(), n = gridDim.x * blockDim.x;
  cells[t] = in[i];
  brains[t] = brain[i];
  __syncthreads();
  auto c = (__attribute__((address_space(3))) half2_ *)&cells[63 - t];
  auto b = (__attribute__((address_space(3))) short2_ *)&brains[63 - t];
  half2_ before = __builtin_amdgcn_ds_atomic_fadd_v2f16(c, __builtin_bit_cast(half2_, in[i]));
  __builtin_amdgcn_ds_atomic_fadd_v2bf16(b, __builtin_bit_cast(short2_, brain[i]));
  __syncthreads();
  out[i] = __builtin_bit_cast(unsigned, before);
  out[n + i] = cells[t];
  out[2 * n + i] = brains[t];
}
#endif

// A transposition through a padded tile; the matrix has no multiple of the tile's size.
extern "C" __global__ void lds_transpose(const float *in, float *out, int rows, int columns) {
  __shared__ float tile[16][17];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  for (int k = 0; k < 16; k += blockDim.y)
    if (x < columns && y + k < rows) tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * columns + x];
  __syncthreads();
  x = blockIdx.y * 16 + threadIdx.x, y = blockIdx.x * 16 + threadIdx.y;
  for (int k = 0; k < 16; k += blockDim.y)
    if (x < rows && y + k < columns) out[(y + k) * rows + x] = tile[threadIdx.x][threadIdx.y + k];
}

// LDS whose size the launch says, cut into two arrays of different types.
extern "C" __global__ void lds_dynamic(const unsigned short *in, unsigned *out) {
  extern __shared__ unsigned char memory[];
  unsigned *words = (unsigned *)memory;
  unsigned short *halves = (unsigned short *)(words + blockDim.x);
  unsigned t = threadIdx.x, i = global_index();
  halves[t] = in[i];
  words[t] = i;
  __syncthreads();
  unsigned other = halves[t] % blockDim.x;
  out[i] = words[other] << 16 | halves[blockDim.x - 1 - t];
}

// Two buffers in turn: step k reads the tile of step k while that of step k + 1 is stored.
extern "C" __global__ void __launch_bounds__(128) lds_double_buffer(const int *in, int *out, int steps) {
  __shared__ int tiles[2][128];
  unsigned t = threadIdx.x, base = blockIdx.x * 128 * steps;
  int sum = 0;
  tiles[0][t] = in[base + t];
  for (int k = 0; k < steps; ++k) {
    int next = k + 1 < steps ? in[base + 128 * (k + 1) + t] : 0;
    __syncthreads();
    sum = 3 * sum + tiles[k & 1][127 - t] - tiles[k & 1][(t + k) & 127];
    tiles[k + 1 & 1][t] = next;
  }
  out[global_index()] = sum;
}

// An exclusive scan of a workgroup by doubling steps; the last workgroup is cut off by `count`.
extern "C" __global__ void lds_scan(const unsigned *in, unsigned *out, unsigned count) {
  __shared__ unsigned sums[2][256];
  unsigned t = threadIdx.x, i = global_index(), from = 0;
  sums[0][t] = i < count && t > 0 ? in[i - 1] : 0;
  for (unsigned step = 1; step < blockDim.x; step *= 2, from ^= 1) {
    __syncthreads();
    sums[from ^ 1][t] = sums[from][t] + (t >= step ? sums[from][t - step] : 0);
  }
  if (i < count) out[i] = sums[from][t];
}

// A histogram of bytes: each workgroup counts in LDS and adds its counts to memory.
extern "C" __global__ void lds_histogram(const unsigned char *in, unsigned *out, unsigned count) {
  __shared__ unsigned bins[256];
  for (unsigned b = threadIdx.x; b < 256; b += blockDim.x) bins[b] = 0;
  __syncthreads();
  for (unsigned i = global_index(); i < count; i += gridDim.x * blockDim.x) atomicAdd(&bins[in[i]], 1u);
  __syncthreads();
  for (unsigned b = threadIdx.x; b < 256; b += blockDim.x)
    if (bins[b]) atomicAdd(&out[b], bins[b]);
}
