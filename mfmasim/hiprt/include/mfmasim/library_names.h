// ROCm's device libraries by the names of their entry points, for sources that call them directly: __ocml_sin_f32 is
// sinf, __ockl_get_local_id the work-item's number. Names: device_library_decls.h of HIP, ocml.h and ockl.h of ROCm's
// device-libs. With those libraries as bitcode the names are theirs.
#pragma once

#include <mfmasim/coordinates.h>
#include <mfmasim/integers.h>
#include <mfmasim/lanes.h>
#include <mfmasim/math.h>

#if !defined(MFMASIM_DEVICE_LIBS)

#define MFMASIM_OCML(name, ours, parameters, arguments)                                      \
  MFMASIM_DEVICE float __ocml_##name##_f32(parameters(float)) { return ::ours arguments; } \
  MFMASIM_DEVICE double __ocml_##name##_f64(parameters(double)) { return ::ours arguments; }
#define MFMASIM_X(T) T x
#define MFMASIM_XY(T) T x, T y
#define MFMASIM_XYZ(T) T x, T y, T z
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
#undef MFMASIM_OCML
#undef MFMASIM_X
#undef MFMASIM_XY
#undef MFMASIM_XYZ
#undef MFMASIM_OCML_1
#undef MFMASIM_OCML_2
#undef MFMASIM_OCML_SAME_1
#undef MFMASIM_OCML_SAME_2

// The instructions' own approximations.
MFMASIM_DEVICE float __ocml_native_sin_f32(float x) { return __sinf(x); }
MFMASIM_DEVICE float __ocml_native_cos_f32(float x) { return __cosf(x); }
MFMASIM_DEVICE float __ocml_native_exp_f32(float x) { return __expf(x); }
MFMASIM_DEVICE float __ocml_native_exp2_f32(float x) { return __builtin_amdgcn_exp2f(x); }
MFMASIM_DEVICE float __ocml_native_log_f32(float x) { return __logf(x); }
MFMASIM_DEVICE float __ocml_native_log2_f32(float x) { return __log2f(x); }
MFMASIM_DEVICE float __ocml_native_log10_f32(float x) { return __log10f(x); }
MFMASIM_DEVICE float __ocml_native_sqrt_f32(float x) { return __builtin_amdgcn_sqrtf(x); }
MFMASIM_DEVICE float __ocml_native_rsqrt_f32(float x) { return __builtin_amdgcn_rsqf(x); }
MFMASIM_DEVICE float __ocml_native_recip_f32(float x) { return __builtin_amdgcn_rcpf(x); }

// Half precision: single precision, rounded once.
#define MFMASIM_OCML_F16(name) \
  MFMASIM_DEVICE _Float16 __ocml_##name##_f16(_Float16 x) { return (_Float16)__ocml_##name##_f32((float)x); }
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
MFMASIM_DEVICE _Float16 __ocml_fma_f16(_Float16 x, _Float16 y, _Float16 z) { return __builtin_fmaf16(x, y, z); }
MFMASIM_DEVICE _Float16 __ocml_fmax_f16(_Float16 x, _Float16 y) { return __builtin_fmaxf16(x, y); }
MFMASIM_DEVICE _Float16 __ocml_fmin_f16(_Float16 x, _Float16 y) { return __builtin_fminf16(x, y); }

// Places, as OpenCL counts: dimension 0 is x; other numbers than 0 to 2 have one of everything.
#define MFMASIM_OCKL_PLACE(name, of_x, of_y, of_z, otherwise)                      \
  MFMASIM_DEVICE size_t __ockl_##name(unsigned int dimension) {                      \
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
MFMASIM_DEVICE unsigned int __ockl_lane_u32() { return __lane_id(); }
MFMASIM_DEVICE unsigned int __ockl_activelane_u32() {
  uint64_t active = __builtin_amdgcn_ballot_w64(true);
  return __builtin_amdgcn_mbcnt_hi((uint32_t)(active >> 32), __builtin_amdgcn_mbcnt_lo((uint32_t)active, 0));
}
MFMASIM_DEVICE bool __ockl_wfany_i32(int predicate) { return __any(predicate); }
MFMASIM_DEVICE bool __ockl_wfall_i32(int predicate) { return __all(predicate); }

// Numbers.
MFMASIM_DEVICE unsigned int __ockl_mul_hi_u32(unsigned int x, unsigned int y) { return __umulhi(x, y); }
MFMASIM_DEVICE int __ockl_mul_hi_i32(int x, int y) { return __mulhi(x, y); }
MFMASIM_DEVICE unsigned long __ockl_mul_hi_u64(unsigned long x, unsigned long y) { return __umul64hi(x, y); }
MFMASIM_DEVICE long __ockl_mul_hi_i64(long x, long y) { return __mul64hi(x, y); }
MFMASIM_DEVICE unsigned int __ockl_mul24_u32(unsigned int x, unsigned int y) { return __umul24(x, y); }
MFMASIM_DEVICE int __ockl_mul24_i32(int x, int y) { return __mul24(x, y); }
MFMASIM_DEVICE unsigned int __ockl_sad_u32(unsigned int x, unsigned int y, unsigned int z) { return __usad(x, y, z); }
MFMASIM_DEVICE unsigned int __ockl_clz_u32(unsigned int x) { return (unsigned int)__clz((int)x); }
MFMASIM_DEVICE unsigned long __ockl_clz_u64(unsigned long x) { return (unsigned long)__clzll((long long)x); }
MFMASIM_DEVICE unsigned int __ockl_ctz_u32(unsigned int x) { return x ? __builtin_ctz(x) : 32; }
MFMASIM_DEVICE unsigned long __ockl_ctz_u64(unsigned long x) { return x ? __builtin_ctzll(x) : 64; }
MFMASIM_DEVICE unsigned int __ockl_popcount_u32(unsigned int x) { return (unsigned int)__popc(x); }
MFMASIM_DEVICE unsigned long __ockl_popcount_u64(unsigned long x) { return (unsigned long)__popcll(x); }

#endif
