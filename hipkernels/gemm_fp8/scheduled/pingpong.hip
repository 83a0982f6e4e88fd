// The right schedule with two swizzles, and the wrong ones that were published; with MXFP4 defined, the right one of MXFP4.
#include "pingpong.h"

#if defined(MXFP4)
MX_GEMM(mx_pingpong, 64 * WAVES, (pingpong<Mx<Row, false>, Right>(g)))
MX_GEMM(mx_pingpong_shuffled, 64 * WAVES, (pingpong<Mx<Row, true>, Right>(g)))
#else
GEMM(pingpong, 64 * WAVES, (pingpong<Plain<Pairs>, Right>(g)))
GEMM(pingpong_row, 64 * WAVES, (pingpong<Plain<Row>, Right>(g)))
GEMM(pingpong_printed_loop, 64 * WAVES, (pingpong<Plain<Pairs>, PrintedLoop>(g)))
GEMM(pingpong_racy_epilogue, 64 * WAVES, (pingpong<Plain<Pairs>, RacyEpilogue>(g)))
GEMM(pingpong_barrier_parity, 64 * WAVES, (pingpong<Plain<Pairs>, BarrierParity>(g)))
#endif
