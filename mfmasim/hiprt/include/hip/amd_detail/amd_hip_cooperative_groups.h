// <hip/hip_cooperative_groups.h> under the name of its place in ROCm.
#pragma once
#include <hip/hip_cooperative_groups.h>
