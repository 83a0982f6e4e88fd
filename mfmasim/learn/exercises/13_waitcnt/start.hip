// exercise: waitcnt
// out[i] = 3 in[i] + in[i + n]. Both loads are issued first; nothing waits for them unless this source says so.
#include <hip/hip_runtime.h>
#include <mfmasim/order.h>

extern "C" __global__ void __launch_bounds__(64)
waitcnt(const unsigned* in, unsigned* out, unsigned n) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    unsigned x, y;
    START_LOAD(x, in, 4 * i);
    START_LOAD(y, in, 4 * (i + n));

    // your code: WAIT_FOR_LOAD(n, x) waits until at most n loads are in flight, so that x may be used
    x = 3 * x;
    asm volatile("" : "+v"(x));  // the compiler computes x here, not later
    // your code: the same for y
    out[i] = x + y;
}
