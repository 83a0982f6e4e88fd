// Constants of single and double precision by HIP's names.
#pragma once

#define HIP_INF_F __builtin_inff()
#define HIP_NAN_F __builtin_nanf("")
#define HIP_MIN_DENORM_F 0x1p-149f
#define HIP_MAX_NORMAL_F 0x1.fffffep+127f
#define HIP_NEG_ZERO_F -0.0f
#define HIP_ZERO_F 0.0f
#define HIP_ONE_F 1.0f
#define HIP_SQRT_HALF_F 0x1.6a09e6p-1f
#define HIP_SQRT_TWO_F 0x1.6a09e6p+0f
#define HIP_THIRD_F 0x1.555556p-2f
#define HIP_PIO4_F 0x1.921fb6p-1f
#define HIP_PIO2_F 0x1.921fb6p+0f
#define HIP_3PIO4_F 0x1.2d97c8p+1f
#define HIP_PI_F 0x1.921fb6p+1f
#define HIP_2_OVER_PI_F 0x1.45f306p-1f
#define HIP_LOG2E_F 0x1.715476p+0f
#define HIP_L2E_F HIP_LOG2E_F
#define HIP_LN2_F 0x1.62e43p-1f
#define HIP_LNT_F 0x1.26bb1cp+1f
#define HIP_LN10_F HIP_LNT_F
#define HIP_LG2_F 0x1.344136p-2f
#define HIP_LGE_F 0x1.bcb7b2p-2f

#define HIP_INF __builtin_inf()
#define HIP_NAN __builtin_nan("")
#define HIP_MIN_DENORM 0x1p-1074
#define HIP_NEG_ZERO -0.0
#define HIP_ZERO 0.0
#define HIP_ONE 1.0
#define HIP_SQRT_HALF 0x1.6a09e667f3bcdp-1
#define HIP_SQRT_TWO 0x1.6a09e667f3bcdp+0
#define HIP_THIRD 0x1.5555555555555p-2
#define HIP_PIO4 0x1.921fb54442d18p-1
#define HIP_PIO2 0x1.921fb54442d18p+0
#define HIP_3PIO4 0x1.2d97c7f3321d2p+1
#define HIP_PI 0x1.921fb54442d18p+1
#define HIP_2_OVER_PI 0x1.45f306dc9c883p-1
#define HIP_LOG2E 0x1.71547652b82fep+0
#define HIP_L2E HIP_LOG2E
#define HIP_LN2 0x1.62e42fefa39efp-1
#define HIP_LNT 0x1.26bb1bbb55516p+1
#define HIP_LN10 HIP_LNT
#define HIP_LG2 0x1.34413509f79ffp-2
#define HIP_LGE 0x1.bcb7b1526e50ep-2
