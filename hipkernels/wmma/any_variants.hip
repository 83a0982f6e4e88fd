// The tiles and variants that any_shape.hip leaves out, for any M, N and K from 1 on, at any address.
#include "product.h"

KERNEL(any_256x64, 512, ahead<Waves<8, 2>, Padded<1>, Guarded>)
KERNEL(any_128x128, 512, ahead<Waves<4, 4>, Padded<1>, Guarded>)
KERNEL(any_native, 256, native<Waves<4, 2>, Padded<1>, Guarded>)
KERNEL(any_no_prefetch, 256, one_slot<Waves<4, 2>, Padded<1>, Guarded>)
KERNEL(any_quad, 256, one_slot<Waves<4, 2>, Separate<4>, Guarded>)
KERNEL(any_high_occupancy, 128, one_slot<Waves<2, 2, 2, 1>, Separate<1>, Guarded>)
