#include <hip/hip_bf16.h>
#include <hip/hip_bfloat16.h>

__global__ void bfloats(const __hip_bfloat16* a, __hip_bfloat16* out, float* f, int* i, unsigned short* u) {
  __hip_bfloat16 x = a[0], y = a[1];
  __shared__ __hip_bfloat16 tile[8];
  tile[0] = x;
  out[0] = x + y - x * y / a[2];
  out[1] = __hfma(x, y, a[3]);
  out[2] = __float2bfloat16(f[0]);
  out[3] = f[1];
  out[4] = __hadd(x, y) + __hmul(x, y) + __hneg(x) + __habs(y) + __hmax(x, y) + __hmin(x, y);
  out[5] = hexp(x) + hsqrt(y) + hrcp(x);
  out[6] = __ushort_as_bfloat16(u[0]);
  out[7] = __shfl_xor(tile[0], 1);
  f[2] = __bfloat162float(x) + (float)y;
  i[0] = (x < y) + __hgt(x, y) + __heq(x, y) + __hisnan(x) + __hisinf(y) + (int)x;
  u[1] = __bfloat16_as_ushort(x);
  x += y;
  out[8] = -x;
}

__global__ void bfloat_pairs(const __hip_bfloat162* a, __hip_bfloat162* out, float2* f, float* g) {
  __hip_bfloat162 x = a[0], y = a[1];
  __shared__ __hip_bfloat162 tile[8];
  tile[0] = x;
  out[0] = __hfma2(x, y, a[2]) + x - y * x;
  out[1] = __float22bfloat162_rn(f[0]);
  out[2] = __floats2bfloat162_rn(g[0], g[1]);
  out[3] = __halves2bfloat162(__low2bfloat16(x), __high2bfloat16(y));
  out[4] = __hadd2(x, y);
  out[5] = h2exp(tile[0]);
  out[6] = __bfloat162bfloat162(x.x);
  f[1] = __bfloat1622float2(x);
  g[2] = __low2float(x) + __high2float(y) + __hbeq2(x, y);
}

__global__ void older_bfloats(const hip_bfloat16* a, hip_bfloat16* out, float* f) {
  hip_bfloat16 x = a[0], y = a[1];
  out[0] = x + y * x - y / x;
  out[1] = hip_bfloat16(f[0]);
  out[2] = hip_bfloat16::round_to_bfloat16(f[1], hip_bfloat16::truncate);
  out[3] = -x;
  out[4].data = 0x3f80;
  x += y;
  f[2] = float(x) + (x < y) + (x == y);
}
__global__ void narrow(const __hip_bfloat16 *h, char *c, unsigned char *u) { c[0] = (char)h[0], u[0] = static_cast<unsigned char>(h[1]); }
__global__ void bf16_pair_atomics(__hip_bfloat162 *a) { a[2] = unsafeAtomicAdd(a, a[1]); }
