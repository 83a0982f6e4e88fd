// FP8 by FP8 to FP8 with one scale, and the largest magnitudes of the tensor and of each row: as it is, GELU, and gated.
#include "epilogue.h"

TO_FP8(fp8_linear_fp8, Linear<__bf16>)
TO_FP8(fp8_gelu_fp8, Linear<__bf16, Gelu>)
TO_FP8(fp8_silu_fp8, Silu<__bf16>)
