// exercise: double_buffer
// out[t] = the sum over all tiles of in, each tile reversed, with weights 3^... : sum = 3 sum + tile[255 - t].
// Two slots of LDS: while all waves read one tile, the next one is stored.
#include <hip/hip_runtime.h>

extern "C" __global__ void __launch_bounds__(256)
double_buffer(const unsigned* in, unsigned* out, unsigned tiles) {
    __shared__ unsigned slot[2][256];
    const unsigned t = threadIdx.x;
    unsigned sum = 0;

    slot[0][t] = in[t];
    __syncthreads();
    for (unsigned k = 0; k < tiles; k++) {
        if (k + 1 < tiles) {
            slot[(k + 1) % 2][t] = in[256 * (k + 1) + t];
        }
        // One line is missing in this loop. Where?
        sum = 3 * sum + slot[k % 2][255 - t];
    }
    out[t] = sum;
}
