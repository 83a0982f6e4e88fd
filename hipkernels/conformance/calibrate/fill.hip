// Leaves one word in the LDS and in v40 to v249 of the waves of a compute unit: what a kernel that reads them without
// having written them would find there.
#include <hip/hip_runtime.h>

#define FOR_TENS(DO) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15) DO(16) DO(17) \
    DO(18) DO(19) DO(20) DO(21) DO(22) DO(23) DO(24)
#define MOVE(N) "v_mov_b32 v" #N ", %0\n"
#define MOVES(D) MOVE(D##0) MOVE(D##1) MOVE(D##2) MOVE(D##3) MOVE(D##4) MOVE(D##5) MOVE(D##6) MOVE(D##7) MOVE(D##8) MOVE(D##9)
#define NAMES(D) , "v" #D "0", "v" #D "1", "v" #D "2", "v" #D "3", "v" #D "4", "v" #D "5", "v" #D "6", "v" #D "7", "v" #D "8", "v" #D "9"

extern "C" __global__ void __launch_bounds__(256) fill(unsigned word, unsigned dwords) {
  extern __shared__ unsigned lds[];
  for (unsigned n = threadIdx.x; n < dwords; n += 256) reinterpret_cast<volatile unsigned *>(lds)[n] = word;
  asm volatile(FOR_TENS(MOVES) : : "s"(word) : "memory" FOR_TENS(NAMES));
}
