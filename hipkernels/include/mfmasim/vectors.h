// Short vectors: float4, int2, uchar4, make_float4 and their arithmetic, element by element.
// Sizes and alignment are those of HIP: 2 and 4 elements are aligned as a whole, 3 as one element.
#pragma once

#include <mfmasim/qualifiers.h>

template <typename T, unsigned int N>
struct HIP_vector_base;

template <typename T>
struct HIP_vector_base<T, 1> {
  using Native_vec_ = T __attribute__((ext_vector_type(1)));
  union {
    Native_vec_ data;
    struct { T x; };
  };
  HIP_vector_base() = default;
  constexpr MFMASIM_MEMBER explicit HIP_vector_base(T x_) : x(x_) {}
};

template <typename T>
struct HIP_vector_base<T, 2> {
  using Native_vec_ = T __attribute__((ext_vector_type(2)));
  union {
    Native_vec_ data;
    struct { T x, y; };
  };
  HIP_vector_base() = default;
  constexpr MFMASIM_MEMBER HIP_vector_base(T x_, T y_) : data{x_, y_} {}
  constexpr MFMASIM_MEMBER explicit HIP_vector_base(T all) : data{all, all} {}
};

template <typename T>
struct HIP_vector_base<T, 3> {
  T x, y, z;
  HIP_vector_base() = default;
  constexpr MFMASIM_MEMBER HIP_vector_base(T x_, T y_, T z_) : x(x_), y(y_), z(z_) {}
  constexpr MFMASIM_MEMBER explicit HIP_vector_base(T all) : x(all), y(all), z(all) {}
};

template <typename T>
struct HIP_vector_base<T, 4> {
  using Native_vec_ = T __attribute__((ext_vector_type(4)));
  union {
    Native_vec_ data;
    struct { T x, y, z, w; };
  };
  HIP_vector_base() = default;
  constexpr MFMASIM_MEMBER HIP_vector_base(T x_, T y_, T z_, T w_) : data{x_, y_, z_, w_} {}
  constexpr MFMASIM_MEMBER explicit HIP_vector_base(T all) : data{all, all, all, all} {}
};

template <typename T, unsigned int N>
struct HIP_vector_type : HIP_vector_base<T, N> {
  using HIP_vector_base<T, N>::HIP_vector_base;
  using value_type = T;
  HIP_vector_type() = default;

  MFMASIM_MEMBER T &operator[](unsigned int index) { return (&this->x)[index]; }
  MFMASIM_MEMBER const T &operator[](unsigned int index) const { return (&this->x)[index]; }
};

#define MFMASIM_EACH for (unsigned int i = 0; i < N; ++i)
#define MFMASIM_BINARY(op)                                                                                       \
  template <typename T, unsigned int N>                                                                          \
  MFMASIM_MEMBER HIP_vector_type<T, N> &operator op##=(HIP_vector_type<T, N> &a, const HIP_vector_type<T, N> &b) { \
    MFMASIM_EACH a[i] = a[i] op b[i];                                                                            \
    return a;                                                                                                    \
  }                                                                                                              \
  template <typename T, unsigned int N>                                                                          \
  MFMASIM_MEMBER HIP_vector_type<T, N> &operator op##=(HIP_vector_type<T, N> &a,                                   \
                                                     typename HIP_vector_type<T, N>::value_type b) {              \
    MFMASIM_EACH a[i] = a[i] op b;                                                                               \
    return a;                                                                                                    \
  }                                                                                                              \
  template <typename T, unsigned int N>                                                                          \
  MFMASIM_MEMBER HIP_vector_type<T, N> operator op(HIP_vector_type<T, N> a, const HIP_vector_type<T, N> &b) {      \
    return a op##= b;                                                                                           \
  }                                                                                                              \
  template <typename T, unsigned int N>                                                                          \
  MFMASIM_MEMBER HIP_vector_type<T, N> operator op(HIP_vector_type<T, N> a,                                        \
                                                 typename HIP_vector_type<T, N>::value_type b) {                  \
    return a op##= b;                                                                                           \
  }                                                                                                              \
  template <typename T, unsigned int N>                                                                          \
  MFMASIM_MEMBER HIP_vector_type<T, N> operator op(typename HIP_vector_type<T, N>::value_type a,                   \
                                                 const HIP_vector_type<T, N> &b) {                                \
    HIP_vector_type<T, N> all(a);                                                                                \
    return all op##= b;                                                                                         \
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

template <typename T, unsigned int N>
MFMASIM_MEMBER HIP_vector_type<T, N> operator-(HIP_vector_type<T, N> a) {
  MFMASIM_EACH a[i] = -a[i];
  return a;
}
template <typename T, unsigned int N>
MFMASIM_MEMBER HIP_vector_type<T, N> operator~(HIP_vector_type<T, N> a) {
  MFMASIM_EACH a[i] = ~a[i];
  return a;
}
template <typename T, unsigned int N>
MFMASIM_MEMBER bool operator==(const HIP_vector_type<T, N> &a, const HIP_vector_type<T, N> &b) {
  bool equal = true;
  MFMASIM_EACH equal = equal && a[i] == b[i];
  return equal;
}
template <typename T, unsigned int N>
MFMASIM_MEMBER bool operator!=(const HIP_vector_type<T, N> &a, const HIP_vector_type<T, N> &b) {
  return !(a == b);
}
#undef MFMASIM_EACH

#define MFMASIM_VECTORS(T, name)                                                                          \
  typedef HIP_vector_type<T, 1> name##1;                                                                  \
  typedef HIP_vector_type<T, 2> name##2;                                                                  \
  typedef HIP_vector_type<T, 3> name##3;                                                                  \
  typedef HIP_vector_type<T, 4> name##4;                                                                  \
  constexpr MFMASIM_MEMBER name##1 make_##name##1(T x) { return name##1(x); }                             \
  constexpr MFMASIM_MEMBER name##2 make_##name##2(T x, T y) { return name##2(x, y); }                     \
  constexpr MFMASIM_MEMBER name##3 make_##name##3(T x, T y, T z) { return name##3(x, y, z); }             \
  constexpr MFMASIM_MEMBER name##4 make_##name##4(T x, T y, T z, T w) { return name##4(x, y, z, w); }
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
