// gfx11 in wave64: DS_BPERMUTE works on each half of the wave by itself; a shuffle across both needs V_PERMLANE64, too.
#include "zoo.h"

#define WAVE64 extern "C" __global__ __attribute__((target("wavefrontsize64"), amdgpu_flat_work_group_size(64, 64)))

WAVE64 void before(const int *x, int *y) {
  int t = __builtin_amdgcn_workitem_id_x();
  y[t] = __builtin_amdgcn_ds_bpermute(4 * (63 - t), x[t]);  // here
}

WAVE64 void after(const int *x, int *y) {
  int t = __builtin_amdgcn_workitem_id_x(), from = 63 - t, own = x[t], swapped = __builtin_amdgcn_permlane64(own);
  int near = __builtin_amdgcn_ds_bpermute(4 * (from % 32), own);
  int far = __builtin_amdgcn_ds_bpermute(4 * (from % 32), swapped);
  y[t] = (t ^ from) & 32 ? far : near;
}
