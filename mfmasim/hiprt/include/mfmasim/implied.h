// What a HIP compiler's driver includes before every source: the keywords, device mathematics, which the standard headers
// must find declared to take it into std::, and these headers themselves; and those of the standard library that ROCm's
// headers bring along, so that sources rely on them.
#pragma once

#if defined(__HIP__) && defined(__cplusplus)
#if !defined(__HIP_PLATFORM_AMD__)
#define __HIP_PLATFORM_AMD__ 1  // hipCUB asks before it includes HIP
#endif
#if defined(__HIP_DEVICE_COMPILE__) && !defined(__AMDGCN_WAVEFRONT_SIZE)  // as the clang of ROCm 6 had it
#if defined(__GFX10__) || defined(__GFX11__) || defined(__GFX12__)
#define __AMDGCN_WAVEFRONT_SIZE 32
#else
#define __AMDGCN_WAVEFRONT_SIZE 64
#endif
#endif
#include <mfmasim/qualifiers.h>

#include <mfmasim/heap.h>

#include <mfmasim/math.h>

#include <mfmasim/memory.h>

#include <assert.h>
#include <limits.h>
#include <stdio.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <ostream>
#include <string>
#include <thread>
#include <tuple>
#define MFMASIM_STANDARD_LIBRARY 1

// Names for single precision that older standard libraries do not have in std::.
namespace std {
using ::acosf;
using ::acoshf;
using ::asinf;
using ::asinhf;
using ::atan2f;
using ::atanf;
using ::atanhf;
using ::cbrtf;
using ::ceilf;
using ::copysignf;
using ::cosf;
using ::coshf;
using ::erfcf;
using ::erff;
using ::exp2f;
using ::expf;
using ::expm1f;
using ::fabsf;
using ::fdimf;
using ::floorf;
using ::fmaf;
using ::fmaxf;
using ::fminf;
using ::fmodf;
using ::frexpf;
using ::hypotf;
using ::ilogbf;
using ::ldexpf;
using ::lgammaf;
using ::log10f;
using ::log1pf;
using ::log2f;
using ::logbf;
using ::logf;
using ::modff;
using ::nearbyintf;
using ::nextafterf;
using ::powf;
using ::remainderf;
using ::rintf;
using ::roundf;
using ::scalbnf;
using ::sinf;
using ::sinhf;
using ::sqrtf;
using ::tanf;
using ::tanhf;
using ::tgammaf;
using ::truncf;
}  // namespace std
#endif
