// Variants of the 128x64 tile that meet K in the same order and leave the same bytes.
//
// As in tiles.hip, M is any and N a multiple of 8; K is a multiple of 16, of 32 and 64 where several tiles of K go together.
#include "product.h"

// Waits and order of its own making, and a hint about the tile after next; between four and eight waves a SIMD.
__attribute__((amdgpu_waves_per_eu(4, 8))) KERNEL(native_128x64, 256, native<Waves<4, 2>, Padded<1>, Whole>)
// Nothing is fetched ahead, so that one slot will do.
KERNEL(no_prefetch, 256, one_slot<Waves<4, 2>, Padded<1>, Whole>)
// Two tiles of K from barrier to barrier.
KERNEL(k_unrolled, 256, ahead<Waves<4, 2>, Padded<2>, Whole>)
// Four, each in a place of its own.
KERNEL(quad, 256, one_slot<Waves<4, 2>, Separate<4>, Whole>)
// Small tiles, one slot, no padding: few registers and little of the LDS.
KERNEL(high_occupancy, 128, one_slot<Waves<2, 2, 2, 1>, Separate<1>, Whole>)
