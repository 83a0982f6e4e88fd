// hipRTC: compilation at run time.
#pragma once
#include <hip/hip_runtime_api.h>
#if defined(__cplusplus)
extern "C" {
#endif
#include <mfmasim/api/rtc.h>
#if defined(__cplusplus)
}
#endif
