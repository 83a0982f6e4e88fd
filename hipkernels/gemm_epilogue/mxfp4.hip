// MXFP4 by MXFP4, to bf16 and to MXFP4, to nearest even and stochastically, and gated.
#define MXFP4
#include "epilogue.h"

TO_NUMBERS(mxfp4_linear_bf16, __bf16)
TO_BLOCKS(mxfp4_linear_mxfp4, e2m1, Nearest, Linear<__bf16>)
TO_BLOCKS(mxfp4_linear_mxfp4_sr, e2m1, Stochastic, Linear<__bf16>)
TO_BLOCKS(mxfp4_silu_mxfp4, e2m1, Nearest, Silu<__bf16>)
