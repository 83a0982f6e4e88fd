// tiled.hip for heads of other sizes, and in bf16.
#include "tiled.h"

ATTENTION(tiled_f16_32, THREADS, tiled<F16, 32>)
ATTENTION(tiled_f16_128, THREADS, tiled<F16, 128>)
ATTENTION(tiled_bf16_64, THREADS, tiled<BF16, 64>)
