// 128x128 of C a workgroup, in formats alike and mixed, by both instructions; scales in rows of K/32.
#include "tiled.h"

KERNEL(tiled, Square16, e4m3fn, e4m3fn, Rows)
KERNEL(tiled, Square16, e5m2, e3m2fn, Rows)
KERNEL(tiled, Square16, e2m3fn, e2m3fn, Rows)
KERNEL(tiled, Square16, e2m1fn, e2m1fn, Rows)
KERNEL(tiled, Square16, e4m3fn, e2m1fn, Rows)
KERNEL(tiled_32x32x64, Square32, e4m3fn, e4m3fn, Rows)
KERNEL(tiled_32x32x64, Square32, e5m2, e3m2fn, Rows)
KERNEL(tiled_32x32x64, Square32, e2m3fn, e2m3fn, Rows)
KERNEL(tiled_32x32x64, Square32, e2m1fn, e2m1fn, Rows)
KERNEL(tiled_32x32x64, Square32, e4m3fn, e2m1fn, Rows)
