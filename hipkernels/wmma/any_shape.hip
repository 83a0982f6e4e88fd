// Any M, N and K from 1 on, at any address: what lies outside is 0 in A and in B, and nothing is read or written there.
#include "product.h"

KERNEL(any_64x64, 128, ahead<Waves<2, 2>, Padded<1>, Guarded>)
KERNEL(any_128x64, 256, ahead<Waves<4, 2>, Padded<1>, Guarded>)
KERNEL(any_k_unrolled, 256, ahead<Waves<4, 2>, Padded<2>, Guarded>)
