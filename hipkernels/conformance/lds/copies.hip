// A copy through the LDS with loads that go straight there: global memory -> LDS -> registers -> global memory.
//
// The place in the LDS does not depend on the lane's address: it is the base that M0 carries, plus 4 or 16 bytes a lane.
// So each wave has its own base, and only the global offset decides what arrives where.
#include <hip/hip_runtime.h>

typedef unsigned words4 __attribute__((ext_vector_type(4)));
typedef __attribute__((address_space(3))) void lds_void;

#if defined(__gfx950__)
#define LOAD_BYTES 16
#else
#define LOAD_BYTES 4  // CDNA3 has no wider load to the LDS
#endif

// Global byte offset of a lane, and LDS byte address that it reads from: mutants.py gets either of them wrong.
#define GLOBAL_OFFSET(lane, bytes) ((lane) * (bytes))
#define READ_ADDRESS(tile, lane) ((unsigned)(__UINTPTR_TYPE__)(lds_void*)((tile) + 4 * (lane)))
#define WAVE_BASE(tile, wave) ((tile) + 256 * (wave))

#define COPY(NAME, BASE_FLOATS, WAVES)                                                                              \
  extern "C" __global__ __launch_bounds__(64 * WAVES) void NAME(const float* src, float* dst, unsigned bytes) {     \
    __shared__ __attribute__((aligned(16))) float memory[BASE_FLOATS + 256 * WAVES];                                \
    float* tile = memory + BASE_FLOATS;                                                                             \
    const unsigned wave = __builtin_amdgcn_readfirstlane(threadIdx.x / 64), lane = threadIdx.x % 64;                \
    const __amdgpu_buffer_rsrc_t source = __builtin_amdgcn_make_buffer_rsrc((void*)src, 0, bytes, 0x27000);         \
    for (int part = 0; part < 16 / LOAD_BYTES; ++part)                                                              \
      __builtin_amdgcn_raw_ptr_buffer_load_lds(                                                                     \
          source, (lds_void*)(WAVE_BASE(tile, wave) + 16 * LOAD_BYTES * part), LOAD_BYTES,                          \
          1024 * wave + 64 * LOAD_BYTES * part + GLOBAL_OFFSET(lane, LOAD_BYTES), 0, 0, 0);                         \
    asm volatile("s_waitcnt vmcnt(0)" ::: "memory");                                                                \
    words4 value;                                                                                                   \
    asm volatile("ds_read_b128 %0, %1\n s_waitcnt lgkmcnt(0)"                                                       \
                 : "=v"(value)                                                                                      \
                 : "v"(READ_ADDRESS(tile, threadIdx.x)), "v"(memory)                                                \
                 : "memory");                                                                                       \
    *reinterpret_cast<words4*>(dst + 4 * threadIdx.x) = value;                                                      \
  }

COPY(copy_base0_waves1, 0, 1)
COPY(copy_base512_waves1, 128, 1)
COPY(copy_base0_waves2, 0, 2)
COPY(copy_base512_waves2, 128, 2)
