// Tiles of f16.
#include "transpose.h"

EVERY_TILE(f16, 8, 4, 2)
