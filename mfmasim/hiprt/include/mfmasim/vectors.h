// Short vectors: float4, int2, uchar4, make_float4 and their arithmetic, element by element.
// Sizes and alignment are those of HIP: 2 and 4 elements are aligned as a whole, 3 as one element.
#pragma once

#include <mfmasim/qualifiers.h>

template <typename T_, unsigned int N_>
struct HIP_vector_base;

template <typename T_>
struct HIP_vector_base<T_, 1> {
  using Native_vec_ = T_ __attribute__((ext_vector_type(1)));
  union {
    Native_vec_ data;
    struct { T_ x; };
  };
  HIP_vector_base() = default;
  constexpr MFMASIM_MEMBER explicit HIP_vector_base(T_ x_) : x(x_) {}
};

template <typename T_>
struct HIP_vector_base<T_, 2> {
  using Native_vec_ = T_ __attribute__((ext_vector_type(2)));
  union {
    Native_vec_ data;
    struct { T_ x, y; };
  };
  HIP_vector_base() = default;
  constexpr MFMASIM_MEMBER HIP_vector_base(T_ x_, T_ y_) : data{x_, y_} {}
  constexpr MFMASIM_MEMBER explicit HIP_vector_base(T_ all) : data{all, all} {}
};

template <typename T_>
struct HIP_vector_base<T_, 3> {
  T_ x, y, z;
  HIP_vector_base() = default;
  constexpr MFMASIM_MEMBER HIP_vector_base(T_ x_, T_ y_, T_ z_) : x(x_), y(y_), z(z_) {}
  constexpr MFMASIM_MEMBER explicit HIP_vector_base(T_ all) : x(all), y(all), z(all) {}
};

template <typename T_>
struct HIP_vector_base<T_, 4> {
  using Native_vec_ = T_ __attribute__((ext_vector_type(4)));
  union {
    Native_vec_ data;
    struct { T_ x, y, z, w; };
  };
  HIP_vector_base() = default;
  constexpr MFMASIM_MEMBER HIP_vector_base(T_ x_, T_ y_, T_ z_, T_ w_) : data{x_, y_, z_, w_} {}
  constexpr MFMASIM_MEMBER explicit HIP_vector_base(T_ all) : data{all, all, all, all} {}
};

template <bool>
struct MfmasimOnly {};

template <>
struct MfmasimOnly<true> {
  using type = int;
};

template <typename T_, unsigned int N_>
struct HIP_vector_type : HIP_vector_base<T_, N_> {
  using HIP_vector_base<T_, N_>::HIP_vector_base;
  using value_type = T_;
  HIP_vector_type() = default;
  // Values of any arithmetic types: braces refuse those that the constructors above would narrow. With a first one of
  // its own, the list does not hide the constructors of vectors that libraries add.
  template <typename First_, typename... Others_, typename MfmasimOnly<(N_ > 1 && sizeof...(Others_) + 1 == N_)>::type = 0>
  constexpr MFMASIM_MEMBER HIP_vector_type(First_ first, Others_... others) noexcept
      : HIP_vector_base<T_, N_>(static_cast<T_>(first), static_cast<T_>(others)...) {}

  // Libraries add wider vectors, whose elements have no names.
  MFMASIM_MEMBER T_ &operator[](unsigned int index) { return reinterpret_cast<T_ *>(this)[index]; }
  MFMASIM_MEMBER const T_ &operator[](unsigned int index) const { return reinterpret_cast<const T_ *>(this)[index]; }

  MFMASIM_MEMBER HIP_vector_type &operator++() noexcept;
  MFMASIM_MEMBER HIP_vector_type operator++(int) noexcept;
  MFMASIM_MEMBER HIP_vector_type &operator--() noexcept;
  MFMASIM_MEMBER HIP_vector_type operator--(int) noexcept;
};

#define MFMASIM_EACH for (unsigned int i = 0; i < N_; ++i)
#define MFMASIM_VECTOR HIP_vector_type<T_, N_>
#define MFMASIM_ELEMENT typename HIP_vector_type<T_, N_>::value_type
#define MFMASIM_BINARY(op)                                                                    \
  template <typename T_, unsigned int N_>                                                     \
  MFMASIM_MEMBER MFMASIM_VECTOR &operator op##=(MFMASIM_VECTOR &a, const MFMASIM_VECTOR &b) { \
    MFMASIM_EACH a[i] = a[i] op b[i];                                                         \
    return a;                                                                                 \
  }                                                                                           \
  template <typename T_, unsigned int N_>                                                     \
  MFMASIM_MEMBER MFMASIM_VECTOR &operator op##=(MFMASIM_VECTOR &a, MFMASIM_ELEMENT b) {       \
    MFMASIM_EACH a[i] = a[i] op b;                                                            \
    return a;                                                                                 \
  }                                                                                           \
  template <typename T_, unsigned int N_>                                                     \
  MFMASIM_MEMBER MFMASIM_VECTOR operator op(MFMASIM_VECTOR a, const MFMASIM_VECTOR &b) {      \
    return a op##= b;                                                                         \
  }                                                                                           \
  template <typename T_, unsigned int N_>                                                     \
  MFMASIM_MEMBER MFMASIM_VECTOR operator op(MFMASIM_VECTOR a, MFMASIM_ELEMENT b) {            \
    return a op##= b;                                                                         \
  }                                                                                           \
  template <typename T_, unsigned int N_>                                                     \
  MFMASIM_MEMBER MFMASIM_VECTOR operator op(MFMASIM_ELEMENT a, const MFMASIM_VECTOR &b) {     \
    MFMASIM_VECTOR all(a);                                                                    \
    return all op##= b;                                                                       \
  }
MFMASIM_BINARY(+)
MFMASIM_BINARY(-)
MFMASIM_BINARY(*)
MFMASIM_BINARY(/)
MFMASIM_BINARY(%)
MFMASIM_BINARY(&)
MFMASIM_BINARY(|)
MFMASIM_BINARY(^)
MFMASIM_BINARY(<<)
MFMASIM_BINARY(>>)
#undef MFMASIM_BINARY

template <typename T_, unsigned int N_>
MFMASIM_MEMBER MFMASIM_VECTOR operator-(MFMASIM_VECTOR a) {
  MFMASIM_EACH a[i] = -a[i];
  return a;
}
#define MFMASIM_STEP(op, change)                                  \
  template <typename T_, unsigned int N_>                         \
  MFMASIM_MEMBER MFMASIM_VECTOR &MFMASIM_VECTOR::operator op() noexcept { \
    MFMASIM_EACH(*this)[i] = T_((*this)[i] change(T_)1.0f);       \
    return *this;                                                 \
  }                                                               \
  template <typename T_, unsigned int N_>                         \
  MFMASIM_MEMBER MFMASIM_VECTOR MFMASIM_VECTOR::operator op(int) noexcept { \
    MFMASIM_VECTOR before = *this;                                \
    op(*this);                                                    \
    return before;                                                \
  }
MFMASIM_STEP(++, +)
MFMASIM_STEP(--, -)
#undef MFMASIM_STEP
template <typename T_, unsigned int N_>
MFMASIM_MEMBER MFMASIM_VECTOR operator~(MFMASIM_VECTOR a) {
  MFMASIM_EACH a[i] = ~a[i];
  return a;
}
template <typename T_, unsigned int N_>
MFMASIM_MEMBER bool operator==(const MFMASIM_VECTOR &a, const MFMASIM_VECTOR &b) {
  bool equal = true;
  MFMASIM_EACH equal = equal && a[i] == b[i];
  return equal;
}
template <typename T_, unsigned int N_>
MFMASIM_MEMBER bool operator!=(const MFMASIM_VECTOR &a, const MFMASIM_VECTOR &b) {
  return !(a == b);
}
#define MFMASIM_COMPARE(op)                                                             \
  template <typename T_, unsigned int N_>                                               \
  MFMASIM_MEMBER bool operator op(const MFMASIM_VECTOR &a, MFMASIM_ELEMENT b) {         \
    return a op MFMASIM_VECTOR(b);                                                      \
  }                                                                                     \
  template <typename T_, unsigned int N_>                                               \
  MFMASIM_MEMBER bool operator op(MFMASIM_ELEMENT a, const MFMASIM_VECTOR &b) {         \
    return MFMASIM_VECTOR(a) op b;                                                      \
  }
MFMASIM_COMPARE(==)
MFMASIM_COMPARE(!=)
#undef MFMASIM_COMPARE
#undef MFMASIM_EACH
#undef MFMASIM_VECTOR
#undef MFMASIM_ELEMENT

#define MFMASIM_VECTORS(T_, name)                                                                \
  typedef HIP_vector_type<T_, 1> name##1;                                                        \
  typedef HIP_vector_type<T_, 2> name##2;                                                        \
  typedef HIP_vector_type<T_, 3> name##3;                                                        \
  typedef HIP_vector_type<T_, 4> name##4;                                                        \
  constexpr MFMASIM_MEMBER name##1 make_##name##1(T_ x) { return name##1(x); }                   \
  constexpr MFMASIM_MEMBER name##2 make_##name##2(T_ x, T_ y) { return name##2(x, y); }          \
  constexpr MFMASIM_MEMBER name##3 make_##name##3(T_ x, T_ y, T_ z) { return name##3(x, y, z); } \
  constexpr MFMASIM_MEMBER name##4 make_##name##4(T_ x, T_ y, T_ z, T_ w) { return name##4(x, y, z, w); }
MFMASIM_VECTORS(char, char)
MFMASIM_VECTORS(unsigned char, uchar)
MFMASIM_VECTORS(short, short)
MFMASIM_VECTORS(unsigned short, ushort)
MFMASIM_VECTORS(int, int)
MFMASIM_VECTORS(unsigned int, uint)
MFMASIM_VECTORS(long, long)
MFMASIM_VECTORS(unsigned long, ulong)
MFMASIM_VECTORS(long long, longlong)
MFMASIM_VECTORS(unsigned long long, ulonglong)
MFMASIM_VECTORS(float, float)
MFMASIM_VECTORS(double, double)
#undef MFMASIM_VECTORS
