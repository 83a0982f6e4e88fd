// Integers of eight bits, signed (i) and unsigned (u), and sums that begin with C, wrapping or clamped.
#include "product.h"

typedef Bytes<true, true> I8I8;
typedef Bytes<true, false> I8U8;
typedef Bytes<false, true> U8I8;
typedef Bytes<false, false> U8U8;
KERNELS(i8_i8, I8I8)
KERNELS(i8_u8, I8U8)
KERNELS(u8_i8, U8I8)
KERNELS(u8_u8, U8U8)

typedef Bytes<true, false, true> Clamped;
KERNEL(add_i8_u8, Guarded, true, I8U8)
KERNEL(add_i8_u8_clamped, Guarded, true, Clamped)
