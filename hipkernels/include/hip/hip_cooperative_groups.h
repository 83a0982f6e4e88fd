// Named, so that a source which wants it is told; `__syncthreads`, shuffles and votes are in <hip/hip_runtime.h>.
#pragma once
#error "mfmasim: cooperative groups need ROCm's headers (compile with hipcc)"
