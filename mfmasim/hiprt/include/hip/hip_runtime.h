// HIP's device language and the host declarations that ordinary sources name, for compiling without ROCm.
// Written for mfmasim from the public API; what is missing says so by name when it is called.
#pragma once

#include <mfmasim/qualifiers.h>

#include <stddef.h>
#include <stdint.h>

#include <mfmasim/atomics.h>
#include <mfmasim/casts.h>
#include <mfmasim/coordinates.h>
#include <mfmasim/api.h>
#include <mfmasim/dot_products.h>
#include <mfmasim/features.h>
#include <mfmasim/heap.h>
#include <mfmasim/integers.h>
#include <mfmasim/lane_instructions.h>
#include <mfmasim/lane_reductions.h>
#include <mfmasim/lanes.h>
#include <mfmasim/library_names.h>
#include <mfmasim/math.h>
#include <mfmasim/memory.h>
#include <mfmasim/output.h>
#include <mfmasim/synchronisation.h>
#include <mfmasim/textures.h>
#include <mfmasim/vectors.h>
