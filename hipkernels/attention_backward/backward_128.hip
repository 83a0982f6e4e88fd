// backward.hip for heads of 128 elements.
#include "backward.h"

ROW_SUMS(128)
BACKWARD(dq_128, 128, DQ)
#if defined(__GFX12__)
BACKWARD(dk_128, 128, DK)
BACKWARD(dv_128, 128, DV)
#else
BACKWARD(dkdv_128, 128, DK | DV)
#endif
