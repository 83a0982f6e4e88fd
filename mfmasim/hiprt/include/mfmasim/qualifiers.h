// Where code lives and how it is launched: HIP's keywords as the attributes clang knows them by.
// Source of the names: HIP documentation, "HIP C++ language extensions".
#pragma once

#if !defined(__HIP__)
#error "mfmasim: these headers are for HIP: compile with -x hip"
#endif

// The guard of ROCm's header of these keywords: rocThrust undefines them and includes it again if the guard is defined.
#define HIP_INCLUDE_HIP_AMD_DETAIL_HOST_DEFINES_H
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __hip_pinned_shadow__

// The second argument, waves per execution unit, steers only the register budget.
#define MFMASIM_LAUNCH_BOUNDS_1(threads) __attribute__((amdgpu_flat_work_group_size(1, threads)))
#define MFMASIM_LAUNCH_BOUNDS_2(threads, waves) \
  __attribute__((amdgpu_flat_work_group_size(1, threads), amdgpu_waves_per_eu(waves)))
#define MFMASIM_PICK(one, two, name, ...) name
#define __launch_bounds__(...) \
  MFMASIM_PICK(__VA_ARGS__, MFMASIM_LAUNCH_BOUNDS_2, MFMASIM_LAUNCH_BOUNDS_1, )(__VA_ARGS__)

// Dynamic LDS in HIP's older spelling.
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];

// No debug lines of their own: an instruction belongs to the line of the kernel that asked for it.
#define MFMASIM_DEVICE static __device__ inline __attribute__((always_inline, nodebug))
#define MFMASIM_HOST_DEVICE static __host__ __device__ inline __attribute__((always_inline, nodebug))
#define MFMASIM_MEMBER __host__ __device__ inline __attribute__((always_inline, nodebug))
#define MFMASIM_MEMBER_DEVICE __device__ inline __attribute__((always_inline, nodebug))

// Ends the wave with a trap, at the line of the kernel. LLVM 22 lowers __builtin_trap on gfx1100 to gfx1103 to several
// blocks (FeaturePrivEnabledTrap2NopBug), and instructions that stand after it in the function and are expanded in the
// same pass, such as calls, are lost; from code object v5 on the trap handler needs no more than s_trap 2.
MFMASIM_DEVICE void mfmasim_trap() {
#if defined(__gfx1100__) || defined(__gfx1101__) || defined(__gfx1102__) || defined(__gfx1103__)
  __asm__ volatile("s_trap 2");
  __builtin_amdgcn_endpgm();
#else
  __builtin_trap();
#endif
}
