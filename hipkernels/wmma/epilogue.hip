// What happens to the tile of C at the end, and which tile it is.
//
// M is any, N a multiple of 8, K of 16, as in tiles.hip; M, N and K of the kernels any_* are any.
#include "epilogue.h"
#include "movers.h"
#include "order.h"

typedef Waves<4, 2> Tall;
// B swizzled in the LDS beside a padded A, and C straight from the registers.
typedef Mixed<Tall::rows, Padded<1>, Exchanged<2>> SwizzledB;
KERNEL_OF(zero_copy, 256, Direct, ahead<Tall, SwizzledB, Whole>)
KERNEL_OF(any_zero_copy, 256, Direct, ahead<Tall, SwizzledB, Guarded>)
// Rows of eight columns by an exchange between lanes; rows of C have to begin at multiples of 16 bytes.
KERNEL_OF(shuffled_by_permute, 256, Shuffled<ByPermute>, ahead<Tall, Padded<1>, Whole>)
KERNEL_OF(shuffled_by_dpp, 256, Shuffled<ByDpp>, ahead<Tall, Padded<1>, Whole>)
KERNEL_OF(shuffled_by_permlane, 256, Shuffled<ByPermlane>, ahead<Tall, Padded<1>, Whole>)
typedef Shuffled<ByDpp, Narrow> ByDppNarrow;
KERNEL_OF(any_shuffled, 256, ByDppNarrow, ahead<Tall, Padded<1>, Guarded>)
// Rows of eight columns through the LDS.
KERNEL_OF(vector_c, 256, ThroughLds<>, ahead<Tall, Padded<1>, Whole>)
KERNEL_OF(any_vector_c, 256, ThroughLds<Narrow>, ahead<Tall, Padded<1>, Guarded>)
// Eight tiles of 16x16 a wave.
typedef Waves<4, 2, 2, 4> Large;
KERNEL_OF(opt_128x128, 256, Shuffled<ByDpp>, ahead<Large, Padded<1>, Whole>)
KERNEL_OF(any_opt_128x128, 256, ByDppNarrow, ahead<Large, Padded<1>, Guarded>)
// Tiles along Hilbert's curve; the grid has one dimension.
KERNEL_OF(hilbert_128x64, 256, AlongHilbert, ahead<Tall, Padded<1>, Whole>)
KERNEL_OF(any_hilbert, 256, AlongHilbert, ahead<Tall, Padded<1>, Guarded>)
