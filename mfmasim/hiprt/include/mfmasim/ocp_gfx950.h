// The scaled and the stochastically rounded conversions of hip_ext_ocp.h, by gfx950's instructions.
// A conversion to a narrow format divides by the scale, one from it multiplies. Each group below is one shape of
// builtin; its rows are the types. `old` is the register whose other part the instruction keeps; here it is dropped.
#pragma once

#define MFMASIM_CHOOSE(first, a, b, ...) \
  (format == first ? __builtin_amdgcn_##a(__VA_ARGS__) : __builtin_amdgcn_##b(__VA_ARGS__))
#define MFMASIM_FP8(prefix, suffix, ...) \
  MFMASIM_CHOOSE(__AMD_OCP_E4M3, prefix##fp8##suffix, prefix##bf8##suffix, __VA_ARGS__)
#define MFMASIM_FP6(prefix, suffix, ...) \
  MFMASIM_CHOOSE(__AMD_OCP_E2M3, prefix##fp6##suffix, prefix##bf6##suffix, __VA_ARGS__)
#define MFMASIM_SCALE __amd_scale_to_float(scale)
#define MFMASIM_SCALED(result, name, from, formats) \
  MFMASIM_DEVICE result name(from x, formats format, __amd_scale_t scale)
#define MFMASIM_SEEDED(result, name, from, formats) \
  MFMASIM_DEVICE result name(from x, formats format, unsigned int seed, __amd_scale_t scale)
#define MFMASIM_F8 __amd_fp8_interpretation_t
#define MFMASIM_F6 __amd_fp6_interpretation_t
#define MFMASIM_F4 __amd_fp4_interpretation_t

// From 8 bits.
MFMASIM_SCALED(float, __amd_cvt_fp8_to_float_scale, __amd_fp8_storage_t, MFMASIM_F8) {
  return MFMASIM_FP8(cvt_scalef32_f32_, , x, MFMASIM_SCALE, 0);
}
MFMASIM_SCALED(__amd_fp16_storage_t, __amd_cvt_fp8_to_fp16_scale, __amd_fp8_storage_t, MFMASIM_F8) {
  __amd_fp16x2_storage_t old = {};
  old = MFMASIM_FP8(cvt_scalef32_f16_, , old, x, MFMASIM_SCALE, 0, false);
  return old[0];
}
#define MFMASIM_FROM_FP8X2(to, type)                                                                               \
  MFMASIM_SCALED(__amd_##to##x2_storage_t, __amd_cvt_fp8x2_to_##to##x2_scale, __amd_fp8x2_storage_t, MFMASIM_F8) { \
    return MFMASIM_FP8(cvt_scalef32_pk_##type##_, , x, MFMASIM_SCALE, false);                                      \
  }                                                                                                                \
  MFMASIM_SCALED(__amd_##to##x8_storage_t, __amd_cvt_fp8x8_to_##to##x8_scale, __amd_fp8x8_storage_t, MFMASIM_F8) { \
    __amd_##to##x8_storage_t result;                                                                               \
    for (int i = 0; i < 4; ++i) {                                                                                  \
      auto pair = __amd_cvt_fp8x2_to_##to##x2_scale(__amd_extract_fp8x2(x, i), format, scale);                     \
      result[2 * i] = pair[0], result[2 * i + 1] = pair[1];                                                        \
    }                                                                                                              \
    return result;                                                                                                 \
  }
MFMASIM_FROM_FP8X2(float, f32)
MFMASIM_FROM_FP8X2(fp16, f16)
MFMASIM_FROM_FP8X2(bf16, bf16)
MFMASIM_SCALED(__amd_bf16_storage_t, __amd_cvt_fp8_to_bf16_scale, __amd_fp8_storage_t, MFMASIM_F8) {
  return __amd_cvt_fp8x2_to_bf16x2_scale(x, format, scale)[0];
}

// To 8 bits, nearest even.
MFMASIM_SCALED(__amd_fp8x2_storage_t, __amd_cvt_floatx2_to_fp8x2_scale, __amd_floatx2_storage_t, MFMASIM_F8) {
  __amd_shortx2_storage_t old = {};
  old = MFMASIM_FP8(cvt_scalef32_pk_, _f32, old, x[0], x[1], MFMASIM_SCALE, false);
  return (__amd_fp8x2_storage_t)old[0];
}
#define MFMASIM_TO_FP8X2(from, type)                                                                                   \
  MFMASIM_SCALED(__amd_fp8x2_storage_t, __amd_cvt_##from##x2_to_fp8x2_scale, __amd_##from##x2_storage_t, MFMASIM_F8) { \
    __amd_shortx2_storage_t old = {};                                                                                  \
    old = MFMASIM_FP8(cvt_scalef32_pk_, _##type, old, x, MFMASIM_SCALE, false);                                        \
    return (__amd_fp8x2_storage_t)old[0];                                                                              \
  }
MFMASIM_TO_FP8X2(fp16, f16)
MFMASIM_TO_FP8X2(bf16, bf16)
#define MFMASIM_TO_FP8X8(from)                                                                                         \
  MFMASIM_SCALED(__amd_fp8x8_storage_t, __amd_cvt_##from##x8_to_fp8x8_scale, __amd_##from##x8_storage_t, MFMASIM_F8) { \
    __amd_fp8x2_storage_t pair[4];                                                                                     \
    for (int i = 0; i < 4; ++i) {                                                                                      \
      __amd_##from##x2_storage_t two = {x[2 * i], x[2 * i + 1]};                                                       \
      pair[i] = __amd_cvt_##from##x2_to_fp8x2_scale(two, format, scale);                                               \
    }                                                                                                                  \
    return __amd_create_fp8x8(pair[0], pair[1], pair[2], pair[3]);                                                     \
  }
MFMASIM_TO_FP8X8(float)
MFMASIM_TO_FP8X8(fp16)
MFMASIM_TO_FP8X8(bf16)

// To 8 bits, stochastically: the seed's bits are added below the last place.
MFMASIM_DEVICE __amd_fp8_storage_t __amd_cvt_float_to_fp8_sr(float x, MFMASIM_F8 format, unsigned int seed) {
  return (__amd_fp8_storage_t)MFMASIM_FP8(cvt_sr_, _f32, x, seed, 0, 0);
}
#define MFMASIM_TO_FP8X8_SR(from)                                                                           \
  MFMASIM_SEEDED(__amd_fp8x8_storage_t, __amd_cvt_##from##x8_to_fp8x8_sr_scale, __amd_##from##x8_storage_t, \
                 MFMASIM_F8) {                                                                              \
    __amd_fp8x8_storage_t result;                                                                           \
    for (int i = 0; i < 8; ++i) result[i] = __amd_cvt_##from##_to_fp8_sr_scale(x[i], format, seed, scale);  \
    return result;                                                                                          \
  }
MFMASIM_SEEDED(__amd_fp8_storage_t, __amd_cvt_float_to_fp8_sr_scale, float, MFMASIM_F8) {
  return (__amd_fp8_storage_t)MFMASIM_FP8(cvt_scalef32_sr_, _f32, 0, x, seed, MFMASIM_SCALE, 0);
}
MFMASIM_SEEDED(__amd_fp8_storage_t, __amd_cvt_fp16_to_fp8_sr_scale, __amd_fp16_storage_t, MFMASIM_F8) {
  return (__amd_fp8_storage_t)MFMASIM_FP8(cvt_scalef32_sr_, _f16, 0, x, seed, MFMASIM_SCALE, 0);
}
MFMASIM_SEEDED(__amd_fp8_storage_t, __amd_cvt_bf16_to_fp8_sr_scale, __amd_bf16_storage_t, MFMASIM_F8) {
  return (__amd_fp8_storage_t)MFMASIM_FP8(cvt_scalef32_sr_, _bf16, 0, x, seed, MFMASIM_SCALE, 0);
}
MFMASIM_TO_FP8X8_SR(float)
MFMASIM_TO_FP8X8_SR(fp16)
MFMASIM_TO_FP8X8_SR(bf16)
// gfx950 has no instruction for this one, and which bits of the short seed count is not public.
__device__ __attribute__((error("mfmasim: __amd_cvt_fp16_to_fp8_sr has no gfx950 instruction; go through float")))
__amd_fp8_storage_t __amd_cvt_fp16_to_fp8_sr(__amd_fp16_storage_t x, MFMASIM_F8 format, short seed);

// From 4 bits.
#define MFMASIM_FROM_FP4X2(to, type)                                                                               \
  MFMASIM_SCALED(__amd_##to##x2_storage_t, __amd_cvt_fp4x2_to_##to##x2_scale, __amd_fp4x2_storage_t, MFMASIM_F4) { \
    (void)format;                                                                                                  \
    return __builtin_amdgcn_cvt_scalef32_pk_##type##_fp4(x, MFMASIM_SCALE, 0);                                     \
  }                                                                                                                \
  MFMASIM_SCALED(__amd_##to##x8_storage_t, __amd_cvt_fp4x8_to_##to##x8_scale, __amd_fp4x8_storage_t, MFMASIM_F4) { \
    (void)format;                                                                                                  \
    auto a = __builtin_amdgcn_cvt_scalef32_pk_##type##_fp4(x, MFMASIM_SCALE, 0);                                   \
    auto b = __builtin_amdgcn_cvt_scalef32_pk_##type##_fp4(x, MFMASIM_SCALE, 1);                                   \
    auto c = __builtin_amdgcn_cvt_scalef32_pk_##type##_fp4(x, MFMASIM_SCALE, 2);                                   \
    auto d = __builtin_amdgcn_cvt_scalef32_pk_##type##_fp4(x, MFMASIM_SCALE, 3);                                   \
    return __amd_##to##x8_storage_t{a[0], a[1], b[0], b[1], c[0], c[1], d[0], d[1]};                               \
  }
MFMASIM_FROM_FP4X2(float, f32)
MFMASIM_FROM_FP4X2(fp16, f16)
MFMASIM_FROM_FP4X2(bf16, bf16)

// To 4 bits, nearest even and stochastically; the last argument of the builtin is the byte that is written.
#define MFMASIM_TO_FP4(from, builtin, two)                                                                             \
  MFMASIM_SCALED(__amd_fp4x2_storage_t, __amd_cvt_##from##x2_to_fp4x2_scale, __amd_##from##x2_storage_t, MFMASIM_F4) { \
    (void)format;                                                                                                      \
    return (__amd_fp4x2_storage_t)builtin(0, two(x, 0), MFMASIM_SCALE, 0);                                             \
  }                                                                                                                    \
  MFMASIM_SCALED(__amd_fp4x8_storage_t, __amd_cvt_##from##x8_to_fp4x8_scale, __amd_##from##x8_storage_t, MFMASIM_F4) { \
    (void)format;                                                                                                      \
    unsigned int word = builtin(0, two(x, 0), MFMASIM_SCALE, 0);                                                       \
    word = builtin(word, two(x, 2), MFMASIM_SCALE, 1);                                                                 \
    word = builtin(word, two(x, 4), MFMASIM_SCALE, 2);                                                                 \
    return builtin(word, two(x, 6), MFMASIM_SCALE, 3);                                                                 \
  }
#define MFMASIM_TWO_FLOATS(x, i) x[i], x[i + 1]
#define MFMASIM_TWO_HALVES(x, i) (__amd_fp16x2_storage_t{x[i], x[i + 1]})
#define MFMASIM_TWO_BFLOATS(x, i) (__amd_bf16x2_storage_t{x[i], x[i + 1]})
#define MFMASIM_FLOAT_PAIR(x, i) (__amd_floatx2_storage_t{x[i], x[i + 1]})
MFMASIM_TO_FP4(float, __builtin_amdgcn_cvt_scalef32_pk_fp4_f32, MFMASIM_TWO_FLOATS)
MFMASIM_TO_FP4(fp16, __builtin_amdgcn_cvt_scalef32_pk_fp4_f16, MFMASIM_TWO_HALVES)
MFMASIM_TO_FP4(bf16, __builtin_amdgcn_cvt_scalef32_pk_fp4_bf16, MFMASIM_TWO_BFLOATS)
#define MFMASIM_TO_FP4_SR(from, type, two)                                                                      \
  MFMASIM_SEEDED(__amd_fp4x2_storage_t, __amd_cvt_##from##x2_to_fp4x2_sr_scale, __amd_##from##x2_storage_t,     \
                 MFMASIM_F4) {                                                                                  \
    (void)format;                                                                                               \
    return (__amd_fp4x2_storage_t)__builtin_amdgcn_cvt_scalef32_sr_pk_fp4_##type(0, x, seed, MFMASIM_SCALE, 0); \
  }                                                                                                             \
  MFMASIM_SEEDED(__amd_fp4x8_storage_t, __amd_cvt_##from##x8_to_fp4x8_sr_scale, __amd_##from##x8_storage_t,     \
                 MFMASIM_F4) {                                                                                  \
    (void)format;                                                                                               \
    unsigned int word = __builtin_amdgcn_cvt_scalef32_sr_pk_fp4_##type(0, two(x, 0), seed, MFMASIM_SCALE, 0);   \
    word = __builtin_amdgcn_cvt_scalef32_sr_pk_fp4_##type(word, two(x, 2), seed, MFMASIM_SCALE, 1);             \
    word = __builtin_amdgcn_cvt_scalef32_sr_pk_fp4_##type(word, two(x, 4), seed, MFMASIM_SCALE, 2);             \
    return __builtin_amdgcn_cvt_scalef32_sr_pk_fp4_##type(word, two(x, 6), seed, MFMASIM_SCALE, 3);             \
  }
MFMASIM_TO_FP4_SR(float, f32, MFMASIM_FLOAT_PAIR)
MFMASIM_TO_FP4_SR(fp16, f16, MFMASIM_TWO_HALVES)
MFMASIM_TO_FP4_SR(bf16, bf16, MFMASIM_TWO_BFLOATS)

// 32 values of 6 bits in six registers.
#define MFMASIM_FROM_FP6(to, type)                                                                                     \
  MFMASIM_SCALED(__amd_##to##x32_storage_t, __amd_cvt_fp6x32_to_##to##x32_scale, __amd_fp6x32_storage_t, MFMASIM_F6) { \
    return MFMASIM_FP6(cvt_scalef32_pk32_##type##_, , x, MFMASIM_SCALE);                                               \
  }
MFMASIM_FROM_FP6(float, f32)
MFMASIM_FROM_FP6(fp16, f16)
MFMASIM_FROM_FP6(bf16, bf16)
#define MFMASIM_TO_FP6(from, type)                                                                           \
  MFMASIM_SCALED(__amd_fp6x32_storage_t, __amd_cvt_##from##x32_to_fp6x32_scale, __amd_##from##x32_storage_t, \
                 MFMASIM_F6) {                                                                               \
    return MFMASIM_FP6(cvt_scalef32_pk32_, _##type, x, MFMASIM_SCALE);                                       \
  }
#define MFMASIM_TO_FP6_SR(from, type)                                                                           \
  MFMASIM_SEEDED(__amd_fp6x32_storage_t, __amd_cvt_##from##x32_to_fp6x32_sr_scale, __amd_##from##x32_storage_t, \
                 MFMASIM_F6) {                                                                                  \
    return MFMASIM_FP6(cvt_scalef32_sr_pk32_, _##type, x, seed, MFMASIM_SCALE);                                 \
  }
MFMASIM_TO_FP6(fp16, f16)
MFMASIM_TO_FP6(bf16, bf16)
MFMASIM_TO_FP6_SR(float, f32)
MFMASIM_TO_FP6_SR(fp16, f16)
MFMASIM_TO_FP6_SR(bf16, bf16)
// The instruction interleaves its two sources: x[0], y[0], x[1], y[1], ... (CDNA4 ISA manual, opcode 594).
MFMASIM_DEVICE __amd_fp6x32_storage_t __amd_cvt_floatx16_floatx16_to_fp6x32_scale(__amd_floatx16_storage_t x,
                                                                                  __amd_floatx16_storage_t y,
                                                                                  MFMASIM_F6 format,
                                                                                  __amd_scale_t scale) {
  return MFMASIM_FP6(cvt_scalef32_2xpk16_, _f32, x, y, MFMASIM_SCALE);
}
// In order: the even elements are one source, the odd ones the other.
MFMASIM_SCALED(__amd_fp6x32_storage_t, __amd_cvt_floatx32_to_fp6x32_scale, __amd_floatx32_storage_t, MFMASIM_F6) {
  __amd_floatx16_storage_t even, odd;
  for (int i = 0; i < 16; ++i) even[i] = x[2 * i], odd[i] = x[2 * i + 1];
  return __amd_cvt_floatx16_floatx16_to_fp6x32_scale(even, odd, format, scale);
}

// Stochastic rounding to 16 bits.
MFMASIM_DEVICE __amd_fp16_storage_t __amd_cvt_float_to_fp16_sr(float x, unsigned int seed) {
  __amd_fp16x2_storage_t old = {};
  old = __builtin_amdgcn_cvt_sr_f16_f32(old, x, seed, false);
  return old[0];
}
MFMASIM_DEVICE __amd_fp16x2_storage_t __amd_cvt_float_float_to_fp16x2_sr(float x, float y, unsigned int seed) {
  __amd_fp16x2_storage_t old = {};
  old = __builtin_amdgcn_cvt_sr_f16_f32(old, x, seed, false);
  return __builtin_amdgcn_cvt_sr_f16_f32(old, y, seed, true);
}
MFMASIM_DEVICE __amd_bf16_storage_t __amd_cvt_float_to_bf16_sr(float x, unsigned int seed) {
  __amd_bf16x2_storage_t old = {};
  old = __builtin_amdgcn_cvt_sr_bf16_f32(old, x, seed, false);
  return old[0];
}

#undef MFMASIM_CHOOSE
#undef MFMASIM_F4
#undef MFMASIM_F6
#undef MFMASIM_F8
#undef MFMASIM_FLOAT_PAIR
#undef MFMASIM_FP6
#undef MFMASIM_FP8
#undef MFMASIM_FROM_FP4X2
#undef MFMASIM_FROM_FP6
#undef MFMASIM_FROM_FP8X2
#undef MFMASIM_SCALE
#undef MFMASIM_SCALED
#undef MFMASIM_SEEDED
#undef MFMASIM_TO_FP4
#undef MFMASIM_TO_FP4_SR
#undef MFMASIM_TO_FP6
#undef MFMASIM_TO_FP6_SR
#undef MFMASIM_TO_FP8X2
#undef MFMASIM_TO_FP8X8
#undef MFMASIM_TO_FP8X8_SR
#undef MFMASIM_TWO_BFLOATS
#undef MFMASIM_TWO_FLOATS
#undef MFMASIM_TWO_HALVES
