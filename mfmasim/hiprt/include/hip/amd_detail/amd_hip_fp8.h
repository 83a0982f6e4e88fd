// <hip/hip_fp8.h> under the name of its place in ROCm.
#pragma once
#include <hip/hip_fp8.h>
