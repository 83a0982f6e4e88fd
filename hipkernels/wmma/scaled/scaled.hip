// The tiles that an adaptive gemm chooses from, in the contract of ../tiles.hip; of any shape the first and the third.
#include "scaled.h"

SCALED(gemm_64x64, 128, Waves<2, 2>, Padded<1>, Whole)
SCALED(gemm_128x64, 256, Waves<4, 2>, Padded<1>, Whole)
SCALED(gemm_k_unrolled, 256, Waves<4, 2>, Padded<2>, Whole)
SCALED(gemm_256x64, 512, Waves<8, 2>, Padded<1>, Whole)
SCALED(any_gemm_64x64, 128, Waves<2, 2>, Padded<1>, Guarded)
SCALED(any_gemm_k_unrolled, 256, Waves<4, 2>, Padded<2>, Guarded)
