// __half and __half2: IEEE binary16 with arithmetic, comparisons and conversions. _Float16 is the same 16 bits.
// Names: HIP documentation, "Half precision"; arithmetic is rounded to nearest even after each operation.
#pragma once

#include <hip/hip_runtime.h>

// Steps by one, before and after.
#define MFMASIM_STEPS(T, one)                               \
  MFMASIM_MEMBER T &operator++() { return *this += one; }   \
  MFMASIM_MEMBER T &operator--() { return *this -= one; }   \
  MFMASIM_MEMBER T operator++(int) {                        \
    T before = *this;                                       \
    *this += one;                                           \
    return before;                                          \
  }                                                         \
  MFMASIM_MEMBER T operator--(int) {                        \
    T before = *this;                                       \
    *this -= one;                                           \
    return before;                                          \
  }

struct __half_raw {
  union {
    unsigned short x;
    _Float16 data;
  };
};

struct __half {
  union {
    _Float16 data;
    unsigned short __x;
  };
  __half() = default;
  constexpr MFMASIM_MEMBER __half(_Float16 value) : data(value) {}
  constexpr MFMASIM_MEMBER __half(__half_raw raw) : __x(raw.x) {}
  constexpr MFMASIM_MEMBER __half(float value) : data((_Float16)value) {}
  constexpr MFMASIM_MEMBER __half(double value) : data((_Float16)value) {}
#define MFMASIM_FROM(T) \
  constexpr MFMASIM_MEMBER __half(T value) : data((_Float16)value) {}
  MFMASIM_FROM(short)
  MFMASIM_FROM(unsigned short)
  MFMASIM_FROM(int)
  MFMASIM_FROM(unsigned int)
  MFMASIM_FROM(long)
  MFMASIM_FROM(unsigned long)
  MFMASIM_FROM(long long)
  MFMASIM_FROM(unsigned long long)
#undef MFMASIM_FROM
  constexpr MFMASIM_MEMBER operator _Float16() const { return data; }
  constexpr MFMASIM_MEMBER operator float() const { return (float)data; }
  constexpr MFMASIM_MEMBER operator __half_raw() const { return __half_raw{__x}; }
  constexpr MFMASIM_MEMBER explicit operator double() const { return (double)data; }
  constexpr MFMASIM_MEMBER explicit operator bool() const { return data != (_Float16)0; }
#define MFMASIM_TO(T) \
  constexpr MFMASIM_MEMBER explicit operator T() const { return (T)data; }
  MFMASIM_TO(char)
  MFMASIM_TO(signed char)
  MFMASIM_TO(unsigned char)
  MFMASIM_TO(short)
  MFMASIM_TO(unsigned short)
  MFMASIM_TO(int)
  MFMASIM_TO(unsigned int)
  MFMASIM_TO(long)
  MFMASIM_TO(unsigned long)
  MFMASIM_TO(long long)
  MFMASIM_TO(unsigned long long)
#undef MFMASIM_TO
#define MFMASIM_OPERATOR(op)                            \
  MFMASIM_MEMBER __half &operator op##=(__half other) { \
    data op##= other.data;                              \
    return *this;                                       \
  }                                                     \
  friend MFMASIM_MEMBER __half operator op(__half a, __half b) { return (_Float16)(a.data op b.data); }
  MFMASIM_OPERATOR(+)
  MFMASIM_OPERATOR(-)
  MFMASIM_OPERATOR(*)
  MFMASIM_OPERATOR(/)
#undef MFMASIM_OPERATOR
#define MFMASIM_COMPARE(op) \
  friend MFMASIM_MEMBER bool operator op(__half a, __half b) { return a.data op b.data; }
  MFMASIM_COMPARE(==)
  MFMASIM_COMPARE(!=)
  MFMASIM_COMPARE(<)
  MFMASIM_COMPARE(<=)
  MFMASIM_COMPARE(>)
  MFMASIM_COMPARE(>=)
#undef MFMASIM_COMPARE
  MFMASIM_MEMBER __half operator+() const { return *this; }
  MFMASIM_MEMBER __half operator-() const { return (_Float16)-data; }
  MFMASIM_STEPS(__half, __half(1.0f))
};
static_assert(sizeof(__half) == 2 && alignof(__half) == 2, "mfmasim: __half is 16 bits");

struct __half2_raw {
  unsigned short x, y;
};

struct __half2 {
  using Native_vec_ = _Float16 __attribute__((ext_vector_type(2)));
  union {
    Native_vec_ data;
    struct { __half x, y; };
  };
  __half2() = default;
  constexpr MFMASIM_MEMBER __half2(Native_vec_ value) : data(value) {}
  constexpr MFMASIM_MEMBER __half2(__half a, __half b) : data{a.data, b.data} {}
  MFMASIM_MEMBER __half2(__half2_raw raw) : data(mfmasim::bits<Native_vec_>(raw)) {}
  constexpr MFMASIM_MEMBER explicit __half2(__half both) : data{both.data, both.data} {}
  MFMASIM_MEMBER operator Native_vec_() const { return data; }
  MFMASIM_MEMBER operator __half2_raw() const { return mfmasim::bits<__half2_raw>(data); }
#define MFMASIM_OPERATOR(op)                              \
  MFMASIM_MEMBER __half2 &operator op##=(__half2 other) { \
    data op##= other.data;                                \
    return *this;                                         \
  }                                                       \
  friend MFMASIM_MEMBER __half2 operator op(__half2 a, __half2 b) { return __half2(a.data op b.data); }
  MFMASIM_OPERATOR(+)
  MFMASIM_OPERATOR(-)
  MFMASIM_OPERATOR(*)
  MFMASIM_OPERATOR(/)
#undef MFMASIM_OPERATOR
  MFMASIM_MEMBER __half2 operator-() const { return __half2(-data); }
  friend MFMASIM_MEMBER bool operator==(__half2 a, __half2 b) { return a.x == b.x && a.y == b.y; }
  friend MFMASIM_MEMBER bool operator!=(__half2 a, __half2 b) { return !(a == b); }
  friend MFMASIM_MEMBER bool operator<(__half2 a, __half2 b) { return a.x < b.x && a.y < b.y; }
  friend MFMASIM_MEMBER bool operator>(__half2 a, __half2 b) { return b < a; }
  friend MFMASIM_MEMBER bool operator<=(__half2 a, __half2 b) { return !(b < a); }
  friend MFMASIM_MEMBER bool operator>=(__half2 a, __half2 b) { return !(a < b); }
  MFMASIM_STEPS(__half2, __half2(__half(1.0f)))
};
static_assert(sizeof(__half2) == 4 && alignof(__half2) == 4, "mfmasim: __half2 is 32 bits");

#if !defined(HIP_NO_HALF)
typedef __half half;
typedef __half2 half2;
#endif

MFMASIM_HOST_DEVICE __half2 make_half2(__half x, __half y) { return __half2(x, y); }

// Conversions. _rn is the default rounding; the other directions go through the library.
MFMASIM_HOST_DEVICE __half __float2half(float x) { return __half(x); }
MFMASIM_HOST_DEVICE __half __float2half_rn(float x) { return __half(x); }
MFMASIM_HOST_DEVICE __half __double2half(double x) { return __half(x); }
MFMASIM_HOST_DEVICE float __half2float(__half x) { return (float)x.data; }
MFMASIM_HOST_DEVICE __half __float2half_rz(float x) {
#if defined(__HIP_DEVICE_COMPILE__)
  return mfmasim::bits<__half2::Native_vec_>(__builtin_amdgcn_cvt_pkrtz(x, 0.0f)).x;
#else
  return mfmasim::half_towards_zero(x);
#endif
}
MFMASIM_HOST_DEVICE __half __float2half_rd(float x) { return mfmasim::half_down(x); }
MFMASIM_HOST_DEVICE __half __float2half_ru(float x) { return mfmasim::half_up(x); }
MFMASIM_HOST_DEVICE __half2 __floats2half2_rn(float x, float y) { return __half2(__half(x), __half(y)); }
MFMASIM_HOST_DEVICE __half2 __float2half2_rn(float x) { return __half2(__half(x), __half(x)); }
MFMASIM_HOST_DEVICE __half2 __float22half2_rn(float2 x) { return __floats2half2_rn(x.x, x.y); }
MFMASIM_HOST_DEVICE float2 __half22float2(__half2 x) { return make_float2((float)x.x.data, (float)x.y.data); }
MFMASIM_HOST_DEVICE float __low2float(__half2 x) { return (float)x.x.data; }
MFMASIM_HOST_DEVICE float __high2float(__half2 x) { return (float)x.y.data; }
MFMASIM_HOST_DEVICE __half __low2half(__half2 x) { return x.x; }
MFMASIM_HOST_DEVICE __half __high2half(__half2 x) { return x.y; }
MFMASIM_HOST_DEVICE __half2 __half2half2(__half x) { return __half2(x); }
MFMASIM_HOST_DEVICE __half2 __halves2half2(__half x, __half y) { return __half2(x, y); }
MFMASIM_HOST_DEVICE __half2 __low2half2(__half2 x) { return __half2(x.x); }
MFMASIM_HOST_DEVICE __half2 __high2half2(__half2 x) { return __half2(x.y); }
MFMASIM_HOST_DEVICE __half2 __lows2half2(__half2 x, __half2 y) { return __half2(x.x, y.x); }
MFMASIM_HOST_DEVICE __half2 __highs2half2(__half2 x, __half2 y) { return __half2(x.y, y.y); }
MFMASIM_HOST_DEVICE __half2 __lowhigh2highlow(__half2 x) { return __half2(x.y, x.x); }
MFMASIM_HOST_DEVICE unsigned short __half_as_ushort(__half x) { return x.__x; }
MFMASIM_HOST_DEVICE short __half_as_short(__half x) { return (short)x.__x; }
MFMASIM_HOST_DEVICE __half __ushort_as_half(unsigned short x) { return __half(__half_raw{x}); }
MFMASIM_HOST_DEVICE __half __short_as_half(short x) { return __half(__half_raw{(unsigned short)x}); }

// ROCm's headers round integers to nearest under all four names.
#define MFMASIM_INTEGER(name, T)                                                               \
  MFMASIM_HOST_DEVICE __half __##name##2half_rn(T x) { return __half((_Float16)x); }           \
  MFMASIM_DEVICE __half __##name##2half_rz(T x) { return __half((_Float16)x); }                \
  MFMASIM_DEVICE __half __##name##2half_rd(T x) { return __half((_Float16)x); }                \
  MFMASIM_DEVICE __half __##name##2half_ru(T x) { return __half((_Float16)x); }                \
  MFMASIM_DEVICE T __half2##name##_rn(__half x) { return (T)__builtin_rintf((float)x.data); }  \
  MFMASIM_DEVICE T __half2##name##_rz(__half x) { return (T)(float)x.data; }                   \
  MFMASIM_DEVICE T __half2##name##_rd(__half x) { return (T)__builtin_floorf((float)x.data); } \
  MFMASIM_DEVICE T __half2##name##_ru(__half x) { return (T)__builtin_ceilf((float)x.data); }
MFMASIM_INTEGER(int, int)
MFMASIM_INTEGER(uint, unsigned int)
MFMASIM_INTEGER(short, short)
MFMASIM_INTEGER(ushort, unsigned short)
MFMASIM_INTEGER(ll, long long)
MFMASIM_INTEGER(ull, unsigned long long)
#undef MFMASIM_INTEGER

// Arithmetic.
MFMASIM_HOST_DEVICE __half __hadd(__half x, __half y) { return x + y; }
MFMASIM_HOST_DEVICE __half __hsub(__half x, __half y) { return x - y; }
MFMASIM_HOST_DEVICE __half __hmul(__half x, __half y) { return x * y; }
MFMASIM_HOST_DEVICE __half __hdiv(__half x, __half y) { return x / y; }
MFMASIM_HOST_DEVICE __half __hneg(__half x) { return -x; }
MFMASIM_HOST_DEVICE __half __habs(__half x) { return __half(__half_raw{(unsigned short)(x.__x & 0x7fff)}); }
MFMASIM_DEVICE __half __hfma(__half x, __half y, __half z) { return __builtin_fmaf16(x.data, y.data, z.data); }
MFMASIM_DEVICE __half __hmax(__half x, __half y) { return __builtin_fmaxf16(x.data, y.data); }
MFMASIM_DEVICE __half __hmin(__half x, __half y) { return __builtin_fminf16(x.data, y.data); }
MFMASIM_HOST_DEVICE __half2 __hadd2(__half2 x, __half2 y) { return x + y; }
MFMASIM_HOST_DEVICE __half2 __hsub2(__half2 x, __half2 y) { return x - y; }
MFMASIM_HOST_DEVICE __half2 __hmul2(__half2 x, __half2 y) { return x * y; }
MFMASIM_HOST_DEVICE __half2 __h2div(__half2 x, __half2 y) { return x / y; }
MFMASIM_HOST_DEVICE __half2 __hneg2(__half2 x) { return -x; }
MFMASIM_HOST_DEVICE __half2 __habs2(__half2 x) { return __half2(__habs(x.x), __habs(x.y)); }
MFMASIM_DEVICE __half2 __hfma2(__half2 x, __half2 y, __half2 z) {
  return __half2(__builtin_elementwise_fma(x.data, y.data, z.data));
}
MFMASIM_DEVICE __half2 __hmax2(__half2 x, __half2 y) { return __half2(__hmax(x.x, y.x), __hmax(x.y, y.y)); }
MFMASIM_DEVICE __half2 __hmin2(__half2 x, __half2 y) { return __half2(__hmin(x.x, y.x), __hmin(x.y, y.y)); }
// A NaN in either argument is the result; __hmax and __hmin ignore one.
MFMASIM_DEVICE __half __hmax_nan(__half x, __half y) { return x.data != x.data ? x : y.data != y.data ? y : __hmax(x, y); }
MFMASIM_DEVICE __half __hmin_nan(__half x, __half y) { return x.data != x.data ? x : y.data != y.data ? y : __hmin(x, y); }
// Saturated to 0 to 1; a NaN stays, as in ROCm's headers.
MFMASIM_DEVICE __half __clamp_01(__half x) { return x.data < 0 ? (_Float16)0 : x.data > 1 ? (_Float16)1 : x.data; }
#define MFMASIM_SATURATED(name, parameters, pairs, arguments)                                   \
  MFMASIM_DEVICE __half __h##name##_sat parameters { return __clamp_01(__h##name arguments); } \
  MFMASIM_DEVICE __half2 __h##name##2_sat pairs {                                               \
    __half2 result = __h##name##2 arguments;                                                    \
    return __half2(__clamp_01(result.x), __clamp_01(result.y));                                 \
  }
#define MFMASIM_SATURATED_2(name) MFMASIM_SATURATED(name, (__half x, __half y), (__half2 x, __half2 y), (x, y))
MFMASIM_SATURATED_2(add)
MFMASIM_SATURATED_2(sub)
MFMASIM_SATURATED_2(mul)
MFMASIM_SATURATED(fma, (__half x, __half y, __half z), (__half2 x, __half2 y, __half2 z), (x, y, z))
#undef MFMASIM_SATURATED
#undef MFMASIM_SATURATED_2
// x.x * y.x + x.y * y.y + z in single precision.
MFMASIM_DEVICE float amd_mixed_dot(__half2 x, __half2 y, float z, bool saturate) {
  float sum = (float)x.x.data * (float)y.x.data + (float)x.y.data * (float)y.y.data + z;
  return saturate ? __saturatef(sum) : sum;
}

// Comparisons: ordered ones are false with a NaN, the ..u ones true; not equal is true under both names, as in ROCm's
// headers. Of pairs: one 0 or 1 for each half, or (..b..) whether it holds for both.
#define MFMASIM_COMPARE(name, op, unordered)                                                       \
  MFMASIM_HOST_DEVICE bool __h##name(__half x, __half y) { return x.data op y.data; }              \
  MFMASIM_HOST_DEVICE bool __h##name##u(__half x, __half y) { return !(x.data unordered y.data); } \
  MFMASIM_HOST_DEVICE __half2 __h##name##2(__half2 x, __half2 y) {                                 \
    return __half2(__half((_Float16)__h##name(x.x, y.x)), __half((_Float16)__h##name(x.y, y.y)));  \
  }                                                                                                \
  MFMASIM_HOST_DEVICE __half2 __h##name##u2(__half2 x, __half2 y) {                                \
    return __half2(__half((_Float16)__h##name##u(x.x, y.x)), __half((_Float16)__h##name##u(x.y, y.y))); \
  }                                                                                                \
  MFMASIM_HOST_DEVICE bool __hb##name##2(__half2 x, __half2 y) { return __h##name(x.x, y.x) && __h##name(x.y, y.y); } \
  MFMASIM_HOST_DEVICE bool __hb##name##u2(__half2 x, __half2 y) { return __h##name##u(x.x, y.x) && __h##name##u(x.y, y.y); }
MFMASIM_COMPARE(eq, ==, !=)
MFMASIM_COMPARE(ne, !=, ==)
MFMASIM_COMPARE(lt, <, >=)
MFMASIM_COMPARE(le, <=, >)
MFMASIM_COMPARE(gt, >, <=)
MFMASIM_COMPARE(ge, >=, <)
#undef MFMASIM_COMPARE
MFMASIM_HOST_DEVICE bool __hisnan(__half x) { return x.data != x.data; }
MFMASIM_HOST_DEVICE int __hisinf(__half x) { return (x.__x & 0x7fff) == 0x7c00 ? (x.__x & 0x8000 ? -1 : 1) : 0; }
MFMASIM_HOST_DEVICE __half2 __hisnan2(__half2 x) {
  return __half2(__half((_Float16)__hisnan(x.x)), __half((_Float16)__hisnan(x.y)));
}
MFMASIM_HOST_DEVICE __half2 __hisinf2(__half2 x) {
  return __half2(__half((_Float16)(__hisinf(x.x) != 0)), __half((_Float16)(__hisinf(x.y) != 0)));
}

// Loads with a wish for the cache.
#define MFMASIM_LOAD(name)                                                      \
  MFMASIM_DEVICE __half name(const __half *address) { return *address; } \
  MFMASIM_DEVICE __half2 name(const __half2 *address) { return *address; }
MFMASIM_LOAD(__ldca)
MFMASIM_LOAD(__ldcg)
MFMASIM_LOAD(__ldcs)
#undef MFMASIM_LOAD

// Functions through the single-precision ones, rounded once more.
#define MFMASIM_FUNCTION(name, expression)  \
  MFMASIM_DEVICE __half h##name(__half h) { \
    float x = (float)h.data;                \
    return __half((float)(expression));     \
  }                                         \
  MFMASIM_DEVICE __half2 h2##name(__half2 h) { return __half2(h##name(h.x), h##name(h.y)); }
#include <mfmasim/half_functions.h>

// Both halves at once: one instruction where it takes a generic address, else compare and swap.
MFMASIM_DEVICE __half2 unsafeAtomicAdd(__half2 *address, __half2 value) {
#if defined(__gfx942__) || defined(__gfx950__) || defined(__GFX12__)
  return __half2(__builtin_amdgcn_flat_atomic_fadd_v2f16((__half2::Native_vec_ *)address, value.data));
#else
  return mfmasim::add_pair(address, value);
#endif
}
