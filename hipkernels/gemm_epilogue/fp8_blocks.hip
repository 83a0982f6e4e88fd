// FP8 by FP8 to MXFP8, to nearest even and stochastically, and gated.
#include "epilogue.h"

TO_BLOCKS(fp8_linear_mxfp8, e4m3, Nearest, Linear<__bf16>)
TO_BLOCKS(fp8_linear_mxfp8_sr, e4m3, Stochastic, Linear<__bf16>)
TO_BLOCKS(fp8_silu_mxfp8, e4m3, Nearest, Silu<__bf16>)
