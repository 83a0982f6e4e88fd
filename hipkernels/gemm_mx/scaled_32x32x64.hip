// Every pair of formats by v_mfma_scale_f32_32x32x64_f8f6f4: larger tiles of C, half as much of K.
#include "scaled.h"

ALL_KERNELS(scaled_32x32x64, Square32)
