// What PyTorch's headers use of rocThrust in HIP code: complex numbers for host and device, by <complex>.
#pragma once
#include <complex>

namespace thrust {

template <class T>
struct complex : std::complex<T> {
  using std::complex<T>::complex;
  __host__ __device__ complex() : std::complex<T>() {}
  __host__ __device__ complex(const std::complex<T>& other) : std::complex<T>(other) {}
  template <class U>
  __host__ __device__ complex(const complex<U>& other)
      : std::complex<T>(static_cast<T>(other.real()), static_cast<T>(other.imag())) {}
};

#define MFMASIM_COMPLEX_FUNCTION(name)                               \
  template <class T>                                                 \
  __host__ __device__ inline complex<T> name(const complex<T>& z) {  \
    return std::name(static_cast<const std::complex<T>&>(z));        \
  }
MFMASIM_COMPLEX_FUNCTION(exp)
MFMASIM_COMPLEX_FUNCTION(log)
MFMASIM_COMPLEX_FUNCTION(log10)
MFMASIM_COMPLEX_FUNCTION(sqrt)
MFMASIM_COMPLEX_FUNCTION(sin)
MFMASIM_COMPLEX_FUNCTION(cos)
MFMASIM_COMPLEX_FUNCTION(tan)
MFMASIM_COMPLEX_FUNCTION(asin)
MFMASIM_COMPLEX_FUNCTION(acos)
MFMASIM_COMPLEX_FUNCTION(atan)
MFMASIM_COMPLEX_FUNCTION(sinh)
MFMASIM_COMPLEX_FUNCTION(cosh)
MFMASIM_COMPLEX_FUNCTION(tanh)
MFMASIM_COMPLEX_FUNCTION(asinh)
MFMASIM_COMPLEX_FUNCTION(acosh)
MFMASIM_COMPLEX_FUNCTION(atanh)
MFMASIM_COMPLEX_FUNCTION(conj)
#undef MFMASIM_COMPLEX_FUNCTION

template <class T>
__host__ __device__ inline complex<T> pow(const complex<T>& x, const complex<T>& y) {
  return std::pow(static_cast<const std::complex<T>&>(x), static_cast<const std::complex<T>&>(y));
}
template <class T>
__host__ __device__ inline complex<T> pow(const complex<T>& x, const T& y) {
  return std::pow(static_cast<const std::complex<T>&>(x), y);
}
template <class T>
__host__ __device__ inline complex<T> pow(const T& x, const complex<T>& y) {
  return std::pow(x, static_cast<const std::complex<T>&>(y));
}
template <class T>
__host__ __device__ inline T abs(const complex<T>& z) {
  return std::abs(static_cast<const std::complex<T>&>(z));
}
template <class T>
__host__ __device__ inline T arg(const complex<T>& z) {
  return std::arg(static_cast<const std::complex<T>&>(z));
}
template <class T>
__host__ __device__ inline T norm(const complex<T>& z) {
  return std::norm(static_cast<const std::complex<T>&>(z));
}
template <class T>
__host__ __device__ inline complex<T> polar(const T& length, const T& angle = T()) {
  return std::polar(length, angle);
}

}  // namespace thrust
