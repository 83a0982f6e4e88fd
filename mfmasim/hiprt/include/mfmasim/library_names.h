// ROCm's device libraries by the names of their entry points, for sources that call them directly: __ocml_sin_f32 is
// sinf, __ockl_get_local_id the work-item's number. Sources may declare them too, as ROCm's headers do. Names:
// device_library_decls.h of HIP, ocml.h and ockl.h of ROCm's device-libs. With those libraries as bitcode the names are
// theirs.
#pragma once

#include <mfmasim/atomics.h>
#include <mfmasim/casts.h>
#include <mfmasim/coordinates.h>
#include <mfmasim/dot_products.h>
#include <mfmasim/integers.h>
#include <mfmasim/lane_reductions.h>
#include <mfmasim/lanes.h>
#include <mfmasim/math.h>
#include <mfmasim/synchronisation.h>
#include <stddef.h>

#if !defined(MFMASIM_DEVICE_LIBS)

#if defined(MFMASIM_LIBRARY_MODULE)  // linked as bitcode to sources without this header: mfmasim/toolchain/entry_points.py
#define MFMASIM_LIBRARY extern "C" __device__ __attribute__((nodebug))
#else
#define MFMASIM_LIBRARY extern "C" __device__ inline __attribute__((always_inline, nodebug))
#endif

#define MFMASIM_OCML(name, ours, parameters, arguments)                                      \
  MFMASIM_LIBRARY __attribute__((const)) float __ocml_##name##_f32(parameters(float)) { return ::ours arguments; } \
  MFMASIM_LIBRARY __attribute__((const)) double __ocml_##name##_f64(parameters(double)) { return ::ours arguments; }
#define MFMASIM_X(T) T x
#define MFMASIM_XY(T) T x, T y
#define MFMASIM_XYZ(T) T x, T y, T z
#define MFMASIM_XN(T) T x, int n
#define MFMASIM_OCML_1(name, ours) MFMASIM_OCML(name, ours, MFMASIM_X, (x))
#define MFMASIM_OCML_2(name, ours) MFMASIM_OCML(name, ours, MFMASIM_XY, (x, y))
#define MFMASIM_OCML_SAME_1(name) MFMASIM_OCML_1(name, name)
#define MFMASIM_OCML_SAME_2(name) MFMASIM_OCML_2(name, name)

MFMASIM_OCML_SAME_1(sin)
MFMASIM_OCML_SAME_1(cos)
MFMASIM_OCML_SAME_1(tan)
MFMASIM_OCML_SAME_1(asin)
MFMASIM_OCML_SAME_1(acos)
MFMASIM_OCML_SAME_1(atan)
MFMASIM_OCML_SAME_1(sinh)
MFMASIM_OCML_SAME_1(cosh)
MFMASIM_OCML_SAME_1(tanh)
MFMASIM_OCML_SAME_1(asinh)
MFMASIM_OCML_SAME_1(acosh)
MFMASIM_OCML_SAME_1(atanh)
MFMASIM_OCML_SAME_1(exp)
MFMASIM_OCML_SAME_1(exp2)
MFMASIM_OCML_SAME_1(exp10)
MFMASIM_OCML_SAME_1(expm1)
MFMASIM_OCML_SAME_1(log)
MFMASIM_OCML_SAME_1(log2)
MFMASIM_OCML_SAME_1(log10)
MFMASIM_OCML_SAME_1(log1p)
MFMASIM_OCML_SAME_1(logb)
MFMASIM_OCML_SAME_1(erf)
MFMASIM_OCML_SAME_1(erfc)
MFMASIM_OCML_SAME_1(erfcx)
MFMASIM_OCML_SAME_1(erfinv)
MFMASIM_OCML_SAME_1(erfcinv)
MFMASIM_OCML_SAME_1(tgamma)
MFMASIM_OCML_SAME_1(lgamma)
MFMASIM_OCML_SAME_1(cbrt)
MFMASIM_OCML_SAME_1(rcbrt)
MFMASIM_OCML_SAME_1(sqrt)
MFMASIM_OCML_SAME_1(rsqrt)
MFMASIM_OCML_SAME_1(sinpi)
MFMASIM_OCML_SAME_1(cospi)
MFMASIM_OCML_SAME_1(fabs)
MFMASIM_OCML_SAME_1(floor)
MFMASIM_OCML_SAME_1(ceil)
MFMASIM_OCML_SAME_1(trunc)
MFMASIM_OCML_SAME_1(rint)
MFMASIM_OCML_SAME_1(round)
MFMASIM_OCML_1(nearbyint, rint)
MFMASIM_OCML_1(ncdf, normcdf)
MFMASIM_OCML_1(ncdfinv, normcdfinv)
MFMASIM_OCML_SAME_2(pow)
MFMASIM_OCML_SAME_2(atan2)
MFMASIM_OCML_SAME_2(hypot)
MFMASIM_OCML_SAME_2(rhypot)
MFMASIM_OCML_SAME_2(fmod)
MFMASIM_OCML_SAME_2(remainder)
MFMASIM_OCML_SAME_2(nextafter)
MFMASIM_OCML_SAME_2(fdim)
MFMASIM_OCML_SAME_2(fmin)
MFMASIM_OCML_SAME_2(fmax)
MFMASIM_OCML_SAME_2(copysign)
MFMASIM_OCML(fma, fma, MFMASIM_XYZ, (x, y, z))
MFMASIM_OCML(pown, pow, MFMASIM_XN, (x, n))
MFMASIM_OCML(ldexp, ldexp, MFMASIM_XN, (x, n))
MFMASIM_OCML(scalbn, ldexp, MFMASIM_XN, (x, n))
MFMASIM_LIBRARY float __ocml_len3_f32(float x, float y, float z) { return norm3df(x, y, z); }
MFMASIM_LIBRARY float __ocml_len4_f32(float x, float y, float z, float w) { return norm4df(x, y, z, w); }
MFMASIM_LIBRARY float __ocml_rlen3_f32(float x, float y, float z) { return rnorm3df(x, y, z); }
MFMASIM_LIBRARY float __ocml_rlen4_f32(float x, float y, float z, float w) { return rnorm4df(x, y, z, w); }
MFMASIM_LIBRARY double __ocml_len3_f64(double x, double y, double z) { return norm3d(x, y, z); }
MFMASIM_LIBRARY double __ocml_len4_f64(double x, double y, double z, double w) { return norm4d(x, y, z, w); }
MFMASIM_LIBRARY double __ocml_rlen3_f64(double x, double y, double z) { return rnorm3d(x, y, z); }
MFMASIM_LIBRARY double __ocml_rlen4_f64(double x, double y, double z, double w) { return rnorm4d(x, y, z, w); }

// Second results go to private memory.
#define MFMASIM_PRIVATE __attribute__((address_space(5)))
#define MFMASIM_OCML_NUMBER(suffix, T, f)                                                                         \
  MFMASIM_LIBRARY int __ocml_isnan_##suffix(T x) { return x != x; }                                               \
  MFMASIM_LIBRARY int __ocml_isinf_##suffix(T x) { return __builtin_isinf(x); }                                   \
  MFMASIM_LIBRARY int __ocml_isfinite_##suffix(T x) { return __builtin_isfinite(x); }                             \
  MFMASIM_LIBRARY int __ocml_signbit_##suffix(T x) { return __builtin_signbit(x); }                               \
  MFMASIM_LIBRARY int __ocml_ilogb_##suffix(T x) { return ilogb##f(x); }                                          \
  MFMASIM_LIBRARY T __ocml_sincos_##suffix(T x, MFMASIM_PRIVATE T *c) { return *c = cos##f(x), sin##f(x); }       \
  MFMASIM_LIBRARY T __ocml_sincospi_##suffix(T x, MFMASIM_PRIVATE T *c) { return *c = cospi##f(x), sinpi##f(x); } \
  MFMASIM_LIBRARY T __ocml_modf_##suffix(T x, MFMASIM_PRIVATE T *whole) {                                         \
    T part, rest = modf##f(x, &part);                                                                             \
    return *whole = part, rest;                                                                                   \
  }                                                                                                               \
  MFMASIM_LIBRARY T __ocml_frexp_##suffix(T x, MFMASIM_PRIVATE int *exponent) {                                   \
    int power;                                                                                                    \
    T rest = frexp##f(x, &power);                                                                                 \
    return *exponent = power, rest;                                                                               \
  }                                                                                                               \
  MFMASIM_LIBRARY T __ocml_remquo_##suffix(T x, T y, MFMASIM_PRIVATE int *quotient) {                             \
    int times;                                                                                                    \
    T rest = remquo##f(x, y, &times);                                                                             \
    return *quotient = times, rest;                                                                               \
  }
MFMASIM_OCML_NUMBER(f32, float, f)
MFMASIM_OCML_NUMBER(f64, double, )
#undef MFMASIM_OCML_NUMBER
#undef MFMASIM_PRIVATE

// Conversions that round down (rtn), up (rtp) and towards zero (rtz).
#define MFMASIM_OCML_CONVERT(to, from, T, F, name)                                      \
  MFMASIM_LIBRARY T __ocml_cvtrtn_##to##_##from(F x) { return (T)name##_rd(x); }         \
  MFMASIM_LIBRARY T __ocml_cvtrtp_##to##_##from(F x) { return (T)name##_ru(x); }         \
  MFMASIM_LIBRARY T __ocml_cvtrtz_##to##_##from(F x) { return (T)name##_rz(x); }
MFMASIM_OCML_CONVERT(f32, f64, float, double, __double2float)
MFMASIM_OCML_CONVERT(f32, s32, float, int, __int2float)
MFMASIM_OCML_CONVERT(f32, u32, float, unsigned int, __uint2float)
MFMASIM_OCML_CONVERT(f32, s64, float, long, __ll2float)
MFMASIM_OCML_CONVERT(f32, u64, float, unsigned long, __ull2float)
MFMASIM_OCML_CONVERT(f64, s64, double, long, __ll2double)
MFMASIM_OCML_CONVERT(f64, u64, double, unsigned long, __ull2double)
#undef MFMASIM_OCML_CONVERT
MFMASIM_LIBRARY _Float16 __ocml_cvtrtn_f16_f32(float x) { return mfmasim::half_down(x); }
MFMASIM_LIBRARY _Float16 __ocml_cvtrtp_f16_f32(float x) { return mfmasim::half_up(x); }
MFMASIM_LIBRARY _Float16 __ocml_cvtrtz_f16_f32(float x) { return mfmasim::half_towards_zero(x); }
#undef MFMASIM_OCML
#undef MFMASIM_X
#undef MFMASIM_XY
#undef MFMASIM_XYZ
#undef MFMASIM_XN
#undef MFMASIM_OCML_1
#undef MFMASIM_OCML_2
#undef MFMASIM_OCML_SAME_1
#undef MFMASIM_OCML_SAME_2

// The instructions' own approximations.
MFMASIM_LIBRARY float __ocml_native_sin_f32(float x) { return __sinf(x); }
MFMASIM_LIBRARY float __ocml_native_cos_f32(float x) { return __cosf(x); }
MFMASIM_LIBRARY float __ocml_native_exp_f32(float x) { return __expf(x); }
MFMASIM_LIBRARY float __ocml_native_exp2_f32(float x) { return __builtin_amdgcn_exp2f(x); }
MFMASIM_LIBRARY float __ocml_native_log_f32(float x) { return __logf(x); }
MFMASIM_LIBRARY float __ocml_native_log2_f32(float x) { return __log2f(x); }
MFMASIM_LIBRARY float __ocml_native_log10_f32(float x) { return __log10f(x); }
MFMASIM_LIBRARY float __ocml_native_sqrt_f32(float x) { return __builtin_amdgcn_sqrtf(x); }
MFMASIM_LIBRARY float __ocml_native_rsqrt_f32(float x) { return __builtin_amdgcn_rsqf(x); }
MFMASIM_LIBRARY float __ocml_native_recip_f32(float x) { return __builtin_amdgcn_rcpf(x); }

MFMASIM_LIBRARY float __ocml_native_exp10_f32(float x) { return __exp10f(x); }

// Half precision, and pairs: single precision, rounded once.
typedef _Float16 __2f16 __attribute__((ext_vector_type(2)));
#define MFMASIM_OCML_F16(name)                                                                                 \
  MFMASIM_LIBRARY _Float16 __ocml_##name##_f16(_Float16 x) { return (_Float16)__ocml_##name##_f32((float)x); } \
  MFMASIM_LIBRARY __2f16 __ocml_##name##_2f16(__2f16 x) {                                                      \
    return __2f16{__ocml_##name##_f16(x.x), __ocml_##name##_f16(x.y)};                                         \
  }
MFMASIM_OCML_F16(sin)
MFMASIM_OCML_F16(cos)
MFMASIM_OCML_F16(exp)
MFMASIM_OCML_F16(exp2)
MFMASIM_OCML_F16(exp10)
MFMASIM_OCML_F16(log)
MFMASIM_OCML_F16(log2)
MFMASIM_OCML_F16(log10)
MFMASIM_OCML_F16(tanh)
MFMASIM_OCML_F16(sqrt)
MFMASIM_OCML_F16(rsqrt)
MFMASIM_OCML_F16(fabs)
MFMASIM_OCML_F16(floor)
MFMASIM_OCML_F16(ceil)
MFMASIM_OCML_F16(trunc)
MFMASIM_OCML_F16(rint)
#undef MFMASIM_OCML_F16
MFMASIM_LIBRARY _Float16 __ocml_fma_f16(_Float16 x, _Float16 y, _Float16 z) { return __builtin_fmaf16(x, y, z); }
MFMASIM_LIBRARY __2f16 __ocml_fma_2f16(__2f16 x, __2f16 y, __2f16 z) { return __builtin_elementwise_fma(x, y, z); }
MFMASIM_LIBRARY int __ocml_isnan_f16(_Float16 x) { return x != x; }
MFMASIM_LIBRARY int __ocml_isinf_f16(_Float16 x) { return __builtin_isinf((float)x); }
MFMASIM_LIBRARY _Float16 __ocml_pown_f16(_Float16 x, int n) { return (_Float16)__ocml_pown_f32((float)x, n); }
MFMASIM_LIBRARY _Float16 __ocml_fmax_f16(_Float16 x, _Float16 y) { return __builtin_fmaxf16(x, y); }
MFMASIM_LIBRARY _Float16 __ocml_fmin_f16(_Float16 x, _Float16 y) { return __builtin_fminf16(x, y); }

// Places, as OpenCL counts: dimension 0 is x; other numbers than 0 to 2 have one of everything.
#define MFMASIM_OCKL_PLACE(name, of_x, of_y, of_z, otherwise)                      \
  MFMASIM_LIBRARY size_t __ockl_##name(unsigned int dimension) {                      \
    return dimension == 0 ? (of_x) : dimension == 1 ? (of_y) : dimension == 2 ? (of_z) : (otherwise); \
  }
MFMASIM_OCKL_PLACE(get_local_id, threadIdx.x, threadIdx.y, threadIdx.z, 0)
MFMASIM_OCKL_PLACE(get_group_id, blockIdx.x, blockIdx.y, blockIdx.z, 0)
MFMASIM_OCKL_PLACE(get_local_size, blockDim.x, blockDim.y, blockDim.z, 1)
MFMASIM_OCKL_PLACE(get_num_groups, gridDim.x, gridDim.y, gridDim.z, 1)
MFMASIM_OCKL_PLACE(get_global_size, (size_t)gridDim.x *blockDim.x, (size_t)gridDim.y *blockDim.y,
                   (size_t)gridDim.z *blockDim.z, 1)
MFMASIM_OCKL_PLACE(get_global_id, (size_t)blockIdx.x *blockDim.x + threadIdx.x,
                   (size_t)blockIdx.y *blockDim.y + threadIdx.y, (size_t)blockIdx.z *blockDim.z + threadIdx.z, 0)
#undef MFMASIM_OCKL_PLACE
MFMASIM_LIBRARY unsigned int __ockl_lane_u32() { return __lane_id(); }
MFMASIM_LIBRARY unsigned int __ockl_activelane_u32() {
  uint64_t active = __builtin_amdgcn_ballot_w64(true);
  return __builtin_amdgcn_mbcnt_hi((uint32_t)(active >> 32), __builtin_amdgcn_mbcnt_lo((uint32_t)active, 0));
}
MFMASIM_LIBRARY bool __ockl_wfany_i32(int predicate) { return __any(predicate); }
MFMASIM_LIBRARY bool __ockl_wfall_i32(int predicate) { return __all(predicate); }
MFMASIM_LIBRARY unsigned long __ockl_steadyctr_u64() { return (unsigned long)wall_clock64(); }
MFMASIM_LIBRARY void __ockl_atomic_add_noret_f32(float *address, float value) { atomicAddNoRet(address, value); }
// Over the active lanes of a wave.
#define MFMASIM_OCKL_REDUCE(name, suffix, T, expression)                                               \
  MFMASIM_LIBRARY T __ockl_wfred_##name##_##suffix(T value) {                                          \
    return mfmasim::reduce_lanes(__activemask(), value, [](T a, T b) -> T { return expression; });     \
  }
#define MFMASIM_OCKL_NUMBERS(suffix, T)              \
  MFMASIM_OCKL_REDUCE(add, suffix, T, a + b)         \
  MFMASIM_OCKL_REDUCE(min, suffix, T, b < a ? b : a) \
  MFMASIM_OCKL_REDUCE(max, suffix, T, a < b ? b : a)
#define MFMASIM_OCKL_INTEGERS(suffix, T)        \
  MFMASIM_OCKL_NUMBERS(suffix, T)               \
  MFMASIM_OCKL_REDUCE(and, suffix, T, a &b)     \
  MFMASIM_OCKL_REDUCE(or, suffix, T, a | b)     \
  MFMASIM_OCKL_REDUCE(xor, suffix, T, a ^ b)
MFMASIM_OCKL_INTEGERS(i32, int)
MFMASIM_OCKL_INTEGERS(u32, unsigned int)
MFMASIM_OCKL_INTEGERS(i64, long)
MFMASIM_OCKL_INTEGERS(u64, unsigned long)
MFMASIM_OCKL_NUMBERS(f32, float)
MFMASIM_OCKL_NUMBERS(f64, double)
#undef MFMASIM_OCKL_REDUCE
#undef MFMASIM_OCKL_NUMBERS
#undef MFMASIM_OCKL_INTEGERS

// Numbers.
MFMASIM_LIBRARY unsigned int __ockl_mul_hi_u32(unsigned int x, unsigned int y) { return __umulhi(x, y); }
MFMASIM_LIBRARY int __ockl_mul_hi_i32(int x, int y) { return __mulhi(x, y); }
MFMASIM_LIBRARY unsigned long __ockl_mul_hi_u64(unsigned long x, unsigned long y) { return __umul64hi(x, y); }
MFMASIM_LIBRARY long __ockl_mul_hi_i64(long x, long y) { return __mul64hi(x, y); }
MFMASIM_LIBRARY unsigned int __ockl_mul24_u32(unsigned int x, unsigned int y) { return __umul24(x, y); }
MFMASIM_LIBRARY int __ockl_mul24_i32(int x, int y) { return __mul24(x, y); }
MFMASIM_LIBRARY unsigned int __ockl_sad_u32(unsigned int x, unsigned int y, unsigned int z) { return __usad(x, y, z); }
MFMASIM_LIBRARY unsigned int __ockl_sadd_u32(unsigned int x, unsigned int y, unsigned int z) { return __usad(x, y, z); }
MFMASIM_LIBRARY int __ockl_sdot8(int a, int b, int c, bool saturate) { return amd_mixed_dot(a, b, c, saturate); }
MFMASIM_LIBRARY unsigned int __ockl_udot8(unsigned int a, unsigned int b, unsigned int c, bool saturate) {
  return amd_mixed_dot(a, b, c, saturate);
}
MFMASIM_LIBRARY unsigned char __ockl_clz_u8(unsigned char x) { return (unsigned char)(__clz(x) - 24); }
MFMASIM_LIBRARY unsigned short __ockl_clz_u16(unsigned short x) { return (unsigned short)(__clz(x) - 16); }
MFMASIM_LIBRARY unsigned int __ockl_clz_u32(unsigned int x) { return (unsigned int)__clz((int)x); }
MFMASIM_LIBRARY unsigned long __ockl_clz_u64(unsigned long x) { return (unsigned long)__clzll((long long)x); }
MFMASIM_LIBRARY unsigned int __ockl_ctz_u32(unsigned int x) { return x ? __builtin_ctz(x) : 32; }
MFMASIM_LIBRARY unsigned long __ockl_ctz_u64(unsigned long x) { return x ? __builtin_ctzll(x) : 64; }
MFMASIM_LIBRARY unsigned int __ockl_popcount_u32(unsigned int x) { return (unsigned int)__popc(x); }
MFMASIM_LIBRARY unsigned long __ockl_popcount_u64(unsigned long x) { return (unsigned long)__popcll(x); }

#undef MFMASIM_LIBRARY
#endif
