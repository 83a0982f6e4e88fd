// Part of ATen/hip/HIPContext.h here.
#pragma once
#include <ATen/hip/HIPContext.h>
