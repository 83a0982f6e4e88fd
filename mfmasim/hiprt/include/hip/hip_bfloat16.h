// hip_bfloat16, the older type: 16 bits named data, converted implicitly to float and explicitly from it.
#pragma once

#include <hip/hip_bf16.h>

struct hip_bfloat16 {
  enum truncate_t { truncate };
  uint16_t data;
  hip_bfloat16() = default;
  explicit constexpr MFMASIM_MEMBER hip_bfloat16(float value) : data(mfmasim::bfloat16_of(value)) {}
  // Drops the lower bits; a NaN whose payload would vanish keeps one bit of it.
  explicit constexpr MFMASIM_MEMBER hip_bfloat16(float value, truncate_t)
      : data((uint16_t)(mfmasim::bits<uint32_t>(value) >> 16 |
                        (((mfmasim::bits<uint32_t>(value) & 0x7fffffffu) > 0x7f800000u &&
                          (mfmasim::bits<uint32_t>(value) >> 16 & 0x7f) == 0)
                             ? 1
                             : 0))) {}
  constexpr MFMASIM_MEMBER operator float() const { return mfmasim::float_of_bfloat16(data); }
  explicit constexpr MFMASIM_MEMBER operator bool() const { return (data & 0x7fff) != 0; }
  static MFMASIM_MEMBER hip_bfloat16 round_to_bfloat16(float value) { return hip_bfloat16(value); }
  static MFMASIM_MEMBER hip_bfloat16 round_to_bfloat16(float value, truncate_t) {
    return hip_bfloat16(value, truncate);
  }
};
static_assert(sizeof(hip_bfloat16) == 2, "mfmasim: hip_bfloat16 is 16 bits");

#define MFMASIM_OPERATOR(op)                                                     \
  MFMASIM_HOST_DEVICE hip_bfloat16 operator op(hip_bfloat16 a, hip_bfloat16 b) { \
    return hip_bfloat16((float)a op (float)b);                                   \
  }                                                                              \
  MFMASIM_HOST_DEVICE hip_bfloat16 &operator op##=(hip_bfloat16 &a, hip_bfloat16 b) { return a = a op b; }
MFMASIM_OPERATOR(+)
MFMASIM_OPERATOR(-)
MFMASIM_OPERATOR(*)
MFMASIM_OPERATOR(/)
#undef MFMASIM_OPERATOR
#define MFMASIM_COMPARE(op) \
  MFMASIM_HOST_DEVICE bool operator op(hip_bfloat16 a, hip_bfloat16 b) { return (float)a op (float)b; }
MFMASIM_COMPARE(==)
MFMASIM_COMPARE(!=)
MFMASIM_COMPARE(<)
MFMASIM_COMPARE(<=)
MFMASIM_COMPARE(>)
MFMASIM_COMPARE(>=)
#undef MFMASIM_COMPARE
MFMASIM_HOST_DEVICE hip_bfloat16 operator+(hip_bfloat16 a) { return a; }
MFMASIM_HOST_DEVICE hip_bfloat16 operator-(hip_bfloat16 a) {
  a.data ^= 0x8000;
  return a;
}
#define MFMASIM_STEP(op, change)                                                       \
  MFMASIM_HOST_DEVICE hip_bfloat16 &operator op(hip_bfloat16 &a) { return a change hip_bfloat16(1.0f); } \
  MFMASIM_HOST_DEVICE hip_bfloat16 operator op(hip_bfloat16 &a, int) {                 \
    hip_bfloat16 before = a;                                                           \
    a change hip_bfloat16(1.0f);                                                       \
    return before;                                                                     \
  }
MFMASIM_STEP(++, +=)
MFMASIM_STEP(--, -=)
#undef MFMASIM_STEP
