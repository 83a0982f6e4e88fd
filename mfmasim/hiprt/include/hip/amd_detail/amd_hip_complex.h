// <hip/hip_complex.h> under the name of its place in ROCm.
#pragma once
#include <hip/hip_complex.h>
