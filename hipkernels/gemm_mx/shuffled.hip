// 128x128 of C a workgroup; scales in the orders of HipKittens and of hipBLASLt.
#include "tiled.h"

KERNEL(hipkittens_rows, Square16, e4m3fn, e4m3fn, HipKittensRows)
KERNEL(hipkittens_rows, Square16, e2m1fn, e2m1fn, HipKittensRows)
KERNEL(hipkittens_lanes, Square16, e4m3fn, e4m3fn, HipKittensLanes)
KERNEL(hipkittens_lanes, Square16, e2m1fn, e2m1fn, HipKittensLanes)
KERNEL(hipblaslt_32x8, Square16, e4m3fn, e4m3fn, HipBlasLt)
KERNEL(hipblaslt_32x8, Square16, e2m1fn, e2m1fn, HipBlasLt)
