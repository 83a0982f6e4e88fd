// Tiles of f32; and the widest without the padding of the LDS, to count what it is good for.
#include "transpose.h"

EVERY_TILE(f32, 16, 8, 4)
STORES(f32, e4m3, 16, 0, unpadded)
