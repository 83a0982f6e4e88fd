// Integers of four bits, two in a byte, signed (i) and unsigned (u), and sums that begin with C, wrapping or clamped.
#include "product.h"

typedef Nibbles<true, true> I4I4;
typedef Nibbles<true, false> I4U4;
typedef Nibbles<false, true> U4I4;
typedef Nibbles<false, false> U4U4;
KERNELS(i4_i4, I4I4)
KERNELS(i4_u4, I4U4)
KERNELS(u4_i4, U4I4)
KERNELS(u4_u4, U4U4)

typedef Nibbles<true, true, true> Clamped;
KERNEL(add_i4_i4, Guarded, true, I4I4)
KERNEL(add_i4_i4_clamped, Guarded, true, Clamped)
