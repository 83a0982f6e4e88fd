// The two products of tiled.hip, each by itself, so that the way of every element can be followed.
#include "tiled.h"

PRODUCT(scores_f16_64, float, (scores_alone<F16, 64>))
PRODUCT(scores_bf16_64, float, (scores_alone<BF16, 64>))
PRODUCT(sums_f16_64, float, (sums_alone<F16, 64>))
PRODUCT(sums_bf16_64, float, (sums_alone<BF16, 64>))
