// The 128x64 tile with a task of its own for each half of the waves, or with products by hand.
//
// M is any, N a multiple of 8, K of 16, as in tiles.hip; M, N and K of the kernels any_* are any.
#include "by_hand.h"
#include "ping_pong.h"

typedef Waves<4, 2> Tall;
// The compiler chooses neither the order of the products nor what lies between them.
KERNEL(asm_optimised, 256, by_hand<Tall, Padded<1>, Whole>)
KERNEL(any_asm_optimised, 256, by_hand<Tall, Padded<1>, Guarded>)
// One half loads A, the other half B.
KERNEL(cooperative, 256, ahead<Tall, Padded<1>, Whole, Pieces<Tall, Padded<1>, Whole, Halves<Tall>>>)
KERNEL(any_cooperative, 256, ahead<Tall, Padded<1>, Guarded, Pieces<Tall, Padded<1>, Guarded, Halves<Tall>>>)
// One half multiplies, the other half stores; then the other way round.
KERNEL(ping_pong_128x64, 256, ping_pong<Tall, Padded<1>, Whole>)
KERNEL(any_ping_pong, 256, ping_pong<Tall, Padded<1>, Guarded>)
