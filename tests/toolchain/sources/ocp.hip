#include <hip/hip_ext_ocp.h>

__global__ void packing(const uint8_t* a, __amd_fp4x2_storage_t* out, __amd_fp8x2_storage_t* out2,
                        __amd_fp8x8_storage_t* out8, __amd_fp4x8_storage_t* out48, int index) {
  out[0] = __amd_create_fp4x2(__amd_extract_fp4(a[0], index), __amd_extract_fp4(a[1], 1));
  out[1] = __amd_extract_fp4x2(out48[0], index);
  out[2] = __amd_extract_fp8(out2[4], index);
  out2[0] = __amd_create_fp8x2(a[2], a[3]);
  out2[1] = __amd_extract_fp8x2(out8[1], index);
  out8[0] = __amd_create_fp8x8(out2[0], out2[1], out2[2], out2[3]);
  out48[0] = __amd_create_fp4x8(a[4], a[5], a[6], a[7]);
}

__global__ void unscaled(const __amd_floatx2_storage_t* a, __amd_fp8x2_storage_t* out, __amd_floatx2_storage_t* back,
                         __amd_fp16x2_storage_t* half, float2* plain, __amd_scale_t scale) {
  out[0] = __amd_cvt_floatx2_to_fp8x2(a[0], __AMD_OCP_E4M3);
  out[1] = __amd_cvt_floatx2_to_fp8x2(a[1], __AMD_OCP_E5M2);
  out[2] = __amd_cvt_fp16x2_to_fp8x2(half[0], __AMD_OCP_E4M3);
  back[0] = __amd_cvt_fp8x2_to_floatx2(out[3], __AMD_OCP_E4M3);
  back[1] = {__amd_cvt_fp8_to_float(7, __AMD_OCP_E5M2), __amd_scale_to_float(scale)};
  half[1] = __amd_cvt_fp8x2_to_fp16x2(out[4], __AMD_OCP_E5M2);
  plain[0] = __amd_cvt_floatx2_to_float2(a[2]);
  __hipext_ocp_fp8_e4m3 single(a[3][0]);
  __hipext_ocp_fp8x2_e5m2 pair(a[3][0], a[3][1]);
  back[2] = pair;
  back[2][0] += single;
}

#if defined(__gfx950__)
__global__ void scaled(const float* a, float* out, unsigned seed, __amd_scale_t scale) {
  __hipext_ocp_fp8_e5m2 single(a[1], seed, scale);
  __hipext_ocp_fp8x2_e4m3 pair(__amd_floatx2_storage_t{a[0], a[1]}, scale);
  __hipext_ocp_fp4x2_e2m1 nibbles(a[2], a[3], scale);
  __amd_floatx16_storage_t x{}, y{};
  x[3] = a[4], y[5] = a[5];
  __hipext_ocp_fp6x32_e3m2 six(x, y, scale);
  out[0] = single.get_scaled_float(scale) + (float)single.get_scaled_bf16(scale);
  out[1] = pair.get_scaled_floatx2(scale)[1] + (float)pair.get_scaled_fp16x2(scale)[0];
  out[2] = nibbles.get_scaled_floatx2(scale)[1] + (float)nibbles.get_scaled_bf16x2(scale)[0];
  out[3] = six.get_scaled_floatx32(scale)[6] + (float)six.get_scaled_fp16x32(scale)[7];
}
#endif
static_assert(sizeof(__amd_fp6x32_storage_t) == 32 && sizeof(__amd_fp8x8_storage_t) == 8, "HIP's");
