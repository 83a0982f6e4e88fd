// Tiles with as many registers as were published for 16-bit elements: matrices that are apart may be loaded before a store, and
// a target of few waves lets the compiler keep every load in flight.
#define APART __restrict__
#include "transpose.h"

#define WAVES(count) __attribute__((amdgpu_waves_per_eu(count, count)))
TILES_AS(bf16, e4m3, 8, 8, held, WAVES(4), 1, 1)
TILES_AS(bf16, e4m3, 16, 8, held, WAVES(2), 1, 1)
