// Ways into and out of the LDS that CDNA3 and CDNA4 have: loads without a register in between, transposed reads.
// RDNA4's transposed load.
#include <hip/hip_runtime.h>

#if defined(__GFX9__)
__device__ static unsigned global_index() { return blockIdx.x * blockDim.x + threadIdx.x; }

#define GLOBAL(T) __attribute__((address_space(1))) T
#define LDS(T) __attribute__((address_space(3))) T
__device__ static void arrived() {
  __builtin_amdgcn_s_waitcnt(0x0f70); // vmcnt(0)
  __syncthreads();
}

// Words from wherever each lane says to where the lane's number says; the immediate counts on both sides.
extern "C" __global__ void __launch_bounds__(128) load_to_lds(unsigned *in, const unsigned *where, unsigned *out) {
  __shared__ unsigned tiles[2][128];
  unsigned t = threadIdx.x, i = global_index(), n = gridDim.x * blockDim.x;
  auto to = (LDS(unsigned) *)&tiles[0][t / 64 * 64];
  auto from = (GLOBAL(unsigned) *)(in + where[i]);
  __builtin_amdgcn_global_load_lds(from, to, 4, 0, 0);
  __builtin_amdgcn_global_load_lds(from, to, 4, 512, 0);
  arrived();
  out[i] = tiles[0][127 - t];
  out[n + i] = tiles[1][t ^ 5];
}

// Bytes and halves through a buffer resource: each fills a word.
extern "C" __global__ void __launch_bounds__(128) buffer_to_lds(const void *in, const unsigned *where, unsigned *out,
                                                                int bytes) {
  __shared__ unsigned tiles[3][128];
  unsigned t = threadIdx.x, i = global_index(), n = gridDim.x * blockDim.x, at = where[i];
  __amdgpu_buffer_rsrc_t r = __builtin_amdgcn_make_buffer_rsrc((void *)in, 0, bytes, 0x00020000);
  unsigned first = t / 64 * 64;
  __builtin_amdgcn_raw_ptr_buffer_load_lds(r, (LDS(void) *)&tiles[0][first], 1, at, 0, 0, 0);
  __builtin_amdgcn_raw_ptr_buffer_load_lds(r, (LDS(void) *)&tiles[1][first], 2, 2 * at, 16, 0, 0);
  __builtin_amdgcn_raw_ptr_buffer_load_lds(r, (LDS(void) *)&tiles[2][first], 4, 4 * at, 0, 0, 0);
  arrived();
  for (unsigned k = 0; k < 3; ++k) out[k * n + i] = tiles[k][127 - t];
}

#if defined(__gfx950__)
// 12 and 16 bytes a lane. Both kinds stand 16 bytes apart.
extern "C" __global__ void __launch_bounds__(64) load_wide_to_lds(unsigned *in, const unsigned *where, uint4 *out) {
  __shared__ uint4 tiles[2][64];
  unsigned t = threadIdx.x, i = global_index(), n = gridDim.x * blockDim.x;
  tiles[1][t] = make_uint4(t, t, t, t);
  __syncthreads();
  auto from = (GLOBAL(unsigned) *)(in + 4 * where[i]);
  __builtin_amdgcn_global_load_lds(from, (LDS(unsigned) *)&tiles[0][0], 16, 0, 0);
  __builtin_amdgcn_global_load_lds(from, (LDS(unsigned) *)&tiles[1][0], 12, 0, 0);
  arrived();
  out[i] = tiles[0][63 - t];
  out[n + i] = tiles[1][t ^ 3];
}

// Columns of a tile of 16 columns that lies in rows: elements of 16, 8, 4 and 6 bits.
typedef short i16x4 __attribute__((ext_vector_type(4)));
typedef int i32x2 __attribute__((ext_vector_type(2)));
typedef int i32x3 __attribute__((ext_vector_type(3)));
extern "C" __global__ void __launch_bounds__(64) transposed_reads(const uint4 *in, uint2 *out, uint3 *out3) {
  __shared__ uint4 tile[64];
  unsigned t = threadIdx.x;
  tile[t] = in[t];
  __syncthreads();
  auto eight = (LDS(char) *)tile + 8 * t;
  i16x4 halves = __builtin_amdgcn_ds_read_tr16_b64_v4i16((LDS(i16x4) *)eight);
  i32x2 bytes = __builtin_amdgcn_ds_read_tr8_b64_v2i32((LDS(i32x2) *)(eight + 512));
  i32x2 nibbles = __builtin_amdgcn_ds_read_tr4_b64_v2i32((LDS(i32x2) *)eight);
  i32x3 sixes = __builtin_amdgcn_ds_read_tr6_b96_v3i32((LDS(i32x3) *)&tile[t]);
  out[t] = __builtin_bit_cast(uint2, halves);
  out[64 + t] = make_uint2(bytes[0], bytes[1]);
  out[128 + t] = make_uint2(nibbles[0], nibbles[1]);
  out3[t] = make_uint3(sixes[0], sixes[1], sixes[2]);
}
#endif
#elif defined(__GFX12__)
// A load of which each eight lanes exchange their eight halves.
typedef short i16x8 __attribute__((ext_vector_type(8)));
extern "C" __global__ void __launch_bounds__(32) transposed_load(const i16x8 *in, i16x8 *out) {
  out[threadIdx.x] = __builtin_amdgcn_global_load_tr_b128_v8i16((__attribute__((address_space(1))) i16x8 *)(in + threadIdx.x));
}
#endif
