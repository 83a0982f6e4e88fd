// Host entry points to the conversions that our headers do bit by bit, so that a test on the CPU can try every code.
#include <hip/hip_bfloat16.h>
#include <hip/hip_ext_ocp.h>
#include <hip/hip_fp8.h>

static mfmasim::fp8_format format(int index) { return mfmasim::format_of((__hip_fp8_interpretation_t)index); }

extern "C" void encode(const float* in, uint8_t* out, int count, int index, int saturate) {
  for (int i = 0; i < count; ++i) out[i] = mfmasim::encode(in[i], format(index), saturate);
}
extern "C" void decode(float* out, int index) {
  for (int i = 0; i < 256; ++i) out[i] = mfmasim::decode((uint8_t)i, format(index));
}
extern "C" void encode_bfloat16(const float* in, uint16_t* out, int count) {
  for (int i = 0; i < count; ++i) out[i] = __float2bfloat16(in[i]).__x;
}
extern "C" void decode_scales(float* out) {
  for (int i = 0; i < 256; ++i) out[i] = __amd_scale_to_float((__amd_scale_t)(i - 127));
}
extern "C" void nibbles(uint8_t* low, uint8_t* high, uint8_t* both) {
  for (int i = 0; i < 256; ++i) {
    low[i] = __amd_extract_fp4((uint8_t)i, 0);
    high[i] = __amd_extract_fp4((uint8_t)i, 1);
    both[i] = __amd_create_fp4x2(low[i], high[i]);
  }
}
