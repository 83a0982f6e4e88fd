// HIP's host interface, for C, C++ and HIP.
#pragma once
#include <mfmasim/api.h>
