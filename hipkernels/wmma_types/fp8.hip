// OCP's E4M3 and E5M2 on RDNA4, A and B of either.
#include "product.h"

KERNELS(e4m3_e4m3, Fp8Fp8)
KERNELS(e4m3_e5m2, Fp8Bf8)
KERNELS(e5m2_e4m3, Bf8Fp8)
KERNELS(e5m2_e5m2, Bf8Bf8)
