// exercise: lanes
// out[w] is the sum of the elements of wave w: in each step a lane adds the sum of its partner to its own.
#include <hip/hip_runtime.h>

extern "C" __global__ void __launch_bounds__(256)
lanes(const int* in, int* out) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = in[i];
    // Written for waves of 32 lanes. Fix this line so that it fits every wave.
    for (int mask = 16; mask > 0; mask /= 2) {
        sum += __shfl_xor(sum, mask);
    }
    if (i % warpSize == 0) {
        out[i / warpSize] = sum;
    }
}
