// The older name of <hip/hip_ext.h>.
#pragma once
#include <hip/hip_ext.h>
