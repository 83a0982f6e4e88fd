// Every group of <hip/hip_runtime.h> once: qualifiers, coordinates, LDS, lanes, votes, atomics, vectors, integers, math.
#include <hip/hip_runtime.h>

__constant__ float table[4] = {1.0f, 2.0f, 3.0f, 4.0f};
__device__ int counter;
extern __shared__ float dynamic_lds[];

__device__ __noinline__ float called(float x) { return x * 2.0f; }
static __device__ __forceinline__ float inlined(float x) { return x + 1.0f; }

__global__ void __launch_bounds__(256) coordinates(unsigned* out) {
  dim3 block = blockDim, index = threadIdx;
  out[0] = threadIdx.x + threadIdx.y + threadIdx.z + blockIdx.x + blockIdx.y + blockIdx.z;
  out[1] = blockDim.x * blockDim.y * blockDim.z + gridDim.x * gridDim.y * gridDim.z;
  out[2] = warpSize + block.x + index.y + hipThreadIdx_x + hipBlockIdx_y;
}

template <int N>
__global__ void __launch_bounds__(N, 2) lds(float* data) {
  __shared__ float tile[N];
  __shared__ float2 pairs[N];
  tile[threadIdx.x] = data[threadIdx.x];
  pairs[threadIdx.x] = make_float2(1.0f, 2.0f);
  dynamic_lds[threadIdx.x] = table[threadIdx.x & 3];
  __syncthreads();
  data[threadIdx.x] = tile[N - 1 - threadIdx.x] + dynamic_lds[0] + pairs[threadIdx.x ^ 1].y;
}
template __global__ void lds<128>(float*);

extern "C" __global__ void lanes(int* i, float* f, double* d, unsigned long long* m) {
  HIP_DYNAMIC_SHARED(float, more)
  i[0] = __shfl(i[1], 3) + __shfl_up(i[2], 1) + __shfl_down(i[3], 2, 16) + __shfl_xor(i[4], 8);
  f[0] = __shfl_xor(f[1], 1) + __shfl_sync(~0ull, f[2], 5) + called(f[3]) + inlined(f[4]);
  d[0] = __shfl_xor(d[1], 1);
  m[0] = __ballot(i[5] > 0) + __activemask() + __ballot_sync(0xffull, i[5]);
  i[6] = __any(i[5]) + __all(i[5]) + __lane_id() + __popcll(m[1]);
  __syncwarp();
  more[0] = f[0];
}

__global__ void atomics(int* i, unsigned* u, unsigned long long* l, float* f, double* d) {
  i[9] = atomicAdd(i, 1) + atomicSub(i, 2) + atomicMin(i, 3) + atomicMax(i, 4) + atomicExch(i, 5) + atomicCAS(i, 6, 7);
  u[9] = atomicAnd(u, 1u) + atomicOr(u, 2u) + atomicXor(u, 3u) + atomicInc(u, 4u) + atomicDec(u, 5u);
  l[9] = atomicAdd(l, 1ull) + atomicCAS(l, 1ull, 2ull) + atomicMax(l, 3ull);
  f[9] = atomicAdd(f, 1.0f) + unsafeAtomicAdd(f + 1, 2.0f) + atomicMax(f, 3.0f) + atomicAdd_block(f, 1.0f);
  d[9] = atomicAdd(d, 1.0) + atomicAdd_system(d, 1.0);
  __threadfence_block();
  __threadfence();
  __threadfence_system();
  atomicAdd(&counter, 1);
}

__global__ void vectors(float4* f, int4* i, uint2* u, double2* d, uchar4* c, short2* s, float3* t, ulonglong2* l) {
  float4 a = f[0];
  a += f[1];
  a = 2.0f * a - a / 3.0f;
  f[2] = -a + make_float4(a.w, a.z, a[1], a.x);
  i[2] = (i[0] + i[1] * 3) & i[3];
  u[2] = (u[0] ^ u[1]) << 2u;
  d[2] = d[0] * d[1];
  c[2] = make_uchar4(c[0].x, c[0].y, c[1].z, c[1].w);
  c[3] = uchar4{threadIdx.x, 1u, c[2].x, 2};  // rocWMMA's tests: values that braces would narrow
  s[2] = s[0] + s[1];
  t[2] = t[0] * 2.0f + t[1];
  l[2] = l[0] + l[1];
  i[3].x = f[0] == f[1];
  static_assert(sizeof(float3) == 12 && alignof(float4) == 16 && sizeof(uchar4) == 4 && sizeof(longlong2) == 16, "HIP's");
}

__global__ void integers(int* i, unsigned* u, long long* l, unsigned long long* m) {
  i[9] = __clz(i[0]) + __clzll(l[0]) + __ffs(i[1]) + __ffsll(l[1]) + __popc(u[0]) + __mul24(i[2], i[3]) + __mulhi(i[4], i[5]);
  u[9] = __brev(u[0]) + __umul24(u[1], u[2]) + __umulhi(u[3], u[4]) + __byte_perm(u[5], u[6], 0x5410) + __usad(u[1], u[2], u[3]);
  u[8] = __funnelshift_l(u[0], u[1], u[2]) + __funnelshift_r(u[0], u[1], u[2]) + min(u[3], 4u) + max(u[4], i[1]);
  l[9] = __mul64hi(l[0], l[1]) + llabs(l[2]) + min(l[3], l[4]) + (long long)__brevll(m[0]);
  m[9] = __umul64hi(m[0], m[1]) + max(m[2], m[3]);
  i[8] = abs(i[0]) + min(i[1], i[2]) + max(i[3], i[4]) + __hadd(i[5], i[6]) + __sad(i[0], i[1], u[0]);
}

__global__ void mathematics(float* f, double* d, int* i, long long* l) {
  f[30] = fabsf(f[0]) + sqrtf(f[1]) + floorf(f[2]) + ceilf(f[3]) + truncf(f[4]) + rintf(f[5]) + roundf(f[6]) + expf(f[7]);
  f[31] = exp2f(f[0]) + exp10f(f[1]) + logf(f[2]) + log2f(f[3]) + log10f(f[4]) + fmaf(f[5], f[6], f[7]) + nearbyintf(f[8]);
  f[32] = fminf(f[0], f[1]) + fmaxf(f[2], f[3]) + fmodf(f[4], f[5]) + copysignf(f[6], f[7]) + ldexpf(f[8], i[0]) + INFINITY;
  f[33] = __expf(f[0]) + __logf(f[1]) + __log2f(f[2]) + __sinf(f[3]) + __cosf(f[4]) + __tanf(f[3]) + __powf(f[5], f[6]) + __fdividef(f[7], f[8]);
  __sincosf(f[0], f + 39, f + 40);
  f[34] = __fmaf_rn(f[0], f[1], f[2]) + __frcp_rn(f[3]) + __fsqrt_rn(f[4]) + __saturatef(f[5]) + rsqrtf(f[8]) + __fadd_rn(f[6], f[7]);
  f[35] = min(f[0], f[1]) + max(f[2], f[3]) + abs(f[4]) + exp(f[5]) + sqrt(f[6]) + frexpf(f[7], i + 1);
  d[30] = sqrt(d[0]) + fabs(d[1]) + fma(d[2], d[3], d[4]) + floor(d[5]) + fmin(d[6], d[7]) + max(d[8], d[9]) + fmod(d[1], d[2]);
  i[9] = __float_as_int(f[0]) + __float2int_rn(f[1]) + __float2int_rz(f[2]) + isnan(f[3]) + isinf(d[4]) + __double2hiint(d[5]);
  f[36] = __int_as_float(i[2]) + __uint_as_float(i[3]) + __int2float_rn(i[4]) + __double2float_rn(d[6]) + f[37] / f[38];
  d[31] = __longlong_as_double(l[0]) + __hiloint2double(i[5], i[6]) + d[10] / d[11];
  l[9] = __double_as_longlong(d[7]) + clock64() + wall_clock64();
}
