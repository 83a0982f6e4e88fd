// All header exercises in one translation unit: the headers go together, whatever order they are included in.
#include "ocp.hip"
#include "fp8.hip"
#include "bf16.hip"
#include "fp16.hip"
#include "runtime.hip"
