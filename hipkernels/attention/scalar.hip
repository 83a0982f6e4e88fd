// Attention by one thread a query.
#include "scalar.h"

ATTENTION(scalar_f16_32, 64, scalar<F16, 32>)
ATTENTION(scalar_f16_64, 64, scalar<F16, 64>)
ATTENTION(scalar_f16_128, 64, scalar<F16, 128>)
ATTENTION(scalar_bf16_64, 64, scalar<BF16, 64>)
