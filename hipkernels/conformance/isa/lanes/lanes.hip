// Exchange between the lanes of a wave: DPP, permutes, swizzles, lane reads and writes, ballots, shuffles.
#include <hip/hip_runtime.h>

__device__ static unsigned global_index() { return blockIdx.x * blockDim.x + threadIdx.x; }

// A DPP move: `old` stays where the source lane is not valid, unless `zero` asks for 0.
template <int control, int rows = 0xf, int banks = 0xf, bool zero = false>
__device__ static int dpp(int old, int value) {
  return __builtin_amdgcn_update_dpp(old, value, control, rows, banks, zero);
}

// DPP within quads and rows of 16, with masks of rows and banks, and folded into an addition.
extern "C" __global__ void dpp_rows(const int *in, int *out) {
  unsigned i = global_index(), n = gridDim.x * blockDim.x;
  int x = in[i], old = ~(int)i;
  out[i] = dpp<0x1b>(old, x);                    // quad_perm:[3,2,1,0]
  out[n + i] = dpp<0x101, 0xf, 0xf, true>(0, x); // row_shl:1
  out[2 * n + i] = dpp<0x113>(old, x);           // row_shr:3
  out[3 * n + i] = dpp<0x125>(old, x);           // row_ror:5
  out[4 * n + i] = dpp<0x140>(old, x);           // row_mirror
  out[5 * n + i] = dpp<0x141>(old, x);           // row_half_mirror
  out[6 * n + i] = dpp<0x101, 0xa, 0x5>(old, x); // row_shl:1 into rows 1 and 3, banks 0 and 2
  out[7 * n + i] = x + dpp<0x124, 0xf, 0xf, true>(0, x);
}

// DPP while lanes are switched off: they are no valid source.
extern "C" __global__ void dpp_divergent(const int *in, int *out) {
  unsigned i = global_index();
  int x = in[i], y = x;
  if (x & 1) y = dpp<0x141>(-7, x);               // row_half_mirror, else keep -7
  if (x & 2) y += dpp<0x4e, 0xf, 0xf, true>(0, x); // quad_perm:[2,3,0,1], else 0
  out[i] = y;
}

// An inclusive scan of each row of 16 lanes by shifts of 1, 2, 4 and 8.
extern "C" __global__ void dpp_row_scan(const unsigned *in, unsigned *out) {
  unsigned i = global_index();
  int x = in[i];
  x += dpp<0x111, 0xf, 0xf, true>(0, x);
  x += dpp<0x112, 0xf, 0xf, true>(0, x);
  x += dpp<0x114, 0xf, 0xf, true>(0, x);
  x += dpp<0x118, 0xf, 0xf, true>(0, x);
  out[i] = x;
}

// One lane of each row for the whole row: row_newbcast (CDNA), row_share (RDNA).
extern "C" __global__ void dpp_row_broadcast(const int *in, int *out) {
  unsigned i = global_index(), n = gridDim.x * blockDim.x;
  int x = in[i];
  out[i] = dpp<0x150>(-1, x);
  out[n + i] = dpp<0x157>(-1, x);
  out[2 * n + i] = x - dpp<0x15f>(-1, x);
}

#if defined(__GFX9__)
// DPP across the rows of a wave, which only CDNA has.
extern "C" __global__ void dpp_wave(const int *in, int *out) {
  unsigned i = global_index(), n = gridDim.x * blockDim.x;
  int x = in[i], old = ~(int)i;
  out[i] = dpp<0x130>(old, x);           // wave_shl:1
  out[n + i] = dpp<0x134>(old, x);       // wave_rol:1
  out[2 * n + i] = dpp<0x138>(old, x);   // wave_shr:1
  out[3 * n + i] = dpp<0x13c>(old, x);   // wave_ror:1
  out[4 * n + i] = dpp<0x142, 0xa>(old, x); // row_bcast:15 into rows 1 and 3
  out[5 * n + i] = dpp<0x143, 0xc>(old, x); // row_bcast:31 into rows 2 and 3
}
#else
// DPP that only RDNA has: row_xmask, and any lane of eight.
extern "C" __global__ void dpp_rdna(const int *in, int *out) {
  unsigned i = global_index(), n = gridDim.x * blockDim.x;
  int x = in[i];
  out[i] = dpp<0x165>(-1, x); // row_xmask:5
  // dpp8:[7,0,6,1,5,2,4,3], three bits a lane
  out[n + i] = __builtin_amdgcn_mov_dpp8(x, 7 | 0 << 3 | 6 << 6 | 1 << 9 | 5 << 12 | 2 << 15 | 4 << 18 | 3 << 21);
}

// Permutes of rows with selectors in scalar registers, within a row and from the other row of a pair.
extern "C" __global__ void permlane_rows(const int *in, int *out, unsigned low, unsigned high) {
  unsigned i = global_index(), n = gridDim.x * blockDim.x;
  int x = in[i];
  out[i] = __builtin_amdgcn_permlane16(-1, x, low, high, false, false);
  out[n + i] = __builtin_amdgcn_permlanex16(-1, x, low, high, false, true);
}
#endif

#if !defined(__GFX9__) && !defined(__GFX10__)
// The halves of a wave of 64 lanes, exchanged.
extern "C" __global__ void permlane_halves(const unsigned *in, unsigned *out) {
  unsigned i = global_index();
  out[i] = __builtin_amdgcn_permlane64(in[i]);
}
#endif

#if defined(__GFX12__)
// Permutes of rows where each lane names its own source.
extern "C" __global__ void permlane_each(const int *in, const int *where, int *out) {
  unsigned i = global_index(), n = gridDim.x * blockDim.x;
  int x = in[i];
  out[i] = __builtin_amdgcn_permlane16_var(-1, x, where[i], false, false);
  out[n + i] = __builtin_amdgcn_permlanex16_var(-1, x, where[i], false, true);
}
#endif

#if defined(__gfx950__)
// Rows of 16, and halves of 32, swapped between two registers.
extern "C" __global__ void permlane_swaps(const unsigned *in, unsigned *out) {
  unsigned i = global_index(), n = gridDim.x * blockDim.x;
  unsigned a = in[i], b = in[n + i];
  auto rows = __builtin_amdgcn_permlane16_swap(a, b, false, false);
  auto halves = __builtin_amdgcn_permlane32_swap(a, b, false, false);
  out[i] = rows[0];
  out[n + i] = rows[1];
  out[2 * n + i] = halves[0];
  out[3 * n + i] = halves[1];
}
#endif

// Gather from and scatter to lanes that each lane names: byte addresses that wrap around the wave.
extern "C" __global__ void lane_permutes(const int *in, const int *where, int *out) {
  unsigned i = global_index(), n = gridDim.x * blockDim.x;
  int x = in[i], lane = __lane_id();
  out[i] = __builtin_amdgcn_ds_bpermute(where[i], x);
  // A rotation by 5, so that no two lanes write one place.
  out[n + i] = __builtin_amdgcn_ds_permute((lane + 5) << 2, x);
  int y = -1;
  if (x > 0) y = __builtin_amdgcn_ds_bpermute((lane ^ 1) << 2, x);
  out[2 * n + i] = y;
}

// Swizzles with a fixed pattern: any lane of four, and and/or/xor masks of the lane number in 32.
extern "C" __global__ void lane_swizzles(const int *in, int *out) {
  unsigned i = global_index(), n = gridDim.x * blockDim.x;
  int x = in[i];
  out[i] = __builtin_amdgcn_ds_swizzle(x, 0x8000 | 2 | 2 << 2 | 0 << 4 | 1 << 6);
  out[n + i] = __builtin_amdgcn_ds_swizzle(x, 0x1f | 0 << 5 | 0x10 << 10);     // swap halves of 32
  out[2 * n + i] = __builtin_amdgcn_ds_swizzle(x, 0x18 | 0x03 << 5 | 0 << 10); // lane 3 of each 8
  out[3 * n + i] = __builtin_amdgcn_ds_swizzle(x, 0x1e | 0x01 << 5 | 0x06 << 10);
}

// Scalars from lanes and lanes from scalars. `lane` is uniform.
extern "C" __global__ void lane_access(const int *in, int *out, int lane) {
  unsigned i = global_index(), n = gridDim.x * blockDim.x;
  int x = in[i], y = ~x;
  int one = __builtin_amdgcn_readlane(x, lane);
  out[i] = one ^ 0x55;
  asm volatile("v_writelane_b32 %0, %1, 5" : "+v"(y) : "s"(one));
  asm volatile("v_writelane_b32 %0, -16, %1" : "+v"(y) : "s"(lane + 1));
  out[n + i] = y;
  int first = 0;
  if (x < 0) first = __builtin_amdgcn_readfirstlane(x);
  out[2 * n + i] = first;
}

// Ballots and votes, in full and in divergent waves.
extern "C" __global__ void ballots(const int *in, unsigned long long *masks, int *votes) {
  unsigned i = global_index(), n = gridDim.x * blockDim.x;
  int x = in[i];
  unsigned long long odd = __ballot(x & 1), inner = 0;
  int all = __all(x != 0), any = __any(x == 1 << 31), few = 0;
  if (x > 0) {
    inner = __ballot(x & 2) | __activemask() << 1;
    few = __all(x & 1) | __any(x & 4) << 1;
  }
  masks[i] = odd;
  masks[n + i] = inner;
  votes[i] = all | any << 1 | few << 2 | __popcll(odd & __lanemask_lt()) << 8;
}

// Each wave packs the values that pass to the front of its own part of the output.
extern "C" __global__ void compact(const int *in, int *out, unsigned *counts) {
  unsigned i = global_index(), lane = __lane_id();
  int x = in[i];
  unsigned long long keep = __ballot(x >= 0);
  unsigned before = __builtin_amdgcn_mbcnt_hi(keep >> 32, __builtin_amdgcn_mbcnt_lo(keep, 0));
  if (x >= 0) out[i - lane + before] = x;
  counts[i] = __popcll(keep);
}

// Shuffles of 32 and 64 bits with every width, in every direction.
extern "C" __global__ void shuffles(const int *in, const double *in64, int *out, double *out64) {
  unsigned i = global_index(), n = gridDim.x * blockDim.x;
  int x = in[i];
  double d = in64[i];
  out[i] = __shfl(x, (int)(3 * i + 1), 16);
  out[n + i] = __shfl_up(x, 3, 8);
  out[2 * n + i] = __shfl_down(x, 2);
  out[3 * n + i] = __shfl_xor(x, 5, 32);
  out64[i] = __shfl(d, 7);
  out64[n + i] = __shfl_xor(d, 16);
}

// The usual butterfly: every lane ends with the wave's sum; floats are added in the order of the butterfly.
extern "C" __global__ void wave_sum(const float *in, float *out) {
  unsigned i = global_index();
  float x = in[i];
  for (int step = warpSize / 2; step > 0; step /= 2) x += __shfl_xor(x, step);
  out[i] = x;
}

// Waves agree by vote on what to do next, until no lane has anything left.
extern "C" __global__ void vote_loop(const unsigned *in, unsigned *out) {
  unsigned i = global_index(), x = in[i] % 1000 + 1, rounds = 0;
  while (__any(x != 1)) {
    if (__all(x % 2 == 0)) x /= 2;
    else if (x != 1) x = x % 2 ? x + 1 : x / 2;
    ++rounds;
  }
  out[i] = rounds;
}
