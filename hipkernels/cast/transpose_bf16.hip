// Tiles of bf16.
#include "transpose.h"

EVERY_TILE(bf16, 8, 4, 2)
