// 4-bit floating point, E2M1: conversions and classes. Two elements share a byte, the first in its low half.
// Names: HIP documentation, "Low precision floating point types".
#pragma once

#include <mfmasim/small_floats.h>

typedef uint8_t __hip_fp4x2_storage_t;
typedef uint16_t __hip_fp4x4_storage_t;
enum __hip_fp4_interpretation_t { __HIP_E2M1 = 0 };

namespace mfmasim {
MFMASIM_HOST_DEVICE small_format fp4_format(__hip_fp4_interpretation_t) { return e2m1; }
}  // namespace mfmasim

MFMASIM_SMALL_CONVERSIONS(fp4, mfmasim::fp4_format, 4, __hip_fp4x2_storage_t)
MFMASIM_SMALL_CLASSES(fp4, e2m1, e2m1, 4, __hip_fp4x2_storage_t, __hip_fp4x4_storage_t)
