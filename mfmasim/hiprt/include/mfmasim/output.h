// printf and assert. clang turns a call of printf into a request for room in the buffer that the hidden kernel argument
// names, and stores of the format's hash and the arguments into that room; HIP's runtime prints the buffer after the
// kernel, and so does the simulator. Layout: LLVM, AMDGPUEmitPrintf.cpp, with -mprintf-kind=buffered.
#pragma once

#include <mfmasim/qualifiers.h>
#include <stdint.h>

typedef __attribute__((address_space(1))) char mfmasim_global_char;

// The function clang calls for room; ROCm has it in its device libraries. The buffer starts with two words: bytes in use
// and its size; frames begin at byte 8. Null where there is no room. A kernel that does not print keeps nothing of it.
extern "C" __device__ __attribute__((weak, nodebug)) mfmasim_global_char *__printf_alloc(uint32_t bytes) {
  typedef __attribute__((address_space(1))) uint32_t *global_words;
  typedef const uint64_t __attribute__((address_space(4))) *hidden_arguments;
  constexpr uint32_t header = 8, place = 9;  // hidden_printf_buffer, code object v5 and later
  auto buffer = (global_words)((hidden_arguments)__builtin_amdgcn_implicitarg_ptr())[place];
  uint32_t size = buffer[1], used = __hip_atomic_load(buffer, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  do {
    if (used + bytes + header > size) return nullptr;
  } while (!__hip_atomic_compare_exchange_strong(buffer, &used, used + bytes, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                                 __HIP_MEMORY_SCOPE_AGENT));
  return (mfmasim_global_char *)buffer + header + used;
}

extern "C" int printf(const char *, ...);
extern "C" __device__ int printf(const char *, ...);

namespace mfmasim {

// One copy for all assertions of a kernel: the strings are measured at run time.
static __device__ __attribute__((noinline, nodebug)) void print_assertion(const char *assertion, const char *file,
                                                                         unsigned int line, const char *function) {
  printf("%s:%u: %s: Device-side assertion `%s' failed.\n", file, line, function, assertion);
}

}  // namespace mfmasim

// assert() of <cassert> and <assert.h>: a line goes out, worded as HIP's, and the wave stops, at the line of the kernel.
MFMASIM_DEVICE void __assert_fail(const char *assertion, const char *file, unsigned int line, const char *function) {
  mfmasim::print_assertion(assertion, file, line, function);
  mfmasim_trap();
}
