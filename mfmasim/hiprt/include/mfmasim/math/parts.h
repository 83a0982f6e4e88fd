// Remainders, and the parts and neighbours of a number, exact and on its bits: one template for both precisions.
#pragma once

#include <mfmasim/casts.h>
#include <mfmasim/qualifiers.h>

namespace mfmasim {

template <typename F_>
struct layout;
template <>
struct layout<float> {
  typedef uint32_t word;
  static constexpr int fraction = 23, bias = 127;
};
template <>
struct layout<double> {
  typedef uint64_t word;
  static constexpr int fraction = 52, bias = 1023;
};

// x = m 2^e with an integer m below 2^(fraction + 1); positive finite x.
template <typename F_>
MFMASIM_MEMBER_DEVICE uint64_t integer_parts(F_ x, int &e) {
  auto code = bits<typename layout<F_>::word>(x);
  int field = (int)(code >> layout<F_>::fraction);
  uint64_t m = code & (((typename layout<F_>::word)1 << layout<F_>::fraction) - 1);
  e = (field ? field : 1) - layout<F_>::bias - layout<F_>::fraction;
  return field ? m | (uint64_t)1 << layout<F_>::fraction : m;
}

// |x| modulo |y| for finite x and y, y not 0; `quotient` gets the low bits of the whole quotient. Long division, as many
// bits at a time as fit beside the divisor.
template <typename F_>
MFMASIM_MEMBER_DEVICE F_ modulo(F_ x, F_ y, uint32_t &quotient) {
  int ex, ey;
  uint64_t mx = integer_parts(x, ex), my = integer_parts(y, ey);
  quotient = 0;
  if (x < y) return x;
  // The divisor without the zeros at its end leaves more room.
  int zeros = __builtin_ctzll(my);
  my >>= zeros, ey += zeros;
  int apart = ex - ey;
  if (apart < 0) {
    // The dividend's exponent is the smaller one only where its low bits lie below the divisor's.
    my <<= -apart, ey = ex, apart = 0;
  }
  uint64_t q = mx / my;
  mx -= q * my;
  quotient = (uint32_t)q;
  while (apart > 0 && mx) {
    int step = __builtin_clzll(mx);
    step = step < apart ? step : apart;
    mx <<= step, apart -= step;
    q = mx / my;
    mx -= q * my;
    quotient = step < 32 ? quotient << step | (uint32_t)q : (uint32_t)q;
  }
  if (apart > 0) quotient = apart < 32 ? quotient << apart : 0;
  return sizeof(F_) == 4 ? (F_)__builtin_ldexpf((float)mx, ey) : (F_)__builtin_ldexp((double)mx, ey);
}
template <typename F_>
MFMASIM_MEMBER_DEVICE F_ size_of(F_ x) {
  typedef typename layout<F_>::word word;
  return bits<F_>((word)(bits<word>(x) & ((word)~(word)0 >> 1)));
}
template <typename F_>
MFMASIM_MEMBER_DEVICE F_ with_sign(F_ size, F_ sign) {
  typedef typename layout<F_>::word word;
  constexpr word top = (word)1 << (8 * sizeof(F_) - 1);
  return bits<F_>((word)((bits<word>(size) & ~top) | (bits<word>(sign) & top)));
}
template <typename F_>
MFMASIM_MEMBER_DEVICE bool is_finite(F_ x) { return size_of(x) < (F_)__builtin_inf(); }

// C17, 7.12.10.
template <typename F_>
MFMASIM_MEMBER_DEVICE F_ modulo_of(F_ x, F_ y) {
  if (x != x || y != y || !is_finite(x) || y == 0) return (x * y) / (x * y);
  uint32_t quotient;
  return is_finite(y) ? with_sign(modulo(size_of(x), size_of(y), quotient), x) : x;
}
template <typename F_>
MFMASIM_MEMBER_DEVICE F_ remainder_of(F_ x, F_ y, int *bits_of_quotient) {
  *bits_of_quotient = 0;
  if (x != x || y != y || !is_finite(x) || y == 0) return (x * y) / (x * y);
  if (!is_finite(y)) return x;
  F_ size = size_of(y);
  uint32_t quotient;
  F_ rest = modulo(size_of(x), size, quotient);
  // To the nearest multiple, the even one of two.
  bool above = rest > size - rest, tie = rest == size - rest;
  if (above || (tie && (quotient & 1))) {
    rest = rest - size;
    ++quotient;
  }
  int low = (int)(quotient & 0x7f);
  *bits_of_quotient = __builtin_signbit(x) != __builtin_signbit(y) ? -low : low;
  return rest == 0 ? with_sign((F_)0, x) : __builtin_signbit(x) ? -rest : rest;
}

template <typename F_>
MFMASIM_MEMBER_DEVICE F_ next_to(F_ x, F_ y) {
  typedef typename layout<F_>::word word;
  if (x != x || y != y) return x + y;
  if (x == y) return y;
  if (x == 0) return with_sign(bits<F_>((word)1), y);
  word code = bits<word>(x);
  return bits<F_>((word)((x < y) == (x > 0) ? code + 1 : code - 1));
}
template <typename F_>
MFMASIM_MEMBER_DEVICE int exponent_of(F_ x) {
  if (x == 0) return -2147483647 - 1;
  if (x != x) return -2147483647 - 1;
  if (!is_finite(x)) return 2147483647;
  int e;
  uint64_t m = integer_parts(size_of(x), e);
  return e + 63 - __builtin_clzll(m);
}
template <typename F_>
MFMASIM_MEMBER_DEVICE F_ exponent_value(F_ x) {
  if (x == 0) return -(F_)__builtin_inf();
  if (!(is_finite(x))) return x * x;
  return (F_)exponent_of(x);
}

}  // namespace mfmasim
