// Calls of device functions by the names that c10 has for host and device.
#pragma once
#include <c10/cuda/CUDAMathCompat.h>
