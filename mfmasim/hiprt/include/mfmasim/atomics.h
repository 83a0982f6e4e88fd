// Atomic operations on global memory and LDS: relaxed, seen by the whole device; _system by the host as well,
// _block by the workgroup. Each returns the old value.
#pragma once

#include <mfmasim/casts.h>
#include <mfmasim/qualifiers.h>
#include <stdint.h>

#define MFMASIM_SCOPES(macro, ...)                       \
  macro(, __HIP_MEMORY_SCOPE_AGENT, __VA_ARGS__)         \
  macro(_system, __HIP_MEMORY_SCOPE_SYSTEM, __VA_ARGS__) \
  macro(_block, __HIP_MEMORY_SCOPE_WORKGROUP, __VA_ARGS__)

#define MFMASIM_FETCH(suffix, scope, name, builtin, T)                      \
  MFMASIM_DEVICE T name##suffix(T *address, T value) {                      \
    return __hip_atomic_##builtin(address, value, __ATOMIC_RELAXED, scope); \
  }
#define MFMASIM_SUBTRACT(suffix, scope, T)                                   \
  MFMASIM_DEVICE T atomicSub##suffix(T *address, T value) {                  \
    return __hip_atomic_fetch_add(address, -value, __ATOMIC_RELAXED, scope); \
  }
#define MFMASIM_CAS(suffix, scope, T)                                                                          \
  MFMASIM_DEVICE T atomicCAS##suffix(T *address, T compare, T value) {                                         \
    __hip_atomic_compare_exchange_strong(address, &compare, value, __ATOMIC_RELAXED, __ATOMIC_RELAXED, scope); \
    return compare;                                                                                            \
  }

#define MFMASIM_ARITHMETIC(T)                            \
  MFMASIM_SCOPES(MFMASIM_FETCH, atomicAdd, fetch_add, T) \
  MFMASIM_SCOPES(MFMASIM_SUBTRACT, T)                    \
  MFMASIM_SCOPES(MFMASIM_FETCH, atomicMin, fetch_min, T) \
  MFMASIM_SCOPES(MFMASIM_FETCH, atomicMax, fetch_max, T) \
  MFMASIM_SCOPES(MFMASIM_FETCH, atomicExch, exchange, T) \
  MFMASIM_SCOPES(MFMASIM_CAS, T)
#define MFMASIM_BITWISE(T)                               \
  MFMASIM_SCOPES(MFMASIM_FETCH, atomicAnd, fetch_and, T) \
  MFMASIM_SCOPES(MFMASIM_FETCH, atomicOr, fetch_or, T)   \
  MFMASIM_SCOPES(MFMASIM_FETCH, atomicXor, fetch_xor, T)

MFMASIM_ARITHMETIC(int)
MFMASIM_ARITHMETIC(unsigned int)
MFMASIM_ARITHMETIC(long long)
MFMASIM_ARITHMETIC(unsigned long)
MFMASIM_ARITHMETIC(unsigned long long)
MFMASIM_ARITHMETIC(float)
MFMASIM_ARITHMETIC(double)
MFMASIM_BITWISE(int)
MFMASIM_BITWISE(unsigned int)
MFMASIM_BITWISE(long long)
MFMASIM_BITWISE(unsigned long)
MFMASIM_BITWISE(unsigned long long)

// One or none: up to a limit and back to zero, or down from it.
MFMASIM_DEVICE unsigned int atomicInc(unsigned int *address, unsigned int limit) {
  return __builtin_amdgcn_atomic_inc32(address, limit, __ATOMIC_RELAXED, "agent");
}
MFMASIM_DEVICE unsigned int atomicDec(unsigned int *address, unsigned int limit) {
  return __builtin_amdgcn_atomic_dec32(address, limit, __ATOMIC_RELAXED, "agent");
}

// No return value, and the hardware's floating-point add even where it may flush denormals.
MFMASIM_DEVICE float unsafeAtomicAdd(float *address, float value) {
#if __has_extension(clang_atomic_attributes)
  [[clang::atomic(no_remote_memory, no_fine_grained_memory, ignore_denormal_mode)]] {
    return __hip_atomic_fetch_add(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  }
#else
  return __hip_atomic_fetch_add(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
#endif
}
MFMASIM_DEVICE double unsafeAtomicAdd(double *address, double value) {
#if __has_extension(clang_atomic_attributes)
  [[clang::atomic(no_remote_memory, no_fine_grained_memory, ignore_denormal_mode)]] {
    return __hip_atomic_fetch_add(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  }
#else
  return __hip_atomic_fetch_add(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
#endif
}
MFMASIM_DEVICE void atomicAddNoRet(float *address, float value) { unsafeAtomicAdd(address, value); }
MFMASIM_DEVICE float safeAtomicAdd(float *address, float value) { return atomicAdd(address, value); }
MFMASIM_DEVICE double safeAtomicAdd(double *address, double value) { return atomicAdd(address, value); }
#define MFMASIM_EXTREMES(T)                                                                         \
  MFMASIM_DEVICE T unsafeAtomicMax(T *address, T value) { return atomicMax(address, value); } \
  MFMASIM_DEVICE T unsafeAtomicMin(T *address, T value) { return atomicMin(address, value); } \
  MFMASIM_DEVICE T safeAtomicMax(T *address, T value) { return atomicMax(address, value); }   \
  MFMASIM_DEVICE T safeAtomicMin(T *address, T value) { return atomicMin(address, value); }
MFMASIM_EXTREMES(float)
MFMASIM_EXTREMES(double)
#undef MFMASIM_EXTREMES

namespace mfmasim {

// Two numbers of 16 bits at once, by compare and swap.
template <typename T_>
MFMASIM_MEMBER_DEVICE T_ add_pair(T_ *address, T_ value) {
  unsigned int *word = (unsigned int *)address, old = *word, seen;
  do {
    seen = old;
    old = atomicCAS(word, seen, bits<unsigned int>(bits<T_>(seen) + value));
  } while (old != seen);
  return bits<T_>(old);
}

}  // namespace mfmasim

#undef MFMASIM_SCOPES
#undef MFMASIM_FETCH
#undef MFMASIM_SUBTRACT
#undef MFMASIM_CAS
#undef MFMASIM_ARITHMETIC
#undef MFMASIM_BITWISE
