// Barriers and order between waves and workgroups.
#include <hip/hip_runtime.h>

__device__ static unsigned global_index() { return blockIdx.x * blockDim.x + threadIdx.x; }

// Waves take turns: between barriers each reads what the next wave wrote, after loops of different lengths.
extern "C" __global__ void barrier_phases(const unsigned *in, unsigned *out, unsigned phases) {
  __shared__ unsigned cells[256];
  unsigned t = threadIdx.x, i = global_index(), x = in[i];
  for (unsigned k = 0; k < phases; ++k) {
    for (unsigned r = 0; r < (t / 64 * 5 + k) % 7; ++r) x = x * 5 + 3;
    cells[t] = x;
    __syncthreads();
    x ^= cells[(t + 77) % blockDim.x];
    __syncthreads();
  }
  out[i] = x;
}

// Waves that have ended do not take part in later barriers.
extern "C" __global__ void barrier_after_exit(const unsigned *in, unsigned *out, unsigned stay) {
  __shared__ unsigned cells[256];
  unsigned t = threadIdx.x, i = global_index();
  cells[t] = in[i];
  __syncthreads();
  if (t >= stay) {
    out[i] = cells[stay + 7 * t % (blockDim.x - stay)];
    return;
  }
  for (unsigned step = stay / 2; step > 0; step /= 2) {
    if (t < step) cells[t] += cells[t + step];
    __syncthreads();
  }
  out[i] = cells[0];
}

// Two halves of a workgroup hand values to and fro, each waiting in a loop until all of the other half have arrived.
__device__ static void wait_for(unsigned *arrived, unsigned count) {
  while (__hip_atomic_load(arrived, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_WORKGROUP) < count) __builtin_amdgcn_s_sleep(1);
}
extern "C" __global__ void __launch_bounds__(128) wave_handshake(const unsigned *in, unsigned *out, unsigned rounds) {
  __shared__ unsigned left[64], right[64], arrived;
  unsigned t = threadIdx.x, i = global_index(), x = in[i];
  if (t == 0) arrived = 0;
  __syncthreads();
  for (unsigned r = 0; r < rounds; ++r) {
    if (t < 64) {
      left[t] = x;
      __hip_atomic_fetch_add(&arrived, 1u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP);
      wait_for(&arrived, 64 * (2 * r + 2));
      x = x * 3 + right[63 - t];
    } else {
      wait_for(&arrived, 64 * (2 * r + 1));
      x ^= left[(5 * t) & 63];
      right[t - 64] = x;
      __hip_atomic_fetch_add(&arrived, 1u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP);
    }
  }
  out[i] = x;
}

// The workgroup that finishes last adds up what all of them left in memory.
extern "C" __global__ void last_workgroup(const unsigned *in, unsigned *partial, unsigned *done, unsigned *total) {
  __shared__ unsigned sum, last;
  unsigned t = threadIdx.x;
  if (t == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, in[global_index()]);
  __syncthreads();
  if (t == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(done, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && t == 0) {
    __threadfence();
    unsigned all = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) all += 3 * *(volatile unsigned *)&partial[b];
    *total = all;
  }
}

// A scan over all workgroups: each waits in a loop for the sum of the one before it. state: tickets, then a flag and a
// sum for each workgroup.
extern "C" __global__ void __launch_bounds__(128) chained_scan(const unsigned *in, unsigned *out, unsigned *state) {
  __shared__ unsigned sums[128], ticket, before;
  unsigned t = threadIdx.x;
  if (t == 0) ticket = atomicAdd(&state[0], 1u);
  __syncthreads();
  unsigned block = ticket, i = 128 * block + t;
  sums[t] = in[i];
  for (unsigned step = 1; step < 128; step *= 2) {
    __syncthreads();
    unsigned more = t >= step ? sums[t - step] : 0;
    __syncthreads();
    sums[t] += more;
  }
  __syncthreads();
  if (t == 0) {
    unsigned *own = state + 1 + 2 * block;
    while (block > 0 && !__hip_atomic_load(own - 2, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT)) __builtin_amdgcn_s_sleep(2);
    before = block > 0 ? own[-1] : 0;
    own[1] = before + sums[127];
    __hip_atomic_store(own, 1u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
  }
  __syncthreads();
  out[i] = before + sums[t];
}

#if defined(__GFX12__)
// A barrier in two halves, with work between arriving and waiting; one wave hears that it was first.
extern "C" __global__ void split_barrier(const unsigned *in, unsigned *out) {
  __shared__ unsigned cells[256];
  unsigned t = threadIdx.x, i = global_index();
  cells[t] = in[i];
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier_signal(-1);
  unsigned own = in[i] * 9;
  __builtin_amdgcn_s_barrier_wait(-1);
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  out[i] = own ^ cells[blockDim.x - 1 - t];
}
#endif
