// A part of <hip/hip_runtime.h> under a name that sources include by itself.
#pragma once
#include <hip/hip_runtime.h>
