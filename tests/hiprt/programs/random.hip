// Random numbers of kernels, of the host and of hipRAND's names: argument 1 chooses the engine.
#include <hip/hip_runtime.h>
#include <hiprand/hiprand_kernel.h>
#include <rocrand/rocrand_kernel.h>

#include <cstdio>
#include <cstring>

enum { ITEMS = 8, WORDS = 24 };

template <typename State>
__host__ __device__ void draw(unsigned long long item, unsigned* out) {
  State state;
  rocrand_init(0x123456789abcdefull, item * 0x100000001ull, item * 5, &state);
  for (int k = 0; k < 5; ++k) *out++ = rocrand(&state);
  const uint4 four = rocrand4(&state);
  *out++ = four.x, *out++ = four.y, *out++ = four.z, *out++ = four.w;
  skipahead(1000003ull + item, &state);
  skipahead_subsequence(3, &state);
  *out++ = hiprand(&state);
  *out++ = __float_as_uint(rocrand_uniform(&state));
  const float4 even = hiprand_uniform4(&state);
  *out++ = __float_as_uint(even.w);
  const unsigned long long fine = __double_as_longlong(rocrand_uniform_double(&state));
  *out++ = (unsigned)fine, *out++ = (unsigned)(fine >> 32);
  for (int k = 0; k < 3; ++k) *out++ = __float_as_uint(rocrand_normal(&state));
  const float4 normal = rocrand_normal4(&state);
  *out++ = __float_as_uint(normal.z);
  const unsigned long long wide = __double_as_longlong(rocrand_normal_double(&state));
  *out++ = (unsigned)wide, *out++ = (unsigned)(wide >> 32);
  *out++ = __float_as_uint(rocrand_log_normal(&state, 0.5f, 2.0f));
  *out++ = rocrand(&state);
  *out++ = 0, *out++ = 0;
}

template <typename State>
__global__ void kernel(unsigned* out) {
  draw<State>(threadIdx.x, out + threadIdx.x * WORDS);
}

template <typename State>
void run() {
  unsigned *device, words[ITEMS * WORDS], host[ITEMS * WORDS];
  (void)hipMalloc(&device, sizeof words);
  kernel<State><<<1, ITEMS>>>(device);
  (void)hipMemcpy(words, device, sizeof words, hipMemcpyDeviceToHost);
  for (int item = 0; item < ITEMS; ++item) draw<State>(item, host + item * WORDS);
  for (const unsigned* one : {words, host})
    for (int k = 0; k < ITEMS * WORDS; ++k) printf("%u%c", one[k], k % WORDS == WORDS - 1 ? '\n' : ' ');
}

int main(int, char** argv) {
  if (!strcmp(argv[1], "philox")) run<rocrand_state_philox4x32_10>();
  else run<hiprandState_t>();
}
