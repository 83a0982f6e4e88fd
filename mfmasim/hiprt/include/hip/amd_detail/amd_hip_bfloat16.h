// <hip/hip_bfloat16.h> under the name of its place in ROCm.
#pragma once
#include <hip/hip_bfloat16.h>
