// exercise: direct_to_lds
// out[t] = in[255 - t] in each block of 256: the loads go straight to the LDS, without a register.
#include <hip/hip_runtime.h>
#include <mfmasim/order.h>

extern "C" __global__ void __launch_bounds__(256)
direct_to_lds(const unsigned* in, unsigned* out) {
    __shared__ unsigned tile[256];
    const unsigned t = threadIdx.x, wave = t / 64, first = blockIdx.x * 256;

    // The instruction stores the dword of lane l at base + 4 l; the base is one for the wave. Fix this line.
    unsigned* base = tile;
    __builtin_amdgcn_global_load_lds((__attribute__((address_space(1))) void*)(in + first + t),
                                     (mfmasim_lds_void*)base, 4, 0, 0);
    // Another line is missing here: WAIT_DIRECT(n) waits until at most n loads of this wave are in flight.
    BARRIER();  // until all waves are here

    out[first + t] = tile[255 - t];
}
