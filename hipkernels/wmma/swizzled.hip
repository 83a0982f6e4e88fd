// The LDS without padding, 12,288 bytes in place of 18,432: which half of a line of 16 lies first depends on the line.
#include "movers.h"

typedef Waves<4, 2> Tall;
KERNEL(swizzled, 256, ahead<Tall, Exchanged<2>, Whole>)
KERNEL(swizzled_by_8, 256, ahead<Tall, Exchanged<3>, Whole>)
KERNEL(swizzled_as_published, 256, ahead<Tall, Exchanged<0>, Whole>)
KERNEL(not_swizzled, 256, ahead<Tall, Separate<1>, Whole>)

// B element by element, so that N is any, and in the LDS by whole lines.
template <class Load>
using Gathered = Pieces<Tall, Exchanged<2>, Load, Everybody<Tall>, GatheredB>;
KERNEL(xor_gathered, 256, ahead<Tall, Exchanged<2>, Whole, Gathered<Whole>>)
KERNEL(any_xor_gathered, 256, ahead<Tall, Exchanged<2>, Guarded, Gathered<Guarded>>)
// B by rows of eight, two at a time.
template <class Load>
using Paired = Pieces<Tall, Exchanged<2>, Load, Everybody<Tall>, PairedB>;
KERNEL(xor_optimised, 256, ahead<Tall, Exchanged<2>, Whole, Paired<Whole>>)
KERNEL(any_xor_optimised, 256, ahead<Tall, Exchanged<2>, Guarded, Paired<Guarded>>)
