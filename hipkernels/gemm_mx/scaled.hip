// Every pair of formats by v_mfma_scale_f32_16x16x128_f8f6f4.
#include "scaled.h"

ALL_KERNELS(scaled, Square16)
