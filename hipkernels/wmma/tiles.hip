// The four tiles of C, with two slots in the LDS and the next tile of K in registers while this one is multiplied.
//
// M is any, N a multiple of 8, K of 16; rows of A and B begin at multiples of 16 bytes.
#include "product.h"

KERNEL(tile_64x64, 128, ahead<Waves<2, 2>, Padded<1>, Whole>)
KERNEL(tile_128x64, 256, ahead<Waves<4, 2>, Padded<1>, Whole>)
KERNEL(tile_256x64, 512, ahead<Waves<8, 2>, Padded<1>, Whole>)
KERNEL(tile_128x128, 512, ahead<Waves<4, 4>, Padded<1>, Whole>)
