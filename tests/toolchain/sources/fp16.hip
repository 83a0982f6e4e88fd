#include <hip/hip_fp16.h>

__global__ void halves(const __half* a, half* out, float* f, int* i, unsigned short* u) {
  __half x = a[0], y = a[1];
  __shared__ half tile[8];
  tile[0] = x;
  out[0] = x + y - x * y / a[2];
  out[1] = __hfma(x, y, a[3]);
  out[2] = __float2half(f[0]);
  out[3] = __float2half_rn(f[1]);
  out[4] = __float2half_rz(f[2]);
  out[5] = f[3];
  out[6] = (_Float16)x;
  out[7] = __int2half_rn(i[0]);
  out[8] = hexp(x) + hsqrt(y) + hfloor(x) + hlog2(y) + hrcp(x);
  out[9] = __hmax(x, y) + __hmin(x, y) + __habs(x) + __hneg(y) + __hadd(x, y) + __hmul(x, y);
  out[10] = __ushort_as_half(u[0]) + tile[0];
  out[11] = __shfl_xor(x, 1);
  f[4] = __half2float(x) + (float)y;
  i[1] = __half2int_rn(x) + __hgt(x, y) + __heq(x, y) + __hltu(x, y) + __hisnan(x) + (x < y) + (x == y);
  u[1] = __half_as_ushort(x);
  x += y;
  x *= y;
  out[12] = -x;
}

__global__ void half_pairs(const half2* a, __half2* out, float2* f, float* g) {
  __half2 x = a[0], y = a[1];
  __shared__ half2 tile[8];
  tile[0] = x;
  out[0] = __hfma2(x, y, a[2]) + x - y * x;
  out[1] = __floats2half2_rn(g[0], g[1]);
  out[2] = __float22half2_rn(f[0]);
  out[3] = __halves2half2(__low2half(x), __high2half(y));
  out[4] = __hadd2(x, y);
  out[5] = __hmul2(x, y);
  out[6] = __lowhigh2highlow(x);
  out[7] = __half2half2(x.x);
  out[8] = __hmax2(x, y);
  out[9] = __hgt2(x, y);
  out[10] = h2exp(tile[0]);
  out[11] = make_half2(x.x, y.y);
  f[1] = __half22float2(x);
  g[2] = __low2float(x) + __high2float(y) + __hbeq2(x, y);
}

__global__ void pair_atomics(half2* a) { a[2] = unsafeAtomicAdd(a, a[1]); }
static_assert(sizeof(half) == 2 && sizeof(half2) == 4 && alignof(half2) == 4, "HIP's");
__global__ void narrow(const half *h, char *c, unsigned char *u) { c[0] = (char)h[0], u[0] = static_cast<unsigned char>(h[1]); }
