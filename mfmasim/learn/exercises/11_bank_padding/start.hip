// exercise: bank_padding
// out is the transpose of in, both 32x32 f32: through the LDS, so that loads and stores of memory are contiguous.
#include <hip/hip_runtime.h>

constexpr unsigned WIDTH = 32;  // floats of a row in the LDS: fix this number

extern "C" __global__ void __launch_bounds__(256)
bank_padding(const float* in, float* out) {
    __shared__ float tile[32][WIDTH];
    const unsigned x = threadIdx.x % 32, y = threadIdx.x / 32;

    for (unsigned i = 0; i < 32; i += 8) {
        tile[y + i][x] = in[32 * (y + i) + x];
    }
    __syncthreads();
    for (unsigned i = 0; i < 32; i += 8) {
        out[32 * (y + i) + x] = tile[x][y + i];
    }
}
