// Votes, shuffles, lane masks, bit operations, clocks.
#include <hip/hip_runtime.h>
#define FULL_MASK 0xffffffffffffffffull

__global__ void votes(const int* in, unsigned long long* out) {
  const int lane = threadIdx.x & (warpSize - 1), value = in[threadIdx.x];
  unsigned long long mask = __ballot(value > 0);
  if (lane == 0) {
    out[0] = mask;
    out[1] = __popcll(mask);
    out[2] = __ffsll(mask) - 1;
    out[3] = 63 - __clzll(mask);
  }
  if (__any(value == 7)) out[4] = 1;
  if (__all(value >= -100)) out[5] = 1;
  int same = __match_any(value & 3) == __ballot((value & 3) == (__shfl(value, lane) & 3));
  unsigned long long prefix = __popcll(mask & __lanemask_lt());
  out[64 + threadIdx.x] = prefix;
  out[128 + threadIdx.x] = __match_any(value & 3);
  out[192 + threadIdx.x] = (unsigned long long)__shfl_xor(value, 32 % warpSize) + same * 0;
  out[256 + threadIdx.x] = (unsigned int)__shfl_up_sync(FULL_MASK, value, 1) + __all_sync(FULL_MASK, 1);
  out[320 + threadIdx.x] = __shfl(prefix, 5) + __any_sync(__activemask(), lane == 3) + __ballot_sync(FULL_MASK, lane < 2);
}

__global__ void bits(const unsigned* in, unsigned* out) {
  unsigned i = threadIdx.x, x = in[i], y = in[i + 64];
  out[16 * i + 0] = __popc(x);
  out[16 * i + 1] = __clz(x);
  out[16 * i + 2] = __ffs(x);
  out[16 * i + 3] = __brev(x);
  out[16 * i + 4] = __byte_perm(x, y, 0x7531);
  out[16 * i + 5] = __umulhi(x, y);
  out[16 * i + 6] = __mulhi((int)x, (int)y);
  out[16 * i + 7] = __umul24(x, y);
  out[16 * i + 8] = __funnelshift_l(x, y, i);
  out[16 * i + 9] = __usad(x, y, 5);
  out[16 * i + 10] = __bitextract_u32(x, 4, 9);
  out[16 * i + 11] = __bitinsert_u32(x, y, 8, 8);
  out[16 * i + 12] = __lastbit_u32_u32(x);
  out[16 * i + 13] = __fns32(x, 0, 2);
}

__global__ void clocks(long long* out) {
  long long start = clock64(), wall = wall_clock64();
  out[2] = out[3] * out[4];
  __builtin_amdgcn_s_sleep(1);
  out[0] = clock64() - start;
  out[1] = wall_clock64() - wall;
  out[5] = clock();
}
