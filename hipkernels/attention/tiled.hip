// Attention by tiles and matrix instructions: RDNA's WMMA in waves of 32, CDNA's MFMA in waves of 64.
#include "tiled.h"

ATTENTION(tiled_f16_64, THREADS, tiled<F16, 64>)
