// Arithmetic rounded down, up and towards zero, which ROCm's headers have under the same macro: clang's
// __clang_hip_math.h, OCML_BASIC_ROUNDED_OPERATIONS.
#pragma once

#include <mfmasim/math/pairs.h>
#include <mfmasim/math/parts.h>

#if defined(OCML_BASIC_ROUNDED_OPERATIONS)

// Rounding in MODE: 0 to nearest even, 1 up, 2 down, 3 towards zero; f32 has bits 0 and 1, f64 bits 2 and 3. The
// compiler moves its own instructions around such a statement, not into it; S_SETREG after S_SETREG needs two wait
// states (CDNA), which it does not count here.
#define MFMASIM_IN_MODE(first_bit, direction, operation)                                  \
  "s_setreg_imm32_b32 hwreg(1, " #first_bit ", 2), " #direction "\n\t" operation "\n\t"   \
  "s_nop 1\n\ts_setreg_imm32_b32 hwreg(1, " #first_bit ", 2), 0\n\ts_nop 1"

namespace mfmasim {

// How a quotient or root that is rounded to nearest changes, if the exact one is larger (1), smaller (-1), or equal (0).
template <int direction, typename F_>
MFMASIM_MEMBER_DEVICE F_ directed(F_ nearest, int rest) {
  bool down = direction == 2 || (direction == 3 && nearest > 0);
  if (down) return rest < 0 ? next_to(nearest, -(F_)__builtin_inf()) : nearest;
  return rest > 0 ? next_to(nearest, (F_)__builtin_inf()) : nearest;
}
template <typename F_>
MFMASIM_MEMBER_DEVICE int sign_of(F_ x) { return (x > 0) - (x < 0); }

#define MFMASIM_DIRECTED(T, f, letter, letters, bits, first_bit, suffix, direction)                           \
  MFMASIM_DEVICE T letter##add_##suffix(T x, T y) {                                                           \
    T sum;                                                                                                    \
    asm(MFMASIM_IN_MODE(first_bit, direction, "v_add_f" #bits " %0, %1, %2") : "=v"(sum) : "v"(x), "v"(y));     \
    return sum;                                                                                               \
  }                                                                                                           \
  MFMASIM_DEVICE T letter##sub_##suffix(T x, T y) { return letter##add_##suffix(x, -y); }                     \
  MFMASIM_DEVICE T letter##mul_##suffix(T x, T y) {                                                           \
    T product;                                                                                                \
    asm(MFMASIM_IN_MODE(first_bit, direction, "v_mul_f" #bits " %0, %1, %2") : "=v"(product) : "v"(x), "v"(y)); \
    return product;                                                                                           \
  }                                                                                                           \
  MFMASIM_DEVICE T letters##_##suffix(T x, T y, T z) {                                                        \
    T sum;                                                                                                    \
    asm(MFMASIM_IN_MODE(first_bit, direction, "v_fma_f" #bits " %0, %1, %2, %3")                               \
        : "=v"(sum)                                                                                           \
        : "v"(x), "v"(y), "v"(z));                                                                            \
    return sum;                                                                                               \
  }                                                                                                           \
  MFMASIM_DEVICE T letter##div_##suffix(T x, T y) {                                                           \
    MFMASIM_AS_WRITTEN                                                                                        \
    if (x == 0 || y == 0 || !mfmasim::is_finite(x) || !mfmasim::is_finite(y)) return x / y;                   \
    constexpr int bias = mfmasim::layout<T>::bias, near = bias / 2, far = near + bias - 1;                    \
    int ex, ey;                                                                                               \
    T mx = __builtin_frexp##f(x, &ex), my = __builtin_frexp##f(y, &ey), nearest = mx / my;                    \
    int rest = mfmasim::sign_of(__builtin_fma##f(-nearest, my, mx)) * mfmasim::sign_of(my);                   \
    nearest = mfmasim::directed<direction>(nearest, rest);                                                    \
    int e = ex - ey, first = min(max(e, -near), near);                                                        \
    return letter##mul_##suffix(__builtin_ldexp##f(nearest, first),                                           \
                                __builtin_ldexp##f((T)1, min(max(e, -far), far) - first));                    \
  }                                                                                                           \
  MFMASIM_DEVICE T letter##rcp_##suffix(T x) { return letter##div_##suffix((T)1, x); }                        \
  MFMASIM_DEVICE T letter##sqrt_##suffix(T x) {                                                               \
    MFMASIM_AS_WRITTEN                                                                                        \
    if (!(x > 0) || !mfmasim::is_finite(x)) return __builtin_sqrt##f(x);                                      \
    int e;                                                                                                    \
    T m = __builtin_frexp##f(x, &e);                                                                          \
    m = __builtin_ldexp##f(m, e & 1), e -= e & 1;                                                             \
    T nearest = __builtin_sqrt##f(m);                                                                         \
    nearest = mfmasim::directed<direction>(nearest, mfmasim::sign_of(__builtin_fma##f(-nearest, nearest, m))); \
    return __builtin_ldexp##f(nearest, e / 2);                                                                \
  }

}  // namespace mfmasim

#define MFMASIM_DIRECTIONS(suffix, direction)                                 \
  MFMASIM_DIRECTED(float, f, __f, __fmaf, 32, 0, suffix, direction)           \
  MFMASIM_DIRECTED(double, , __d, __fma, 64, 2, suffix, direction)
MFMASIM_DIRECTIONS(ru, 1)
MFMASIM_DIRECTIONS(rd, 2)
MFMASIM_DIRECTIONS(rz, 3)
#undef MFMASIM_DIRECTIONS
#undef MFMASIM_DIRECTED
#undef MFMASIM_IN_MODE

#endif
