// What a HIP compiler's driver includes before every source: the keywords, device mathematics, which the standard headers
// must find declared to take it into std::, and these headers themselves.
#pragma once

#if defined(__HIP__) && defined(__cplusplus)
#include <mfmasim/qualifiers.h>

#include <mfmasim/math.h>

#include <mfmasim/memory.h>

#include <assert.h>
#include <stdio.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#endif
