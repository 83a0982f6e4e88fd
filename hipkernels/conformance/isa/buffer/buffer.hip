// Buffer resources: raw and structured, in every width, in and out of range, and with atomics.
#include <hip/hip_runtime.h>

__device__ static unsigned global_index() { return blockIdx.x * blockDim.x + threadIdx.x; }

// The last word of a resource: 32-bit untyped data; on RDNA with the check of raw buffers.
#if defined(__GFX9__)
constexpr int raw = 0x00020000, structured = 0x00020000;
#else
constexpr int raw = 0x31004000, structured = 0x01004000;
#endif
typedef unsigned u32x2 __attribute__((ext_vector_type(2)));
typedef unsigned u32x3 __attribute__((ext_vector_type(3)));
typedef unsigned u32x4 __attribute__((ext_vector_type(4)));

// Loads at the lane's own byte offset plus a scalar and an immediate: what is out of range gives 0.
extern "C" __global__ void buffer_loads(const unsigned *in, const unsigned *where, u32x4 *out, int bytes, int scalar) {
  __amdgpu_buffer_rsrc_t r = __builtin_amdgcn_make_buffer_rsrc((void *)in, 0, bytes, raw);
  unsigned i = global_index(), n = gridDim.x * blockDim.x;
  int at = where[i];
  unsigned b8 = __builtin_amdgcn_raw_buffer_load_b8(r, at + 3, scalar, 0);
  int i16 = (short)__builtin_amdgcn_raw_buffer_load_b16(r, at + 2, scalar, 0);
  unsigned b32 = __builtin_amdgcn_raw_buffer_load_b32(r, at + 16, scalar, 0);
  u32x2 b64 = __builtin_amdgcn_raw_buffer_load_b64(r, at, scalar, 0);
  u32x3 b96 = __builtin_amdgcn_raw_buffer_load_b96(r, at + 64, 0, 0);
  out[i] = u32x4{b8, (unsigned)i16, b32, b64[0] ^ b64[1]};
  out[n + i] = __builtin_amdgcn_raw_buffer_load_b128(r, at, scalar, 0);
  out[2 * n + i] = u32x4{b96[0], b96[1], b96[2], 7};
}

// Stores of every width; what is out of range is dropped.
extern "C" __global__ void buffer_stores(const unsigned *in, unsigned *out, int bytes) {
  __amdgpu_buffer_rsrc_t r = __builtin_amdgcn_make_buffer_rsrc(out, 0, bytes, raw);
  unsigned i = global_index(), x = in[i];
  int at = 64 * i; // the resource ends before the last of them
  __builtin_amdgcn_raw_buffer_store_b128(u32x4{x, ~x, x + 1, x + 2}, r, at, 0, 0);
  __builtin_amdgcn_raw_buffer_store_b96(u32x3{x ^ 3, x ^ 4, x ^ 5}, r, at + 16, 0, 0);
  __builtin_amdgcn_raw_buffer_store_b64(u32x2{x * 3, x * 5}, r, at + 32, 0, 0);
  __builtin_amdgcn_raw_buffer_store_b32(x * 7, r, at + 44, 0, 0);
  __builtin_amdgcn_raw_buffer_store_b16((unsigned short)(x >> 9), r, at + 52, 0, 0);
  __builtin_amdgcn_raw_buffer_store_b8((unsigned char)(x >> 17), r, at + 57, 0, 0);
  __builtin_amdgcn_raw_buffer_store_b32(x, r, at | 1 << 31, 0, 0); // how kernels switch off a lane's store
}

// Records of 20 bytes, by index and by offset in the record; an index beyond the last record reads 0.
extern "C" __global__ void buffer_structured(const unsigned *in, const unsigned *index, unsigned *out, int records) {
  unsigned i = global_index(), n = gridDim.x * blockDim.x, a, b, k = index[i];
  unsigned long long base = (unsigned long long)in;
  u32x4 r = {(unsigned)base, (unsigned)(base >> 32) | 20u << 16, (unsigned)records, (unsigned)structured};
  for (int word = 0; word < 4; ++word) r[word] = __builtin_amdgcn_readfirstlane(r[word]);
  u32x2 both = {k, 4 * (i & 3)};
#if defined(__GFX12__)
  asm volatile("buffer_load_b32 %0, %2, %3, null idxen offset:16\n\t"
               "buffer_load_b32 %1, %4, %3, null idxen offen\n\ts_wait_loadcnt 0x0"
               : "=&v"(a), "=&v"(b) : "v"(k), "s"(r), "v"(both));
#elif defined(__GFX11__)
  asm volatile("buffer_load_b32 %0, %2, %3, 0 idxen offset:16\n\t"
               "buffer_load_b32 %1, %4, %3, 0 idxen offen\n\ts_waitcnt vmcnt(0)"
               : "=&v"(a), "=&v"(b) : "v"(k), "s"(r), "v"(both));
#else
  asm volatile("buffer_load_dword %0, %2, %3, 0 idxen offset:16\n\t"
               "buffer_load_dword %1, %4, %3, 0 idxen offen\n\ts_waitcnt vmcnt(0)"
               : "=&v"(a), "=&v"(b) : "v"(k), "s"(r), "v"(both));
#endif
  out[i] = a;
  out[n + i] = b;
}

// Atomics through a resource; out of range they change nothing and give 0.
extern "C" __global__ void buffer_atomics(int *data, const int *in, int *out, int bytes) {
  __amdgpu_buffer_rsrc_t r = __builtin_amdgcn_make_buffer_rsrc(data, 0, bytes, raw);
  unsigned i = global_index();
  out[i] = __builtin_amdgcn_raw_ptr_buffer_atomic_add_i32(in[i], r, 4 * i, 0, 0);
}
