// hip_bfloat16, the older type: 16 bits named data, converted implicitly to float and explicitly from it.
#pragma once

#include <hip/hip_bf16.h>

struct hip_bfloat16 {
  enum truncate_t { truncate };
  uint16_t data;
  hip_bfloat16() = default;
  explicit constexpr MFMASIM_MEMBER hip_bfloat16(float value) : data(mfmasim::bfloat16_of(value)) {}
  // Drops the lower bits; of a NaN that had any, the lowest bit is set, so that it stays one.
  explicit constexpr MFMASIM_MEMBER hip_bfloat16(float value, truncate_t)
      : data((uint16_t)(mfmasim::bits<uint32_t>(value) >> 16 |
                        ((mfmasim::bits<uint32_t>(value) & 0x7f800000u) == 0x7f800000u &&
                         (mfmasim::bits<uint32_t>(value) & 0xffffu) != 0))) {}
  constexpr MFMASIM_MEMBER hip_bfloat16 &operator=(float value) { return *this = hip_bfloat16(value); }
  constexpr MFMASIM_MEMBER operator float() const { return mfmasim::float_of_bfloat16(data); }
  explicit constexpr MFMASIM_MEMBER operator bool() const { return (data & 0x7fff) != 0; }
  static MFMASIM_MEMBER hip_bfloat16 round_to_bfloat16(float value) { return hip_bfloat16(value); }
  static MFMASIM_MEMBER hip_bfloat16 round_to_bfloat16(float value, truncate_t) {
    return hip_bfloat16(value, truncate);
  }
};
static_assert(sizeof(hip_bfloat16) == 2, "mfmasim: hip_bfloat16 is 16 bits");

#if defined(MFMASIM_STANDARD_LIBRARY)
inline std::ostream &operator<<(std::ostream &stream, const hip_bfloat16 &value) { return stream << (float)value; }
#endif
namespace std {
constexpr MFMASIM_HOST_DEVICE bool isinf(hip_bfloat16 value) { return (value.data & 0x7fff) == 0x7f80; }
constexpr MFMASIM_HOST_DEVICE bool isnan(hip_bfloat16 value) { return (value.data & 0x7fff) > 0x7f80; }
constexpr MFMASIM_HOST_DEVICE bool iszero(hip_bfloat16 value) { return (value.data & 0x7fff) == 0; }
}  // namespace std

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
