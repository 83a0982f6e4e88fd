// C++ on the device: templates, lambdas, recursion, struct arguments, function pointers, virtual-free classes, type traits.
#include <hip/hip_runtime.h>
#include <algorithm>
#include <array>
#include <cassert>
#include <cfloat>
#include <climits>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <iostream>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

struct Parameters {
  float scale;
  int count;
  double offsets[3];
  struct { uint8_t first; uint16_t second; } nested;
};
class Accumulator {
 public:
  __host__ __device__ explicit Accumulator(float start) : value_(start) {}
  __host__ __device__ Accumulator& add(float x) { value_ += x; return *this; }
  __device__ float value() const { return value_; }

 private:
  float value_;
};
enum class Mode : int { plus, times };

__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ __noinline__ float twice(float x) { return 2.0f * x; }
template <typename F>
__device__ float apply(F f, float x) { return f(x); }
template <Mode mode, typename T>
__device__ std::enable_if_t<std::is_floating_point<T>::value, T> combine(T a, T b) {
  if constexpr (mode == Mode::plus) return a + b;
  else return a * b;
}
template <typename T>
struct square { __host__ __device__ constexpr T operator()(T x) const { return x * x; } };

__global__ void language(Parameters parameters, float* out, int* ints) {
  int i = threadIdx.x;
  auto scaled = [=](float x) { return x * parameters.scale; };
  Accumulator sum(parameters.offsets[0]);
  sum.add(scaled(i)).add(apply(square<float>(), i));
  out[i] = sum.value() + combine<Mode::times>(twice(i), 0.5f) + parameters.nested.second;
  ints[i] = fibonacci(i % 10) + parameters.count + static_cast<int>(sizeof(Parameters));
  static_assert(std::is_same<decltype(threadIdx.x + 0u), unsigned int>::value, "unsigned");
  if (std::numeric_limits<float>::max() == FLT_MAX && INT_MAX > 0) ints[i] += 1;
  assert(out != nullptr);
  float (*pointer)(float) = twice;
  out[i] += pointer(1.0f);
  char text[8];
  memset(text, 0, sizeof(text));
  memcpy(text, "abc", 4);
  ints[i] += text[1];
  switch (i & 3) {
    case 0: out[i] += 1; break;
    case 1: out[i] += std::min(2.0f, 3.0f); break;
    default: out[i] += std::abs(-3.0f); break;
  }
}

__global__ void std_math(float* f, double* d) {
  int i = threadIdx.x;
  f[i] = std::sqrt(f[i]) + std::fabs(f[i]) + std::floor(f[i]) + std::max(f[i], 1.0f) + std::fma(f[i], 2.0f, 1.0f);
  d[i] = std::sqrt(d[i]) + std::ceil(d[i]) + std::trunc(d[i]) + std::copysign(1.0, d[i]);
  f[i] += isnan(f[i]) || std::isinf(f[i]) ? 0.0f : 1.0f;
}
