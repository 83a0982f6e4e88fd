// Functions of ROCm's headers that only some programs use, and entry points of its device libraries, declared as ROCm does.
#define HIP_ENABLE_EXTRA_WARP_SYNC_TYPES
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_fp8.h>
#include <hip/hip_math_constants.h>
#include <hip/hip_runtime.h>

#include <complex>

extern "C" __device__ __attribute__((const)) float __ocml_floor_f32(float);
extern "C" __device__ unsigned int __ockl_wfred_max_u32(unsigned int);
extern "C" __device__ size_t __ockl_get_global_id(unsigned int);
extern "C" __device__ float __ocml_sincos_f32(float, __attribute__((address_space(5))) float *);
extern "C" __device__ float __ocml_cvtrtn_f32_f64(double);
#if !__HIP_ARCH_HAS_WARP_BALLOT__ || HIP_REMQUO_MASK_F != 7
#error "macros of HIP"
#endif

__global__ void exchange(const unsigned *in, unsigned *out) {
  unsigned lane = __mbcnt_hi(~0u, __mbcnt_lo(~0u, 0)), value = in[lane];
  unsigned *row = out + 12 * lane;
  row[0] = __hip_ds_bpermute((int)(lane ^ 5) << 2, value);
  row[1] = __hip_ds_permute((int)(lane ^ 3) << 2, value);
  row[2] = __float_as_uint(__hip_ds_bpermutef((int)(lane ^ 1) << 2, __uint_as_float(value)));
  row[3] = __hip_ds_swizzle(value, 0x041f);  // the lane's number with bit 0 inverted
  row[4] = (unsigned)__hip_move_dpp((int)value, 0x1b, 0xf, 0xf, true);  // reversed in each quad
  row[5] = (unsigned)__popcll(__ballot64(value & 1));
  row[6] = (unsigned)__fns(value, 0, 2);
  uchar small = (uchar)value;
  row[7] = __ockl_wfred_max_u32(small);
  row[8] = (unsigned)__ockl_get_global_id(0);
}

template <typename T>
__device__ void reduce_numbers(unsigned long long mask, T value, T *row) {
  row[0] = __reduce_add_sync(mask, value);
  row[1] = __reduce_min_sync(mask, value);
  row[2] = __reduce_max_sync(mask, value);
}

// Each of two masks that cover the wave, and the whole one; T is a word or two.
template <typename T>
__device__ void reduced(const T *in, const unsigned long long *masks, T *out) {
  unsigned lane = threadIdx.x;
  unsigned long long mine = masks[masks[1] >> lane & 1];
  reduce_numbers(mine, in[lane], out + 12 * lane);
  reduce_numbers(~0ull, in[lane], out + 12 * lane + 6);
}
#define BITS(T)                                                                    \
  for (int all = 0; all < 2; ++all) {                                              \
    unsigned long long mask = all ? ~0ull : masks[masks[1] >> threadIdx.x & 1];    \
    T *row = out + 12 * threadIdx.x + 6 * all, value = in[threadIdx.x];            \
    row[3] = __reduce_and_sync(mask, value);                                       \
    row[4] = __reduce_or_sync(mask, value);                                        \
    row[5] = __reduce_xor_sync(mask, value);                                       \
  }
__global__ void reduce_int(const int *in, const unsigned long long *masks, int *out) {
  reduced(in, masks, out);
  BITS(int)
}
__global__ void reduce_wide(const unsigned long long *in, const unsigned long long *masks, unsigned long long *out) {
  reduced(in, masks, out);
  BITS(unsigned long long)
}
__global__ void reduce_float(const float *in, const unsigned long long *masks, float *out) { reduced(in, masks, out); }

__global__ void halves(const float *in, const __half *x, const __half *y, __half *out, unsigned *flags, int count) {
  int i = (int)__ockl_get_global_id(0);
  if (i >= count) return;
  __half *row = out + 16 * i, a = x[i], b = y[i];
  row[0] = __float2half_rz(in[i]), row[1] = __float2half_rd(in[i]), row[2] = __float2half_ru(in[i]);
  row[3] = __hadd_sat(a, b), row[4] = __hsub_sat(a, b), row[5] = __hmul_sat(a, b), row[6] = __hfma_sat(a, b, a);
  row[7] = __hmax_nan(a, b), row[8] = __hmin_nan(a, b);
  __half2 p(a, b), q(b, b), saturated = __hadd2_sat(p, q), unordered = __hltu2(p, q), differ = __hne2(p, q);
  row[9] = saturated.x, row[10] = saturated.y, row[11] = unordered.x, row[12] = differ.x, row[13] = differ.y;
  row[14] = __hisnan2(p).x, row[15] = __ldcg(x + i);
  __hip_bfloat162 s(__hip_bfloat16((float)a), __hip_bfloat16((float)b)), t(s.y, s.y);
  flags[i] = __hbltu2(p, q) | __hbne2(p, q) << 1 | __hbltu2(s, t) << 2 | __hbneu2(s, t) << 3 | __hne(a, b) << 4;
}

__global__ void dots(const unsigned *in, unsigned *out) {
  unsigned i = threadIdx.x, a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];
  for (int saturate = 0; saturate < 2; ++saturate) {
    unsigned *row = out + 12 * i + 6 * saturate;
    row[0] = amd_mixed_dot(mfmasim::bits<short2>(a), mfmasim::bits<short2>(b), (int)c, saturate);
    row[1] = amd_mixed_dot(mfmasim::bits<ushort2>(a), mfmasim::bits<ushort2>(b), c, saturate);
    row[2] = amd_mixed_dot(mfmasim::bits<char4>(a), mfmasim::bits<char4>(b), (int)c, saturate);
    row[3] = amd_mixed_dot(mfmasim::bits<uchar4>(a), mfmasim::bits<uchar4>(b), c, saturate);
    row[4] = amd_mixed_dot((int)a, (int)b, (int)c, saturate);
    row[5] = amd_mixed_dot(a, b, c, saturate);
  }
}

__global__ void numbers(const double *in, float *out) {
  int i = threadIdx.x;
  float *row = out + 6 * i, cosine, x = (float)in[i];
  const float parts[3] = {x, 2, 3};
  row[0] = __ocml_floor_f32(x);
  row[1] = __ocml_sincos_f32(x, (__attribute__((address_space(5))) float *)&cosine) - sinf(x), row[2] = cosine - cosf(x);
  row[3] = __ocml_cvtrtn_f32_f64(in[i]);
  row[4] = normf(3, parts) - norm3df(x, 2, 3);
  row[5] = __builtin_fabsf(rnormf(3, parts) - rnorm3df(x, 2, 3));
  atomicAddNoRet(out + 6 * 64, 1.0f);
}

// Arguments of other types than the functions have: integers count as double, and so do two different types.
#define ONE(name) *out++ = name(i);
__global__ void promoted(const int *in, double *out, float *narrow) {
  int i = in[0], power;
  short s = (short)in[1];
  ONE(acosh) ONE(asinh) ONE(cbrt) ONE(cosh) ONE(erf) ONE(expm1) ONE(lgamma) ONE(log1p) ONE(rint) ONE(sinh) ONE(tgamma) ONE(trunc)
  *out++ = atan2(i, 2.0f), *out++ = copysign(i, -1.0f), *out++ = fdim(i, 1.5), *out++ = hypot(i, s), *out++ = remainder(i, 2.5f);
  *out++ = max(i, 2.5f), *out++ = min(i, 2.5), *out++ = min(s, s), *out++ = ldexp(i, 3), *out++ = frexp(i, &power), *out++ = power;
  *out++ = fma(i, 0.5f, s), *out++ = isnan(i) + 2 * isfinite(s) + 4 * signbit(i) + 8 * isnormal(0.5f), *out++ = lround(s);
  *out++ = fpclassify(i) + 8 * fpclassify(0.0f) + 64 * fpclassify(1e-40f);
  *out++ = isgreater(i, 2.5f) + 2 * islessequal(i, s) + 4 * isunordered(i, __builtin_nanf("")) + 8 * islessgreater(1.0f, 1.0f);
  *narrow = powif((float)i, 3);
}

__global__ void complex_numbers(const std::complex<double> *in, std::complex<double> *out, std::complex<float> *narrow) {
  std::complex<double> a = in[0], b = in[1], c = a;
  std::complex<float> f(a), g(b);
  *out++ = a * b, *out++ = a / b, *out++ = std::exp(a), *out++ = std::sqrt(b), *out++ = std::conj(a) + std::polar(2.0, 0.5);
  *out++ = std::abs(a), *out++ = std::norm(b), *out++ = std::arg(a), *out++ = std::pow(a, b), *out++ = (c *= in[2]) / in[2];
  narrow[0] = f * g, narrow[1] = f / g, narrow[2] = std::log(f);
}

// Vectors of other elements, as rocWMMA adds them.
template <>
struct HIP_vector_base<__hip_fp8_e4m3_fnuz, 2> {
  __hip_fp8_e4m3_fnuz x, y;
  HIP_vector_base() = default;
  __device__ explicit HIP_vector_base(__hip_fp8_e4m3_fnuz all) : x(all), y(all) {}
};

__global__ void steps(float *out) {
  __half h(1.5f), before = h++;
  __hip_bfloat16 b(2.5f);
  __half2 p(h, before), q(before, before);
  __hip_bfloat162 r(b, b), s = r--;
  int2 pair = {2, 2};
  ++pair;
  HIP_vector_type<__hip_fp8_e4m3_fnuz, 2> small(__hip_fp8_e4m3_fnuz(2.0f));
  small--;
  *out++ = before, *out++ = --h, *out++ = b--, *out++ = b, *out++ = p < q, *out++ = q <= p, *out++ = (p++).x, *out++ = p.y;
  *out++ = r < s, *out++ = pair == 3, *out++ = pair != 3, *out++ = 4 == pair, *out++ = (float)small.y;
}
