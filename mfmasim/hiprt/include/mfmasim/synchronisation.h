// Barriers and memory fences.
#pragma once

#include <mfmasim/coordinates.h>
#include <mfmasim/qualifiers.h>

// Memory of the workgroup, global and LDS, is in order on both sides of the barrier.
MFMASIM_DEVICE void __syncthreads() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

// Barriers that also count: how many work-items of the block say yes, whether all do, whether one does.
MFMASIM_DEVICE void __named_sync() { __builtin_amdgcn_s_barrier(); }
MFMASIM_DEVICE int __syncthreads_count(int predicate) {
  static __shared__ int total;
  if ((threadIdx.x | threadIdx.y | threadIdx.z) == 0) total = 0;
  __syncthreads();
  if (predicate) __hip_atomic_fetch_add(&total, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
  __syncthreads();
  int result = total;
  __syncthreads();  // no wave starts the next count before all have read this one
  return result;
}
MFMASIM_DEVICE int __syncthreads_and(int predicate) { return __syncthreads_count(!predicate) == 0; }
MFMASIM_DEVICE int __syncthreads_or(int predicate) { return __syncthreads_count(predicate) != 0; }

// Lanes of a wave run in step; only the compiler has to keep the order.
MFMASIM_DEVICE void __syncwarp(unsigned long long mask = ~0ull) {
  (void)mask;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}

MFMASIM_DEVICE void __threadfence_block() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); }
MFMASIM_DEVICE void __threadfence() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); }
MFMASIM_DEVICE void __threadfence_system() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, ""); }

MFMASIM_DEVICE long long clock64() { return (long long)__builtin_readcyclecounter(); }
MFMASIM_DEVICE long long clock() { return clock64(); }
MFMASIM_DEVICE long long __clock64() { return clock64(); }
MFMASIM_DEVICE long long __clock() { return clock64(); }
MFMASIM_DEVICE long long wall_clock64() { return (long long)__builtin_readsteadycounter(); }
MFMASIM_DEVICE void __trap() { mfmasim_trap(); }
MFMASIM_DEVICE void abort() { mfmasim_trap(); }

