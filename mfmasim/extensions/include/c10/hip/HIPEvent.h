// Part of ATen/hip/HIPEvent.h here.
#pragma once
#include <ATen/hip/HIPEvent.h>
