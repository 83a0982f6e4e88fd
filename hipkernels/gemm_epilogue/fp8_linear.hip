// FP8 by FP8 with bias and C, to bf16, f16 and f32.
#include "epilogue.h"

TO_NUMBERS(fp8_linear_bf16, __bf16)
TO_NUMBERS(fp8_linear_f16, _Float16)
TO_NUMBERS(fp8_linear_f32, float)
