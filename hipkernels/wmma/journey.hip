// The rungs of the text's journey to tile_128x64, each with the one thing that it adds, and what it tried and left out.
//
// Rungs: a tile of 16x16 for each wave; 64 columns; 2x2 tiles for each wave; loads of 16 bytes; two slots; 128 rows. Next come
// not_swizzled of swizzled.hip (loads ahead in registers) and tile_128x64 of tiles.hip (padding).
#include "journey.h"

#include <cassert>

KERNEL(rung_baseline, 128, one_slot<Waves<4, 1, 1, 1>, Separate<1>, Guarded>)
KERNEL(rung_columns, 512, one_slot<Waves<4, 4, 1, 1>, Separate<1>, Guarded>)
KERNEL(rung_blocking, 128, one_slot<Waves<2, 2>, Separate<1>, Guarded>)
KERNEL(rung_wide_loads, 128, one_slot<Waves<2, 2>, Separate<1>, Whole>)
KERNEL(rung_two_slots, 128, two_slots<Waves<2, 2>, Separate<1>, Whole>)
KERNEL(rung_tall, 256, two_slots<Waves<4, 2>, Separate<1>, Whole>)

typedef Waves<4, 2> Tall;
KERNEL(three_slots_128x64, 256, three_slots<Tall, Padded<1>, Whole>)
KERNEL(fragments_ahead_128x64, 256, fragments_ahead<Tall, Padded<2>, Whole>)
KERNEL(odd_17, 256, ahead<Tall, Odd<1>, Whole, SinglePieces<Tall, Odd<1>, Whole>>)
KERNEL(odd_33, 256, ahead<Tall, Odd<2>, Whole, SinglePieces<Tall, Odd<2>, Whole>>)
KERNEL(unswizzled_copy, 256, through_copy<Tall, Exchanged<2>, Whole>)
template <class Place>
using Transposed = Pieces<Tall, Place, Whole, Everybody<Tall>, RowsOfB>;
KERNEL(b_transposed_128x64, 256, ahead<Tall, Padded<1>, Whole, Transposed<Padded<1>>>)

// A kernel for waves of 32 that is compiled for waves of 64 stops; a WMMA of 32 lanes is then refused by the compiler.
extern "C" __global__ void waves_of_32(int *lanes) {
  assert(__builtin_amdgcn_wavefrontsize() == 32);
  lanes[threadIdx.x] = threadIdx.x % 32;
}
