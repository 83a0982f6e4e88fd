// bf16 with sums in f32, and f16 and bf16 whose sums are of their own type: rounded to 16 bits at every step.
#include "product.h"

KERNELS(bf16, Bf16)
KERNELS(f16_in_f16, F16InF16)
KERNELS(bf16_in_bf16, Bf16InBf16)
