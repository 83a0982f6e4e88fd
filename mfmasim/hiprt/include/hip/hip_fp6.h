// 6-bit floating point, E2M3 and E3M2: conversions and classes. A packed element has a byte of its own.
// Names: HIP documentation, "Low precision floating point types".
#pragma once

#include <mfmasim/small_floats.h>

typedef uint16_t __hip_fp6x2_storage_t;
typedef uint32_t __hip_fp6x4_storage_t;
enum __hip_fp6_interpretation_t { __HIP_E3M2 = 0, __HIP_E2M3 = 1 };

namespace mfmasim {
MFMASIM_HOST_DEVICE small_format fp6_format(__hip_fp6_interpretation_t interpretation) {
  return interpretation == __HIP_E3M2 ? e3m2 : e2m3;
}
}  // namespace mfmasim

MFMASIM_SMALL_CONVERSIONS(fp6, mfmasim::fp6_format, 8, __hip_fp6x2_storage_t)
MFMASIM_SMALL_CLASSES(fp6, e2m3, e2m3, 8, __hip_fp6x2_storage_t, __hip_fp6x4_storage_t)
MFMASIM_SMALL_CLASSES(fp6, e3m2, e3m2, 8, __hip_fp6x2_storage_t, __hip_fp6x4_storage_t)
