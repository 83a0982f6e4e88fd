// threadIdx, blockIdx, blockDim, gridDim, warpSize and dim3.
#pragma once

#include <mfmasim/qualifiers.h>
#include <stdint.h>

struct dim3 {
  uint32_t x, y, z;
  constexpr MFMASIM_MEMBER dim3(uint32_t x_ = 1, uint32_t y_ = 1, uint32_t z_ = 1) : x(x_), y(y_), z(z_) {}
};

namespace mfmasim {

// Word of the hidden kernel arguments (code object v5 and later): 0 to 2 are the grid in workgroups.
MFMASIM_DEVICE uint32_t hidden_word(unsigned index) {
  typedef const uint32_t __attribute__((address_space(4))) *constant_words;
  return ((constant_words)__builtin_amdgcn_implicitarg_ptr())[index];
}

#define MFMASIM_COORDINATE(name, get_x, get_y, get_z)                              \
  struct name {                                                                    \
    MFMASIM_MEMBER_DEVICE uint32_t x_() const { return get_x; }                    \
    MFMASIM_MEMBER_DEVICE uint32_t y_() const { return get_y; }                    \
    MFMASIM_MEMBER_DEVICE uint32_t z_() const { return get_z; }                    \
    __declspec(property(get = x_)) uint32_t x;                                     \
    __declspec(property(get = y_)) uint32_t y;                                     \
    __declspec(property(get = z_)) uint32_t z;                                     \
    MFMASIM_MEMBER_DEVICE operator dim3() const { return dim3(x_(), y_(), z_()); } \
  };

MFMASIM_COORDINATE(thread_index, __builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(),
                   __builtin_amdgcn_workitem_id_z())
MFMASIM_COORDINATE(block_index, __builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(),
                   __builtin_amdgcn_workgroup_id_z())
MFMASIM_COORDINATE(block_size, __builtin_amdgcn_workgroup_size_x(), __builtin_amdgcn_workgroup_size_y(),
                   __builtin_amdgcn_workgroup_size_z())
MFMASIM_COORDINATE(grid_size, hidden_word(0), hidden_word(1), hidden_word(2))
#undef MFMASIM_COORDINATE

struct wave_size {
  // Also a constant expression, as in HIP 6: the architecture's default, 64 on the host.
  constexpr MFMASIM_MEMBER operator int() const {
#if !defined(__HIP_DEVICE_COMPILE__)
    return 64;
#elif defined(__GFX10__) || defined(__GFX11__) || defined(__GFX12__) || defined(__GFX13__)
    return __builtin_is_constant_evaluated() ? 32 : __builtin_amdgcn_wavefrontsize();
#else
    return __builtin_is_constant_evaluated() ? 64 : __builtin_amdgcn_wavefrontsize();
#endif
  }
};

}  // namespace mfmasim

// Declared, never defined: only their getters are used, so nothing is stored.
extern const __device__ __attribute__((weak)) mfmasim::thread_index threadIdx;
extern const __device__ __attribute__((weak)) mfmasim::block_index blockIdx;
extern const __device__ __attribute__((weak)) mfmasim::block_size blockDim;
extern const __device__ __attribute__((weak)) mfmasim::grid_size gridDim;
extern const __device__ __attribute__((weak)) mfmasim::wave_size warpSize;

// Number of the compute unit that the wave runs on: shader engine, and XCC or array and WGP, as HIP packs them.
MFMASIM_DEVICE unsigned int __smid() {
#define MFMASIM_FIELD(reg, offset, bits) __builtin_amdgcn_s_getreg((bits - 1) << 11 | offset << 6 | reg)
#if defined(__GFX10__) || defined(__GFX11__) || defined(__GFX12__)
  return (unsigned)MFMASIM_FIELD(23, 18, 3) << 5 | (unsigned)MFMASIM_FIELD(23, 16, 1) << 4 |
         (unsigned)MFMASIM_FIELD(23, 10, 4);
#elif defined(__gfx942__) || defined(__gfx950__)
  return (unsigned)MFMASIM_FIELD(20, 0, 4) << 6 | (unsigned)MFMASIM_FIELD(4, 13, 2) << 4 |
         (unsigned)MFMASIM_FIELD(4, 8, 4);
#else
  return (unsigned)MFMASIM_FIELD(4, 13, 3) << 4 | (unsigned)MFMASIM_FIELD(4, 8, 4);
#endif
#undef MFMASIM_FIELD
}

// The older macro spelling.
#define hipThreadIdx_x threadIdx.x
#define hipThreadIdx_y threadIdx.y
#define hipThreadIdx_z threadIdx.z
#define hipBlockIdx_x blockIdx.x
#define hipBlockIdx_y blockIdx.y
#define hipBlockIdx_z blockIdx.z
#define hipBlockDim_x blockDim.x
#define hipBlockDim_y blockDim.y
#define hipBlockDim_z blockDim.z
#define hipGridDim_x gridDim.x
#define hipGridDim_y gridDim.y
#define hipGridDim_z gridDim.z
