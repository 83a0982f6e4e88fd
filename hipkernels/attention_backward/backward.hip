// Attention backward in bf16 for heads of 64 elements.
#include "backward.h"

ROW_SUMS(64)
BACKWARD(dkdv_64, 64, DK | DV)
BACKWARD(dq_64, 64, DQ)
