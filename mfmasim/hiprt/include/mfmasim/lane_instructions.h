// Single instructions that move values between lanes, by HIP's names: MBCNT, DS_PERMUTE, DS_BPERMUTE, DS_SWIZZLE, DPP.
#pragma once

#include <mfmasim/casts.h>
#include <mfmasim/qualifiers.h>

MFMASIM_DEVICE unsigned int __mbcnt_lo(unsigned int mask, unsigned int base) {
  return __builtin_amdgcn_mbcnt_lo(mask, base);
}
MFMASIM_DEVICE unsigned int __mbcnt_hi(unsigned int mask, unsigned int base) {
  return __builtin_amdgcn_mbcnt_hi(mask, base);
}

// The index is the lane's number times four. Names that end with f take a float.
#define MFMASIM_PERMUTE(name)                                                           \
  MFMASIM_DEVICE unsigned int __hip_##name(int index, unsigned int value) {             \
    return __builtin_amdgcn_##name(index, (int)value);                                  \
  }                                                                                     \
  MFMASIM_DEVICE float __hip_##name##f(int index, float value) {                        \
    return __int_as_float(__builtin_amdgcn_##name(index, __float_as_int(value)));       \
  }
MFMASIM_PERMUTE(ds_permute)
MFMASIM_PERMUTE(ds_bpermute)
#undef MFMASIM_PERMUTE

template <int pattern_>
MFMASIM_MEMBER_DEVICE unsigned int __hip_ds_swizzle_N(unsigned int value) {
  return __builtin_amdgcn_ds_swizzle((int)value, pattern_);
}
template <int pattern_>
MFMASIM_MEMBER_DEVICE float __hip_ds_swizzlef_N(float value) {
  return __int_as_float(__builtin_amdgcn_ds_swizzle(__float_as_int(value), pattern_));
}
#define __hip_ds_swizzle(value, pattern) __hip_ds_swizzle_N<(pattern)>((value))
#define __hip_ds_swizzlef(value, pattern) __hip_ds_swizzlef_N<(pattern)>((value))

template <int control_, int rows_, int banks_, bool bound_>
MFMASIM_MEMBER_DEVICE int __hip_move_dpp_N(int value) {
  return __builtin_amdgcn_mov_dpp(value, control_, rows_, banks_, bound_);
}
#define __hip_move_dpp(value, control, rows, banks, bound) \
  __hip_move_dpp_N<(control), (rows), (banks), (bound)>((value))
