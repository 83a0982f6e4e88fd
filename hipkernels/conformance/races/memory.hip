// Waves and workgroups exchange values through global memory. mutants.py takes out what orders them.
#include <hip/hip_runtime.h>
#include <mfmasim/order.h>

__device__ static unsigned ask(unsigned *place) {
  return __hip_atomic_load(place, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
__device__ static void tell(unsigned *place, unsigned value) {
  __hip_atomic_store(place, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

// Waves of one workgroup exchange values: a barrier is enough.
extern "C" __global__ void __launch_bounds__(512) memory_exchange(const unsigned *in, unsigned *room, unsigned *out) {
  unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t, other = blockIdx.x * blockDim.x + blockDim.x - 1 - t;
  room[i] = in[i];
  __syncthreads();  // exchange: all have written
  out[i] = room[other];
}

// In place: all have read before any writes.
extern "C" __global__ void __launch_bounds__(512) memory_stencil(unsigned *cells) {
  unsigned t = threadIdx.x, n = blockDim.x;
  unsigned *mine = cells + blockIdx.x * n;
  unsigned sum = mine[t] * 5 + mine[(t + n - 1) % n];
  __syncthreads();  // stencil: all have read
  mine[t] = sum;
}

// Every byte belongs to one thread, a dword to four waves or workgroups.
extern "C" __global__ void __launch_bounds__(512) memory_bytes(const unsigned char *in, unsigned char *out) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x, waves = n / warpSize;
  unsigned place = i % warpSize * waves + i / warpSize;
  out[place] = in[i] + 1;
}

// All workgroups count into the same bins.
extern "C" __global__ void __launch_bounds__(512) memory_histogram(const unsigned *in, unsigned *bins) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&bins[in[i] % 64], 1u);
}

// Workgroups of one column of the grid have a part of K each, and add up.
extern "C" __global__ void __launch_bounds__(512) split_k(const unsigned *a, const unsigned *b, unsigned *c, unsigned depth) {
  unsigned t = threadIdx.x, n = blockDim.x, first = blockIdx.y * depth, sum = 0;
  for (unsigned k = first; k < first + depth; ++k) sum += a[blockIdx.x * gridDim.y * depth + k] * b[k * n + t];
  atomicAdd(&c[blockIdx.x * n + t], sum);
}

// The workgroup that comes last adds up what all have left.
extern "C" __global__ void __launch_bounds__(512) last_block(const unsigned *in, unsigned *parts, unsigned *count, unsigned *out) {
  __shared__ unsigned last;
  unsigned t = threadIdx.x, n = blockDim.x;
  parts[blockIdx.x * n + t] = in[blockIdx.x * n + t] * 3;
  __threadfence();  // last: written
  __syncthreads();  // last: by all waves
  if (t == 0) last = atomicAdd(count, 1u) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();  // last: read anew
  unsigned sum = 0;
  for (unsigned g = 0; g < gridDim.x; ++g) sum = sum * 5 + parts[g * n + t];
  out[t] = sum;
}

// Each workgroup waits for the flag of the one before, and goes on from its values.
extern "C" __global__ void __launch_bounds__(512) hand_over(const unsigned *in, unsigned *room, unsigned *flags, unsigned *out) {
  unsigned t = threadIdx.x, n = blockDim.x, g = blockIdx.x, x = in[g * n + t];
  if (g > 0) {
    if (t == 0) {
      while (ask(&flags[g - 1]) == 0) __builtin_amdgcn_s_sleep(1);
      __threadfence();  // hand: seen
    }
    __syncthreads();
    x += 3 * room[(g - 1) * n + n - 1 - t];
  }
  room[g * n + t] = x;
  __syncthreads();  // hand: all have written
  if (t == 0) {
    __threadfence();  // hand: written
    tell(&flags[g], 1);
  }
  out[g * n + t] = x;
}

// Tickets say which part comes next, whichever workgroup comes first; sums go from ticket to ticket.
extern "C" __global__ void __launch_bounds__(512) chained_scan(const unsigned *in, unsigned *next, unsigned *sums, unsigned *flags, unsigned *out) {
  __shared__ unsigned ticket, before, whole;
  unsigned t = threadIdx.x, n = blockDim.x;
  if (t == 0) {
    ticket = atomicAdd(next, 1u);
    whole = 0;
  }
  __syncthreads();
  unsigned x = in[ticket * n + t];
  atomicAdd(&whole, x);
  __syncthreads();
  if (t == 0) {
    unsigned sum = 0;
    if (ticket > 0) {
      while (ask(&flags[ticket - 1]) == 0) __builtin_amdgcn_s_sleep(1);
      __threadfence();  // chain: seen
      sum = sums[ticket - 1];
    }
    sums[ticket] = sum + whole;
    __threadfence();  // chain: written
    tell(&flags[ticket], 1);
    before = sum;
  }
  __syncthreads();
  out[ticket * n + t] = before + x;
}

// All workgroups meet, then each reads what the next one wrote.
extern "C" __global__ void __launch_bounds__(512) grid_barrier(const unsigned *in, unsigned *room, unsigned *arrived, unsigned *out) {
  unsigned t = threadIdx.x, n = blockDim.x, g = blockIdx.x, other = (g + 1) % gridDim.x;
  room[g * n + t] = in[g * n + t] ^ 0x55;
  __syncthreads();  // grid: the workgroup
  if (t == 0) {
    __threadfence();  // grid: written
    atomicAdd(arrived, 1u);
    while (ask(arrived) < gridDim.x) __builtin_amdgcn_s_sleep(1);
    __threadfence();  // grid: seen
  }
  __syncthreads();  // grid: all
  out[g * n + t] = room[other * n + n - 1 - t];
}

// A lock: one workgroup at a time changes the cells.
extern "C" __global__ void __launch_bounds__(512) locked(const unsigned *in, unsigned *lock, unsigned *cells) {
  unsigned t = threadIdx.x, n = blockDim.x;
  if (t == 0) {
    while (atomicCAS(lock, 0u, 1u) != 0) __builtin_amdgcn_s_sleep(1);
    __threadfence();  // lock: taken
  }
  __syncthreads();  // lock: for all
  cells[t] = cells[t] + in[blockIdx.x * n + t];
  __syncthreads();  // lock: all are done
  if (t == 0) {
    __threadfence();  // lock: written
    atomicExch(lock, 0u);
  }
}

// A thread that finds something says so, all with the same value.
extern "C" __global__ void __launch_bounds__(512) found_any(const unsigned *in, unsigned *found) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (in[i] % 3 == 0) *found = 1;
}
