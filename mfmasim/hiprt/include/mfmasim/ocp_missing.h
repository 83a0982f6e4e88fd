// What of hip_ext_ocp.h only gfx950 has instructions for: declared, so that a call names what is missing.
#pragma once

#define MFMASIM_ROW(result, name, ...)                                                                         \
  __device__ __attribute__((                                                                                   \
      error("mfmasim: " #name " needs gfx950's conversion instructions (ROCm emulates it elsewhere)"))) result \
  name(__VA_ARGS__);
#define MFMASIM_F8 __amd_fp8_interpretation_t
#define MFMASIM_F6 __amd_fp6_interpretation_t
#define MFMASIM_F4 __amd_fp4_interpretation_t

MFMASIM_ROW(float, __amd_cvt_fp8_to_float_scale, __amd_fp8_storage_t, MFMASIM_F8, __amd_scale_t)
MFMASIM_ROW(__amd_fp16_storage_t, __amd_cvt_fp8_to_fp16_scale, __amd_fp8_storage_t, MFMASIM_F8, __amd_scale_t)
MFMASIM_ROW(__amd_floatx2_storage_t, __amd_cvt_fp8x2_to_floatx2_scale,
            __amd_fp8x2_storage_t, MFMASIM_F8, __amd_scale_t)
MFMASIM_ROW(__amd_floatx8_storage_t, __amd_cvt_fp8x8_to_floatx8_scale,
            __amd_fp8x8_storage_t, MFMASIM_F8, __amd_scale_t)
MFMASIM_ROW(__amd_fp16x2_storage_t, __amd_cvt_fp8x2_to_fp16x2_scale, __amd_fp8x2_storage_t, MFMASIM_F8, __amd_scale_t)
MFMASIM_ROW(__amd_fp16x8_storage_t, __amd_cvt_fp8x8_to_fp16x8_scale, __amd_fp8x8_storage_t, MFMASIM_F8, __amd_scale_t)
MFMASIM_ROW(__amd_bf16x2_storage_t, __amd_cvt_fp8x2_to_bf16x2_scale, __amd_fp8x2_storage_t, MFMASIM_F8, __amd_scale_t)
MFMASIM_ROW(__amd_bf16x8_storage_t, __amd_cvt_fp8x8_to_bf16x8_scale, __amd_fp8x8_storage_t, MFMASIM_F8, __amd_scale_t)
MFMASIM_ROW(__amd_bf16_storage_t, __amd_cvt_fp8_to_bf16_scale, __amd_fp8_storage_t, MFMASIM_F8, __amd_scale_t)
MFMASIM_ROW(__amd_fp8x2_storage_t, __amd_cvt_floatx2_to_fp8x2_scale,
            __amd_floatx2_storage_t, MFMASIM_F8, __amd_scale_t)
MFMASIM_ROW(__amd_fp8x2_storage_t, __amd_cvt_fp16x2_to_fp8x2_scale, __amd_fp16x2_storage_t, MFMASIM_F8, __amd_scale_t)
MFMASIM_ROW(__amd_fp8x2_storage_t, __amd_cvt_bf16x2_to_fp8x2_scale, __amd_bf16x2_storage_t, MFMASIM_F8, __amd_scale_t)
MFMASIM_ROW(__amd_fp8x8_storage_t, __amd_cvt_floatx8_to_fp8x8_scale,
            __amd_floatx8_storage_t, MFMASIM_F8, __amd_scale_t)
MFMASIM_ROW(__amd_fp8x8_storage_t, __amd_cvt_fp16x8_to_fp8x8_scale, __amd_fp16x8_storage_t, MFMASIM_F8, __amd_scale_t)
MFMASIM_ROW(__amd_fp8x8_storage_t, __amd_cvt_bf16x8_to_fp8x8_scale, __amd_bf16x8_storage_t, MFMASIM_F8, __amd_scale_t)
MFMASIM_ROW(__amd_fp8_storage_t, __amd_cvt_float_to_fp8_sr, float, MFMASIM_F8, unsigned int)
MFMASIM_ROW(__amd_fp8_storage_t, __amd_cvt_float_to_fp8_sr_scale, float, MFMASIM_F8, unsigned int, __amd_scale_t)
MFMASIM_ROW(__amd_fp8_storage_t, __amd_cvt_fp16_to_fp8_sr_scale,
            __amd_fp16_storage_t, MFMASIM_F8, unsigned int, __amd_scale_t)
MFMASIM_ROW(__amd_fp8_storage_t, __amd_cvt_bf16_to_fp8_sr_scale,
            __amd_bf16_storage_t, MFMASIM_F8, unsigned int, __amd_scale_t)
MFMASIM_ROW(__amd_fp8x8_storage_t, __amd_cvt_floatx8_to_fp8x8_sr_scale,
            __amd_floatx8_storage_t, MFMASIM_F8, unsigned int, __amd_scale_t)
MFMASIM_ROW(__amd_fp8x8_storage_t, __amd_cvt_fp16x8_to_fp8x8_sr_scale,
            __amd_fp16x8_storage_t, MFMASIM_F8, unsigned int, __amd_scale_t)
MFMASIM_ROW(__amd_fp8x8_storage_t, __amd_cvt_bf16x8_to_fp8x8_sr_scale,
            __amd_bf16x8_storage_t, MFMASIM_F8, unsigned int, __amd_scale_t)
MFMASIM_ROW(__amd_fp8_storage_t, __amd_cvt_fp16_to_fp8_sr, __amd_fp16_storage_t, MFMASIM_F8, short)
MFMASIM_ROW(__amd_floatx2_storage_t, __amd_cvt_fp4x2_to_floatx2_scale,
            __amd_fp4x2_storage_t, MFMASIM_F4, __amd_scale_t)
MFMASIM_ROW(__amd_floatx8_storage_t, __amd_cvt_fp4x8_to_floatx8_scale,
            __amd_fp4x8_storage_t, MFMASIM_F4, __amd_scale_t)
MFMASIM_ROW(__amd_fp16x2_storage_t, __amd_cvt_fp4x2_to_fp16x2_scale, __amd_fp4x2_storage_t, MFMASIM_F4, __amd_scale_t)
MFMASIM_ROW(__amd_fp16x8_storage_t, __amd_cvt_fp4x8_to_fp16x8_scale, __amd_fp4x8_storage_t, MFMASIM_F4, __amd_scale_t)
MFMASIM_ROW(__amd_bf16x2_storage_t, __amd_cvt_fp4x2_to_bf16x2_scale, __amd_fp4x2_storage_t, MFMASIM_F4, __amd_scale_t)
MFMASIM_ROW(__amd_bf16x8_storage_t, __amd_cvt_fp4x8_to_bf16x8_scale, __amd_fp4x8_storage_t, MFMASIM_F4, __amd_scale_t)
MFMASIM_ROW(__amd_fp4x2_storage_t, __amd_cvt_floatx2_to_fp4x2_scale,
            __amd_floatx2_storage_t, MFMASIM_F4, __amd_scale_t)
MFMASIM_ROW(__amd_fp4x8_storage_t, __amd_cvt_floatx8_to_fp4x8_scale,
            __amd_floatx8_storage_t, MFMASIM_F4, __amd_scale_t)
MFMASIM_ROW(__amd_fp4x2_storage_t, __amd_cvt_fp16x2_to_fp4x2_scale, __amd_fp16x2_storage_t, MFMASIM_F4, __amd_scale_t)
MFMASIM_ROW(__amd_fp4x8_storage_t, __amd_cvt_fp16x8_to_fp4x8_scale, __amd_fp16x8_storage_t, MFMASIM_F4, __amd_scale_t)
MFMASIM_ROW(__amd_fp4x2_storage_t, __amd_cvt_bf16x2_to_fp4x2_scale, __amd_bf16x2_storage_t, MFMASIM_F4, __amd_scale_t)
MFMASIM_ROW(__amd_fp4x8_storage_t, __amd_cvt_bf16x8_to_fp4x8_scale, __amd_bf16x8_storage_t, MFMASIM_F4, __amd_scale_t)
MFMASIM_ROW(__amd_fp4x2_storage_t, __amd_cvt_floatx2_to_fp4x2_sr_scale,
            __amd_floatx2_storage_t, MFMASIM_F4, unsigned int, __amd_scale_t)
MFMASIM_ROW(__amd_fp4x8_storage_t, __amd_cvt_floatx8_to_fp4x8_sr_scale,
            __amd_floatx8_storage_t, MFMASIM_F4, unsigned int, __amd_scale_t)
MFMASIM_ROW(__amd_fp4x2_storage_t, __amd_cvt_fp16x2_to_fp4x2_sr_scale,
            __amd_fp16x2_storage_t, MFMASIM_F4, unsigned int, __amd_scale_t)
MFMASIM_ROW(__amd_fp4x8_storage_t, __amd_cvt_fp16x8_to_fp4x8_sr_scale,
            __amd_fp16x8_storage_t, MFMASIM_F4, unsigned int, __amd_scale_t)
MFMASIM_ROW(__amd_fp4x2_storage_t, __amd_cvt_bf16x2_to_fp4x2_sr_scale,
            __amd_bf16x2_storage_t, MFMASIM_F4, unsigned int, __amd_scale_t)
MFMASIM_ROW(__amd_fp4x8_storage_t, __amd_cvt_bf16x8_to_fp4x8_sr_scale,
            __amd_bf16x8_storage_t, MFMASIM_F4, unsigned int, __amd_scale_t)
MFMASIM_ROW(__amd_floatx32_storage_t, __amd_cvt_fp6x32_to_floatx32_scale,
            __amd_fp6x32_storage_t, MFMASIM_F6, __amd_scale_t)
MFMASIM_ROW(__amd_fp16x32_storage_t, __amd_cvt_fp6x32_to_fp16x32_scale,
            __amd_fp6x32_storage_t, MFMASIM_F6, __amd_scale_t)
MFMASIM_ROW(__amd_bf16x32_storage_t, __amd_cvt_fp6x32_to_bf16x32_scale,
            __amd_fp6x32_storage_t, MFMASIM_F6, __amd_scale_t)
MFMASIM_ROW(__amd_fp6x32_storage_t, __amd_cvt_fp16x32_to_fp6x32_scale,
            __amd_fp16x32_storage_t, MFMASIM_F6, __amd_scale_t)
MFMASIM_ROW(__amd_fp6x32_storage_t, __amd_cvt_bf16x32_to_fp6x32_scale,
            __amd_bf16x32_storage_t, MFMASIM_F6, __amd_scale_t)
MFMASIM_ROW(__amd_fp6x32_storage_t, __amd_cvt_floatx32_to_fp6x32_sr_scale,
            __amd_floatx32_storage_t, MFMASIM_F6, unsigned int, __amd_scale_t)
MFMASIM_ROW(__amd_fp6x32_storage_t, __amd_cvt_fp16x32_to_fp6x32_sr_scale,
            __amd_fp16x32_storage_t, MFMASIM_F6, unsigned int, __amd_scale_t)
MFMASIM_ROW(__amd_fp6x32_storage_t, __amd_cvt_bf16x32_to_fp6x32_sr_scale,
            __amd_bf16x32_storage_t, MFMASIM_F6, unsigned int, __amd_scale_t)
MFMASIM_ROW(__amd_fp6x32_storage_t, __amd_cvt_floatx16_floatx16_to_fp6x32_scale,
            __amd_floatx16_storage_t, __amd_floatx16_storage_t, MFMASIM_F6, __amd_scale_t)
MFMASIM_ROW(__amd_fp6x32_storage_t, __amd_cvt_floatx32_to_fp6x32_scale,
            __amd_floatx32_storage_t, MFMASIM_F6, __amd_scale_t)
MFMASIM_ROW(__amd_fp16_storage_t, __amd_cvt_float_to_fp16_sr, float, unsigned int)
MFMASIM_ROW(__amd_fp16x2_storage_t, __amd_cvt_float_float_to_fp16x2_sr, float, float, unsigned int)
MFMASIM_ROW(__amd_bf16_storage_t, __amd_cvt_float_to_bf16_sr, float, unsigned int)

#undef MFMASIM_ROW
#undef MFMASIM_F8
#undef MFMASIM_F6
#undef MFMASIM_F4
