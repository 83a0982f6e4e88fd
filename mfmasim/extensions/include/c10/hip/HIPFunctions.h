// Part of c10/hip/HIPStream.h here.
#pragma once
#include <c10/hip/HIPStream.h>
