// gfx12: a barrier in two halves. A wave tells that it has arrived, works on, and waits for the others later.
#include <hip/hip_runtime.h>
#include <mfmasim/order.h>

extern "C" __global__ void __launch_bounds__(256) split_exchange(const unsigned *in, unsigned *out) {
  __shared__ unsigned cells[256];
  unsigned t = threadIdx.x, x;
  cells[t] = in[t];
  WAIT_LDS();  // split: written
  SIGNAL();
  unsigned own = in[t] * 9;
  AWAIT();  // split: all have arrived
  START_READ(x, &cells[blockDim.x - 1 - t]);
  WAIT_FOR_LDS(0, x);
  out[t] = own ^ x;
}

// Reading ends before the signal; what is written next goes to the cells only when all have signalled.
extern "C" __global__ void __launch_bounds__(256) split_rotation(const unsigned *in, unsigned *out, unsigned rounds) {
  __shared__ unsigned cells[256];
  unsigned t = threadIdx.x, x = in[t];
  for (unsigned r = 0; r < rounds; ++r) {
    cells[t] = x;
    SYNC();  // rotation: written
    START_READ(x, &cells[(t + 33) % blockDim.x]);
    WAIT_FOR_LDS(0, x);  // rotation: read
    SIGNAL();
    x = x * 5 + r;
    AWAIT();  // rotation: all have read
  }
  out[t] = x;
}
