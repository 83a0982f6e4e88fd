// ROCm's functions by the names of its device libraries, for compiling with their bitcode. Names: ocml.h of ROCm's
// device-libs.
#pragma once

#include <mfmasim/qualifiers.h>

#define MFMASIM_OCML_1(name)                             \
  extern "C" __device__ double __ocml_##name##_f64(double); \
  extern "C" __device__ float __ocml_##name##_f32(float);
#define MFMASIM_OCML_2(name)                                     \
  extern "C" __device__ double __ocml_##name##_f64(double, double); \
  extern "C" __device__ float __ocml_##name##_f32(float, float);
#define MFMASIM_OCML_3(name)                                             \
  extern "C" __device__ double __ocml_##name##_f64(double, double, double); \
  extern "C" __device__ float __ocml_##name##_f32(float, float, float);
#define MFMASIM_OCML_4(name)                                                     \
  extern "C" __device__ double __ocml_##name##_f64(double, double, double, double); \
  extern "C" __device__ float __ocml_##name##_f32(float, float, float, float);
MFMASIM_OCML_1(sin)
MFMASIM_OCML_1(cos)
MFMASIM_OCML_1(tan)
MFMASIM_OCML_1(asin)
MFMASIM_OCML_1(acos)
MFMASIM_OCML_1(atan)
MFMASIM_OCML_1(sinh)
MFMASIM_OCML_1(cosh)
MFMASIM_OCML_1(tanh)
MFMASIM_OCML_1(asinh)
MFMASIM_OCML_1(acosh)
MFMASIM_OCML_1(atanh)
MFMASIM_OCML_1(exp)
MFMASIM_OCML_1(exp2)
MFMASIM_OCML_1(exp10)
MFMASIM_OCML_1(expm1)
MFMASIM_OCML_1(log)
MFMASIM_OCML_1(log2)
MFMASIM_OCML_1(log10)
MFMASIM_OCML_1(log1p)
MFMASIM_OCML_1(erf)
MFMASIM_OCML_1(erfc)
MFMASIM_OCML_1(erfcx)
MFMASIM_OCML_1(erfinv)
MFMASIM_OCML_1(erfcinv)
MFMASIM_OCML_1(tgamma)
MFMASIM_OCML_1(lgamma)
MFMASIM_OCML_1(cbrt)
MFMASIM_OCML_1(rcbrt)
MFMASIM_OCML_1(rsqrt)
MFMASIM_OCML_1(sinpi)
MFMASIM_OCML_1(cospi)
MFMASIM_OCML_1(j0)
MFMASIM_OCML_1(j1)
MFMASIM_OCML_1(y0)
MFMASIM_OCML_1(y1)
MFMASIM_OCML_1(ncdf)
MFMASIM_OCML_1(ncdfinv)
MFMASIM_OCML_1(i0)
MFMASIM_OCML_1(i1)
MFMASIM_OCML_2(pow)
MFMASIM_OCML_2(atan2)
MFMASIM_OCML_2(hypot)
MFMASIM_OCML_2(rhypot)
MFMASIM_OCML_3(len3)
MFMASIM_OCML_3(rlen3)
MFMASIM_OCML_4(len4)
MFMASIM_OCML_4(rlen4)
#undef MFMASIM_OCML_1
#undef MFMASIM_OCML_2
#undef MFMASIM_OCML_3
#undef MFMASIM_OCML_4

// Where HIP's name is another one.
#define __ocml_normcdf_f64 __ocml_ncdf_f64
#define __ocml_normcdf_f32 __ocml_ncdf_f32
#define __ocml_normcdfinv_f64 __ocml_ncdfinv_f64
#define __ocml_normcdfinv_f32 __ocml_ncdfinv_f32
#define __ocml_norm3d_f64 __ocml_len3_f64
#define __ocml_norm3d_f32 __ocml_len3_f32
#define __ocml_rnorm3d_f64 __ocml_rlen3_f64
#define __ocml_rnorm3d_f32 __ocml_rlen3_f32
#define __ocml_norm4d_f64 __ocml_len4_f64
#define __ocml_norm4d_f32 __ocml_len4_f32
#define __ocml_rnorm4d_f64 __ocml_rlen4_f64
#define __ocml_rnorm4d_f32 __ocml_rlen4_f32
#define __ocml_cyl_bessel_i0_f64 __ocml_i0_f64
#define __ocml_cyl_bessel_i0_f32 __ocml_i0_f32
#define __ocml_cyl_bessel_i1_f64 __ocml_i1_f64
#define __ocml_cyl_bessel_i1_f32 __ocml_i1_f32
