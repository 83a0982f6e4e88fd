// Tiles of 64 x 64 threads' elements, as for a warp of 64: rejected for their 33 KB of the LDS and 512 rows.
#define TILE_SIDE 64
#include "transpose.h"

TILES(f32, e4m3, 16, 8, 1, side64)
TILES(bf16, e4m3, 8, 8, 1, side64)
