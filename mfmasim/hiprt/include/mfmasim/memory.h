// Memory by other names: read-only loads, and the block functions of <cstring>.
#pragma once

#include <mfmasim/qualifiers.h>
#include <stddef.h>

template <typename T_>
MFMASIM_MEMBER_DEVICE T_ __ldg(const T_ *address) {
  return *address;
}

extern "C" void *memcpy(void *, const void *, size_t) noexcept;
extern "C" void *memmove(void *, const void *, size_t) noexcept;
extern "C" void *memset(void *, int, size_t) noexcept;
MFMASIM_DEVICE void *memcpy(void *to, const void *from, size_t size) { return __builtin_memcpy(to, from, size); }
MFMASIM_DEVICE void *memmove(void *to, const void *from, size_t size) { return __builtin_memmove(to, from, size); }
MFMASIM_DEVICE void *memset(void *to, int value, size_t size) { return __builtin_memset(to, value, size); }
