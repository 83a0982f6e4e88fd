// <hip/hip_bf16.h> under the name of its place in ROCm.
#pragma once
#include <hip/hip_bf16.h>
