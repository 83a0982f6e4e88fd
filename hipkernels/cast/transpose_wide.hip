// Tiles of 16-bit elements with loads of 16 bytes, and two tiles of columns for each workgroup: rejected for their registers, and
// for leaving half as many workgroups.
#include "transpose.h"

TILES(bf16, e4m3, 16, 8, 1, wide)
TILES(bf16, e4m3, 16, 4, 1, wide)
TILES(f16, e4m3, 16, 8, 1, wide)
TILES_AS(f32, e4m3, 16, 8, two_tiles, , 1, 2)
TILES_AS(bf16, e4m3, 8, 8, two_tiles, , 1, 2)
